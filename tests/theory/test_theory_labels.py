"""Labelled constituents (docs/theory.md, section 10): brute force over few words; the hard cases, solved."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import pytest
from binary_output import three_colours
from graphs import independence_number, random_graph, two_colourable
from hypothesis import given
from hypothesis import strategies as st
from independent import best_ratio, in_conflict

from averaging_oracles import all_trees
from examples import examples

#: By set of words the labels over it, from the top.
Labelled = dict[int, tuple[str, ...]]


def random_tree(n: int, rng: random.Random, *, unaries: bool, binary: bool) -> Labelled:
    """Return a tree over n words: a label for each set of two words or more, with unaries sometimes two."""
    families = [f for f in all_trees((1 << n) - 1) if not binary or len(f) == n - 1]
    sets = sorted(rng.choice(families))
    if unaries:
        sets += [1 << p for p in range(n) if rng.random() < 0.2]
    lengths = [2 if unaries and rng.random() < 0.25 else 1 for _ in sets]
    return {c: tuple(rng.choice("AB") for _ in range(length)) for c, length in zip(sets, lengths)}


def multiset(tree: Labelled) -> Counter[tuple[int, str]]:
    return Counter((c, label) for c, chain in tree.items() for label in chain)


class Average:
    """All trees whose chain over each set is one that some individual has there; words are counted, too."""

    def __init__(self, n: int, trees: list[Labelled]) -> None:
        self.n, self.trees = n, trees
        self.sizes = {n + sum(map(len, tree.values())) for tree in trees}
        self.chains: dict[int, set[tuple[str, ...]]] = {}
        for tree in trees:
            for c, chain in tree.items():
                self.chains.setdefault(c, set()).add(chain)

    def hits(self, c: int, chain: tuple[str, ...]) -> int:
        wanted = Counter(chain)
        return sum((wanted & Counter(tree.get(c, ()))).total() for tree in self.trees)

    def possible(self) -> Iterator[Labelled]:
        everything = (1 << self.n) - 1
        choices = [
            [(c, chain) for chain in sorted(chains)] + ([] if c == everything else [None])
            for c, chains in sorted(self.chains.items())
        ]
        for picked in product(*choices):
            tree = dict(item for item in picked if item)
            if not any(in_conflict(a, b) for a in tree for b in tree):
                yield tree

    def value(self, tree: Labelled) -> Fraction:
        """Half of Σ F1, with the common size of the individuals."""
        (size,) = self.sizes
        hits = len(self.trees) * self.n + sum(self.hits(c, chain) for c, chain in tree.items())
        return Fraction(hits, self.n + sum(map(len, tree.values())) + size)

    def by_definition(self, tree: Labelled) -> Fraction:
        (size,) = self.sizes
        mine = multiset(tree)
        common = sum(self.n + (mine & multiset(other)).total() for other in self.trees)
        return Fraction(common, self.n + mine.total() + size)


@st.composite
def averages(draw: st.DrawFn, *, unaries: bool, most: int = 6) -> Average:
    """Draw individuals of one size."""
    rng = random.Random(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(3, 4))
    count = draw(st.integers(1, most))
    trees: list[Labelled] = []
    while len(trees) < count:
        tree = random_tree(n, rng, unaries=unaries, binary=not unaries)
        if not trees or sum(map(len, tree.values())) == sum(map(len, trees[0].values())):
            trees.append(tree)
    return Average(n, trees)


def optima(average: Average) -> tuple[Fraction, list[Labelled]]:
    valued = [(average.value(tree), tree) for tree in average.possible()]
    best = max(value for value, _ in valued)
    return best, [tree for value, tree in valued if value == best]


@examples(80)
@given(average=averages(unaries=False))
def test_one_label_per_set(average: Average) -> None:
    """Labelled constituents of optima have more than a third of the weight; conflicts separate."""
    n, count = average.n, len(average.trees)
    everything = (1 << n) - 1
    best, trees = optima(average)
    assert best > Fraction(count, 3)
    most_at_root = max(average.hits(everything, chain) for chain in average.chains[everything])
    for tree in trees:
        assert average.value(tree) == average.by_definition(tree)
        assert average.hits(everything, tree[everything]) == most_at_root
        for c, chain in tree.items():
            assert c == everything or average.hits(c, chain) >= best
    heavy = [
        (c, chain)
        for c, chains in average.chains.items()
        for chain in chains
        if c != everything and 3 * average.hits(c, chain) > count
    ]
    near = [
        {
            j
            for j, other in enumerate(heavy)
            if one != other and (one[0] == other[0] or in_conflict(one[0], other[0]))
        }
        for one in heavy
    ]
    assert not any(near[i] & near[j] for i in range(len(heavy)) for j in near[i])
    if count in (1, 2, 3, 4, 6):
        assert two_colourable(near)
    if count == 3:
        assert not any(near)
        inner = [{item for item in tree.items() if item[0] != everything} for tree in trees]
        assert all(chosen == set(heavy) for chosen in inner)


@examples(40)
@given(average=averages(unaries=True, most=4))
def test_chains(average: Average) -> None:
    """The set below a chain of an optimum has at least λ* of the weight, whatever the chain."""
    everything = (1 << average.n) - 1
    best, trees = optima(average)
    for tree in trees:
        assert average.value(tree) == average.by_definition(tree)
        for c, chain in tree.items():
            if c != everything:
                assert average.hits(c, chain) >= best * len(chain)
                assert sum(c in other for other in average.trees) >= best


def test_a_disputed_label_leaves_a_set_out() -> None:
    """Jointly, a set that all have is left out if they disagree about its label."""
    trees: list[Labelled] = [{0b111: ("A",), 0b011: (label,)} for label in "ABCDE"]
    average = Average(3, trees)
    _, best = optima(average)
    assert all(0b011 not in tree for tree in best)


def test_labels_above_single_words_bring_pairs_of_one_hit() -> None:
    """Three trees that share nothing but the words: the average has five labels, all of one hit."""
    words = (0b001, 0b010, 0b100)
    trees: list[Labelled] = [
        dict.fromkeys((7, pair, *words), (label,))
        for label, pair in zip("ABC", (0b011, 0b110, 0b101), strict=True)
    ]
    average = Average(3, trees)
    assert average.sizes == {8}
    assert average.value({0b111: ("A",)}) == Fraction(10, 12)
    best, found = optima(average)
    assert best == Fraction(14, 16)
    assert all(len(tree) == 5 for tree in found)


@pytest.mark.parametrize(
    ("n", "weight", "heavy_value", "better_value"),
    [(10, Fraction(2), "1.27500", "1.27514"), (5, Fraction(16, 9), "1.18889", "1.18930")],
)
def test_labels_above_single_words_can_beat_the_heavier_tree(
    n: int, weight: Fraction, heavy_value: str, better_value: str
) -> None:
    """Two trees of the weights w ≥ 16/9 and 1: one set of the light tree improves the heavy one."""
    everything, left_over = (1 << n) - 1, (1 << n - 1) - 1
    heavy: Labelled = {(1 << words) - 1: ("A",) for words in range(2, n - 1)}
    heavy |= {everything: ("A",)} | {1 << p: ("A",) for p in range(n)}
    light: Labelled = {everything: ("A",), left_over: ("A",)}

    def value(tree: Labelled) -> Fraction:
        mine = multiset(tree)
        heavy_common, light_common = (n + (mine & multiset(other)).total() for other in (heavy, light))
        size = n + len(tree)
        return weight * Fraction(heavy_common, size + n + len(heavy)) + Fraction(
            light_common, size + n + len(light)
        )

    better = heavy | {left_over: ("A",)}
    assert not any(in_conflict(a, b) for a in better for b in better)
    assert (n + len(heavy), n + len(light)) == (3 * n - 2, n + 2)
    assert value(better) > value(heavy)
    assert [f"{float(value(tree)):.5f}" for tree in (heavy, better)] == [heavy_value, better_value]
    assert weight < Fraction(3 * (2 * n - 1) * (3 * n - 1), 2 * n * (4 * n + 1))


@pytest.mark.parametrize(("weight", "most"), [(Fraction(16, 9), 2), (Fraction(9, 4), 3)])
def test_the_heavier_of_two_trees_is_best(weight: Fraction, most: int) -> None:
    """All sizes below most times the common part: nothing exceeds the heavy tree; a lighter one fails."""

    def is_best(w: Fraction, common: int, s: int, other: int) -> bool:
        values = {
            (a, j): w * Fraction(a, a + j + s) + Fraction(common + j, a + j + other)
            for a in range(common, s + 1)
            for j in range(other - common + 1)
        }
        return values[s, 0] == max(values.values())

    for common in range(2, 7):
        for s, other in product(range(common, most * common), repeat=2):
            assert is_best(weight, common, s, other)
    assert not is_best(weight * Fraction(9, 10), 20, most * 20 - 1, 21)


Chain = tuple[int, tuple[str, ...]]


def same_words_or_conflict(a: Chain, b: Chain) -> bool:
    return a[0] == b[0] or in_conflict(a[0], b[0])


@pytest.mark.parametrize(("count", "copies"), [(3, 1), (3, 2), (4, 1), (5, 1)])
def test_labels_above_single_words_make_few_trees_hard(count: int, copies: int) -> None:
    """Every tree has labels of its own, K - 2 of them above each word; or each tree is there twice."""
    rng = random.Random(count)
    for order in (2, 3, 5):
        graph = random_graph(order, rng)
        shapes, free = three_colours(graph, count)
        n = len(shapes[0].words)
        everything = (1 << n) - 1
        trees: list[Labelled] = [
            {c: (str(k),) for c in shape.masks} | {1 << p: (str(k),) * (count - 2) for p in range(n)}
            for k, shape in enumerate(shapes)
        ]
        average = Average(n, trees * copies)
        (size,) = average.sizes
        worth = {
            (c, chain): (Fraction(average.hits(c, chain)), len(chain))
            for c, chains in average.chains.items()
            for chain in chains
            if c != everything
        }
        base = Fraction(copies * (count * n + 1))  # the words, and a label of the whole sentence
        best = best_ratio(worth, base, n + 1 + size, same_words_or_conflict)
        for q in range(order + 1):
            others = (count - 2) * n + free + len(graph.edges) + q
            threshold = (base + copies * others) / (n + 1 + size + others)
            assert (best >= threshold) == (q <= independence_number(graph))


@examples(40)
@given(seed=st.integers(0, 10**6))
def test_four_trees_with_labels_above_words(seed: int) -> None:
    """Pairs of optima have two hits or more."""
    rng = random.Random(seed)
    trees: list[Labelled] = []
    while len(trees) < 4:
        inner = random_tree(3, rng, unaries=False, binary=True)
        trees.append(inner | {1 << p: (rng.choice("AB"),) for p in range(3)})
    average = Average(3, trees)
    best, found = optima(average)
    assert best > 1
    assert all(average.hits(c, chain) >= 2 for tree in found for c, chain in tree.items() if c != 0b111)
