"""The Triton kernels against the definition, at small odd sizes, in memory that starts as NaN."""

from __future__ import annotations

import gc
import weakref
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import Tensor

from treemean.grammars.inside import rank_naive
from treemean.grammars.inside import triton as kernels
from treemean.grammars.inside.rules import RankRules, Ranks
from treemean.grammars.inside.triton import partition

TENSORS = ("views", "continuous", "discontinuous", "root")
ODD = Ranks(5, 2, 7, 3)
# Tensor cores keep ten binary digits of an operand; with so few ranks little of that error averages out.
TOLERANCE = 1e-3


@dataclass(frozen=True)
class Case:
    n: int
    batch: int = 1
    runs: int = 1
    ranks: Ranks = ODD
    lengths: tuple[tuple[int, ...], ...] | None = None
    floor: float = 0.0

    def rules(self, seed: int = 0) -> RankRules:
        draw = torch.Generator().manual_seed(seed)

        def choice(*size: int) -> Tensor:
            return (2 * torch.randn(self.runs, *size, generator=draw, dtype=torch.float64)).softmax(-1)

        ranks, scores = self.ranks, self.ranks.r1 + self.ranks.r2
        size = (self.runs, self.batch, self.n)
        return RankRules(
            views=torch.rand(*size, ranks.views, generator=draw, dtype=torch.float64) ** 3 + 1e-3,
            scales=-5 + 2 * torch.randn(*size, generator=draw, dtype=torch.float64),
            continuous=choice(scores, ranks.views),
            discontinuous=choice(ranks.r3 + ranks.r4, ranks.r2 + ranks.r4),
            root=choice(scores),
            ranks=ranks,
            floor=self.floor,
        )

    def tensor_of_lengths(self) -> Tensor | None:
        return None if self.lengths is None else torch.tensor(self.lengths)


CASES = {
    "one word": Case(1, batch=2),
    "two words": Case(2, batch=3),
    "three words": Case(3, batch=3),
    "two runs": Case(4, batch=1, runs=2),
    "mixed lengths": Case(4, batch=3, lengths=((4, 2, 1),)),
    "floor": Case(5, floor=1e-2),
    "more ranks than a tile has": Case(6, ranks=Ranks(17, 4, 20, 4)),
    "nine words without gaps": Case(9, ranks=Ranks(5)),
}
LONG = {
    "seven words": Case(7, ranks=Ranks(17, 4, 20, 4), floor=1e-3),
    "eight words, two runs": Case(8, batch=3, runs=2),
    "nine words": Case(9, ranks=Ranks(6, 1, 5, 1)),
}


def differentiate(
    backend: ModuleType, rules: RankRules, lengths: Tensor | None, dtype: torch.dtype, device: str
) -> tuple[Tensor, list[Tensor]]:
    """Return log Z and the gradients of a weighted sum of it."""
    tensors = {name: getattr(rules, name).to(device, dtype).requires_grad_() for name in TENSORS}
    scales = rules.scales.to(device, dtype)
    lengths = None if lengths is None else lengths.to(device)
    value = backend.log_partition(replace(rules, scales=scales, **tensors), lengths)
    weights = torch.linspace(0.5, 1.5, value.numel(), dtype=dtype, device=device).view_as(value)
    total = (torch.where(value.isfinite(), value, 0.0) * weights).sum()
    gradients = torch.autograd.grad(total, list(tensors.values()), allow_unused=True, materialize_grads=True)
    return value.detach().double().cpu(), [gradient.double().cpu() for gradient in gradients]


def compare(case: Case, device: str) -> None:
    rules, lengths = case.rules(), case.tensor_of_lengths()
    expected, expected_gradients = differentiate(rank_naive, rules, lengths, torch.float64, "cpu")
    value, gradients = differentiate(kernels, rules, lengths, torch.float32, device)
    torch.testing.assert_close(value, expected, rtol=0, atol=TOLERANCE)
    for name, gradient, wanted in zip(TENSORS, gradients, expected_gradients):
        assert gradient.shape == wanted.shape
        assert torch.isfinite(gradient).all(), name
        error = float((gradient - wanted).norm())
        assert error <= TOLERANCE * float(wanted.norm()), f"{name} is off by {error}"


@pytest.mark.usefixtures("poisoned")
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_values_and_gradients_are_those_of_the_definition(case: Case, device: str) -> None:
    compare(case, device)


@pytest.mark.slow
@pytest.mark.usefixtures("poisoned")
@pytest.mark.parametrize("case", LONG.values(), ids=LONG)
def test_longer_sentences(case: Case, device: str) -> None:
    compare(case, device)


@pytest.mark.usefixtures("poisoned")
@pytest.mark.parametrize("floor", [0.0, 1e-2])
def test_posteriors_are_those_of_the_definition(floor: float, device: str) -> None:
    case = Case(4, batch=2, lengths=((4, 3),), floor=floor)
    (rules,), lengths = case.rules().unstack(), torch.tensor([4, 3])
    expected = rank_naive.span_posteriors(rules, lengths)
    single = {name: getattr(rules, name).to(device, torch.float32) for name in (*TENSORS, "scales")}
    spans = kernels.span_posteriors(replace(rules, **single), lengths.to(device)).to("cpu")
    torch.testing.assert_close(spans.continuous.double(), expected.continuous, rtol=0, atol=TOLERANCE)
    assert spans.discontinuous.keys() == expected.discontinuous.keys()
    for width, chart in expected.discontinuous.items():
        torch.testing.assert_close(spans.discontinuous[width].double(), chart, rtol=0, atol=TOLERANCE)


def test_a_run_gives_the_same_bits_alone_and_beside_another(device: str) -> None:
    first = Case(3, batch=2, runs=1).rules(seed=1)
    second = Case(3, batch=2, runs=1).rules(seed=2)
    names = (*TENSORS, "scales")
    both = {name: torch.cat([getattr(first, name), getattr(second, name)]) for name in names}
    together, gradients = differentiate(kernels, replace(first, **both), None, torch.float32, device)
    alone, own = differentiate(kernels, first, None, torch.float32, device)
    assert torch.equal(together[0], alone[0])
    # The weights of the first two of four sentences are 0.5 and 5/6; alone they are 0.5 and 1.5.
    assert torch.equal(gradients[0][0, 0], own[0][0, 0])


def test_a_pass_is_forgotten_without_the_garbage_collector(
    device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    charts: list[weakref.ref[object]] = []
    fill = partition.fill_charts

    def watched(*arguments: Any) -> Any:
        filled = fill(*arguments)
        charts.append(weakref.ref(filled))
        return filled

    monkeypatch.setattr(partition, "fill_charts", watched)
    gc.collect()
    gc.disable()
    try:
        differentiate(kernels, Case(2).rules(), None, torch.float32, device)
        assert [chart() for chart in charts] == [None]  # or graphs that share memory could not share it
    finally:
        gc.enable()
