"""The layout against its promises, by brute force."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from strategies import trees
from treemean.trees import Tree, bitsets
from treemean.trees.drawing.layout import Arrangement, Places, arrange, place

sizes = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=60, max_size=60)


def bar_of(arrangement: Arrangement, places: Places, node: int) -> tuple[float, float]:
    ends = [places.x[child] for child in arrangement.children[node]]
    return min(ends), max(ends)


def placed(tree: Tree, extents: list[tuple[int, int]], whole: bool) -> tuple[Arrangement, Places]:
    arrangement = arrange(tree)
    nodes = len(arrangement.level)
    return arrangement, place(arrangement, extents[:nodes], gap=2, snap=1, whole=whole)


@given(trees(max_fan_out=1))
def test_levels_of_a_continuous_tree_are_its_heights(tree: Tree) -> None:
    arrangement = arrange(tree)
    assert arrangement.level == (0,) * len(tree) + tree.heights


@examples(300)
@given(trees(min_words=5, max_words=14))
def test_what_fills_a_gap_lies_below_the_bridge(tree: Tree) -> None:
    arrangement = arrange(tree)
    n = len(tree)
    for i, parent in enumerate(tree.parents):
        assert parent < 0 or arrangement.level[n + parent] > arrangement.level[n + i]
    for (i, a), (j, b) in combinations(enumerate(tree.constituents), 2):
        for (outer, c), (inner, d) in (((n + i, a), (n + j, b)), ((n + j, b), (n + i, a))):
            inside = c.first < d.first and d.mask.bit_length() < c.mask.bit_length()
            if c.mask & d.mask or not inside or len(arrangement.children[inner]) == 1:
                continue
            homes = [arrangement.home[child] for child in arrangement.children[outer]]
            inner_homes = [arrangement.home[child] for child in arrangement.children[inner]]
            if homes[0][0] <= inner_homes[-1][1] and inner_homes[0][0] <= homes[-1][1]:
                assert arrangement.level[outer] > arrangement.level[inner]


@given(trees(min_words=3))
def test_homes_belong_to_their_constituents(tree: Tree) -> None:
    arrangement = arrange(tree)
    for node, c in enumerate(tree.constituents, len(tree)):
        first, last = arrangement.home[node]
        assert set(range(first, last + 1)) <= set(c.positions)


@examples(150)
@given(trees(min_words=4), sizes, st.booleans())
def test_nothing_overlaps(tree: Tree, extents: list[tuple[int, int]], whole: bool) -> None:
    arrangement, places = placed(tree, extents, whole)
    x, level, parent = places.x, arrangement.level, arrangement.parent
    tops = [level[p] if p >= 0 else level[node] + 1 for node, p in enumerate(parent)]
    for a, b in combinations(range(len(level)), 2):
        for row in range(max(level[a], level[b]), min(tops[a], tops[b])):
            left, right = (a, b) if x[a] < x[b] else (b, a)
            reach = extents[left][1] if level[left] == row else 0
            start = extents[right][0] if level[right] == row else 0
            assert x[right] - x[left] >= reach + start + 2 - 1e-6
    barred = [node for node in arrangement.constituents if len(arrangement.children[node]) > 1]
    for a, b in combinations(barred, 2):
        if level[a] == level[b]:
            (a1, a2), (b1, b2) = bar_of(arrangement, places, a), bar_of(arrangement, places, b)
            assert a2 < b1 or b2 < a1


@examples(150)
@given(trees(min_words=4), sizes, st.booleans())
def test_anchors_stand_over_their_bars_and_words_in_order(
    tree: Tree, extents: list[tuple[int, int]], whole: bool
) -> None:
    arrangement, places = placed(tree, extents, whole)
    assert list(places.x[: len(tree)]) == sorted(places.x[: len(tree)])
    for node in arrangement.constituents:
        first, last = bar_of(arrangement, places, node)
        assert first <= places.x[node] <= last
        if whole:
            assert isinstance(places.x[node], int)
    assert min(p - before for p, (before, _) in zip(places.x, extents)) == 0


@examples(150)
@given(trees(min_words=4), sizes)
def test_crossings_are_those_of_the_geometry(tree: Tree, extents: list[tuple[int, int]]) -> None:
    arrangement, places = placed(tree, extents, whole=True)
    level, parent = arrangement.level, arrangement.parent
    for node in arrangement.constituents:
        first, last = bar_of(arrangement, places, node)
        passing = [
            other
            for other in range(len(level))
            if parent[other] not in (-1, node)
            and level[other] < level[node] <= level[parent[other]]
            and first < places.x[other] < last
        ]
        assert arrangement.crossing(node) == sorted(passing, key=places.x.__getitem__)


@pytest.mark.parametrize(
    "filling",
    [
        [({1, 2, 3, 4, 5}, "NP"), ({2, 3, 4, 5}, "N"), ({3, 4, 5}, "N")],
        [({1, 2, 3, 4, 5}, "NP"), ({1}, "D"), ({2, 3, 4, 5}, "N"), ({2}, "A"), ({5}, "N")],
    ],
)
def test_a_bridge_is_crossed_once_by_what_fills_its_gap(filling: list[tuple[set[int], str]]) -> None:
    """A phrase in the gap of a particle verb is finished before the bridge, whatever its size."""
    words = ["ring", "your", "very", "old", "good", "friend", "up"]
    tree = Tree(words, [(range(7), "S"), ({0, 6}, "V"), *filling])
    arrangement = arrange(tree)
    (verb,) = [n for n, c in enumerate(tree.constituents, len(tree)) if c.mask == bitsets.mask_of({0, 6})]
    assert len(arrangement.crossing(verb)) == 1


def test_interleaved_bars_are_ordered_for_few_crossings() -> None:
    tree = Tree(["a", "b", "c", "d"], [(range(4), "S"), ({0, 2}, "X"), ({1, 3}, "Y")])
    arrangement = arrange(tree)
    assert sum(len(arrangement.crossing(node)) for node in arrangement.constituents) == 1
