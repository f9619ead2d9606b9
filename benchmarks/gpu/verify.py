"""Are the kernels right at published sizes? Values, all gradients and posteriors against float64."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from gpu.timing import poisoned
from treemean.grammars import GrammarConfig, build_grammar
from treemean.grammars.inside import rank_torch, triton
from treemean.grammars.inside.rules import RankRules

VOCABULARY = 10_000
TENSORS = ("views", "continuous", "discontinuous", "root")
LARGEST_DIFFERENCE = 1e-3  # of log Z of a sentence, and of gradients relative to their norm


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
]


def make_rules(case: Case, seed: int = 0) -> RankRules:
    """Return rules of a grammar of published sizes with random parameters, choices more decided if sharp."""
    torch.manual_seed(seed)
    grammar = build_grammar(GrammarConfig(case.kind, floor=case.floor), VOCABULARY).cuda()
    words = torch.randint(0, VOCABULARY, (case.batch, case.n), device="cuda")
    with torch.no_grad():
        for name, parameter in grammar.named_parameters():
            if name.startswith("rank") or name == "words":
                parameter *= case.sharpness
        return grammar.rules(words)


def differentiate(
    backend: object, rules: RankRules, dtype: torch.dtype, lengths: Tensor | None
) -> tuple[Tensor, list[Tensor]]:
    """Return log Z and the gradients of a weighted sum of it, in float64."""
    tensors = {name: getattr(rules, name).detach().to(dtype).requires_grad_() for name in TENSORS}
    value = backend.log_partition(replace(rules, scales=rules.scales.to(dtype), **tensors), lengths)  # type: ignore[attr-defined]
    weights = torch.linspace(0.5, 1.5, value.numel(), device=value.device, dtype=value.dtype).view_as(value)
    total = (torch.where(value.isfinite(), value, 0.0) * weights).sum()
    gradients = torch.autograd.grad(total, list(tensors.values()), allow_unused=True, materialize_grads=True)
    return value.detach().double(), [gradient.double() for gradient in gradients]


def check(case: Case) -> dict[str, object]:
    """Compare the kernels with float64 on one case, with poisoned memory."""
    rules = make_rules(case)
    lengths = None if case.lengths is None else torch.tensor(case.lengths, device="cuda")
    expected, expected_gradients = differentiate(rank_torch, rules, torch.float64, lengths)
    with poisoned():
        value, gradients = differentiate(triton, rules, torch.float32, lengths)
        again, gradients_again = differentiate(triton, rules, torch.float32, lengths)
    finite = expected.isfinite()
    assert torch.equal(finite, value.isfinite()), "finite where it should not be, or the other way round"
    difference = float((value - expected)[finite].abs().max())
    relative = {
        name: float((g - e).norm() / e.norm().clamp(min=1e-30))
        for name, g, e in zip(TENSORS, gradients, expected_gradients)
    }
    repeatable = torch.equal(value, again) and all(map(torch.equal, gradients, gradients_again))
    with poisoned():
        spans = triton.span_posteriors(rules, lengths)
    double = replace(
        rules, scales=rules.scales.double(), **{name: getattr(rules, name).double() for name in TENSORS}
    )
    spans64 = rank_torch.span_posteriors(double, lengths)
    errors = [(spans.continuous - spans64.continuous).abs().max()]
    errors += [(spans.discontinuous[w] - c).abs().max() for w, c in spans64.discontinuous.items()]
    posterior = float(torch.stack(errors).max())
    good = difference <= LARGEST_DIFFERENCE and all(x <= LARGEST_DIFFERENCE for x in relative.values())
    good = good and posterior <= LARGEST_DIFFERENCE
    print(
        f"  {case.name:24s} |log Z| off by {difference:.1e}; gradients off by "
        + ", ".join(f"{name} {x:.1e}" for name, x in relative.items())
        + f"; posteriors {posterior:.1e}; {'same bits twice' if repeatable else 'BITS DIFFER'}"
        + ("" if good else "  TOO MUCH"),
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
