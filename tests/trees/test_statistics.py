"""Statistics by columns are those that trees tell one by one."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from strategies import treebanks
from treemean.trees import Constituent, Tree, Treebank, nesting
from treemean.trees.statistics import StatisticsCounter, statistics


def naive_children(tree: Tree) -> list[int]:
    """Return the numbers of children of all sets of two words or more; a chain counts once, by its lowest."""
    lowest = {c.mask: index for index, c in enumerate(tree.constituents)}
    return [len(tree.children[index]) for mask, index in lowest.items() if mask & (mask - 1)]


def check(bank: Treebank) -> None:
    parents, depths = nesting.parents_of(bank), nesting.depths_of(bank)
    laid_down = parents.copy()
    nesting._lay_down_all(bank, np.flatnonzero(bank.constituent_counts), laid_down)
    assert laid_down.tolist() == parents.tolist()
    start = 0
    for tree in bank:
        end = start + len(tree.constituents)
        assert [p - start if p >= 0 else -1 for p in parents[start:end]] == list(tree.parents)
        assert depths[start:end].tolist() == list(tree.depths)
        start = end
    found = statistics(bank)
    assert found.heights == dict(sorted(Counter(tree.height for tree in bank).items()))
    assert found.children == dict(sorted(Counter(c for tree in bank for c in naive_children(tree)).items()))
    assert found.lengths == dict(sorted(Counter(map(len, bank)).items()))
    sets = [bin(mask) for tree in bank for mask in tree.masks if mask & (mask - 1)]
    assert found.constituents == len(sets)
    assert found.discontinuous_sentences == sum(not tree.is_continuous for tree in bank)
    assert found.ill_nested_sentences == sum(not tree.is_well_nested for tree in bank)
    assert found.word_types == len({word for tree in bank for word in tree.words})


@given(treebanks(min_words=0, max_words=9))
@examples(200)
def test_statistics_are_those_of_the_trees(bank: Treebank) -> None:
    check(bank)
    counter = StatisticsCounter()
    for index in range(len(bank)):
        counter.add(bank[index : index + 1])
    assert counter.result() == statistics(bank)


@given(st.integers(60, 200), st.integers(0, 100))
@examples(20)
def test_sets_of_several_bit_words(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    parts = rng.permutation(n)
    masks = [range(n), parts[: n // 2].tolist(), parts[n // 2 :].tolist(), parts[: n // 4].tolist()]
    tree = Tree(["w"] * n, [Constituent.over(positions, "X") for positions in masks])
    check(Treebank.from_trees([Tree(["a"], [({0}, "X")]), tree, tree, Tree([], [])]))


def test_many_discontinuous_children() -> None:
    """More siblings with gaps than are compared pair by pair: nested pairs, and then two that interleave."""
    n = 400
    well = [({i, n - 1 - i}, "X") for i in range(n // 2)]
    ill = [({i, i + n // 2}, "X") for i in range(n // 2)]
    for pairs in (well, ill, [*well[:-2], ({198, 200}, "Y"), ({199, 201}, "Y")]):
        check(Treebank.from_trees([Tree(["w"] * n, [(range(n), "S"), *pairs])] * 2))
