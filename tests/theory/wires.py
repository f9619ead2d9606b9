"""The second hardness construction of docs/theory.md: from any graph to K trees of the paper's grammar.

Every constituent that matters is a pair of words (an arc) or a run of consecutive words. Edges of the graph
become wires: paths of arcs from block to block. Arcs of one tree never cross; wires change places in
gadgets that run once around the odd cycle of classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from gadget import Instance, chain, inside, odd_cycle
from graphs import Graph

from treemean.trees import Constituent, Tree
from treemean.trees.bitsets import mask_of

#: A half of an edge: the number of the edge, and one of its ends.
Wire = tuple[int, int]


def build_derivable(
    count: int, graph: Graph, groups: Sequence[frozenset[int]] | None = None, *, idle: int = 0
) -> Instance:
    """Build K trees that the rules R1 to R9 derive, from a graph without isolated vertices.

    `idle` blocks in which no wires change places come first.
    """
    layout = Layout(count, graph, idle, groups or ())
    trees = [_tree(layout, k) for k in range(count)]
    sets = [mask_of(words) for words in layout.words]
    return Instance(trees, len(layout.groups[0]), sets, Graph(len(sets), tuple(layout.edges)), layout.gain, 2)


def swaps_for(wires: list[Wire]) -> list[int]:
    """Return the places p at which p and p + 1 change places until halves of edges are neighbours."""
    current = list(wires)
    swaps = []
    for e in range(len(current) // 2):
        first, second = (p for p, wire in enumerate(current) if wire[0] == e)
        for p in range(second - 1, first, -1):
            current[p], current[p + 1] = current[p + 1], current[p]
            swaps.append(p)
    return swaps


@dataclass
class _End:
    """How far a wire has been laid: its last set, the word that the next one shares, the sets so far."""

    vertex: int
    word: int
    length: int = 0


@dataclass
class Layout:
    """The sentence: special words 0 … K - 1, then blocks of words, given out from left to right.

    Attributes
    ----------
    words, classes, is_arc : by set (vertex of the long graph).
    edges : sets that share a word.
    gain : by how much the independence number of the long graph exceeds that of the given one.
    """

    count: int
    graph: Graph
    idle: int = 0
    groups: Sequence[frozenset[int]] = ()
    words: list[list[int]] = field(default_factory=list)
    classes: list[int] = field(default_factory=list)
    is_arc: list[bool] = field(default_factory=list)
    edges: list[tuple[int, int]] = field(default_factory=list)
    blocks: list[range] = field(default_factory=list)
    gain: int = 0

    def __post_init__(self) -> None:
        self.groups = self.groups or odd_cycle(self.count)
        self.n = self.count
        self.ends: dict[Wire, _End] = {}
        order = self._first_block()
        swaps = [None] * self.idle + swaps_for(order)
        for t, swap in enumerate(swaps, start=1):
            order = self._middle_block(t, order[::-1], None if swap is None else self._place(t, swap, order))
        self._last_block(len(swaps) + 1, order[::-1])

    def _place(self, t: int, swap: int, order: list[Wire]) -> int:
        """Return where the swap is in block t: every block has the wires in the opposite direction."""
        return swap if t % 2 == 0 else len(order) - 2 - swap

    def _take(self, number: int) -> list[int]:
        start = self.n
        self.n += number
        return list(range(start, self.n))

    def _set(self, words: list[int], klass: int, *, is_arc: bool) -> int:
        self.words.append(words)
        self.classes.append(klass % len(self.groups))
        self.is_arc.append(is_arc)
        return len(self.words) - 1

    def _first_block(self) -> list[Wire]:
        """For each vertex a run: a private word and a word of its own for each of its wires."""
        start = self.n
        for v in range(self.graph.order):
            vertex = self._set([], 0, is_arc=False)
            for e, ends in enumerate(self.graph.edges):
                if v in ends:
                    pair = self._take(2)
                    self.words[vertex] += pair
                    self.ends[e, v] = _End(vertex, pair[1])
        self.blocks.append(range(start, self.n))
        return list(self.ends)

    def _extend(self, wire: Wire, words: list[int], klass: int, *, is_arc: bool) -> None:
        """Lay the next set of a wire; the first of the words is shared with the set before."""
        end = self.ends[wire]
        assert words[0] == end.word
        vertex = self._set(sorted(words), klass, is_arc=is_arc)
        self.edges.append((end.vertex, vertex))
        self.ends[wire] = _End(vertex, words[-1], end.length + 1)

    def _middle_block(self, t: int, order: list[Wire], place: int | None) -> list[Wire]:
        start = self.n
        p = 0
        while p < len(order):
            if p == place:
                self._swap(t, order[p], order[p + 1])
                order[p], order[p + 1] = order[p + 1], order[p]
                p += 2
            else:
                _, word = self._take(2)
                self._extend(order[p], [self.ends[order[p]].word, word], t % 2, is_arc=True)
                p += 1
        self.blocks.append(range(start, self.n))
        return order

    def _swap(self, t: int, left: Wire, right: Wire) -> None:
        """Arc i spans run i; the wires take turns, once around the cycle of classes."""
        arriving, leaving, length = t % 2, (t + 1) % 2, len(self.groups)
        turns = length if leaving == arriving + 1 else length - 2
        assert (arriving + 1 + turns - leaving) % length == 0
        first = self._take(2)[1]
        runs = [[first] * 3, *(self._take(3) for _ in range(turns)), [self._take(2)[1]] * 3]
        self._extend(left, [self.ends[left].word, first], arriving, is_arc=True)
        self._extend(right, [self.ends[right].word, runs[1][0]], arriving, is_arc=True)
        for i in range(1, turns + 1):
            by_arc, by_run = (left, right) if i % 2 else (right, left)
            self._extend(by_arc, [runs[i - 1][2], runs[i + 1][0]], arriving + i, is_arc=True)
            self._extend(by_run, runs[i], arriving + i, is_arc=False)

    def _last_block(self, t: int, order: list[Wire]) -> None:
        """Join both halves of every edge, so that its path is odd."""
        start = self.n
        length = len(self.groups)
        for wire, partner in zip(order[::2], order[1::2]):
            assert wire[0] == partner[0]
            odd = (self.ends[wire].length + self.ends[partner].length) % 2
            words = self._take(2 if odd else length)
            for end, word in ((wire, words[0]), (partner, words[-1])):
                self._extend(end, [self.ends[end].word, word], t % 2, is_arc=True)
            for j in range(1, len(words)):
                self._extend(wire, words[j - 1 : j + 1], t % 2 + j, is_arc=False)
            self.edges.append((self.ends[wire].vertex, self.ends[partner].vertex))
            path = self.ends[wire].length + self.ends[partner].length + 1
            assert path % 2 == 1
            self.gain += (path - 1) // 2
        self.blocks.append(range(start, self.n))


def _tree(layout: Layout, k: int) -> Tree:
    """Return tree k: arcs are filled from left to right, by parts that are continuous."""
    masks: set[int] = set()
    #: By first word: the mask of a run, or both ends of an arc and whether its guard word is taken.
    runs: dict[int, list[int]] = {}
    arcs: dict[int, tuple[int, int, bool]] = {}
    for words, klass, is_arc in zip(layout.words, layout.classes, layout.is_arc):
        group = layout.groups[klass]
        if k not in group:
            continue
        guarded = k == min(group)
        if is_arc:
            arcs[words[0] - guarded] = (words[0], words[1], guarded)
        else:
            runs[words[0]] = words
            masks.update(inside(mask_of(words), from_the_left=guarded))

    def parts(first: int, last: int) -> list[int]:
        result = []
        p = first
        while p <= last:
            if p in arcs:
                start, end, guarded = arcs[p]
                filled = [1 << start | 1 << end, *[1 << p] * guarded, *parts(start + 1, end - 1)]
                masks.update(chain([0, *filled]))
                result.append(sum(filled))
                p = end + 1
            elif p in runs:
                result.append(mask_of(runs[p]))
                p += len(runs[p])
            else:
                result.append(1 << p)
                p += 1
        assert p == last + 1
        return result

    special = [1 << j for j in range(layout.count)]
    masks.update(chain([*special[k:], *parts(layout.count, layout.n - 1), *special[:k]]))
    return Tree(("",) * layout.n, [Constituent(mask) for mask in masks])
