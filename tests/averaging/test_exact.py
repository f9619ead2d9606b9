"""The exact average against all trees, and against itself in other circumstances."""

from __future__ import annotations

import os
import random
import resource
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from averaging_oracles import Case, chosen_in, inner_masks, problem_of, ranking
from commands import python
from examples import examples
from instances import BinaryTree, flattened, mixed_trees, perturbed_trees, tree_of
from treemean.averaging import average
from treemean.averaging.request import squared_beta
from treemean.averaging.weights import make_weights
from treemean.trees import Tree, Treebank, compatible

MOST_CANDIDATES = 13


@st.composite
def individuals(draw: st.DrawFn, max_words: int = 8, max_trees: int = 6) -> list[Tree]:
    """Draw trees over the same words: independent, perturbed, mixed, binary or not, some of them repeated."""
    rng = random.Random(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, max_words))
    count = draw(st.integers(1, max_trees))
    bases = draw(st.integers(1, count))
    moves = draw(st.integers(0, 4))
    trees = mixed_trees(n, count, bases, moves, rng, draw(st.sampled_from([0.0, 0.5, 0.9, 1.0])))
    shares = draw(st.sampled_from([[0.0], [0.0, 0.3], [0.5], [0.1, 0.9]]))
    return [flattened(tree, rng.choice(shares), rng) for tree in trees]


def weights_for(count: int) -> st.SearchStrategy[object]:
    numbers = st.lists(st.sampled_from([0, 1, 1, 2, 3, 5.95, 1.38, 0.25]), min_size=count, max_size=count)
    some = numbers.filter(any)
    typed = st.fixed_dictionaries({"continuous": some, "discontinuous": numbers})
    return st.one_of(st.none(), some, typed)


@given(st.data(), individuals(), st.sampled_from([1.0, 1.0, 0.5, 2.0, 0.0, 0.7, 31.6]))
@examples(300)
def test_the_average_is_the_first_of_the_best_trees(
    data: st.DataObject, trees: list[Tree], beta: float
) -> None:
    weights = data.draw(weights_for(len(trees)))
    problem = problem_of(trees, weights, beta)
    assume(len(problem.candidates) <= MOST_CANDIDATES)
    value, chosen = ranking(problem)[0]
    result = average(trees, weights, beta=beta)
    assert chosen_in(result, problem) == chosen
    assert result.values["optimal"] == 1
    assert result.values["objective"] == pytest.approx(float(value), rel=1e-12)
    assert result.values["upper_bound"] == result.values["objective"]


@given(individuals(max_words=6, max_trees=5), st.sampled_from([1.0, 0.5, 2.0]))
@examples(40)
def test_no_tree_whatsoever_is_better(trees: list[Tree], beta: float) -> None:
    case = Case(tuple(trees), make_weights(None, len(trees)), squared_beta(beta))
    best = case.best()
    result = average(trees, beta=beta)
    assert case.objective(inner_masks(result)) == best
    assert result.values["objective"] == pytest.approx(float(best), rel=1e-12)


@given(st.data(), individuals(max_words=9))
@examples(100)
def test_neither_order_nor_repetition_nor_scale_of_weights_matters(
    data: st.DataObject, trees: list[Tree]
) -> None:
    result = average(trees)
    shuffled = data.draw(st.permutations(trees))
    assert inner_masks(average(shuffled)) == inner_masks(result)
    assert inner_masks(average(trees, [0.3] * len(trees))) == inner_masks(result)
    tripled = average([tree for tree in trees for _ in range(3)])
    assert inner_masks(tripled) == inner_masks(result)
    silent = tree_of(len(trees[0].words), [])
    assert inner_masks(average([*trees, silent], [1] * len(trees) + [0])) == inner_masks(result)


@given(individuals(max_words=9))
def test_average_f1_is_the_mean_f1(trees: list[Tree]) -> None:
    weights = {"continuous": list(range(1, len(trees) + 1)), "discontinuous": [1] * len(trees)}
    result = average(trees, weights, beta=0.7)
    plain = Case(tuple(trees), make_weights(weights["continuous"], len(trees)), Fraction(1))
    mean = plain.objective(inner_masks(result))
    assert result.values["average_f1"] == pytest.approx(float(mean), rel=1e-12)


@pytest.mark.parametrize("beta", [1.23456, 999.123])
def test_many_sizes_with_odd_weights_lose_no_digits(beta: float) -> None:
    rng = random.Random(300)
    trees = [flattened(t, rng.choice([0.1, 0.2, 0.3]), rng) for t in mixed_trees(150, 60, 1, 15, rng)]
    weights = [rng.random() for _ in trees]
    result = average(trees, weights, beta=beta)
    problem = problem_of(trees, weights, beta)
    assert result.values["optimal"] == 1
    exact = float(problem.objective(chosen_in(result, problem)))
    assert result.values["objective"] == pytest.approx(exact, rel=1e-14)


def test_threads_do_not_change_anything() -> None:
    rng = random.Random(11)
    sentences = [mixed_trees(rng.randint(1, 70), 5, 3, 6, rng) for _ in range(300)]
    banks = [Treebank.from_trees([s[k] for s in sentences]) for k in range(5)]
    for options in ({}, {"binary": True, "node_limit": 500}):
        one, many = (average(banks, jobs=jobs, **options) for jobs in (1, 7))
        assert one == many
        for name in set(one.sentence_values) - {"seconds"}:
            assert np.array_equal(one.sentence_values[name], many.sentence_values[name])
        assert np.array_equal(one.constituent_values["support"], many.constituent_values["support"])


FEW_THREADS = """
import random, resource
from instances import mixed_trees
from treemean import Treebank, average

banks = [Treebank.from_trees([tree] * 2000) for tree in mixed_trees(12, 3, 2, 2, random.Random(1))]
expected = average(banks, jobs=1)
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
room = used + (10 << 30)
resource.setrlimit(resource.RLIMIT_AS, (room, room))
assert average(banks, jobs=100) == expected
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_threads_that_memory_allows_no_stack_for_are_done_without() -> None:
    def three_gigabytes_of_stack() -> None:
        hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
        resource.setrlimit(resource.RLIMIT_STACK, (3 << 30, hard))

    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    python("-c", FEW_THREADS, env=environment, preexec_fn=three_gigabytes_of_stack)


def test_a_treebank_is_averaged_like_its_trees() -> None:
    rng = random.Random(12)
    sentences = [
        [flattened(t, 0.2, rng) for t in mixed_trees(rng.randint(1, 70), 4, 2, 5, rng)] for _ in range(60)
    ]
    banks = [Treebank.from_trees([s[k] for s in sentences]) for k in range(4)]
    for result, trees in zip(average(banks, [3, 1, 1, 2]), sentences):
        assert result == average(trees, [3, 1, 1, 2])


# ---- binary output ----------------------------------------------------------------------------------


@given(st.data(), individuals(max_words=7, max_trees=4), st.sampled_from(["left", "right", "balanced"]))
@examples(100)
def test_binary_output_is_the_best_binary_tree(
    data: st.DataObject, trees: list[Tree], direction: str
) -> None:
    weights = data.draw(weights_for(len(trees)))
    problem = problem_of(trees, weights)
    assume(len(problem.candidates) <= MOST_CANDIDATES)
    n = len(trees[0].words)
    result = average(trees, weights, binary=direction)
    assert result.is_binary
    assert result.values["optimal"] == 1
    # A binary tree has n - 2 sets of 2 to n - 1 words; those that nobody proposes hit nothing.
    size = problem.trivial_count + max(n - 2, 0)

    def value(chosen: tuple[int, ...]) -> Fraction:
        worth = Fraction(0)
        for k, individual_size in enumerate(problem.sizes):
            hits = problem.trivial_hits[k] + sum(problem.hits[c][k] for c in chosen)
            worth += Fraction(2 * hits, size + individual_size)
        return worth / problem.total

    best = max(value(chosen) for _, chosen in ranking(problem))
    mine = tuple(i for i, mask in enumerate(problem.candidates) if mask in result.masks)
    assert value(mine) == best
    assert result.values["objective"] == pytest.approx(float(best), rel=1e-12)


def test_binary_output_divides_like_binarise() -> None:
    from treemean.trees.binarise import binarise

    flat = tree_of(7, [0b1010010, 0b0101101])
    for direction in ("left", "right", "balanced"):
        assert average([flat], binary=direction) == binarise(flat, direction)


def test_binary_output_does_not_claim_too_much_when_it_must_add_negative_hits() -> None:
    tree = tree_of(3, [0b011])
    result = average([tree], binary="left", hits=[[1.0, -5.0]])
    assert 0b011 in result.masks
    assert result.values["optimal"] == 0
    assert result.values["objective"] < 0.5 < result.values["upper_bound"]


# ---- hits -------------------------------------------------------------------------------------------


@st.composite
def valued_individuals(draw: st.DrawFn) -> tuple[list[Tree], list[list[float]]]:
    trees = draw(individuals(max_words=7, max_trees=5))
    values = st.sampled_from([1.0, 0.5, 0.25, 0.1, 2.0, 0.0, -1.0, -0.3, 7.125])
    hits = [draw(st.lists(values, min_size=len(t.constituents), max_size=len(t.constituents))) for t in trees]
    return trees, hits


def _values_by_mask(tree: Tree, hits: list[float]) -> dict[int, Fraction]:
    worth: dict[int, Fraction] = {}
    for constituent, value in zip(tree.constituents, hits):
        worth.setdefault(constituent.mask, Fraction(str(value)))
    return worth


@given(valued_individuals(), st.booleans())
@examples(200)
def test_hits_of_any_sign(valued: tuple[list[Tree], list[list[float]]], weighted: bool) -> None:
    trees, hits = valued
    weights = [3, 1, 2, 5, 1][: len(trees)] if weighted else None
    integers = make_weights(weights, len(trees))
    plain = problem_of(trees, weights)
    assume(len(plain.candidates) <= MOST_CANDIDATES)
    worth = [_values_by_mask(tree, h) for tree, h in zip(trees, hits)]
    scale = 1000
    problem = type(plain)(
        plain.n,
        plain.candidates,
        tuple(
            tuple(int(scale * w * v.get(mask, 0)) for w, v in zip(integers.continuous, worth))
            for mask in plain.candidates
        ),
        tuple(scale * t for t in plain.trivial_hits),
        plain.sizes,
        scale * plain.total,
    )
    ranked = ranking(problem)
    result = average(trees, weights, hits=hits)
    assert result.values["optimal"] == 1
    assert result.values["objective"] == pytest.approx(float(ranked[0][0]), rel=1e-9)
    assert chosen_in(result, problem) == ranked[0][1]

    summed = problem.summed_hits
    best = max(sum(summed[c] for c in chosen) for _, chosen in ranked)
    result = average(trees, weights, hits=hits, additive=True)
    mine = chosen_in(result, problem)
    assert sum(summed[c] for c in mine) == best
    assert all(summed[c] > 0 for c in mine)
    assert result.values["objective"] == pytest.approx(best / problem.total, rel=1e-9, abs=1e-12)


def test_hits_by_name_are_hits_by_array() -> None:
    rng = random.Random(8)
    trees = perturbed_trees(12, 4, 5, rng)
    banks = []
    for tree in trees:
        bank = Treebank.from_trees([tree])
        values = np.array([rng.random() for _ in tree.constituents])
        banks.append(bank.with_columns(constituent_values={"probability": values}))
    named = average(banks, hits="probability")
    given_ = average(banks, hits=[bank.constituent_values["probability"] for bank in banks])
    assert named == given_
    assert np.array_equal(named.sentence_values["objective"], given_.sentence_values["objective"])
    ones = average(banks, hits=[np.ones(len(bank.labels)) for bank in banks])
    assert ones == average(banks)


# ---- extremes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 128, 129, 500])
def test_one_individual_is_its_own_average(n: int) -> None:
    tree = BinaryTree.random(n, random.Random(n)).tree()
    result = average([tree])
    assert result.masks == tree.masks
    assert result.values["objective"] == 1
    assert average([tree] * 5).masks == tree.masks


def test_sentences_without_words() -> None:
    nothing = Tree([], [])
    bank = Treebank.from_trees([nothing, tree_of(3, [0b011]), nothing])
    for options in ({}, {"binary": True}, {"additive": True}):
        result = average([bank, bank], **options)
        assert [len(tree.words) for tree in result] == [0, 3, 0]
        assert result.sentence_values["optimal"].tolist() == [1, 1, 1]
    assert len(average([Treebank.empty()])) == 0


def test_many_individuals() -> None:
    rng = random.Random(1)
    agreeing = average(perturbed_trees(20, 1000, 3, rng))
    assert agreeing.values["optimal"] == 1
    different = average([BinaryTree.random(20, rng, 0.0).tree() for _ in range(1000)])
    assert different.values["optimal"] == 1
    # No set of words has a third of the hits, so that only what all trees have in common is left.
    assert different.masks == {(1 << 20) - 1}


def test_long_sentences() -> None:
    rng = random.Random(2)
    trees = perturbed_trees(5000, 3, 1500, rng)
    result = average(trees)
    assert result.values["optimal"] == 1
    hits = {mask: sum(mask in tree.masks for tree in trees) for tree in trees for mask in tree.masks}
    # Of three binary trees the average is the majority.
    assert result.masks == {mask for mask, count in hits.items() if count >= 2}


def test_results_are_trees_at_all_widths() -> None:
    rng = random.Random(3)
    for n in (60, 64, 65, 130, 200):
        for trees in (mixed_trees(n, 10, 2, n // 8, rng), mixed_trees(n, 7, 3, n // 8, rng, 0.5)):
            trees = [flattened(tree, rng.choice([0.0, 0.2]), rng) for tree in trees]
            for options in ({}, {"binary": True}, {"additive": True}):
                masks = sorted(average(trees, node_limit=3000, **options).masks)
                assert all(compatible(a, b) for i, a in enumerate(masks) for b in masks[:i])
