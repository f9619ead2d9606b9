"""Instances that are large or hard: against integer programming, and against graphs whose answer is known."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from averaging_oracles import inner_masks, problem_of
from instances import (
    cycle_blow_up,
    flattened,
    independent_trees,
    mixed_trees,
    subdivided,
    tree_of,
    trees_of_graph,
)
from treemean.averaging import average
from treemean.trees import Tree, compatible


def heaviest_by_integer_programming(
    masks: Sequence[int], weights: Sequence[float], size: int | None = None
) -> float:
    """Return the largest weight of compatible sets, of exactly `size` ones if given (-inf if impossible)."""
    conflicts = [(i, j) for i, j in combinations(range(len(masks)), 2) if not compatible(masks[i], masks[j])]
    rows = np.zeros((len(conflicts) + 1, len(masks)))
    for row, (i, j) in enumerate(conflicts):
        rows[row, i] = rows[row, j] = 1
    rows[-1] = 1
    most = [1] * len(conflicts) + [len(masks) if size is None else size]
    least = [0] * len(conflicts) + [size or 0]
    solved = milp(
        -np.array(weights, dtype=float),
        constraints=LinearConstraint(rows, least, most),
        integrality=1,
        bounds=Bounds(0, 1),
        options={"mip_rel_gap": 0},
    )
    return float(-solved.fun) if solved.success else -np.inf


@pytest.mark.parametrize("seed", [pytest.param(0, marks=pytest.mark.slow), *range(1, 8)])
def test_heaviest_sets_agree_with_integer_programming(seed: int) -> None:
    rng = random.Random(seed)
    if seed == 0:  # components of more than 512 sets
        trees = mixed_trees(330, 10, 2, 33, rng)
    else:
        n = rng.choice([12, 30, 70])
        trees = mixed_trees(n, 6, 3, n // 6, rng, rng.choice([0.5, 0.9, 1.0]))
    weights = [rng.randint(1, 9) for _ in trees]
    problem = problem_of(trees, weights)
    result = average(trees, weights, additive=True)
    assert result.values["optimal"] == 1
    expected = heaviest_by_integer_programming(problem.candidates, problem.summed_hits) / problem.total
    assert result.values["objective"] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_different_sizes_agree_with_integer_programming(seed: int) -> None:
    rng = random.Random(seed)
    n = 16
    trees = [flattened(tree, rng.choice([0.1, 0.3]), rng) for tree in mixed_trees(n, 7, 3, 2, rng)]
    problem = problem_of(trees)
    assert not problem.is_uniform
    best = 0.0
    for size in range(n - 1):
        denominators = [problem.trivial_count + size + s for s in problem.sizes]
        scores = [sum(2 * h / d for h, d in zip(row, denominators)) for row in problem.hits]
        base = sum(2 * t / d for t, d in zip(problem.trivial_hits, denominators))
        best = max(best, base + heaviest_by_integer_programming(problem.candidates, scores, size))
    result = average(trees)
    assert result.values["optimal"] == 1
    assert result.values["objective"] == pytest.approx(best / problem.total, rel=1e-9)


def largest_independent_set(vertices: int, edges: list[tuple[int, int]]) -> int:
    neighbours = [0] * vertices
    for u, v in edges:
        neighbours[u] |= 1 << v
        neighbours[v] |= 1 << u
    return max(
        chosen.bit_count()
        for chosen in range(1 << vertices)
        if not any(chosen >> v & 1 and chosen & neighbours[v] for v in range(vertices))
    )


@pytest.mark.parametrize("seed", range(10))
def test_averages_of_graphs_are_largest_independent_sets(seed: int) -> None:
    rng = random.Random(seed)
    vertices = rng.randint(3, 9)
    edges = [pair for pair in combinations(range(vertices), 2) if rng.random() < 0.5]
    connected = {v for edge in edges for v in edge}
    classes, paths = subdivided(vertices, edges)
    trees, sets = trees_of_graph(classes, paths, rng)
    result = average(trees)
    assert result.values["optimal"] == 1
    assert inner_masks(result) <= set(sets)
    lonely = vertices - len(connected)  # a single word, no constituent of its own
    expected = largest_independent_set(vertices, edges) - lonely + 2 * len(edges)
    assert len(inner_masks(result)) == expected


def graph_trees(vertices: int, degree: float, seed: int) -> list[Tree]:
    rng = random.Random(seed)
    return trees_of_graph(*cycle_blow_up(vertices, degree, rng), rng)[0]


def test_large_cycle_blow_ups_are_solved() -> None:
    for vertices, degree in ((80, 3), (160, 2.5), (200, 3)):
        assert average(graph_trees(vertices, degree, 1)).values["optimal"] == 1


@pytest.mark.parametrize("seed", range(6))
def test_the_budget_ends_the_search_with_an_honest_bound(seed: int) -> None:
    rng = random.Random(seed)
    instances = [
        (graph_trees(120, 4, seed), {}),
        (independent_trees(30, 8, rng), {"binary": True}),
        (independent_trees(30, 8, rng), {"additive": True}),
        ([flattened(t, 0.2, rng) for t in mixed_trees(60, 10, 2, 6, rng)], {}),
    ]
    stopped = 0
    for trees, options in instances:
        truth = average(trees, **options).values
        assert truth["optimal"] == 1
        for limit in (0, 1, 3, 10, 30, 100):
            result = average(trees, node_limit=limit, **options)
            found = result.values
            assert ("average_note" in result.metadata) == (not found["optimal"])
            assert found["objective"] <= truth["objective"] * (1 + 1e-12)
            assert truth["objective"] <= found["upper_bound"] * (1 + 1e-12)
            if found["optimal"]:
                assert found["objective"] == truth["objective"] == found["upper_bound"]
            else:
                stopped += 1
                assert found["nodes"] <= limit + 10
    assert stopped > 0


def test_the_time_limit_ends_the_search() -> None:
    trees = independent_trees(24, 150, random.Random(1), 0.3)
    result = average(trees, binary=True, time_limit=0.2)
    assert result.metadata["average_note"].endswith("(time_limit)")
    found = result.values
    assert found["optimal"] == 0
    assert found["seconds"] < 5
    assert found["objective"] < found["upper_bound"]


@pytest.mark.slow
def test_too_many_conflicts_for_a_graph_are_survived() -> None:
    trees = independent_trees(16, 750, random.Random(2), 0.0)
    found = average(trees, binary=True, node_limit=1000).values
    assert found["optimal"] == 0
    assert 0 < found["objective"] < found["upper_bound"] < 1


@pytest.mark.parametrize("kind", ["perturbed", "mixed"])
def test_scale(kind: str) -> None:
    rng = random.Random(9)
    for count in (5, 20, 100):
        for n in (20, 80, 160):
            bases = 1 if kind == "perturbed" else rng.randint(2, 5)
            trees = mixed_trees(n, count, bases, n // 8, rng)
            values = average(trees).values
            assert values["optimal"] == 1
            assert values["seconds"] < 1


def first_of_heaviest_on_a_path(weights: list[int]) -> list[int]:
    """Return the heaviest vertices without neighbours, of equals the fewest, of these the first ones."""
    best: list[tuple[int, int, list[int]]] = [(0, 0, []), (0, 0, [])]
    for i in range(len(weights) - 1, -1, -1):
        without = best[-1]
        weight, count, chosen = best[-2]
        with_it = (weight + weights[i], count - 1, [i, *chosen])
        # At a tie, the set with vertex i comes first.
        best.append(without if without[:2] > with_it[:2] else with_it)
    return best[-1][2]


@pytest.mark.parametrize("seed", range(6))
def test_canonical_ties_in_large_components(seed: int) -> None:
    """A path of conflicts with many ties: too long for these to be written into the weights."""
    rng = random.Random(seed)
    length = rng.choice([70, 150, 600])
    # Set i has the words 2i to 2i + 2, so that it conflicts with its neighbours.
    sets = [0b111 << 2 * i for i in range(length)]
    n = 2 * length + 1
    weights = [rng.choice([1, 1, 2]) for _ in sets]
    trees = [tree_of(n, sets[0::2]), tree_of(n, sets[1::2])]
    hits = []
    for tree in trees:
        hits.append([0.0, *(float(weights[c.first // 2]) for c in tree.constituents[1:])])
    result = inner_masks(average(trees, additive=True, hits=hits))
    assert result == {sets[i] for i in first_of_heaviest_on_a_path(weights)}
