"""Small graphs for the checks of docs/theory.md, and their independence numbers."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Graph:
    """A graph on the vertices 0 … order - 1."""

    order: int
    edges: tuple[tuple[int, int], ...]

    @property
    def neighbours(self) -> list[set[int]]:
        result: list[set[int]] = [set() for _ in range(self.order)]
        for u, v in self.edges:
            result[u].add(v)
            result[v].add(u)
        return result


def random_graph(order: int, rng: random.Random) -> Graph:
    """Return a random graph without isolated vertices."""
    density = rng.choice([0.2, 0.4, 0.7])
    edges = {(u, v) for v in range(order) for u in range(v) if rng.random() < density}
    for v in range(order):
        if not any(v in edge for edge in edges):
            u = rng.choice([u for u in range(order) if u != v])
            edges.add((min(u, v), max(u, v)))
    return Graph(order, tuple(sorted(edges)))


def independence_number(graph: Graph) -> int:
    """Return the size of the largest independent set, by looking at all sets of vertices."""
    return max(
        subset.bit_count()
        for subset in range(1 << graph.order)
        if not any(subset >> u & 1 and subset >> v & 1 for u, v in graph.edges)
    )


def largest_independent_set(neighbours: Sequence[set[int]]) -> set[int]:
    """Return a largest independent set of a sparse graph: with and without a vertex, leaves first."""
    alive = {v: set(near) for v, near in enumerate(neighbours)}

    def solve(graph: dict[int, set[int]]) -> set[int]:
        if not graph:
            return set()
        leaf = min(graph, key=lambda v: len(graph[v]))
        if len(graph[leaf]) <= 1:  # some largest set has it
            return {leaf} | solve(_without(graph, {leaf, *graph[leaf]}))
        v = max(graph, key=lambda v: len(graph[v]))
        return max({v} | solve(_without(graph, {v, *graph[v]})), solve(_without(graph, {v})), key=len)

    return solve(alive)


def _without(graph: dict[int, set[int]], removed: set[int]) -> dict[int, set[int]]:
    return {v: near - removed for v, near in graph.items() if v not in removed}


def two_colourable(neighbours: Sequence[set[int]]) -> bool:
    """Tell whether a graph is bipartite."""
    colour: dict[int, bool] = {}
    for start in range(len(neighbours)):
        todo = [] if start in colour else [(start, False)]
        while todo:
            v, c = todo.pop()
            if v in colour:
                if colour[v] != c:
                    return False
                continue
            colour[v] = c
            todo += [(u, not c) for u in neighbours[v]]
    return True
