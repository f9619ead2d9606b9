"""Where everything of a drawing goes; shared by text and SVG.

A constituent is drawn as its label, a short stem down to a horizontal bar, and from the bar one vertical
*stem* down to each child's label or word:

        S               level 2: label row
    ┌───┴───┐           level 2: bar row
    NP      │           level 1: label row
  ┌─┴─┐     │           level 1: bar row
 the cat  sleeps        level 0: words

The work is divided in two: `arrange` decides everything that does not depend on how wide texts are, `place`
then gives every word and constituent its coordinate.

**Home.** The anchor of a constituent (where its label stands and where its stem goes up) must lie in one of
its continuous parts, its *home*: of the parts that hold the anchor of some child, the one nearest to the
middle of all children, the left one of two that are equally near. Above its bar a constituent is the only
thing in its home, because all words there are its own. So whatever meets on one row has disjoint homes, hence
a fixed order from left to right, and no two stems ever run into one another. The anchor stands midway between
the first and the last child that have their anchors in the home; if there is only one such child (always so
in unary chains), exactly above it.

**Levels.** Words are on level 0; a constituent goes to the lowest level that is

- above its children;
- above every constituent that lies inside its hull without belonging to it and whose bar it would meet: what
  fills a gap is drawn below the bar that bridges the gap, and crosses it with few stems;
- free of other bars in the stretch that its own bar needs. Where several bars want the same stretch of a
  level, those go first (below) whose going first makes fewest crossings.

The two kinds of "above" cannot contradict each other: hulls never shrink on the way to a parent, and grow
strictly on the way to a bridge. For a continuous tree the level is the height.

**Places.** Words are set side by side, anchors follow from them, and the rows are then checked from the
lowest to the highest and from left to right: where two neighbours on a row are too close, all words from the
first one of the right neighbour's home onwards move right, with all their anchors. Anchors are means of
words in their homes, so a move does not bring other neighbours closer to each other, but for the small jumps
of anchors that snap to a child; so the pass is repeated until nothing moves. It ends, because a move widens
the distance of two words, and two words that are far enough apart are never moved apart again.

A stem that passes a bar without belonging to it is the only kind of crossing: labels are never crossed, bars
never overlap. O(m² + rows · nodes) for m constituents in the worst case, near O(nodes · height) usually.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np

from treemean.trees.tree import Tree

Span = tuple[int, int]
"""First and last position, both included."""

Extent = tuple[float, float]
"""How far a text reaches to the left and to the right of its anchor."""

_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Arrangement:
    """The order of things, whatever their widths.

    *Nodes* are numbered: words first (node p is word p), then constituents in canonical order (node n + i).

    Parameters
    ----------
    words : the number of words, n.
    parent : the parent of every node, -1 for the root.
    children : the children of every node from left to right by their anchors; none for words.
    anchors : the two children that a node's anchor stands midway between; (p, p) for word p.
    home : the continuous part of every node in which its anchor lies.
    level : 0 for words, 1 and more for constituents.
    crossings : for every node the nodes whose stems pass its bar, from left to right.
    neighbours : from the lowest level to the highest and from left to right, the pairs of neighbours on a
        label row of which at least one has its label there: (level, left node, right node).
    """

    words: int
    parent: tuple[int, ...]
    children: tuple[tuple[int, ...], ...]
    anchors: tuple[tuple[int, int], ...]
    home: tuple[Span, ...]
    level: tuple[int, ...]
    crossings: tuple[tuple[int, ...], ...]
    neighbours: tuple[tuple[int, int, int], ...]

    @property
    def top(self) -> int:
        """The level of the root."""
        return self.level[self.words]

    @property
    def constituents(self) -> range:
        """The nodes that are constituents."""
        return range(self.words, len(self.level))

    def crossing(self, node: int) -> list[int]:
        """Return the nodes whose stems pass the bar of a constituent, from left to right."""
        return list(self.crossings[node])


@dataclass(frozen=True)
class Places:
    """Coordinates along the sentence: `x` of every node's anchor, from 0 to `width`."""

    x: tuple[float, ...]
    width: float


def arrange(tree: Tree) -> Arrangement:
    """Decide levels, homes and orders of a tree that has words.

    >>> wake = Tree("Wake your friend up".split(), [(range(4), "S"), ({0, 3}, "V"), ({1, 2}, "NP")])
    >>> arrange(wake).level  # four words, then S, V and NP
    (0, 0, 0, 0, 3, 2, 1)
    """
    n = len(tree.words)
    parent = [n + i for i in tree.word_parents] + [n + i if i >= 0 else -1 for i in tree.parents]
    children: list[tuple[int, ...]] = [()] * len(parent)
    anchors = [(p, p) for p in range(len(parent))]
    home = [(p, p) for p in range(len(parent))]
    key = [float(p) for p in range(len(parent))]
    for i in range(len(tree.constituents) - 1, -1, -1):
        node = n + i
        listed = (child.index if child.is_word else n + child.index for child in tree.children[i])
        children[node] = tuple(sorted(listed, key=key.__getitem__))
        span, first, last = _choose_home(children[node], key, tree.constituents[i].spans)
        anchors[node] = first, last
        home[node] = home[first] if first == last else span
        key[node] = (key[first] + key[last]) / 2
    level = _levels(tree, children, home)
    return Arrangement(
        n,
        tuple(parent),
        tuple(children),
        tuple(anchors),
        tuple(home),
        tuple(level),
        *_rows(level, parent, children, key),
    )


def _choose_home(
    children: Sequence[int], key: Sequence[float], spans: Iterable[tuple[int, int]]
) -> tuple[Span, int, int]:
    """Return the continuous part nearest to the middle of all children, and its first and last child."""
    keys = [key[child] for child in children]
    middle = (keys[0] + keys[-1]) / 2
    candidates = []
    for start, end in spans:
        first, stop = bisect_left(keys, start), bisect_left(keys, end)
        if first < stop:
            distance = max(keys[first] - middle, middle - keys[stop - 1], 0.0)
            candidates.append((distance, start, end - 1, children[first], children[stop - 1]))
    _, start, end, first_child, last_child = min(candidates)
    return (start, end), first_child, last_child


class _Bar:
    """The stretch of a level that the bar of a constituent needs."""

    def __init__(self, node: int, children: Sequence[int], home: Sequence[Span]) -> None:
        self.node = node
        self.anchor = home[node][0]
        self.stems = [home[child][0] for child in children]
        self.first, self.last = home[children[0]][0], home[children[-1]][1]

    def meets(self, other: _Bar) -> bool:
        return self.first <= other.last and other.first <= self.last

    def crossings_below(self, upper: _Bar) -> int:
        """Count where the two cross if this bar lies below `upper`."""
        cut = bisect_right(upper.stems, self.last) - bisect_left(upper.stems, self.first)
        return cut + (upper.first <= self.anchor <= upper.last)


def _levels(tree: Tree, children: Sequence[tuple[int, ...]], home: Sequence[Span]) -> list[int]:
    n = len(tree.words)
    nodes = range(n, len(children))
    bars = {node: _Bar(node, children[node], home) for node in nodes if len(children[node]) > 1}
    above: list[list[int]] = [[] for _ in children]
    waits_for = [0] * len(children)
    for upper, lower in _order(tree, bars):
        above[lower].append(upper)
        waits_for[upper] += 1

    level = [0] * len(children)
    ready = [node for node in nodes if waits_for[node] == 0]
    preferences: dict[tuple[int, int], int] = {}
    current = 0
    while ready:
        current += 1
        settled = {node for node in ready if node not in bars}
        settled.update(_settle([bars[node] for node in ready if node in bars], preferences))
        ready = [node for node in ready if node not in settled]
        for node in settled:
            level[node] = current
            for upper in above[node]:
                waits_for[upper] -= 1
                if waits_for[upper] == 0:
                    ready.append(upper)
    return level


def _order(tree: Tree, bars: dict[int, _Bar]) -> Iterable[tuple[int, int]]:
    """Yield the pairs (upper, lower) that must be on different levels in this order."""
    n = len(tree.words)
    for i, parent in enumerate(tree.parents):
        if parent >= 0:
            yield n + parent, n + i
    masks = [c.mask for c in tree.constituents]
    for upper, c in enumerate(tree.constituents):
        bridge = bars.get(n + upper)
        if bridge is None or c.is_continuous:
            continue
        first, end = c.first, c.mask.bit_length()
        for lower, mask in enumerate(masks):
            if mask & c.mask or mask >> first << first != mask or mask.bit_length() > end:
                continue
            inner = bars.get(n + lower)
            if inner is not None and bridge.meets(inner):
                yield n + upper, n + lower


def _settle(bars: list[_Bar], preferences: dict[tuple[int, int], int]) -> Iterable[int]:
    """Choose bars for one level that do not meet, those first that cause fewest crossings."""
    score = dict.fromkeys((bar.node for bar in bars), 0)
    bars = sorted(bars, key=lambda bar: (bar.first, bar.node))
    for i, a in enumerate(bars):
        for b in bars[i + 1 :]:
            if b.first > a.last:
                break
            pair = a.node, b.node
            if pair not in preferences:
                preferences[pair] = a.crossings_below(b) - b.crossings_below(a)
            score[a.node] += preferences[pair]
            score[b.node] -= preferences[pair]
    chosen: list[_Bar] = []
    for bar in sorted(bars, key=lambda bar: (score[bar.node], bar.last - bar.first)):
        if not any(bar.meets(other) for other in chosen):
            chosen.append(bar)
            yield bar.node


def _rows(
    level: Sequence[int], parent: Sequence[int], children: Sequence[Sequence[int]], key: Sequence[float]
) -> tuple[tuple[tuple[int, ...], ...], tuple[tuple[int, int, int], ...]]:
    """Go from the lowest row to the highest; return what crosses each bar, and who meets whom on label rows.

    A node is on the rows from its own up to the one below its parent's.
    """
    order = sorted(range(len(level)), key=key.__getitem__)
    rank = [0] * len(level)
    for place, node in enumerate(order):
        rank[node] = place
    settled: list[list[int]] = [[] for _ in range(max(level) + 1)]
    for node in order:
        settled[level[node]].append(node)
    crossings: list[tuple[int, ...]] = [()] * len(level)
    neighbours: list[tuple[int, int, int]] = []
    row: list[int] = []  # ranks of nodes
    for current, nodes in enumerate(settled):
        for node in nodes if current else ():  # whatever leaves the row below goes up to a bar or past it
            first, last = (bisect_left(row, rank[child]) for child in (children[node][0], children[node][-1]))
            between = (order[place] for place in row[first + 1 : last])
            crossings[node] = tuple(other for other in between if parent[other] != node)
        ended = {rank[child] for node in nodes for child in children[node]}
        if ended:
            row = [place for place in row if place not in ended]
        row = sorted([*row, *(rank[node] for node in nodes)])
        met: set[int] = set()
        for node in nodes:
            place = bisect_left(row, rank[node])
            met.update(range(max(place - 1, 0), min(place + 1, len(row) - 1)))
        neighbours += [(current, order[row[place]], order[row[place + 1]]) for place in sorted(met)]
    return tuple(crossings), tuple(neighbours)


def place(
    arrangement: Arrangement, extents: Sequence[Extent], *, gap: float, snap: float, whole: bool = False
) -> Places:
    """Give every node its coordinate.

    Parameters
    ----------
    arrangement : from `arrange`.
    extents : of every node's text.
    gap : the least distance between the ends of neighbouring texts and stems.
    snap : an anchor that comes as near as this to an inner child goes exactly above it.
    whole : round anchors down; coordinates are whole numbers if extents and gap are.

    >>> tree = Tree(["the", "cat"], [({0, 1}, "NP")])
    >>> place(arrange(tree), [(1, 1), (1, 1), (0, 1)], gap=2, snap=1, whole=True)
    Places(x=(1, 5, 3), width=6)
    """
    moving = _Moving(arrangement, snap, whole)
    x = moving.x
    for _, left, right in (pair for pair in arrangement.neighbours if pair[0] == 0):  # the words
        x[right] = x[left] + extents[left][1] + gap + extents[right][0]
    moving.find_anchors()
    moved = True
    while moved:
        moved = False
        for level, left, right in arrangement.neighbours:
            reach = extents[left][1] if arrangement.level[left] == level else 0
            start = extents[right][0] if arrangement.level[right] == level else 0
            lacking = reach + gap + start - (x[right] - x[left])
            if lacking > _TOLERANCE:
                moving.move(arrangement.home[right][0], lacking)
                moved = True

    before, after = np.array(extents, dtype=x.dtype).T
    placed = x - (x - before).min()
    return Places(tuple(placed.tolist()), (placed + after).max().item())


class _Moving:
    """Words that move to the right, and anchors that follow them.

    Attributes
    ----------
    x : the coordinates of all nodes.
    """

    def __init__(self, arrangement: Arrangement, snap: float, whole: bool) -> None:
        self._arrangement, self._snap, self._whole = arrangement, snap, whole
        self.x = np.zeros(len(arrangement.level), dtype=np.int64 if whole else np.float64)
        self._children = [np.array(children, dtype=np.int64) for children in arrangement.children]
        self._starts, _ = np.array(arrangement.home).T
        latest = self._starts.copy()
        for node in arrangement.constituents:
            latest[node] = self._starts[self._children[node]].max()
        self._latest = latest  # where the last home of a child begins

    def find_anchors(self) -> None:
        """Put every constituent where it belongs."""
        for node in self._arrangement.constituents[::-1]:
            self.x[node] = self._anchor(node)

    def _anchor(self, node: int) -> Any:
        first, last = self.x[list(self._arrangement.anchors[node])]
        middle = (first + last) // 2 if self._whole else (first + last) / 2
        places = self.x[self._children[node]]
        inner = places[(first < places) & (places < last)]
        if not len(inner):
            return middle
        nearest = inner[np.abs(inner - middle).argmin()]
        return nearest if abs(nearest - middle) <= self._snap else middle

    def move(self, position: int, distance: float) -> None:
        """Move all words from `position` onwards to the right, and update the anchors.

        Where all of a home moves, so does its anchor; other anchors are found again if one below them moved.
        """
        self.x[self._starts >= position] += distance
        torn = np.flatnonzero((self._starts < position) & (self._latest >= position))
        todo = [
            -node for node in torn.tolist()
        ]  # children come behind their parents, and are looked at first
        heapify(todo)
        while todo:
            node = -heappop(todo)
            while todo and todo[0] == -node:
                heappop(todo)
            anchor = self._anchor(node)
            parent = self._arrangement.parent[node]
            if anchor != self.x[node] and parent >= 0 and self._starts[parent] < position:
                heappush(todo, -parent)
            self.x[node] = anchor
