"""A solver of its own for the checks of docs/theory.md: HiGHS on all proposed constituents."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any, TypeVar

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from treemean.trees import Tree

Item = TypeVar("Item", bound=Hashable)


def in_conflict(a: int, b: int) -> bool:
    """Tell whether two sets overlap without one holding the other."""
    return bool(a & b and a & ~b and b & ~a)


def owners(trees: Sequence[Tree]) -> dict[int, frozenset[int]]:
    """Return which trees have each constituent of 2 to n - 1 words."""
    everything = (1 << len(trees[0].words)) - 1
    result: dict[int, set[int]] = {}
    for k, tree in enumerate(trees):
        for mask in tree.masks:
            if mask & (mask - 1) and mask != everything:
                result.setdefault(mask, set()).add(k)
    return {mask: frozenset(having) for mask, having in result.items()}


def heaviest(
    weights: Mapping[Item, Fraction], conflict: Callable[[Any, Any], bool] = in_conflict
) -> list[Item]:
    """Return the compatible items of largest total weight; what weighs nothing is left out."""
    items = [item for item, weight in weights.items() if weight > 0]
    if not items:
        return []
    pairs = [(i, j) for i, j in combinations(range(len(items)), 2) if conflict(items[i], items[j])]
    rows = np.repeat(np.arange(len(pairs)), 2)
    columns = np.array(pairs, dtype=int).reshape(-1)
    matrix = csr_array((np.ones(len(columns)), (rows, columns)), shape=(max(len(pairs), 1), len(items)))
    solved = milp(
        -np.array([float(weights[item]) for item in items]),
        constraints=LinearConstraint(matrix, -np.inf, 1),
        integrality=1,
        bounds=Bounds(0, 1),
        options={"mip_rel_gap": 0},
    )
    assert solved.success
    chosen = [item for item, taken in zip(items, solved.x) if taken > 0.5]
    assert not any(conflict(a, b) for a, b in combinations(chosen, 2))
    return chosen


def best_ratio(
    worth: Mapping[Item, tuple[Fraction, int]],
    base: Fraction,
    under: int,
    conflict: Callable[[Any, Any], bool] = in_conflict,
) -> Fraction:
    """Return the highest (base + Σ hits) / (under + Σ lengths) of compatible items.

    `worth` has the hits and the length of every item. A ratio is improved until nothing is better.
    """
    value = Fraction(base, under)
    while True:
        chosen = heaviest({item: hits - value * length for item, (hits, length) in worth.items()}, conflict)
        better = Fraction(
            base + sum(worth[item][0] for item in chosen), under + sum(worth[item][1] for item in chosen)
        )
        if better <= value:
            return value
        value = better


def best_score(trees: Sequence[Tree]) -> Fraction:
    """Return the highest Σ_k F1(T, T_k) for trees of one size."""
    n, count = len(trees[0].words), len(trees)
    having = owners(trees)
    size = n + 1 + sum(0 in group for group in having.values())
    worth = {mask: (Fraction(len(group)), 1) for mask, group in having.items()}
    return 2 * best_ratio(worth, Fraction(count * (n + 1)), n + 1 + size)


def best_binary_score(trees: Sequence[Tree]) -> Fraction:
    """Return the highest Σ_k F1(T, T_k) over binary trees T."""
    n = len(trees[0].words)
    having = owners(trees)
    sizes = [n + 1 + sum(k in group for group in having.values()) for k in range(len(trees))]
    worth = [Fraction(2, 2 * n - 1 + size) for size in sizes]
    weights = {mask: sum((worth[k] for k in group), Fraction(0)) for mask, group in having.items()}
    return (n + 1) * sum(worth) + sum(weights[mask] for mask in heaviest(weights))
