"""Making trees continuous by raising the parts that stand apart."""

from __future__ import annotations

from treemean.trees import bitsets
from treemean.trees.arguments import takes
from treemean.trees.tree import Constituent, Tree

HEAD_FUNCTIONS = frozenset({"hd", "head"})


def is_head(function: str) -> bool:
    """Tell whether a grammatical function marks the head of its parent (`HD`, `hd`, `head`)."""
    return function.lower() in HEAD_FUNCTIONS


def head_word(tree: Tree, index: int) -> int | None:
    """Return the position of the lexical head of a constituent, None where no function marks one."""
    while True:
        for child in tree.children[index]:
            function = (
                tree.word_functions[child.index] if child.is_word else tree.constituents[child.index].function
            )
            if is_head(function):
                if child.is_word:
                    return child.index
                index = child.index
                break
        else:
            return None


@takes(Tree)
def make_continuous(tree: Tree) -> Tree:
    """Return the tree with every discontinuous constituent reduced to one of its continuous parts.

    The part with the head stays (without marked heads: the longest part, the first of equally long ones);
    the others are raised, that is, they become children of the constituent above. A child that lies in a
    raised part goes along with it. Every constituent survives, with at least one of its words.

    >>> tree = Tree("Wake your friend up".split(), [({0, 1, 2, 3}, "S"), ({0, 3}, "V"), ({1, 2}, "NP")])
    >>> [c.spans for c in make_continuous(tree)]
    [[(0, 4)], [(0, 1)], [(1, 3)]]
    """
    kept: list[int] = []
    for index, constituent in enumerate(tree.constituents):
        # Go with the lowest ancestor that kept some of this constituent's words; the root kept them all.
        ancestor = tree.parents[index]
        while ancestor >= 0 and not constituent.mask & kept[ancestor]:
            ancestor = tree.parents[ancestor]
        available = constituent.mask & kept[ancestor] if ancestor >= 0 else constituent.mask
        kept.append(_main_part(available, head_word(tree, index)))
    return tree.replace(
        constituents=[
            Constituent(mask, c.label, c.function, c.values)
            for mask, c in zip(kept, tree.constituents, strict=True)
        ]
    )


def _main_part(mask: int, head: int | None) -> int:
    spans = bitsets.spans_of(mask)
    start, end = max(spans, key=lambda s: (head is not None and s[0] <= head < s[1], s[1] - s[0], -s[0]))
    return ((1 << end) - 1) ^ ((1 << start) - 1)
