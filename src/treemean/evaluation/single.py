"""One tree against its gold tree under a protocol, for drawings."""

from __future__ import annotations

from collections.abc import Collection

from treemean.errors import MismatchError
from treemean.evaluation.alignment import sentence_name
from treemean.evaluation.deletion import removed_words
from treemean.evaluation.protocols import Protocol, get_protocol
from treemean.evaluation.scores import judge
from treemean.trees import Tree, Treebank
from treemean.trees.drawing.comparison import Missed, TreeComparison
from treemean.trees.punctuation import remove_words


def compare_trees(
    tree: Tree,
    gold: Tree,
    protocol: str | Protocol = "standard",
    *,
    labelled: bool | None = None,
    punctuation: str | Collection[str] = "auto",
    ignore_case: bool = False,
) -> TreeComparison:
    """Tell what is right in a tree, what is wrong and what is missed, as `evaluate` counts it.

    The parameters are those of `evaluate`. With `"auto"`, only this gold tree tells its punctuation.
    Raises `MismatchError` if the words differ.

    >>> tree = Tree(["a", "b", "c"], [({0, 1, 2}, "S"), ({0, 1}, "X")])
    >>> gold = Tree(["a", "b", "c"], [({0, 1, 2}, "S"), ({0, 1}, "NP")])
    >>> compare_trees(tree, gold)
    TreeComparison(right=(None, True), missed=())
    >>> compare_trees(tree, gold, labelled=True)
    TreeComparison(right=(None, False), missed=(Missed(mask=3, labels=('NP',)),))
    """
    chosen = get_protocol(protocol, labelled=labelled)
    reference = _over_the_same_words(Treebank.from_trees([gold]), len(tree), chosen, punctuation)
    try:
        told = judge(
            Treebank.from_trees([tree]), reference, chosen, punctuation=punctuation, ignore_case=ignore_case
        )
    except MismatchError as error:  # which of its trees this is, only the caller knows
        raise MismatchError(str(error).removeprefix(f"{sentence_name(gold.id, 0)}: ")) from None
    missed: dict[int, list[str]] = {}
    for constituent, scored, found in zip(reference[0], told.gold_scored, told.gold_found, strict=True):
        if scored and not found:
            missed.setdefault(constituent.mask, []).append(constituent.label)
    return TreeComparison(
        tuple(
            bool(right) if scored else None
            for scored, right in zip(told.predicted_scored, told.predicted_right, strict=True)
        ),
        tuple(Missed(mask, tuple(labels)) for mask, labels in missed.items()),
    )


def _over_the_same_words(
    gold: Treebank, length: int, protocol: Protocol, punctuation: str | Collection[str]
) -> Treebank:
    """Return a gold treebank of one tree without its punctuation, if the other tree has none."""
    for removed in removed_words(gold, protocol, punctuation):
        if len(gold.words) > length == int((~removed).sum()):
            return remove_words(gold, removed, drop_empty=False)
    return gold
