"""Treebanks of few words for tests of fitting."""

from __future__ import annotations

from treemean.fitting import MODELS
from treemean.trees import Tree, Treebank

#: The models for runs of one kind; `apart` must be told of which kind each run is, see test_apart.py.
ONE_KIND = tuple(name for name in MODELS if name != "apart")


def bank(*shapes: list[set[int]], n: int = 4) -> Treebank:
    """Return a tree of n words for each list of constituents; the root is added."""
    words = [f"w{p}" for p in range(n)]
    return Treebank.from_trees([Tree(words, [(range(n), ""), *((c, "") for c in shape)]) for shape in shapes])
