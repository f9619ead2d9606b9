"""Trees for NLTK.

NLTK has no discontinuous trees. As in disco-dop, the leaves of such a tree carry their position, `0=Wake`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from treemean.errors import MissingDependency, UnwritableTree

if TYPE_CHECKING:
    from treemean.trees.tree import Tree


def to_nltk(tree: Tree, *, positions: bool = False) -> Any:
    """Return an `nltk.Tree`. Tags are the nodes right above words.

    A word without a tag has no such node, unless its constituent would then be taken for a tag.

    Parameters
    ----------
    positions : write words as `0=Wake`, with their position, as discontinuous trees need it.
    """
    try:
        import nltk
    except ImportError as error:
        raise MissingDependency("to_nltk needs NLTK: pip install nltk") from error
    if not tree.constituents:
        raise UnwritableTree("NLTK has no tree without words")
    if not positions and not tree.is_continuous:
        raise UnwritableTree(
            "NLTK has no discontinuous trees: give positions=True for leaves such as 0=Wake, or make the "
            "tree continuous (treemean.transforms.make_continuous)"
        )

    def leaf(position: int, alone: bool) -> Any:
        word = f"{position}={tree.words[position]}" if positions else tree.words[position]
        return nltk.Tree(tree.tags[position], [word]) if tree.tags[position] or alone else word

    made: list[Any] = [None] * len(tree.constituents)
    for index in reversed(range(len(tree.constituents))):  # children come behind their parents
        below = tree.children[index]
        alone = len(below) == 1 and index > 0
        children = [leaf(c.index, alone) if c.is_word else made[c.index] for c in below]
        made[index] = nltk.Tree(tree.constituents[index].label, children)
    return made[0]
