"""Ties: the second objective decides exactly, among the best trees with the fewest constituents."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from strategies import parallel_treebanks
from treemean.averaging import all_optima, average, count_labels, k_best
from treemean.averaging.reference.labelled import all_trees, make_labelled_problem, solution_of
from treemean.averaging.reference.labels import Voters
from treemean.averaging.reference.problem import make_problem
from treemean.averaging.weights import make_weights
from treemean.errors import InvalidOption
from treemean.trees import Constituent, Tree, Treebank

Value = Callable[[Constituent], float]


def last(c: Constituent) -> float:
    return c.mask.bit_length() - 1


def first(c: Constituent) -> float:
    return -((c.mask & -c.mask).bit_length() - 1)


def odd(c: Constituent) -> float:
    """Return values without sense, of both signs, with decimals."""
    return ((c.mask * 7919 + len(c.label) * 31) % 11 - 5) / 4


RULES = [("right", last), ("left", first), (odd, odd)]


def by_brute_force(trees: list[Tree], weights: list[int] | None, value: Value) -> set[int]:
    """Return the sets of the best tree: by objective, fewest sets, value, canonical order."""
    problem = make_problem(trees, make_weights(weights, len(trees)))
    best: tuple[Fraction, int, float, tuple[int, ...]] | None = None
    for size in range(len(problem.candidates) + 1):
        for chosen in combinations(range(len(problem.candidates)), size):
            if not problem.is_tree(chosen):
                continue
            worth = sum(value(Constituent(problem.candidates[c])) for c in chosen)
            key = (-problem.objective(chosen), size, -worth, chosen)
            best = key if best is None else min(best, key)
    assert best is not None
    return {problem.candidates[c] for c in best[3]}


def inner_sets(tree: Tree) -> set[int]:
    return {m for m in tree.masks if m & (m - 1) and m != (1 << len(tree.words)) - 1}


@given(
    st.integers(2, 4).flatmap(lambda k: parallel_treebanks(k, 1, max_sentences=1, min_words=3, max_words=5)),
    st.sampled_from(RULES),
    st.booleans(),
)
@examples(120)
def test_ties_are_decided_as_brute_force_decides(banks, rule, binary_inputs) -> None:
    trees = [bank[0] for bank in banks]
    if binary_inputs:
        trees = [average([tree], binary=("left", "right")[k % 2]) for k, tree in enumerate(trees)]
    if len(make_problem(trees, make_weights(None, len(trees))).candidates) > 10:
        return
    ties, value = rule
    result = average(trees, ties=ties)
    assert inner_sets(result) == by_brute_force(trees, None, value)
    assert result.values["objective"] == average(trees).values["objective"]
    optima = all_optima(trees, ties=ties, limit=50)
    assert optima[0] == result == k_best(trees, 1, ties=ties)[0]
    keys = [(len(t.masks), -sum(value(Constituent(m)) for m in inner_sets(t))) for t in optima]
    assert keys == sorted(keys)


@given(
    parallel_treebanks(3, 1, max_sentences=1, min_words=2, max_words=3, labels="AB"), st.sampled_from(RULES)
)
@examples(60)
def test_ties_of_labelled_trees(banks, rule) -> None:
    trees = [bank[0] for bank in banks]
    ties, value = rule
    weights = make_weights(None, 3)
    chains = Voters(trees, weights, count_labels([banks])).chains
    problem = make_labelled_problem(trees, weights, Fraction(1), "keep", chains)
    keys = []
    for chosen in all_trees(problem):
        parts = [
            Constituent(m, label) for m, chain in (problem.candidates[c] for c in chosen) for label in chain
        ]
        worth = sum(map(value, parts))
        keys.append((-solution_of(problem, chosen, None).objective, len(parts), -worth, chosen))
        assert len(keys) < 100_000
    expected = [(m, label) for m, chain in (problem.candidates[c] for c in min(keys)[3]) for label in chain]
    result = average(trees, labelled=True, ties=ties)
    assert sorted((c.mask, c.label) for c in result) == sorted(expected)


def test_right_and_left_by_hand() -> None:
    def tree(*sets: int) -> Tree:
        return Tree(list("abc"), [Constituent(7, "S"), *(Constituent(m, "X") for m in sets)])

    trees = [tree(0b011), tree(0b110)]
    assert inner_sets(average(trees)) == {0b011} == inner_sets(average(trees, ties="left"))
    assert inner_sets(average(trees, ties="right")) == {0b110}
    assert inner_sets(average(trees, ties={(1, 2): 0.5})) == {0b110}
    assert inner_sets(average(trees, ties={(1, 2): -0.5})) == {0b011}
    assert inner_sets(average(trees, ties={((1, 2), "X"): 1}, labelled=True)) == {0b110}
    banks = [Treebank.from_trees([t, t]) for t in trees]
    both = average(banks, ties=[{frozenset({1, 2}): 1}, {}])
    assert [inner_sets(t) for t in both] == [{0b110}, {0b011}]


def test_binary_trees_lean_as_ties_say() -> None:
    flat = Tree(list("abcd"), [Constituent(15, "S")])
    assert inner_sets(average([flat], binary=True, ties="right")) == {0b1110, 0b1100}
    assert inner_sets(average([flat], binary=True, ties="left")) == {0b0111, 0b0011}
    assert inner_sets(average([flat], binary="left", ties="right")) == {0b0111, 0b0011}
    # With gaps, all that is added ends with the last word.
    gap = Tree(list("abcde"), [Constituent(0b11111, "S"), Constituent(0b10001, "X")])
    added = inner_sets(average([gap], binary=True, ties="right")) - {0b10001}
    assert [mask.bit_length() for mask in added] == [5, 5]


def test_binary_trees_are_divided_by_values() -> None:
    flat = Tree(list("abcde"), [Constituent(31, "S"), Constituent(0b00011, "X")])
    for value in (odd, {(2, 3): 1}, lambda c: 0):
        result = average([flat, flat], binary=True, ties=value)
        function = value if callable(value) else lambda c: 1 if c.mask == 0b01100 else 0
        assert result.is_binary
        assert {"S", "X", "S|"} == {c.label for c in result}
        children = [0b00011, 0b00100, 0b01000, 0b10000]
        joins = [
            {0b00111, 0b01111},
            {0b00111, 0b11000},
            {0b01100, 0b01111},
            {0b01100, 0b11100},
            {0b11000, 0b11100},
        ]
        best = max(sum(function(Constituent(m)) for m in join) for join in joins)
        found = inner_sets(result) - {children[0]}
        assert found in joins
        assert sum(function(Constituent(m)) for m in found) == best
    assert result == average([flat], binary="right")
    with pytest.raises(InvalidOption, match="say how binary trees are divided"):
        average([flat], binary=True, ties=odd, hits=[[1, 1]])


def test_what_ties_cannot_be() -> None:
    flat = Tree(list("ab"), [Constituent(3, "S")])
    for ties, message in (
        ("up", "ties must be canonical, right, left"),
        (3, "must be a mapping or a function"),
        ([{}, {}], "values for ties of 2 sentences, but there are 1"),
        ({"ab": 1}, "'ab' is no constituent"),
        (lambda c: float("nan"), "sentence 1: a value for ties is nan"),
        (lambda c: "x", "a value for ties is 'x'"),
    ):
        with pytest.raises(InvalidOption, match=message):
            average([flat], ties=ties)
    with pytest.raises(InvalidOption, match="the method greedy takes no ties"):
        average([flat], ties="right", method="greedy")
