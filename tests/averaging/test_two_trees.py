"""Two trees of different sizes and equal weights: corners of a hull, found by cuts."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from averaging_oracles import chosen_in, inner_masks, problem_of, ranking
from examples import examples
from instances import flattened, mixed_trees, tree_of
from treemean.averaging import all_optima, average
from treemean.trees import Tree, compatible


@st.composite
def two_trees(draw: st.DrawFn, max_words: int) -> list[Tree]:
    """Draw two trees of different sizes: independent ones, or variants of one tree."""
    rng = random.Random(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(3, max_words))
    trees = mixed_trees(
        n, 2, draw(st.integers(1, 2)), draw(st.integers(0, 3)), rng, draw(st.sampled_from([0.0, 0.7]))
    )
    result = [flattened(tree, draw(st.sampled_from([0.0, 0.2, 0.5, 0.8])), rng) for tree in trees]
    assume(len(inner_masks(result[0])) != len(inner_masks(result[1])))
    return result


@given(two_trees(max_words=9), st.sampled_from([1.0, 2.0, 1.3, 0.9, 0.8062, 0.7, 0.3]))
@examples(200)
def test_the_average_of_two_trees_is_the_first_of_the_best(trees: list[Tree], beta: float) -> None:
    problem = problem_of(trees, None, beta)
    value, chosen = ranking(problem)[0]
    result = average(trees, beta=beta)
    assert chosen_in(result, problem) == chosen
    assert result.values["optimal"] == 1
    assert result.values["objective"] == pytest.approx(float(value), rel=1e-12)


@given(two_trees(max_words=40), st.sampled_from([1.0, 0.85, 0.75, 0.5]))
@examples(80)
def test_it_is_the_first_that_the_search_by_sizes_finds(trees: list[Tree], beta: float) -> None:
    optima = all_optima(trees, beta=beta, limit=10_000)
    assert inner_masks(average(trees, beta=beta)) == inner_masks(optima[0])


def test_a_small_beta_wants_some_constituents_of_one_tree() -> None:
    """All of one tree conflict with all of the other one; neither tree nor what they share is best."""
    trees = [tree_of(6, [0b100010, 0b100110]), tree_of(6, [0b000011, 0b000111, 0b001111, 0b011111])]
    assert inner_masks(average(trees, beta=0.65**0.5)) == {0b100010}


def best_by_corners(trees: list[Tree]) -> Fraction:
    """The best corner of the hull of all points (i, j), from all independent sets."""
    first, second = (inner_masks(tree) for tree in trees)
    left, right = sorted(first - second), sorted(second - first)
    common = len(trees[0].words) + 1 + len(first & second)
    most: dict[int, int] = {}
    for size in range(len(left) + 1):
        for chosen in combinations(left, size):
            j = sum(all(compatible(a, b) for a in chosen) for b in right)
            most[size] = max(most.get(size, 0), j)
    points = list(most.items())
    corners = [
        (i, j)
        for i, j in points
        if not any(
            a[0] < i < b[0] and (j - a[1]) * (b[0] - a[0]) <= (b[1] - a[1]) * (i - a[0])
            for a in points
            for b in points
        )
    ]
    corners += [(0, 0), (len(left), 0), (0, len(right))]
    sizes = [common + len(left), common + len(right)]
    return max(
        Fraction(common + i, common + i + j + sizes[0]) + Fraction(common + j, common + i + j + sizes[1])
        for i, j in corners
    )


@given(two_trees(max_words=10))
@examples(80)
def test_a_corner_is_best(trees: list[Tree]) -> None:
    problem = problem_of(trees)
    assert best_by_corners(trees) == ranking(problem)[0][0]


def test_two_trees_are_averaged_without_branching_to_no_end() -> None:
    """Hundreds of private constituents in one component; sizes differ by a third."""
    rng = random.Random(4)
    trees = [flattened(tree, share, rng) for tree, share in zip(mixed_trees(400, 2, 2, 0, rng), (0.0, 0.4))]
    result = average(trees, time_limit=60)
    assert result.values["optimal"] == 1


@pytest.mark.parametrize("limits", [{"node_limit": 1}, {"time_limit": 1e-6}])
def test_without_a_budget_there_is_a_bound(limits: dict[str, float]) -> None:
    rng = random.Random(5)
    trees = [flattened(tree, share, rng) for tree, share in zip(mixed_trees(60, 2, 2, 0, rng), (0.0, 0.4))]
    best = average(trees).values["objective"]
    result = average(trees, **limits)
    assert result.values["objective"] <= best <= result.values["upper_bound"]
    assert result.values["optimal"] == (result.values["objective"] == result.values["upper_bound"])


def test_repeated_trees_count_as_two() -> None:
    trees = [tree_of(6, [0b000011, 0b000111]), tree_of(6, [0b000110, 0b110000, 0b111000])]
    doubled = [trees[k % 2] for k in range(6)]
    assert inner_masks(average(doubled)) == inner_masks(average(trees))
