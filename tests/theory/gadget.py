"""The hardness construction of docs/theory.md, built for real: from a graph to K binary trees."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from graphs import Graph

from treemean.trees import Constituent, Tree
from treemean.trees.bitsets import mask_of, positions_of


@dataclass(frozen=True)
class Instance:
    """K trees whose average is a largest independent set.

    Attributes
    ----------
    trees : the K trees.
    hits : h, the number of trees that have each of the sets.
    sets : the set of words S_v of every vertex v of the long graph H, as masks.
    long_graph : H.
    gain : by how much the independence number of H exceeds that of the given graph.
    fan_out : the fan-out that no tree exceeds; None if the construction knows no bound. Binary trees of
        fan-out 2 are derived by the paper's grammar.
    """

    trees: list[Tree]
    hits: int
    sets: list[int]
    long_graph: Graph
    gain: int
    fan_out: int | None


def odd_cycle(count: int) -> list[frozenset[int]]:
    """Return h-subsets A_0 … A_{L-1} of the K individuals, cyclically consecutive ones disjoint, L odd.

    For K = 5 and K ≥ 7; h = ⌊K/3⌋ + 1. The sets are arcs of a circle of K points.

    >>> [sorted(arc) for arc in odd_cycle(5)]
    [[0, 1], [2, 3], [0, 4], [1, 2], [3, 4]]
    """
    h = count // 3 + 1
    if 2 * h >= count:
        raise ValueError(f"no odd cycle for {count} individuals: averaging them is polynomial")
    rounds = -(-h // (count - 2 * h))
    length = 2 * rounds + 1
    starts = [i * rounds * count // length for i in range(length)]
    return [frozenset((start + j) % count for j in range(h)) for start in starts]


def chain(parts: Iterable[int]) -> list[int]:
    """Return the unions of the first two, three, … parts."""
    unions = []
    union = 0
    for part in parts:
        unions.append(union | part)
        union |= part
    return unions[1:]


def inside(mask: int, *, from_the_left: bool) -> list[int]:
    """Return the constituents of a chain over the words of a set, the set itself included."""
    words = [1 << p for p in positions_of(mask)]
    return chain(words if from_the_left else reversed(words))


def tree_of(n: int, k: int, having: dict[int, frozenset[int]], spine: Sequence[int]) -> Tree:
    """Return tree k: a chain over the parts of the spine, of which those in `having` have inner chains.

    `having` tells for each set S_v which trees have it: the first of them divides it from the left, all
    others from the right.
    """
    masks = set(chain(spine))
    for part in spine:
        if part in having:
            masks.update(inside(part, from_the_left=k == min(having[part])))
    return Tree(("",) * n, [Constituent(mask) for mask in masks])


def long_graph(graph: Graph, length: int) -> tuple[list[int], list[tuple[int, int]]]:
    """Replace every edge by a path of so many edges; return the classes of all vertices, and the edges."""
    classes = [0] * graph.order
    edges: list[tuple[int, int]] = []
    for u, v in graph.edges:
        inner = range(len(classes), len(classes) + length - 1)
        classes += range(1, length)
        edges += itertools.pairwise([u, *inner, v])
    return classes, edges


def pairs_of_trees(count: int) -> list[frozenset[int]]:
    """Return five pairs of five or more individuals, cyclically consecutive ones disjoint."""
    five, more = "01 23 40 12 34", "01 23 01 23 45"
    return [frozenset(map(int, pair)) for pair in (five if count == 5 else more).split()]


def build(count: int, graph: Graph, groups: Sequence[frozenset[int]] | None = None) -> Instance:
    """Build K trees of unbounded fan-out from a graph without isolated vertices."""
    arcs = groups or odd_cycle(count)
    classes, edges = long_graph(graph, len(arcs))
    # Words: a special one for each tree, a private one for each vertex, one for each edge.
    first_edge_word = count + len(classes)
    n = first_edge_word + len(edges)
    words = [[count + v] for v in range(len(classes))]
    for e, (u, v) in enumerate(edges):
        words[u].append(first_edge_word + e)
        words[v].append(first_edge_word + e)
    sets = [mask_of(w) for w in words]
    having = {s: arcs[c] for s, c in zip(sets, classes)}
    trees = []
    for k in range(count):
        own = [s for s in sets if k in having[s]]
        left_over = [1 << p for p in range(count, n) if not any(s >> p & 1 for s in own)]
        special = [1 << (k + j) % count for j in range(count)]
        trees.append(tree_of(n, k, having, [special[0], *own, *left_over, *special[1:]]))
    gain = len(graph.edges) * (len(arcs) - 1) // 2
    return Instance(trees, len(arcs[0]), sets, Graph(len(classes), tuple(edges)), gain, None)


def build_linear(count: int, graph: Graph) -> Instance:
    """Build K trees of one size and of fan-out 2 that are not binary, from a graph without isolated vertices.

    The sentence is linear in the number of edges. Vertices of the graph are runs, inner vertices of paths are
    pairs of words, and fillers (runs of padding words, with one hit each) bring all trees to one size.
    """
    arcs = odd_cycle(count)
    classes, edges = long_graph(graph, len(arcs))
    words: list[list[int]] = [[] for _ in classes]
    used = 0
    joint: dict[tuple[int, int], int] = {}
    for v in range(graph.order):
        mine = [e for e, ends in enumerate(graph.edges) if v in ends]
        words[v] = list(range(used, used + 1 + len(mine)))
        joint.update({(e, v): used + 1 + number for number, e in enumerate(mine)})
        used += 1 + len(mine)
    inner = graph.order
    for e, (u, v) in enumerate(graph.edges):
        line = [joint[e, u], *range(used, used + len(arcs) - 2), joint[e, v]]
        used += len(arcs) - 2
        for pair in itertools.pairwise(line):
            words[inner] = [*pair]
            inner += 1
    h = len(arcs[0])
    n = 2 * h * (used + count)
    sets = [mask_of(w) for w in words]
    trees = []
    for k in range(count):
        own = [s for s, c in zip(sets, classes) if k in arcs[c]]
        fillers = [((1 << r + 2) - 1) << used + k for r in range(n - used - count - len(own))]
        trees.append(Tree(("",) * n, map(Constituent, [(1 << n) - 1, *own, *fillers])))
    gain = len(graph.edges) * (len(arcs) - 1) // 2
    return Instance(trees, h, sets, Graph(len(classes), tuple(edges)), gain, 2)
