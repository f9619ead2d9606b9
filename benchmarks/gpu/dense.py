"""The four dense grammars: kernels against float64, training steps, and how the kernels divide their work."""

from __future__ import annotations

import gc
from dataclasses import asdict, fields

import torch
from torch import Tensor

from gpu.timing import Budget, graph_milliseconds, kernel_times, milliseconds, print_kernels
from gpu.verify import VOCABULARY
from treemean.grammars import GrammarConfig, build_grammar
from treemean.grammars.dense import DenseGrammar
from treemean.grammars.inside import dense_kernels, dense_torch
from treemean.grammars.inside.dense_kernels.passes import Settings
from treemean.grammars.inside.dense_rules import DenseRules

KINDS = ("n-pcfg", "c-pcfg", "n-lcfrs", "c-lcfrs")

VARIANTS = [
    Settings(),
    Settings(streams=False),
    Settings(collect_stages=1),
    Settings(attach_stages=2),
    Settings(rows=16, places=8),
    Settings(rows=32, places=4),
    Settings(rows=32, places=16),
    Settings(rows=64, places=8),
    Settings(rows=64, places=16, attach_warps=2, collect_warps=2),
    Settings(chunks=8),
    Settings(chunks=2),
]


def rules_of(kind: str, n: int, batch: int = 20, sharpness: float = 1.0) -> DenseRules:
    """Return rules of a fresh grammar of the published size; `sharpness` multiplies its weights."""
    torch.manual_seed(0)
    grammar = build_grammar(GrammarConfig(kind), VOCABULARY).cuda()
    assert isinstance(grammar, DenseGrammar)
    words = torch.randint(0, VOCABULARY, (batch, n), device="cuda")
    with torch.no_grad():
        for parameter in grammar.parameters():
            parameter.mul_(sharpness)
        latent = torch.randn(batch, grammar.config.latent, device="cuda")
        rules = grammar.rules(words, latent if grammar.config.is_compound else None)
    return DenseRules(**{name: tensor.detach().contiguous() for name, tensor in rules.tensors().items()})


def _differentiate(
    rules: DenseRules, lengths: Tensor, settings: Settings | None
) -> tuple[Tensor, dict[str, Tensor]]:
    leaves = {name: tensor.clone().requires_grad_() for name, tensor in rules.tensors().items()}
    if settings is None:
        value = dense_torch.log_partition(DenseRules(**leaves), lengths)
    else:
        value = dense_kernels.log_partition(DenseRules(**leaves), lengths, settings)
    grads = torch.autograd.grad(value.sum(), list(leaves.values()), allow_unused=True, materialize_grads=True)
    return value.detach(), dict(zip(leaves, grads))


def _errors(rules: DenseRules, lengths: Tensor, settings: Settings) -> tuple[float, float]:
    """Return how far off float64 log Z is at most, and gradients, relatively to their norm."""
    expected, expected_grads = _differentiate(rules.double(), lengths, None)
    found, grads = _differentiate(rules, lengths, settings)
    worst = 0.0
    for name, wanted in expected_grads.items():
        if wanted.numel():
            worst = max(worst, float((grads[name].double() - wanted).norm() / wanted.norm()))
    return float((found.double() - expected).abs().max()), worst


def check(kind: str, n: int = 18, batch: int = 6, sharpness: float = 3.0) -> dict[str, object]:
    """Compare log Z and gradients of the kernels, for mixed lengths, with those of float64."""
    rules = rules_of(kind, n, batch, sharpness)
    lengths = torch.arange(n, n - batch, -1, device="cuda")
    value, gradient = _errors(rules, lengths, Settings())
    first, again = (_differentiate(rules, lengths, Settings()) for _ in range(2))
    same = all(torch.equal(a, b) for a, b in zip(first[1].values(), again[1].values()))
    verdict = "ok" if value < 1e-3 and gradient < 1e-3 else "WRONG"
    print(
        f"  {kind:8s} n = {n}, batch {batch}, against float64: log Z {value:.1e}, gradients {gradient:.1e},"
        f" same bits twice: {same}: {verdict}",
        flush=True,
    )
    return {"kind": kind, "log_z": value, "gradients": gradient, "same_bits": same}


def measure(kind: str, n: int, batch: int = 20, profile: bool = False) -> dict[str, object]:
    """Time a step call by call and as a graph."""
    gc.collect()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    torch.manual_seed(0)
    torch.set_float32_matmul_precision("highest")
    before = torch.cuda.memory_allocated()
    grammar = build_grammar(GrammarConfig(kind), VOCABULARY).cuda()
    parameters = list(grammar.parameters())
    words = torch.randint(0, VOCABULARY, (batch, n), device="cuda")
    optimiser = torch.optim.Adam(parameters, lr=1e-3, betas=(0.75, 0.999), fused=True, capturable=True)
    generator = torch.Generator("cuda").manual_seed(1)

    def step() -> None:
        loss = grammar.loss(words, generator=generator)
        total = (loss.negative_log_likelihood + loss.divergence).mean()
        gradients = torch.autograd.grad(total, parameters, allow_unused=True)
        for parameter, gradient in zip(parameters, gradients):
            parameter.grad = None if gradient is None else gradient.contiguous()
        optimiser.step()

    # First, since parameters that were used outside of a capture bind it to their stream.
    graph = graph_milliseconds(step, generators=[generator], repeats=20)
    eager = milliseconds(step, repeats=4, warm_up=2)
    memory = (torch.cuda.max_memory_allocated() - before) / 2**30
    kernels = kernel_times(step)
    launches = sum(count for _, count, _ in kernels)
    print(
        f"  {kind:8s} n = {n:2d}, batch {batch}: call by call {eager:7.1f} ms, as a graph {graph:7.2f} ms;"
        f" {launches} launches; {memory:.2f} GiB",
        flush=True,
    )
    if profile:
        print_kernels(f"{kind}, n = {n}", kernels, most=16)
    return {
        "kind": kind,
        "n": n,
        "batch": batch,
        "eager": eager,
        "graph": graph,
        "memory": memory,
        "launches": launches,
        "kernels": kernels[:24],
    }


def variants(budget: Budget, n: int = 40) -> list[dict[str, object]]:
    """Time log Z and its gradients with the work divided in several ways, as long as there is time."""
    rules, small = rules_of("n-lcfrs", n), rules_of("n-lcfrs", 18, 6, 3.0)
    lengths, few = torch.full((20,), n, device="cuda"), torch.full((6,), 18, device="cuda")
    found: list[dict[str, object]] = []
    for settings in VARIANTS:
        if budget.left() < 10:
            print(f"  (no time for more) {budget}")
            break
        value, gradient = _errors(small, few, settings)
        time = graph_milliseconds(lambda s=settings: _differentiate(rules, lengths, s), repeats=10)  # type: ignore[misc]
        changed = [f for f in fields(settings) if getattr(settings, f.name) != f.default]
        name = ", ".join(f"{f.name} {getattr(settings, f.name)}" for f in changed) or "as it is"
        print(f"  {time:7.2f} ms, log Z {value:.1e}, gradients {gradient:.1e}: {name} {budget}", flush=True)
        found.append(
            {"settings": asdict(settings), "milliseconds": time, "log_z": value, "gradients": gradient}
        )
    return found
