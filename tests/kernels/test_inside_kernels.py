"""Kernels in rank space: several runs, floors, many ranks, and what is kept. Lengths: `test_every_length`."""

from __future__ import annotations

import gc
import weakref
from dataclasses import dataclass, replace
from typing import Any

import pytest
import torch
from kernel_checks import assert_same_gradients, assert_same_spans, differentiate, moved, tensors_of
from torch import Tensor

from treemean.grammars.rank import naive as rank_naive
from treemean.grammars.rank import triton as kernels
from treemean.grammars.rank.rules import RankRules, Ranks
from treemean.grammars.rank.triton import partition

ODD = Ranks(5, 2, 7, 3)
# Of log Z, in nats: operands of products are split, since with so few ranks no error averages out.
CLOSE = 1e-4
# Of gradients, whose operands are not: tensor cores keep ten binary digits.
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
    "two runs": Case(4, batch=1, runs=2),
    "mixed lengths": Case(4, batch=3, lengths=((4, 2, 1),)),
    "floor": Case(5, floor=1e-2),
    "more ranks than a tile has": Case(3, ranks=Ranks(17, 4, 20, 4), floor=1e-3),
    "more ranks, more words": Case(6, ranks=Ranks(17, 4, 20, 4), floor=1e-3),
    "runs, floor, lengths": Case(8, batch=3, runs=2, lengths=((8, 7, 6), (8, 2, 5)), floor=1e-3),
    "one of each rank": Case(4, batch=5, ranks=Ranks(1, 1, 1, 1)),
    "16 ranks": Case(4, batch=3, ranks=Ranks(3, 16, 5, 16)),
    "48 ranks": Case(3, batch=1, ranks=Ranks(5, 48, 3, 17)),
    "odd ranks": Case(4, batch=3, ranks=Ranks(37, 5, 43, 3)),
}
SLOW = {"more ranks, more words", "runs, floor, lengths"}


@pytest.mark.usefixtures("poisoned")
@pytest.mark.parametrize(
    "case", [pytest.param(CASES[c], id=c, marks=[pytest.mark.slow] * (c in SLOW)) for c in CASES]
)
def test_values_and_gradients_are_those_of_the_definition(case: Case, device: str) -> None:
    rules, lengths = case.rules(), case.tensor_of_lengths()
    expected, expected_gradients = differentiate(rank_naive.log_partition, rules, lengths)
    value, gradients = by_kernels(rules, lengths, device)
    torch.testing.assert_close(value, expected, rtol=0, atol=CLOSE)
    assert_same_gradients(gradients, expected_gradients, TOLERANCE)


def by_kernels(rules: RankRules, lengths: Tensor | None, device: str) -> tuple[Tensor, dict[str, Tensor]]:
    lengths = None if lengths is None else lengths.to(device)
    return differentiate(kernels.log_partition, moved(rules, device, torch.float32), lengths)


@pytest.mark.usefixtures("poisoned")
def test_posteriors_with_a_floor(device: str) -> None:
    (rules,), lengths = Case(4, batch=2, floor=1e-2).rules().unstack(), torch.tensor([4, 3])
    found = kernels.span_posteriors(moved(rules, device, torch.float32), lengths.to(device))
    assert_same_spans(found, rank_naive.span_posteriors(rules, lengths), TOLERANCE)


def test_a_run_gives_the_same_bits_alone_and_beside_another(device: str) -> None:
    first = Case(3, batch=2, runs=1).rules(seed=1)
    second = Case(3, batch=2, runs=1).rules(seed=2)
    other = tensors_of(second)
    both = {name: torch.cat([tensor, other[name]]) for name, tensor in tensors_of(first).items()}
    together, gradients = by_kernels(replace(first, **both), None, device)
    alone, own = by_kernels(first, None, device)
    assert torch.equal(together[0], alone[0])
    # The weights of the first two of four sentences are 0.5 and 5/6; alone they are 0.5 and 1.5.
    assert torch.equal(gradients["views"][0, 0], own["views"][0, 0])


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
        by_kernels(Case(2).rules(), None, device)
        assert [chart() for chart in charts] == [None]  # or graphs that share memory could not share it
    finally:
        gc.enable()
