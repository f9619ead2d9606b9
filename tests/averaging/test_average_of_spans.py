"""Averages of trees and tables of spans against all trees, and against averages of trees alone."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from naive_span_average import (
    BETAS,
    Family,
    Individual,
    Naive,
    as_row,
    averaged,
    family_of,
    mixtures,
    of_one_sentence,
    row_of,
    table_of,
    weights_for,
)

from averaging_oracles import inner_masks
from examples import examples
from instances import flattened, mixed_trees, tree_of
from span_instances import random_spans
from treemean import SpanTable, Tree, Treebank, average
from treemean.trees import Constituent, SpanRow, compatible

MOST_CANDIDATES = 12


# ---- against all trees ------------------------------------------------------------------------------


@given(st.data(), mixtures(), BETAS)
@examples(400)
def test_the_average_is_the_first_of_the_best_trees(
    data: st.DataObject, individuals: list[Individual], beta: float
) -> None:
    weights = data.draw(weights_for(len(individuals)))
    naive = Naive.of(individuals, weights, beta)
    assume(len(naive.candidates) <= MOST_CANDIDATES)
    result = averaged(individuals, weights, beta=beta)
    best = max(naive.objective(family) for family in naive.families())
    assert naive.objective(family_of(result)) == best
    assert family_of(result) == naive.first()
    assert result.values["objective"] == pytest.approx(float(best), rel=1e-12)
    assert result.values["upper_bound"] == result.values["objective"]
    assert result.values["optimal"] == 1


@given(mixtures(), st.integers(0, 2**32 - 1))
@examples(60)
def test_posteriors_of_many_digits_are_rounded_to_nine(individuals: list[Individual], seed: int) -> None:
    rng = random.Random(seed)
    individuals = [
        one._replace(spans=[(mask, rng.random()) for mask, _ in one.spans])
        if isinstance(one, SpanRow)
        else one
        for one in individuals
    ]
    naive = Naive.of(individuals)
    assume(len(naive.candidates) <= MOST_CANDIDATES)
    result = averaged(individuals)
    best = max(float(naive.objective(family)) for family in naive.families())
    assert result.values["objective"] == pytest.approx(best, rel=1e-8)
    assert float(naive.objective(family_of(result))) == pytest.approx(best, rel=1e-8)


@given(st.data(), mixtures(), BETAS)
@examples(100)
def test_support_and_average_f1(data: st.DataObject, individuals: list[Individual], beta: float) -> None:
    weights = data.draw(weights_for(len(individuals)))
    naive = Naive.of(individuals, weights, beta)
    result = averaged(individuals, weights, beta=beta)
    everything = (1 << naive.n) - 1
    for constituent in result:
        if constituent.mask == everything:
            assert constituent.values["support"] == 1
        elif constituent.mask & (constituent.mask - 1):
            assert constituent.values["support"] == pytest.approx(naive.support(constituent.mask), abs=1e-12)
    assert result.values["average_f1"] == pytest.approx(naive.average_f1(family_of(result)), rel=1e-12)


@given(st.data(), mixtures(max_words=7), BETAS, st.sampled_from(["left", "right", "balanced"]))
@examples(100)
def test_binary_output_is_the_best_binary_tree(
    data: st.DataObject, individuals: list[Individual], beta: float, direction: str
) -> None:
    weights = data.draw(weights_for(len(individuals)))
    naive = Naive.of(individuals, weights, beta)
    assume(len(naive.candidates) <= MOST_CANDIDATES)
    # A binary tree has n - 2 sets of 2 to n - 1 words; those that nobody proposes hit nothing.
    size = max(naive.n - 2, 0)
    best = max(naive.objective(family, size) for family in naive.families())
    result = averaged(individuals, weights, beta=beta, binary=direction)
    assert result.is_binary
    assert result.values["optimal"] == 1
    assert result.values["objective"] == pytest.approx(float(best), rel=1e-12)
    assert naive.objective(family_of(result)) == best


@given(st.data(), mixtures(max_words=7))
@examples(60)
def test_the_largest_sum(data: st.DataObject, individuals: list[Individual]) -> None:
    weights = data.draw(weights_for(len(individuals)))
    naive = Naive.of(individuals, weights)
    assume(len(naive.candidates) <= MOST_CANDIDATES)
    best = max(naive.sum(family) for family in naive.families())
    result = averaged(individuals, weights, additive=True)
    assert naive.sum(family_of(result)) == best
    assert all(naive.sum((mask,)) > 0 for mask in inner_masks(result))
    assert result.values["objective"] == pytest.approx(float(best), rel=1e-12, abs=1e-12)


@given(st.data(), mixtures(max_words=7), BETAS)
@examples(100)
def test_hits_take_the_place_of_posteriors(
    data: st.DataObject, individuals: list[Individual], beta: float
) -> None:
    """As those of fitted models; support and average F1 are those of the posteriors all the same."""
    weights = data.draw(weights_for(len(individuals)))
    banks = of_one_sentence(individuals)
    columns = [one.columns if isinstance(one, SpanTable) else one for one in banks]
    number = st.sampled_from([1.0, 0.5, 0.25, 0.1, 2.0, 0.0, -1.0, -0.3, 7.125])
    hits = [
        np.array(data.draw(st.lists(number, min_size=len(c.labels), max_size=len(c.labels)))) for c in columns
    ]
    worths = [
        {c.mask: Fraction(str(h)) for c, h in zip(constituents(one), values)}
        for one, values in zip(individuals, hits)
    ]
    naive = Naive.of(individuals, weights, beta, worths)
    assume(len(naive.candidates) <= MOST_CANDIDATES)
    result = average(banks, weights, beta=beta, hits=hits)[0]
    best = max(naive.objective(family) for family in naive.families())
    assert naive.objective(family_of(result)) == best
    assert family_of(result) == naive.first()
    assert result.values["objective"] == pytest.approx(float(best), rel=1e-9)
    assert result.values["average_f1"] == pytest.approx(naive.average_f1(family_of(result)), rel=1e-12)
    for constituent in result:
        if constituent.mask in naive.candidates:
            assert constituent.values["support"] == pytest.approx(naive.support(constituent.mask), abs=1e-12)


def constituents(one: Individual) -> list[Constituent]:
    """Return what an individual has numbers for, in the order of its columns."""
    if isinstance(one, Tree):
        return list(one.constituents)
    return [Constituent((1 << len(one.words)) - 1), *(Constituent(mask) for mask, _ in one.spans)]


def test_hits_by_name() -> None:
    tree = Treebank.from_trees([tree_of(4, [0b0011])])
    tree = tree.with_columns(constituent_values={"posterior": np.array([1.0, 0.5])})
    table = table_of(row_of(4, [(0b0011, 0.25), (0b0110, 0.9)], 2.0))
    named = average([tree, table], hits="posterior")
    listed = average([tree, table], hits=[np.array([1.0, 0.5]), table.posteriors])
    assert named == listed
    assert named.sentence_values["objective"] == listed.sentence_values["objective"]
    assert average([table], hits="posterior") == average([table])


# ---- ties -------------------------------------------------------------------------------------------


def test_of_equal_trees_the_smallest_constituents_are_taken() -> None:
    spans = [(0b0011, 0.75), (0b0110, 0.75), (0b1010, 0.75)]  # all have the second word
    for order in (spans, spans[::-1]):
        assert family_of(averaged([row_of(4, order, 1.0)])) == (0b0011,)
        assert family_of(averaged([row_of(4, order, 1.0)], ties="right")) == (0b1010,)
    crossing = row_of(4, [(0b0110, 0.75), (0b1101, 0.75)], 1.0)
    assert family_of(averaged([crossing])) == (0b0110,)
    assert family_of(averaged([crossing], ties="left")) == (0b1101,)


def test_of_equal_trees_the_one_with_fewer_constituents_is_taken() -> None:
    """A span that is worth half of F1 neither adds nor takes away."""
    # Without it 2·4 / (4 + 4), with it 2·(4 + posterior) / (5 + 4), the same if the posterior is 1/2.
    assert family_of(averaged([row_of(3, [(0b011, 0.5)], 0.0)])) == ()
    assert family_of(averaged([row_of(3, [(0b011, 0.500001)], 0.0)])) == (0b011,)
    assert family_of(averaged([row_of(3, [(0b011, 0.0)], 0.0)])) == ()


@given(st.data(), mixtures(max_words=7), st.sampled_from(["left", "right"]))
@examples(100)
def test_ties_to_one_side(data: st.DataObject, individuals: list[Individual], side: str) -> None:
    weights = data.draw(weights_for(len(individuals)))
    naive = Naive.of(individuals, weights)
    assume(len(naive.candidates) <= MOST_CANDIDATES)

    def rank(family: Family) -> tuple[Fraction, int, int]:
        firsts = sum((mask & -mask).bit_length() for mask in family)
        lasts = sum(mask.bit_length() for mask in family)
        return -naive.objective(family), len(family), firsts if side == "left" else -lasts

    result = averaged(individuals, weights, ties=side)
    assert family_of(result) == min(naive.families(), key=lambda family: (rank(family), family))


# ---- against averages of trees ----------------------------------------------------------------------


VALUES = ("objective", "average_f1", "upper_bound", "optimal")


def assert_same_sets(one: Tree, other: Tree) -> None:
    """Assert that two averages have the same sets, with the same numbers."""
    assert [c.mask for c in one] == [c.mask for c in other]
    for name in VALUES:
        assert one.values[name] == pytest.approx(other.values[name], rel=1e-12)
    for mine, yours in zip(one, other):
        assert mine.values["support"] == pytest.approx(yours.values["support"], rel=1e-12)


@pytest.mark.parametrize(
    "options", [{}, {"beta": 0.5}, {"binary": True}, {"additive": True}, {"ties": "left"}]
)
@pytest.mark.parametrize("n", [1, 2, 3, 12, 40, 64, 65, 130])
def test_a_tree_as_a_table_is_worth_what_it_is_as_a_tree(n: int, options: dict[str, object]) -> None:
    rng = random.Random(n)
    for tables in (1, 2, 3):
        trees = [flattened(t, rng.choice([0.0, 0.2]), rng) for t in mixed_trees(n, 3, 2, 1 + n // 8, rng)]
        weights = {"continuous": [3, 1, 2], "discontinuous": [1, 2, 1]} if tables == 2 else None
        mixed = [*trees[:-tables], *map(as_row, trees[-tables:])]
        assert_same_sets(averaged(mixed, weights, **options), averaged(trees, weights, **options))


@pytest.mark.parametrize("options", [{}, {"beta": 2.0}, {"binary": "left"}, {"additive": True}])
@pytest.mark.parametrize("n", [3, 6, 10, 20, 40, 70])
def test_a_table_of_five_trees_is_worth_the_five_trees(n: int, options: dict[str, object]) -> None:
    """If these are of one size, F_β with a share of each set is the mean of F_β with each of them."""
    rng = random.Random(n)
    for _ in range(5):
        trees = mixed_trees(n, 7, rng.randint(1, 7), rng.randint(0, 1 + n // 5), rng, rng.choice([0.5, 0.9]))
        count = {
            m: sum(m in tree.masks for tree in trees[2:]) for tree in trees[2:] for m in inner_masks(tree)
        }
        row = row_of(n, [(mask, times / 5) for mask, times in count.items()], n - 2.0)
        together = averaged([*trees[:2], row], [1, 1, 5], **options)
        assert_same_sets(together, averaged(trees, **options))


@given(st.data(), mixtures(), BETAS)
@examples(60)
def test_neither_order_nor_repetition_nor_scale_of_weights_matters(
    data: st.DataObject, individuals: list[Individual], beta: float
) -> None:
    result = averaged(individuals, beta=beta)
    trees = [one for one in individuals if isinstance(one, Tree)]
    rows = [one for one in individuals if isinstance(one, SpanRow)]
    shuffled = [*data.draw(st.permutations(trees)), *data.draw(st.permutations(rows))]
    turned = [row._replace(spans=row.spans[::-1]) for row in rows]
    silent = row_of(len(individuals[0].words), [], 0.0)
    for others, weights in (
        (shuffled, None),
        ([*trees, *turned], None),
        (individuals, [0.3] * len(individuals)),
        ([*trees, *trees, *rows, *rows], None),
        ([*individuals, silent], [1] * len(individuals) + [0]),
    ):
        assert family_of(averaged(others, weights, beta=beta)) == family_of(result)


# ---- several sentences, long ones -------------------------------------------------------------------


def test_several_sentences_are_averaged_one_by_one() -> None:
    rng = random.Random(5)
    sentences = []
    for n in [0, 1, 2, *(rng.randint(3, 70) for _ in range(60)), 0]:
        trees = [flattened(t, 0.2, rng) for t in mixed_trees(n, 2, 2, 3, rng)] if n else [Tree([], [])] * 2
        rows = [row_of(n, random_spans(n, 12, rng), rng.uniform(0, n)) for _ in range(2)]
        sentences.append([*trees, *rows])
    banks = [Treebank.from_trees([s[k] for s in sentences]) for k in range(2)]
    tables = [table_of(*(s[k] for s in sentences)) for k in (2, 3)]
    weights = [3, 1, 2, 0.5]
    for options in ({}, {"beta": 0.5}, {"binary": True}):
        together = average([*banks, *tables], weights, jobs=3, **options)
        for tree, individuals in zip(together, sentences, strict=True):
            assert_same_sets(tree, averaged(individuals, weights, **options))
        assert np.array_equal(together.bits, average([*banks, *tables], weights, jobs=1, **options).bits)


def test_sentences_without_words_and_of_one() -> None:
    table = table_of(row_of(0, [], 0.0), row_of(1, [], 0.0), row_of(2, [], 0.0))
    for options in ({}, {"binary": True}, {"additive": True}):
        result = average([table], **options)
        assert [tree.masks for tree in result] == [set(), {1}, {3}]
        assert result.sentence_values["optimal"].tolist() == [1, 1, 1]
        objective = 0 if "additive" in options else 1
        assert result.sentence_values["objective"].tolist()[1:] == [objective] * 2
    assert len(average([table_of()])) == 0


@pytest.mark.parametrize("n", [63, 64, 65, 128, 130])
def test_long_sentences_against_all_trees(n: int) -> None:
    rng = random.Random(n)
    for _ in range(5):
        tree = tree_of(n, [mask for mask, _ in random_spans(n, 1, rng)])
        rows = [row_of(n, random_spans(n, 5, rng), rng.uniform(0, 5)) for _ in range(2)]
        ends = 1 | 1 << n - 1
        rows.append(row_of(n, [(ends, 0.9), ((1 << n) - 2, 0.6), ((1 << n - 1) - 1, 0.3)], 1.0))
        naive = Naive.of([tree, *rows], [1, 2, 2, 1])
        result = averaged([tree, *rows], [1, 2, 2, 1])
        assert family_of(result) == naive.first()
        assert result.values["objective"] == pytest.approx(float(naive.objective(naive.first())), rel=1e-12)


def test_many_spans() -> None:
    """All intervals of a sentence, as a parser lists them: no change by one span makes the tree better."""
    rng = random.Random(1)
    n = 40
    spans = [
        ((1 << end) - (1 << start), round(rng.random() ** 4, 6))
        for start in range(n)
        for end in range(start + 2, n + 1)
        if end - start < n
    ]
    row = row_of(n, spans, n - 2.0)
    result = averaged([row])
    assert result.values["optimal"] == 1
    naive = Naive.of([row])
    mine = family_of(result)
    value = naive.objective(mine)
    assert result.values["objective"] == pytest.approx(float(value), rel=1e-12)
    for mask in naive.candidates:
        kept = tuple(other for other in mine if compatible(mask, other) and other != mask)
        assert naive.objective(kept) <= value
        assert naive.objective((*kept, mask)) <= value
