"""Are the kernels right at published sizes? Values, all gradients and posteriors against float64."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from benchmarks.kernels.instances import (
    LARGEST_DIFFERENCE,
    TENSORS,
    gradients_of,
    largest,
    make_rank_grammar,
    off,
    random_words,
    span_weights,
)
from benchmarks.kernels.timing import poisoned
from treemean.grammars.charts.weights import SpanWeights
from treemean.grammars.rank import torch as rank_torch
from treemean.grammars.rank import triton
from treemean.grammars.rank.rules import RankRules


@dataclass(frozen=True)
class Case:
    """One comparison."""

    name: str
    n: int
    batch: int
    sharpness: float = 1.0
    kind: str = "tn-lcfrs"
    lengths: tuple[int, ...] | None = None
    floor: float = 0.0
    weighed: bool = False


CASES = [
    Case("n = 2", 2, 3),
    Case("n = 3", 3, 3),
    Case("n = 10", 10, 3),
    Case("n = 20, sharp", 20, 3, 50.0),
    Case("n = 20, floor 1e-9", 20, 2, 50.0, floor=1e-9),
    Case("n = 12, floor 1e-2", 12, 2, 20.0, floor=1e-2),
    Case("n = 20, mixed lengths", 20, 4, 50.0, lengths=(20, 13, 2, 1)),
    Case("n = 30", 30, 2),
    Case("n = 40", 40, 2),
    Case("n = 40, sharp", 40, 2, 150.0),
    Case("TN-PCFG, n = 40", 40, 2, 50.0, kind="tn-pcfg"),
    Case("n = 20, weights of spans", 20, 3, 50.0, lengths=(20, 20, 11), weighed=True),
    Case("n = 40, weights of spans", 40, 2, weighed=True),
    Case("TN-PCFG, weights of spans", 20, 2, 50.0, kind="tn-pcfg", weighed=True),
]


@torch.no_grad()
def make_rules(case: Case) -> RankRules:
    grammar = make_rank_grammar(case.kind, case.sharpness, floor=case.floor)
    return grammar.rules(random_words(case.batch, case.n))


def differentiate(
    backend: object,
    rules: RankRules,
    dtype: torch.dtype,
    lengths: Tensor | None,
    span_weights: SpanWeights | None = None,
) -> tuple[Tensor, list[Tensor]]:
    """Return log Z and the gradients of a weighted sum of it, in float64."""
    tensors = {name: getattr(rules, name).detach().to(dtype).requires_grad_() for name in TENSORS}
    given = replace(rules, scales=rules.scales.to(dtype), **tensors)
    value = backend.log_partition(given, lengths, span_weights)  # type: ignore[attr-defined]
    weights = torch.linspace(0.5, 1.5, value.numel(), device=value.device, dtype=value.dtype).view_as(value)
    total = (torch.where(value.isfinite(), value, 0.0) * weights).sum()
    return value.detach().double(), [gradient.double() for gradient in gradients_of(total, tensors.values())]


def check(case: Case) -> dict[str, object]:
    """Compare the kernels with float64 on one case, with poisoned memory."""
    rules = make_rules(case)
    lengths = None if case.lengths is None else torch.tensor(case.lengths, device="cuda")
    given = lengths, span_weights(case.batch, case.n) if case.weighed else None
    expected, expected_gradients = differentiate(rank_torch, rules, torch.float64, *given)
    with poisoned():
        value, gradients = differentiate(triton, rules, torch.float32, *given)
        again, gradients_again = differentiate(triton, rules, torch.float32, *given)
    finite = expected.isfinite()
    assert torch.equal(finite, value.isfinite()), "finite where it should not be, or the other way round"
    difference = float((value - expected)[finite].abs().max())
    relative = {name: off(g, e) for name, g, e in zip(TENSORS, gradients, expected_gradients)}
    repeatable = torch.equal(value, again) and all(map(torch.equal, gradients, gradients_again))
    with poisoned():
        spans = triton.span_posteriors(rules, lengths)
    spans64 = rank_torch.span_posteriors(rules.double(), lengths)
    errors = [(spans.continuous - spans64.continuous).abs().max()]
    errors += [(spans.discontinuous[w] - c).abs().max() for w, c in spans64.discontinuous.items()]
    posterior = float(torch.stack(errors).max())
    good = repeatable and largest([difference, posterior, *relative.values()]) <= LARGEST_DIFFERENCE
    print(
        f"  {case.name:24s} |log Z| off by {difference:.1e}; gradients off by "
        + ", ".join(f"{name} {x:.1e}" for name, x in relative.items())
        + f"; posteriors {posterior:.1e}; {'same bits twice' if repeatable else 'BITS DIFFER'}"
        + ("" if good else "  WRONG"),
        flush=True,
    )
    return {
        "case": case.name,
        "log_z": difference,
        "gradients": relative,
        "posteriors": posterior,
        "repeatable": repeatable,
        "good": good,
    }
