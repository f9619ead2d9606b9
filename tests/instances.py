"""Trees to average, made at random: independent, perturbed, mixed, and hard on purpose."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from itertools import pairwise

from treemean.trees import Constituent, Tree


def tree_of(n: int, masks: Iterable[int], label: str = "X") -> Tree:
    """Return the tree over n words with the given sets; the whole sentence is added."""
    everything = (1 << n) - 1
    inner = sorted({mask for mask in masks if mask != everything})
    constituents = [Constituent(everything, "S"), *(Constituent(mask, label) for mask in inner)]
    return Tree([f"w{i}" for i in range(n)], constituents)


class BinaryTree:
    """A binary tree over n words that can be changed.

    Attributes
    ----------
    left, right, parent : by node; nodes 0 to n - 1 are the words, -1 means none.
    root : the node of the whole sentence.
    """

    def __init__(self, n: int, left: list[int], right: list[int], parent: list[int], root: int) -> None:
        self.n, self.left, self.right, self.parent, self.root = n, left, right, parent, root

    @classmethod
    def random(cls, n: int, rng: random.Random, continuity: float = 0.8) -> BinaryTree:
        """Merge random blocks, adjacent ones with probability `continuity`."""
        tree = cls(n, [-1] * n, [-1] * n, [-1] * n, 0)
        blocks = list(range(n))
        while len(blocks) > 1:
            if rng.random() < continuity:
                i = rng.randrange(len(blocks) - 1)
                j = i + 1
            else:
                i, j = sorted(rng.sample(range(len(blocks)), 2))
            node = len(tree.left)
            tree.left.append(blocks[i])
            tree.right.append(blocks[j])
            tree.parent.append(-1)
            tree.parent[blocks[i]] = tree.parent[blocks[j]] = node
            blocks[i] = node
            del blocks[j]
        tree.root = blocks[0]
        return tree

    def copy(self) -> BinaryTree:
        """Return an independent copy."""
        return BinaryTree(self.n, self.left[:], self.right[:], self.parent[:], self.root)

    def swap(self, rng: random.Random) -> None:
        """Exchange a child of a random node with that node's sibling."""
        inner = [node for node in range(self.n, len(self.left)) if node != self.root]
        if not inner:
            return
        node = rng.choice(inner)
        above = self.parent[node]
        children = self.left if rng.random() < 0.5 else self.right
        if self.left[above] == node:
            children[node], self.right[above] = self.right[above], children[node]
            self.parent[self.right[above]] = above
        else:
            children[node], self.left[above] = self.left[above], children[node]
            self.parent[self.left[above]] = above
        self.parent[children[node]] = node

    def masks(self) -> list[int]:
        """Return the sets of all nodes of two words or more."""
        order, todo = [], [self.root]
        while todo:
            node = todo.pop()
            order.append(node)
            if node >= self.n:
                todo += [self.left[node], self.right[node]]
        mask: dict[int, int] = {}
        for node in reversed(order):
            mask[node] = 1 << node if node < self.n else mask[self.left[node]] | mask[self.right[node]]
        return [mask[node] for node in order if node >= self.n]

    def tree(self) -> Tree:
        """Return the tree as such."""
        return tree_of(self.n, self.masks())


def independent_trees(n: int, count: int, rng: random.Random, continuity: float = 0.8) -> list[Tree]:
    """Return random binary trees that have nothing to do with each other."""
    return [BinaryTree.random(n, rng, continuity).tree() for _ in range(count)]


def perturbed_trees(n: int, count: int, moves: int, rng: random.Random) -> list[Tree]:
    """Return copies of one random binary tree, each after some random swaps."""
    return mixed_trees(n, count, 1, moves, rng)


def mixed_trees(
    n: int, count: int, bases: int, moves: int, rng: random.Random, continuity: float = 0.8
) -> list[Tree]:
    """Return perturbed copies of several base trees, in turn."""
    originals = [BinaryTree.random(n, rng, continuity) for _ in range(bases)]
    trees = []
    for k in range(count):
        tree = originals[k % bases].copy()
        for _ in range(moves):
            tree.swap(rng)
        trees.append(tree.tree())
    return trees


def flattened(tree: Tree, share: float, rng: random.Random) -> Tree:
    """Return the tree without a random share of its constituents."""
    root, *others = tree.constituents
    return tree.replace(constituents=[root, *(c for c in others if rng.random() >= share)])


# ---- graphs as trees --------------------------------------------------------------------------------


def trees_of_graph(
    classes: Sequence[int], edges: Sequence[tuple[int, int]], rng: random.Random
) -> tuple[list[Tree], list[int]]:
    """Return five binary trees whose conflict graph is a given graph, and the sets of its vertices.

    Every vertex has a class from 0 to 4, and an edge joins classes that are neighbours on a 5-cycle. A vertex
    is a word of its own and one for each of its edges, so that the sets of vertices conflict where there is
    an edge. The vertices of class c are in trees c and c + 3, two of five; all else is in one tree only.
    """
    vertices = len(classes)
    n = vertices + len(edges)
    sets = [1 << v for v in range(vertices)]
    for number, (u, v) in enumerate(edges):
        if (classes[u] - classes[v]) % 5 not in (1, 4):
            raise ValueError(f"vertices {u} and {v} must be in neighbouring classes")
        sets[u] |= 1 << vertices + number
        sets[v] |= 1 << vertices + number
    used = set(sets)
    trees = []
    for k in range(5):
        masks, blocks, rest = [], [], (1 << n) - 1
        for v in range(vertices):
            if classes[v] in (k, (k + 2) % 5) and sets[v].bit_count() > 1:
                words = [1 << i for i in range(n) if sets[v] >> i & 1]
                masks += _fresh_merges(words, used - {sets[v]}, rng)
                blocks.append(sets[v])
                rest &= ~sets[v]
        used.update(masks)
        outer = _fresh_merges([*blocks, *(1 << i for i in range(n) if rest >> i & 1)], used, rng)
        used.update(outer)
        used.discard((1 << n) - 1)
        trees.append(tree_of(n, masks + outer))
    return trees, sets


def _fresh_merges(blocks: Sequence[int], used: set[int], rng: random.Random) -> list[int]:
    """Merge blocks to one, two at a time at random, so that nothing in between has been used."""
    for _ in range(1000):
        left, merged = list(blocks), []
        while len(left) > 1:
            a = left.pop(rng.randrange(len(left)))
            b = left.pop(rng.randrange(len(left)))
            left.append(a | b)
            merged.append(a | b)
        if not used.intersection(merged[:-1]):
            return merged
    raise ValueError("no new way to merge these blocks was found")


def cycle_blow_up(
    vertices: int, degree: float, rng: random.Random
) -> tuple[list[int], list[tuple[int, int]]]:
    """Return a random graph whose vertices lie on a 5-cycle of classes: (classes, edges)."""
    classes = [rng.randrange(5) for _ in range(vertices)]
    members = [[v for v in range(vertices) if classes[v] == c] for c in range(5)]
    edges: set[tuple[int, int]] = set()
    while len(edges) < vertices * degree / 2:
        u = rng.randrange(vertices)
        others = members[(classes[u] + rng.choice([1, 4])) % 5]
        if others:
            v = rng.choice(others)
            edges.add((min(u, v), max(u, v)))
    return classes, sorted(edges)


def subdivided(vertices: int, edges: Sequence[tuple[int, int]]) -> tuple[list[int], list[tuple[int, int]]]:
    """Replace every edge of any graph by a path of five edges: (classes, edges) on the 5-cycle.

    The largest independent set grows by two for every edge.
    """
    classes = [0] * vertices
    paths: list[tuple[int, int]] = []
    for u, v in edges:
        first = len(classes)
        classes += [1, 2, 3, 4]
        chain = [u, first, first + 1, first + 2, first + 3, v]
        paths += list(pairwise(chain))
    return classes, paths
