"""Averaging by integer programming: an independent road to what the core finds."""

from __future__ import annotations

import random
import sys
import time

import pytest

from instances import flattened, independent_trees, mixed_trees
from treemean.averaging import average
from treemean.errors import MissingDependency


@pytest.mark.parametrize("seed", range(6))
def test_it_agrees_with_the_core(seed: int) -> None:
    rng = random.Random(seed)
    trees = mixed_trees(rng.choice([12, 20, 30]), 6, 3, 3, rng, rng.choice([0.5, 1.0]))
    if seed % 2:
        trees = [flattened(tree, rng.choice([0.1, 0.3]), rng) for tree in trees]
    weights = rng.choice([None, [rng.randint(1, 9) for _ in trees]])
    options = {"beta": rng.choice([1.0, 0.5, 2.0]), "binary": seed in (2, 3)}
    exact = average(trees, weights, **options).values
    other = average(trees, weights, method="integer-programming", **options).values
    assert exact["optimal"] == other["optimal"] == 1
    assert other["objective"] == pytest.approx(exact["objective"], rel=1e-12)


def test_it_keeps_the_time_limit() -> None:
    trees = independent_trees(40, 10, random.Random(1), 0.3)
    start = time.perf_counter()
    result = average(trees, binary=True, method="integer-programming", time_limit=0.2)
    assert time.perf_counter() - start < 10
    assert result.values["optimal"] == 0
    assert result.values["objective"] < result.values["upper_bound"]
    assert result.metadata["average_note"].endswith("(time_limit)")


def test_it_needs_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(MissingDependency, match="SciPy"):
        average(mixed_trees(5, 3, 1, 1, random.Random(1)), method="integer-programming")
