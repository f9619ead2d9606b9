"""Constructions of docs/theory.md for binary output: from a graph to trees."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from gadget import chain
from graphs import Graph

from treemean.trees import Constituent, Tree
from treemean.trees.bitsets import mask_of


def three_colours(graph: Graph, count: int, least: int = 0) -> tuple[list[Tree], int]:
    """Build K ≥ 3 trees of one size and of fan-out 2; tell how many constituents conflict with nothing.

    Vertices are runs of the first tree, each edge u v is a path of pairs u – x – y – v: x in the second tree,
    y in the third one. Runs of their own bring all trees to one size, with `least` sets or more.
    """
    n = 0
    runs: list[list[int]] = []
    joints: dict[tuple[int, int], int] = {}
    for v in range(graph.order):
        mine = [e for e, ends in enumerate(graph.edges) if v in ends]
        runs.append(list(range(n, n + 1 + len(mine))))
        joints.update({(e, v): n + 1 + number for number, e in enumerate(mine)})
        n += 1 + len(mine)
    middle = {e: n + e for e in range(len(graph.edges))}
    n += len(graph.edges)
    own: list[list[int]] = [[] for _ in range(count)]
    own[0] = [mask_of(run) for run in runs]
    own[1] = [mask_of([joints[e, u], middle[e]]) for e, (u, _) in enumerate(graph.edges)]
    own[2] = [mask_of([joints[e, v], middle[e]]) for e, (_, v) in enumerate(graph.edges)]
    size = max(least, *map(len, own))
    free = 0
    for masks in own:
        missing = size - len(masks)
        masks += [((1 << r + 2) - 1) << n for r in range(missing)]
        n += missing + 1 if missing else 0
        free += missing
    n += 1  # so that no set is the whole sentence
    return [Tree(("",) * n, [Constituent((1 << n) - 1), *map(Constituent, masks)]) for masks in own], free


def many_trees(graph: Graph, prime: int, rounds: int = 1) -> tuple[list[Tree], list[int]]:
    """Build 4 h binary trees, h = rounds · p (p - 1), from a cubic graph; return them and the sets S_v.

    S_v has p words, numbered modulo p. Chains inside it follow the orders b, b + a, b + 2a, …, each of them
    in equally many trees.
    """
    colours: list[int] = []
    near = graph.neighbours
    for v in range(graph.order):
        colours.append(min(c for c in range(4) if all(colours[u] != c for u in near[v] if u < v)))
    orders = [[(b + i * a) % prime for i in range(prime)] for a in range(1, prime) for b in range(prime)]
    group = rounds * len(orders)
    count = 4 * group
    n = count
    words: list[list[int]] = []
    for _ in range(graph.order):
        words.append(list(range(n, n + prime - 3)))
        n += prime - 3
    for u, v in graph.edges:
        words[u].append(n)
        words[v].append(n)
        n += 1
    trees = []
    for k in range(count):
        masks: set[int] = set()
        mine = [v for v in range(graph.order) if colours[v] == k // group]
        for v in mine:
            masks.update(chain(1 << words[v][p] for p in orders[k % group % len(orders)]))
        taken = {p for v in mine for p in words[v]}
        special = [1 << (k + j) % count for j in range(count)]
        rest = [1 << p for p in range(count, n) if p not in taken]
        masks.update(chain([special[0], *(mask_of(words[v]) for v in mine), *rest, *special[1:]]))
        trees.append(Tree(("",) * n, map(Constituent, masks)))
    return trees, [mask_of(w) for w in words]


def phases(i: int, j: int, gap: int, p: int) -> list[list[int]]:
    """Return the sets inside a run of p words, from the words i and j: two growing runs, in four phases."""

    def two_runs(left: int, right: int, second: int, last: int) -> int:
        return mask_of([*range(left, right + 1), *range(second, last + 1)])

    return [
        [two_runs(i, x, j, j) for x in range(i, j - gap)],
        [two_runs(i, j - gap - 1, j, y) for y in range(j + 1, p)],
        [two_runs(a, j - gap - 1, j, p - 1) for a in range(i)],
        [two_runs(0, x, j, p - 1) for x in range(j - gap, j - 1)],
    ]


@dataclass(frozen=True)
class Segments:
    """Many derivable trees, the hits of their runs and pairs, and these sets in all copies."""

    trees: list[Tree]
    hits: int
    runs: list[int]
    pairs: list[int]


def derivable_trees(graph: Graph, m: int, d: int, copies: int) -> Segments:
    """Build h = m² d run trees, and h pair trees for either inner vertex of each edge's path.

    A run has 3m words; run trees differ by how they build their runs.
    """
    p = 3 * m
    triples = list(product(range(m), range(2 * m, p), range(1, d + 1)))
    h = len(triples)
    kinds = 1 + 2 * len(graph.edges)
    count = kinds * h
    width = p * graph.order + len(graph.edges)
    n = count + copies * width
    starts = range(count, n, width)
    degree = [0] * graph.order
    inner: list[tuple[int, int]] = []  # pairs of words of a copy
    for e, (u, v) in enumerate(graph.edges):
        middle = p * graph.order + e
        inner += [(p * u + degree[u], middle), (p * v + degree[v], middle)]
        degree[u] += 1
        degree[v] += 1
    runs = [((1 << p) - 1) << start + p * v for start in starts for v in range(graph.order)]
    trees = []
    for k in range(count):
        masks: set[int] = set()
        parts: list[int] = []
        kind, number = divmod(k, h)
        if kind == 0:
            own = {mask for phase in phases(*triples[number], p) for mask in phase}
            for start in starts:
                for v in range(graph.order):
                    masks.update(mask << start + p * v for mask in own)
                    parts.append(((1 << p) - 1) << start + p * v)
                parts += [1 << w for w in range(start + p * graph.order, start + width)]
            masks.update(runs)
        else:
            for start in starts:
                a, b = (start + w for w in inner[kind - 1])
                masks.add(1 << a | 1 << b)
                before, between, after = range(start, a), range(a + 1, b), range(b + 1, start + width)
                parts += [1 << w for w in before]
                parts += [1 << a | 1 << b, *(1 << w for w in (*between, *after))]
        special = [1 << j for j in range(count)]
        masks.update(chain([*special[k:], *parts, *special[:k]]))
        trees.append(Tree(("",) * n, map(Constituent, masks)))
    pairs = [1 << start + a | 1 << start + b for start in starts for a, b in inner]
    return Segments(trees, h, runs, pairs)
