"""The four dense grammars: kernels against float64, and training steps.

All of it, with a list of kernels, by `python -m benchmarks.kernels.dense --seconds 60`.
"""

from __future__ import annotations

import argparse
import gc
from collections.abc import Callable

import torch
from torch import Tensor

from benchmarks.common import Budget, exit_if_failed, fail
from benchmarks.kernels.instances import (
    LARGEST_DIFFERENCE,
    gradients_of,
    largest,
    make_grammar,
    off,
    random_words,
)
from benchmarks.kernels.timing import (
    captured,
    graph_milliseconds,
    kernel_times,
    milliseconds,
    poisoned,
    print_kernels,
)
from benchmarks.reports import guard, need_gpu
from treemean.grammars.dense import torch as dense_torch
from treemean.grammars.dense import triton as dense_kernels
from treemean.grammars.dense.grammar import DenseGrammar
from treemean.grammars.dense.rules import DenseRules
from treemean.grammars.dense.triton.compound import parallel_networks
from treemean.grammars.dense.triton.forward_pass import Settings
from treemean.grammars.nan_policy import in_float64

KINDS = ("n-pcfg", "c-pcfg", "n-lcfrs", "c-lcfrs")

#: Whose kernels are listed.
PROFILED = (("n-lcfrs", 40), ("c-lcfrs", 40))


def rules_of(kind: str, n: int, batch: int = 20, sharpness: float = 1.0) -> DenseRules:
    """Return rules of a fresh grammar of the published size; `sharpness` multiplies its weights."""
    grammar, words = make_grammar(kind), random_words(batch, n)
    assert isinstance(grammar, DenseGrammar)
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
        value = dense_kernels.log_partition(DenseRules(**leaves), lengths, settings=settings)
    return value.detach(), dict(zip(leaves, gradients_of(value.sum(), leaves.values())))


def _errors(rules: DenseRules, lengths: Tensor, settings: Settings) -> tuple[float, float]:
    """Return how far off float64 log Z is at most, and gradients, relatively to their norm."""
    expected, expected_grads = _differentiate(rules.double(), lengths, None)
    found, grads = _differentiate(rules, lengths, settings)
    worst = largest(off(grads[name], wanted) for name, wanted in expected_grads.items() if wanted.numel())
    return float((found.double() - expected).abs().max()), worst


def check(kind: str, n: int = 18, batch: int = 6, sharpness: float = 3.0) -> dict[str, object]:
    """Compare log Z and gradients of the kernels, for mixed lengths, with those of float64."""
    rules = rules_of(kind, n, batch, sharpness)
    lengths = torch.arange(n, n - batch, -1, device="cuda")
    with poisoned():
        value, gradient = _errors(rules, lengths, Settings())
        first, again = (_differentiate(rules, lengths, Settings()) for _ in range(2))
    same = all(torch.equal(a, b) for a, b in zip(first[1].values(), again[1].values()))
    good = same and largest([value, gradient]) <= LARGEST_DIFFERENCE
    print(
        f"  {kind:8s} n = {n}, batch {batch}, against float64: log Z {value:.1e}, gradients {gradient:.1e},"
        f" same bits twice: {same}: {'ok' if good else 'WRONG'}",
        flush=True,
    )
    return {"kind": kind, "log_z": value, "gradients": gradient, "same_bits": same, "good": good}


def check_parameters(kind: str, n: int = 16, batch: int = 4, sharpness: float = 2.0) -> dict[str, object]:
    """Compare log Z, networks included, and its gradients by all parameters with those of float64."""
    grammar, words = make_grammar(kind, seed=1), random_words(batch, n)
    with torch.no_grad():
        for parameter in grammar.parameters():
            parameter.mul_(sharpness)
    found, wanted = grammar.log_prob(words), (precise := in_float64(grammar)).log_prob(words)
    grads, expected = (
        gradients_of(value.sum(), module.parameters())
        for value, module in ((found, grammar), (wanted, precise))
    )
    norm = max(float(grad.norm()) for grad in expected)
    errors = {
        name: float((mine - theirs).norm() / theirs.norm().clamp(min=1e-6 * norm))
        for (name, _), mine, theirs in zip(grammar.named_parameters(), grads, expected)
    }
    worst = max(errors, key=lambda name: errors[name])
    value = float((found - wanted).detach().abs().max())
    good = largest([value, *errors.values()]) <= LARGEST_DIFFERENCE
    print(
        f"  {kind:8s} n = {n}, batch {batch}, by parameters: log Z {value:.1e}, gradients {errors[worst]:.1e}"
        f" ({worst}): {'ok' if good else 'WRONG'}",
        flush=True,
    )
    return {"kind": kind, "log_z": value, "gradients": errors, "good": good}


def check_graph(kind: str, n: int = 16, batch: int = 20) -> dict[str, object]:
    """Compare gradients of a graph that is replayed, several networks at once, with those call by call."""
    grammar, words = make_grammar(kind, seed=2), random_words(batch, n)

    def gradients() -> tuple[Tensor, ...]:
        return gradients_of(grammar.log_prob(words).sum(), grammar.parameters())

    found: list[Tensor] = []
    graph = captured(lambda: found.__setitem__(slice(None), gradients()))
    different = 0
    for _ in range(5):
        words.copy_(random_words(batch, n))
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
    torch.set_float32_matmul_precision("highest")
    before = torch.cuda.memory_allocated()
    grammar, words = make_grammar(kind), random_words(batch, n)
    parameters = list(grammar.parameters())
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


def inside_milliseconds(rules: DenseRules, settings: Settings) -> float:
    """Return the time of log Z and its gradients for given rules, as a graph."""
    batch, n, _ = rules.words.shape
    lengths = torch.full((batch,), n, device="cuda")
    return graph_milliseconds(lambda: _differentiate(rules, lengths, settings), repeats=10)


CHECKS: dict[str, Callable[[str], dict[str, object]]] = {
    "rules": check,
    "rules, 40 words": lambda kind: check(kind, n=40, batch=3),
    "parameters": check_parameters,
    "graph": check_graph,
}


def main() -> None:
    """Check all grammars, then time them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60, help="time that the program may take")
    parser.add_argument("--lengths", type=int, nargs="+", default=[10, 20, 30, 40])
    parser.add_argument("--alone", action="store_true", help="networks of C- grammars one after the other")
    options = parser.parse_args()
    need_gpu()
    budget = Budget(options.seconds)
    parallel_networks.enabled = not options.alone
    for kind in reversed(KINDS):
        for name, function in CHECKS.items():
            found = guard(f"{kind}, {name}", function, kind)
            if found is not None and not found["good"]:
                fail(f"{kind}, {name}")
    print(budget, flush=True)
    for kind in ("n-lcfrs", "c-lcfrs", "n-pcfg", "c-pcfg"):
        for n in options.lengths:
            if budget.left() > 2:
                guard(f"{kind}, {n} words", measure, kind, n, profile=(kind, n) in PROFILED)
    print(budget, flush=True)
    exit_if_failed()


if __name__ == "__main__":
    main()
