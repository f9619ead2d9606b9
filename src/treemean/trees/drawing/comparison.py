"""A tree against a gold tree over the same words, for drawings.

Only the sets of positions are compared, not the labels. Sets of a single word are in every tree, whether or
not it lists a constituent over the word; they are therefore always right and never missed.
"""

from __future__ import annotations

from dataclasses import dataclass

from treemean.errors import MismatchError
from treemean.trees.tree import Tree


@dataclass(frozen=True)
class Missed:
    """A set of positions that only the gold tree has; `labels` from top to bottom of its unary chain."""

    mask: int
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Comparison:
    """For every constituent of the tree whether it is `right`, and what the tree `missed`."""

    right: tuple[bool, ...]
    missed: tuple[Missed, ...]


def compare(tree: Tree, gold: Tree) -> Comparison:
    """Compare a tree with a gold tree; raise `MismatchError` if their words differ.

    >>> tree = Tree(["a", "b", "c"], [({0, 1, 2}, "S"), ({0, 1}, "X")])
    >>> gold = Tree(["a", "b", "c"], [({0, 1, 2}, "S"), ({0, 2}, "VP")])
    >>> compare(tree, gold)
    Comparison(right=(True, False), missed=(Missed(mask=5, labels=('VP',)),))
    """
    if tree.words != gold.words:
        raise MismatchError(_difference(tree, gold))
    missed: dict[int, list[str]] = {}
    for c in gold.constituents:
        if len(c) > 1 and c.mask not in tree.masks:
            missed.setdefault(c.mask, []).append(c.label)
    return Comparison(
        tuple(len(c) == 1 or c.mask in gold.masks for c in tree.constituents),
        tuple(Missed(mask, tuple(labels)) for mask, labels in missed.items()),
    )


def _difference(tree: Tree, gold: Tree) -> str:
    sentence = f"sentence {tree.id}: " if tree.id else ""
    if len(tree) != len(gold):
        return f"{sentence}the tree has {len(tree)} words, the gold tree {len(gold)}"
    position = next(p for p, pair in enumerate(zip(tree.words, gold.words)) if pair[0] != pair[1])
    return (
        f"{sentence}word {position} is {tree.words[position]!r} in the tree, "
        f"{gold.words[position]!r} in the gold tree"
    )
