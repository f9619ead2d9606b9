"""Treebanks of few words for tests of fitting."""

from __future__ import annotations

from treemean.trees import Tree, Treebank


def bank(*shapes: list[set[int]], n: int = 4) -> Treebank:
    """Return a tree of n words for each list of constituents; the root is added."""
    words = [f"w{p}" for p in range(n)]
    return Treebank.from_trees([Tree(words, [(range(n), ""), *((c, "") for c in shape)]) for shape in shapes])
