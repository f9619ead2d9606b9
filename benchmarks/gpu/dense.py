"""The four dense grammars: kernels against float64, training steps, and how the kernels divide their work.

All of it, with a list of kernels, by `python benchmarks/gpu/dense.py --seconds 60`.
"""

from __future__ import annotations

import argparse
import gc
import sys
from dataclasses import asdict, fields
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch
from torch import Tensor

from gpu.timing import (
    Budget,
    captured,
    exit_if_failed,
    graph_milliseconds,
    guard,
    kernel_times,
    milliseconds,
    poisoned,
    print_kernels,
)
from gpu.verify import VOCABULARY
from treemean.grammars import GrammarConfig, build_grammar
from treemean.grammars.compound import branches
from treemean.grammars.dense import DenseGrammar
from treemean.grammars.inside import dense_kernels, dense_torch
from treemean.grammars.inside.dense_kernels.passes import Settings
from treemean.grammars.inside.dense_rules import DenseRules
from treemean.grammars.precision import in_float64

KINDS = ("n-pcfg", "c-pcfg", "n-lcfrs", "c-lcfrs")

#: Whose kernels are listed.
PROFILED = (("n-lcfrs", 40), ("c-lcfrs", 40))

#: The first one is compared by all means.
VARIANTS = [
    Settings(),
    Settings(sharing=32),
    Settings(attach_rows=64),
    Settings(attach_stages=4),
    Settings(collect_stages=3),
    Settings(rows=64),
    Settings(attach_chunks=4),
    Settings(right_chunks=8),
    Settings(attach_chunks=16),
    Settings(wrap_chunks=32),
    Settings(chunks=8),
    Settings(attach_stages=2),
    Settings(rows=64, collect_warps=2),
    Settings(collect_stages=1),
    Settings(streams=False),
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
    with poisoned():
        value, gradient = _errors(rules, lengths, Settings())
        first, again = (_differentiate(rules, lengths, Settings()) for _ in range(2))
    same = all(torch.equal(a, b) for a, b in zip(first[1].values(), again[1].values()))
    verdict = "ok" if value < 1e-3 and gradient < 1e-3 and same else "WRONG"
    print(
        f"  {kind:8s} n = {n}, batch {batch}, against float64: log Z {value:.1e}, gradients {gradient:.1e},"
        f" same bits twice: {same}: {verdict}",
        flush=True,
    )
    return {"kind": kind, "log_z": value, "gradients": gradient, "same_bits": same}


def check_parameters(kind: str, n: int = 16, batch: int = 4, sharpness: float = 2.0) -> dict[str, object]:
    """Compare log Z, networks included, and its gradients by all parameters with those of float64."""
    torch.manual_seed(1)
    grammar = build_grammar(GrammarConfig(kind), VOCABULARY).cuda()
    words = torch.randint(0, VOCABULARY, (batch, n), device="cuda")
    with torch.no_grad():
        for parameter in grammar.parameters():
            parameter.mul_(sharpness)
    found, wanted = grammar.log_prob(words), (precise := in_float64(grammar)).log_prob(words)
    grads, expected = (
        torch.autograd.grad(value.sum(), list(module.parameters()), allow_unused=True, materialize_grads=True)
        for value, module in ((found, grammar), (wanted, precise))
    )
    largest = max(float(grad.norm()) for grad in expected)
    errors = {
        name: float((mine - theirs).norm() / theirs.norm().clamp(min=1e-6 * largest))
        for (name, _), mine, theirs in zip(grammar.named_parameters(), grads, expected)
    }
    worst = max(errors, key=lambda name: errors[name])
    value = float((found - wanted).detach().abs().max())
    verdict = "ok" if value < 1e-3 and errors[worst] < 1e-3 else "WRONG"
    print(
        f"  {kind:8s} n = {n}, batch {batch}, by parameters: log Z {value:.1e}, gradients {errors[worst]:.1e}"
        f" ({worst}): {verdict}",
        flush=True,
    )
    return {"kind": kind, "log_z": value, "gradients": errors}


def check_graph(kind: str, n: int = 16, batch: int = 20) -> dict[str, object]:
    """Compare gradients of a graph that is replayed, several networks at once, with those call by call."""
    torch.manual_seed(2)
    grammar = build_grammar(GrammarConfig(kind), VOCABULARY).cuda()
    words = torch.randint(0, VOCABULARY, (batch, n), device="cuda")
    parameters = list(grammar.parameters())

    def gradients() -> tuple[Tensor, ...]:
        total = grammar.log_prob(words).sum()
        return torch.autograd.grad(total, parameters, allow_unused=True, materialize_grads=True)

    found: list[Tensor] = []
    graph = captured(lambda: found.__setitem__(slice(None), gradients()))
    different = 0
    for _ in range(5):
        words.copy_(torch.randint(0, VOCABULARY, (batch, n), device="cuda"))
        graph.replay()
        different += sum(not torch.equal(mine, wanted) for mine, wanted in zip(found, gradients()))
    verdict = "ok" if different == 0 else "WRONG"
    told = f"{different} gradients differ from those call by call: {verdict}"
    print(f"  {kind:8s} n = {n}, batch {batch}, as a graph: {told}", flush=True)
    return {"kind": kind, "good": different == 0}


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
        print_kernels(f"{kind}, n = {n}", kernels, most=28)
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


def variants(
    budget: Budget, lengths: tuple[int, ...] = (40, 20), reserved: float = 6
) -> list[dict[str, object]]:
    """Time log Z and its gradients with the work divided in several ways, as long as there is time."""
    rules = {n: rules_of("n-lcfrs", n) for n in lengths}
    small, few = rules_of("n-lcfrs", 12, 3, 3.0), torch.full((3,), 12, device="cuda")
    found: list[dict[str, object]] = []
    for number, settings in enumerate(VARIANTS):
        if number and budget.left() < reserved:
            print(f"  (no time for more) {budget}")
            break
        value, gradient = _errors(small, few, settings)
        times = {n: _inside_milliseconds(rules[n], settings) for n in lengths}
        changed = [f for f in fields(settings) if getattr(settings, f.name) != f.default]
        name = ", ".join(f"{f.name} {getattr(settings, f.name)}" for f in changed) or "as it is"
        listed = ", ".join(f"{time:6.2f} ms at {n}" for n, time in times.items())
        print(f"  {listed}; log Z {value:.1e}, gradients {gradient:.1e}: {name} {budget}", flush=True)
        found.append(
            {"settings": asdict(settings), "milliseconds": times, "log_z": value, "gradients": gradient}
        )
    return found


def _inside_milliseconds(rules: DenseRules, settings: Settings) -> float:
    batch, n, _ = rules.words.shape
    lengths = torch.full((batch,), n, device="cuda")
    return graph_milliseconds(lambda: _differentiate(rules, lengths, settings), repeats=10)


def main() -> None:
    """Check all grammars, then time them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="time that the script may take")
    parser.add_argument("--lengths", type=int, nargs="+", default=[10, 20, 30, 40])
    parser.add_argument("--alone", action="store_true", help="networks of C- grammars one after the other")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("there is no CUDA device here")
    budget = Budget(options.seconds)
    branches.enabled = not options.alone
    for kind in reversed(KINDS):
        guard("check", lambda: check(kind))  # noqa: B023
        guard("check", lambda: check_graph(kind))  # noqa: B023
        if "lcfrs" in kind:
            guard("check", lambda: check_parameters(kind))  # noqa: B023
    print(budget, flush=True)
    guard("variants", lambda: variants(budget, reserved=0.35 * options.seconds))
    for kind in ("n-lcfrs", "c-lcfrs", "n-pcfg", "c-pcfg"):
        for n in options.lengths:
            if budget.left() > 2:
                guard("measure", lambda: measure(kind, n, profile=(kind, n) in PROFILED))  # noqa: B023
    print(budget, flush=True)
    for kind in ("n-pcfg", "c-pcfg"):
        if budget.left() > 4:
            guard("check", lambda: check_parameters(kind))  # noqa: B023
    exit_if_failed()


if __name__ == "__main__":
    main()
