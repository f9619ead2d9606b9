"""The averages of published predictions on LASSY; skipped where the data are not."""

from __future__ import annotations

import pytest

from treemean.averaging import average
from treemean.evaluation import evaluate
from treemean.trees import Treebank

WEIGHTS = [5.95, 5.82, 5.94, 5.52, 1.38]


@pytest.fixture(scope="module")
def gold(lassy) -> Treebank:
    return lassy("test", "gold")


@pytest.fixture(scope="module")
def five(lassy) -> list[Treebank]:
    return [lassy("test", f"run{number:02}") for number in (1, 8, 5, 3, 6)]


def scores(result: Treebank, gold: Treebank) -> tuple[float, float, float]:
    found = evaluate(result, gold, protocol="paper")
    return tuple(round(c.f1, 2) for c in (found.overall, found.continuous, found.discontinuous))


def test_weighted(five: list[Treebank], gold: Treebank) -> None:
    result = average(five, WEIGHTS)
    assert result.sentence_values["optimal"].all()
    assert scores(result, gold) == (51.40, 54.99, 10.16)
    overall = evaluate(result, gold, protocol="paper").overall
    assert (overall.matched, overall.predicted - overall.matched) == (6321, 8858)


def test_equal_weights(five: list[Treebank], gold: Treebank) -> None:
    result = average(five)
    assert result.sentence_values["optimal"].all()
    assert scores(result, gold) == pytest.approx((51.96, 55.41, 9.80), abs=0.02)


def test_order_does_not_matter(five: list[Treebank]) -> None:
    assert average(five[::-1]) == average(five)


def test_binary(five: list[Treebank], gold: Treebank) -> None:
    result = average(five, WEIGHTS, binary=True)
    assert result.sentence_values["optimal"].all()
    assert all(tree.is_binary for tree in result)
    assert scores(result, gold) == pytest.approx((50.88, 54.64, 9.71), abs=0.02)


def test_ten_runs(lassy, gold: Treebank) -> None:
    runs = [lassy("test", f"run{number:02}") for number in range(1, 11)]
    result = average(runs)
    assert result.sentence_values["optimal"].all()
    assert result.sentence_values["seconds"].sum() < 1
