"""All best trees, their number, and the next best ones, against the list of all trees."""

from __future__ import annotations

import random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from instances import flattened, mixed_trees, tree_of
from oracle import chosen_in, problem_of, ranking
from treemean.averaging import all_optima, average, count_optima, k_best
from treemean.errors import TreemeanError
from treemean.trees import Tree


@st.composite
def individuals(draw: st.DrawFn) -> list[Tree]:
    rng = random.Random(draw(st.integers(0, 2**32 - 1)))
    count = draw(st.integers(1, 5))
    trees = mixed_trees(
        draw(st.integers(1, 8)),
        count,
        draw(st.integers(1, count)),
        draw(st.integers(0, 3)),
        rng,
        draw(st.sampled_from([0.0, 0.6, 1.0])),
    )
    share = draw(st.sampled_from([0.0, 0.3]))
    return [flattened(tree, rng.choice([0.0, share]), rng) for tree in trees]


@given(individuals(), st.sampled_from([1.0, 0.5]), st.booleans())
@settings(max_examples=120, deadline=None)
def test_optima_are_the_head_of_all_trees(trees: list[Tree], beta: float, weighted: bool) -> None:
    weights = [2, 1, 1, 1, 3][: len(trees)] if weighted else None
    problem = problem_of(trees, weights, beta)
    assume(len(problem.candidates) <= 11)
    ranked = ranking(problem)
    best = [chosen for value, chosen in ranked if value == ranked[0][0]]
    assert count_optima(trees, weights, beta=beta) == len(best)
    optima = all_optima(trees, weights, beta=beta, limit=len(best) + 1)
    assert [chosen_in(tree, problem) for tree in optima] == best
    assert optima[0] == average(trees, weights, beta=beta)

    k = 6
    first = k_best(trees, k, weights, beta=beta)
    assert [chosen_in(tree, problem) for tree in first] == [chosen for _, chosen in ranked[:k]]
    for tree, (value, _) in zip(first, ranked):
        assert tree.values["objective"] == pytest.approx(float(value), rel=1e-12)


def test_many_ties_are_counted_without_listing_them() -> None:
    # Every block of three words is divided in two ways, and nobody can decide.
    blocks = 40
    one = [0b011 << 3 * b for b in range(blocks)] + [0b111 << 3 * b for b in range(blocks)]
    other = [0b110 << 3 * b for b in range(blocks)] + [0b111 << 3 * b for b in range(blocks)]
    trees = [tree_of(3 * blocks, one), tree_of(3 * blocks, other)]
    assert count_optima(trees) == 2**blocks
    assert len(all_optima(trees, limit=10)) == 10


def test_what_cannot_be_decided_is_said() -> None:
    rng = random.Random(5)
    trees = mixed_trees(40, 10, 2, 8, rng)
    with pytest.raises(TreemeanError, match="node_limit"):
        count_optima(trees, node_limit=1)
    with pytest.raises(TreemeanError, match="k is 0; it must be at least 1"):
        k_best(trees, 0)


def test_hits_and_sentences_without_words() -> None:
    tree = tree_of(3, [0b011])
    assert [sorted(t.masks) for t in k_best([tree], 2, hits=[[1, -1]])] == [[0b111], [0b011, 0b111]]
    assert count_optima([Tree([], [])]) == 1
    assert all_optima([Tree([], [])]) == [Tree([], [])]
