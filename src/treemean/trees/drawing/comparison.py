"""A tree against a gold tree over the same words, for drawings.

Trees are compared as the protocol `standard` does where there is no punctuation: sets of two words or more
count, the whole sentence does not, labels do not. `treemean.evaluation.compare_trees` makes comparisons under
any protocol, which drawings take as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import NoneType

from treemean.errors import MismatchError, check_type
from treemean.trees.tree import Constituent, Tree


@dataclass(frozen=True)
class Missed:
    """A set of positions that only the gold tree has; `labels` from top to bottom of its unary chain."""

    mask: int
    labels: tuple[str, ...]


@dataclass(frozen=True)
class TreeComparison:
    """For every constituent whether it is `right`, None if it does not count; and what the tree `missed`."""

    right: tuple[bool | None, ...]
    missed: tuple[Missed, ...]


def comparison_with(tree: Tree, gold: Tree | TreeComparison | None) -> TreeComparison | None:
    """Return the comparison of a tree with what is given as gold."""
    check_type("gold", gold, Tree, TreeComparison, NoneType)
    return compare_sets(tree, gold) if isinstance(gold, Tree) else gold


def compare_sets(tree: Tree, gold: Tree) -> TreeComparison:
    """Compare the sets of a tree with those of a gold tree; raise `MismatchError` if their words differ.

    >>> tree = Tree(["a", "b", "c"], [({0, 1, 2}, "S"), ({0, 1}, "X")])
    >>> gold = Tree(["a", "b", "c"], [({0, 1, 2}, "S"), ({0, 2}, "VP")])
    >>> compare_sets(tree, gold)
    TreeComparison(right=(None, False), missed=(Missed(mask=5, labels=('VP',)),))
    """
    if tree.words != gold.words:
        raise MismatchError(_difference(tree, gold))
    missed: dict[int, list[str]] = {}
    for c in gold.constituents:
        if _counts(c, gold) and c.mask not in tree.masks:
            missed.setdefault(c.mask, []).append(c.label)
    return TreeComparison(
        tuple(c.mask in gold.masks if _counts(c, tree) else None for c in tree.constituents),
        tuple(Missed(mask, tuple(labels)) for mask, labels in missed.items()),
    )


def _counts(constituent: Constituent, tree: Tree) -> bool:
    return 1 < len(constituent) < len(tree)


def _difference(tree: Tree, gold: Tree) -> str:
    sentence = f"sentence {tree.id}: " if tree.id else ""
    if len(tree) != len(gold):
        return f"{sentence}the tree has {len(tree)} words, the gold tree {len(gold)}"
    position = next(p for p, pair in enumerate(zip(tree.words, gold.words)) if pair[0] != pair[1])
    return (
        f"{sentence}word {position} is {tree.words[position]!r} in the tree, "
        f"{gold.words[position]!r} in the gold tree"
    )
