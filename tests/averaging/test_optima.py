"""All best trees, their number, and the next best ones, against the list of all trees."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from averaging_oracles import chosen_in, problem_of, ranking
from examples import examples
from instances import flattened, mixed_trees, tree_of
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


def check_head(trees: list[Tree], weights: Sequence[float] | None, beta: float, k: int) -> None:
    """Compare the optima, and the k best trees, with the first of all trees."""
    problem = problem_of(trees, weights, beta)
    assume(len(problem.candidates) <= 11)
    ranked = ranking(problem)
    best = [chosen for value, chosen in ranked if value == ranked[0][0]]
    assert count_optima(trees, weights, beta=beta) == len(best)
    optima = all_optima(trees, weights, beta=beta, limit=len(best) + 1)
    assert [chosen_in(tree, problem) for tree in optima] == best
    assert optima[0] == average(trees, weights, beta=beta)
    first = k_best(trees, k, weights, beta=beta)
    assert [chosen_in(tree, problem) for tree in first] == [chosen for _, chosen in ranked[:k]]
    for tree, (value, _) in zip(first, ranked):
        assert tree.values["objective"] == pytest.approx(float(value), rel=1e-12)


@given(individuals(), st.sampled_from([1.0, 0.5]), st.booleans())
@examples(120)
def test_optima_are_the_head_of_all_trees(trees: list[Tree], beta: float, weighted: bool) -> None:
    weights = [2, 1, 1, 1, 3][: len(trees)] if weighted else None
    check_head(trees, weights, beta, 6)


@given(individuals(), st.integers(0, 2**32 - 1))
@examples(80)
def test_weights_and_sizes_that_no_128_bits_hold(trees: list[Tree], seed: int) -> None:
    """Many different sizes with odd weights and β: exact values need integers of any length."""
    rng = random.Random(seed)
    trees = [*trees, *(flattened(rng.choice(trees), 0.4, rng) for _ in range(6))]
    # Equal weights in pairs, so that there are ties.
    values = [rng.random() for _ in range(3)]
    weights = [rng.choice(values) for _ in trees]
    beta = rng.choice([1.23456, 0.98765])
    check_head(trees, weights, beta, 5)


def test_ties_among_many_sizes() -> None:
    # Individuals of eight sizes agree on what makes them different, and are divided about three blocks.
    n, blocks = 36, 3
    trees = []
    for k in range(8):
        common = [(0b11 << 2 * j) << 3 * blocks for j in range(k)]
        for part in (0b011, 0b110):
            trees.append(tree_of(n, common + [part << 3 * b for b in range(blocks)]))
    options = {"weights": [1.2345678912345] * len(trees), "beta": 1.23456}
    optima = all_optima(trees, **options)
    assert len(optima) == count_optima(trees, **options) > 1
    problem = problem_of(trees, **options)
    assert len({problem.objective(chosen_in(tree, problem)) for tree in optima}) == 1
    assert optima[0] == average(trees, **options)


def test_few_optima_are_counted_in_large_components() -> None:
    rng = random.Random(200)
    trees = [flattened(t, rng.choice([0.1, 0.2, 0.3]), rng) for t in mixed_trees(100, 30, 2, 10, rng)]
    weights = [rng.random() for _ in trees]
    assert count_optima(trees, weights, beta=1.23456) == len(all_optima(trees, weights, beta=1.23456)) == 1


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


@given(individuals(), st.integers(0, 2**32 - 1), st.sampled_from([1.0, 0.0, 0.5]))
@examples(150)
def test_the_next_best_trees_may_be_worth_less_than_nothing(
    trees: list[Tree], seed: int, beta: float
) -> None:
    rng = random.Random(seed)
    hits = [[rng.choice([1, 1, 1, 0.5, 2, -20, -60.25]) for _ in tree.constituents] for tree in trees]
    plain = problem_of(trees, None, beta)
    assume(len(plain.candidates) <= 8)
    scale = 4  # makes all hits integers
    worth = [{c.mask: round(scale * h) for c, h in zip(t.constituents, row)} for t, row in zip(trees, hits)]
    problem = replace(
        plain,
        hits=tuple(tuple(values.get(mask, 0) for values in worth) for mask in plain.candidates),
        trivial_hits=tuple(scale * hit for hit in plain.trivial_hits),
        total=scale * plain.total,
    )
    ranked = ranking(problem)
    found = k_best(trees, len(ranked) + 1, beta=beta, hits=hits)
    assert [chosen_in(tree, problem) for tree in found] == [chosen for _, chosen in ranked]
    values = [tree.values["objective"] for tree in found]
    assert values == pytest.approx([float(value) for value, _ in ranked], rel=1e-9, abs=1e-12)


def test_hits_and_sentences_without_words() -> None:
    tree = tree_of(3, [0b011])
    assert [sorted(t.masks) for t in k_best([tree], 2, hits=[[1, -1]])] == [[0b111], [0b011, 0b111]]
    assert count_optima([Tree([], [])]) == 1
    for found in (all_optima([Tree([], [])]), k_best([Tree([], [])], 3)):
        assert found == [Tree([], [])]
        assert found[0].values["objective"] == found[0].values["optimal"] == 1
