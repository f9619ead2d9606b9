"""The second hardness construction of docs/theory.md: from a graph to K binary trees of fan-out 2."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from gadget import Instance, odd_cycle, tree_of
from graphs import Graph

from treemean.trees.bitsets import mask_of

#: A half of an edge: the number of the edge, and one of its ends.
Wire = tuple[int, int]


def build_fan_out_two(count: int, graph: Graph, *, move_last: bool = False) -> Instance:
    """Build K trees of fan-out 2 from a graph without isolated vertices.

    `move_last` is that of `wire_orders`.
    """
    layout = _Layout(count, graph, move_last)
    sets = [mask_of(words) for words in layout.words]
    having = {s: layout.arcs[c] for s, c in zip(sets, layout.classes)}
    trees = []
    for k in range(count):
        own = {v for v, c in enumerate(layout.classes) if k in layout.arcs[c]}
        special = [1 << j for j in range(count)]
        spine = [*special[k:], *_Sweep(layout, sets, own).parts, *special[:k]]
        trees.append(tree_of(layout.n, k, having, spine))
    path_length = 2 * layout.rounds + len(layout.arcs)
    gain = len(graph.edges) * (path_length - 1) // 2
    return Instance(trees, len(layout.arcs[0]), sets, Graph(len(sets), tuple(layout.edges)), gain, 2)


def wire_orders(graph: Graph, multiple: int, *, move_last: bool = False) -> list[list[Wire]]:
    """Return an order of wires for every block, each the one before with at most one wire moved to the front.

    In the first order wires stand by their vertices, in the last one both halves of an edge stand side by
    side. The number of steps is a positive multiple of `multiple`; those that move nothing are the last
    ones or, with `move_last`, the first ones.
    """
    current = [(e, v) for v in range(graph.order) for e, ends in enumerate(graph.edges) if v in ends]
    orders = [current]
    for e in range(len(graph.edges)):
        first, second = (wire for wire in current if wire[0] == e)
        if current.index(second) > current.index(first) + 1:
            for moved in (second, first):
                current = [moved, *(wire for wire in current if wire != moved)]
                orders.append(current)
    steps = max(len(orders) - 1, 1)
    idle = steps + -steps % multiple + 1 - len(orders)
    return orders[:1] * idle + orders if move_last else orders + orders[-1:] * idle


class _Layout:
    """The sentence: special words 0 … K - 1, then blocks 0 … R, through which wires run.

    On its way from block t - 1 to block t a wire w is the vertex x(t, w) of the long graph. Words are given
    out from left to right, each to a vertex alone or to two neighbours.
    """

    def __init__(self, count: int, graph: Graph, move_last: bool) -> None:
        self.arcs = odd_cycle(count)
        self.n = count
        self.classes: list[int] = []
        self.words: list[list[int]] = []
        self.edges: list[tuple[int, int]] = []
        self.blocks: list[range] = []
        orders = wire_orders(graph, len(self.arcs), move_last=move_last)
        self.rounds = len(orders) - 1
        ends = [self._vertex(0) for _ in range(graph.order)]
        #: steps[t][w] is x(t, w).
        self.steps: list[dict[Wire, int]] = [{wire: ends[wire[1]] for wire in orders[0]}]
        for t in range(1, self.rounds + 1):
            self.steps.append({wire: self._vertex(t % len(self.arcs)) for wire in orders[0]})
        self._first_block(ends)
        for t in range(1, self.rounds):
            self._middle_block(t, orders[t])
        self._last_block(orders[-1])

    def _vertex(self, klass: int) -> int:
        self.classes.append(klass)
        self.words.append([])
        return len(self.classes) - 1

    def _word(self, *vertices: int) -> None:
        for v in vertices:
            self.words[v].append(self.n)
        if len(vertices) == 2:
            self.edges.append((vertices[0], vertices[1]))
        self.n += 1

    def _first_block(self, ends: list[int]) -> None:
        start = self.n
        for v, x in enumerate(ends):
            self._word(x)
            for wire, following in self.steps[1].items():
                if wire[1] == v:
                    self._word(x, following)
        self.blocks.append(range(start, self.n))

    def _middle_block(self, t: int, order: list[Wire]) -> None:
        start = self.n
        for wire in order:
            self._word(self.steps[t][wire])
            self._word(self.steps[t][wire], self.steps[t + 1][wire])
        self.blocks.append(range(start, self.n))

    def _last_block(self, order: list[Wire]) -> None:
        """Join both halves of every edge by a path around the odd cycle."""
        start = self.n
        last = self.steps[-1]
        for wire, partner in zip(order[::2], order[1::2]):
            path = [last[wire], *(self._vertex(c) for c in range(1, len(self.arcs))), last[partner]]
            for x, following in itertools.pairwise(path):
                self._word(x)
                self._word(x, following)
            self._word(path[-1])
        self.blocks.append(range(start, self.n))


class _Sweep:
    """The parts of a tree's spine between the special words.

    Parts are taken in an order in which the words so far are always one run, or one run and a second one in
    the next block.

    Parameters
    ----------
    sets : the sets S_v.
    own : the vertices whose sets the tree has.
    """

    def __init__(self, layout: _Layout, sets: list[int], own: set[int]) -> None:
        self.layout, self.sets = layout, sets
        self.owner = {p: v for v in own for p in layout.words[v]}
        self.parts: list[int] = []
        self._taken = 0
        t = 0
        while t <= layout.rounds:
            if t < layout.rounds and own.issuperset(layout.steps[t + 1].values()):
                self._take_two_blocks(t + 1)
                t += 2
            else:
                self._take(layout.blocks[t])
                t += 1

    def _take(self, words: Iterable[int]) -> None:
        """Take the words one after the other, or the sets that they are in."""
        for p in words:
            part = self.sets[self.owner[p]] if p in self.owner else 1 << p
            if not part & self._taken:
                self.parts.append(part)
                self._taken |= part

    def _take_two_blocks(self, t: int) -> None:
        """Take blocks t - 1 and t, with the sets of all x(t, w), which have words in both."""
        left, right = self.layout.blocks[t - 1], self.layout.blocks[t]
        steps = set(self.layout.steps[t].values())
        run: range | None = None  # of block t
        for p in left:
            if self.owner.get(p) in steps:
                piece = [q for q in self.layout.words[self.owner[p]] if q in right]
                low, high = piece[0], piece[-1] + 1
                if run is None:
                    run = range(low, high)
                elif low >= run.stop:
                    self._take(range(run.stop, low))
                    run = range(run.start, high)
                else:
                    self._take(reversed(range(high, run.start)))
                    run = range(low, run.stop)
            self._take([p])
        assert run == right
