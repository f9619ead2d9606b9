"""Binarising trees of any fan-out, and undoing it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import or_

from treemean.errors import InvalidOption
from treemean.names import BinarisingRule
from treemean.trees.arguments import takes
from treemean.trees.continuous import is_head
from treemean.trees.tree import Constituent, Tree

#: Labels of constituents that binarising adds end with this.
MARK = "|"


@takes(Tree)
def binarise(tree: Tree, direction: BinarisingRule = "right") -> Tree:
    """Add constituents until every one of several words has two children (unary chains stay).

    Children are taken by their first word; what is added may be discontinuous where children are.

    Parameters
    ----------
    direction : `right` gives (a (b (c d))), `left` gives (((a b) c) d), `balanced` halves the children,
        `head` starts from the head child and takes in what stands right of it, then what stands left
        (without a marked head the last child counts as head).

    Added constituents have the label of the one they divide with `|` behind.

    >>> flat = Tree(list("abcd"), [({0, 1, 2, 3}, "S")])
    >>> [c.positions for c in binarise(flat, "left")]
    [(0, 1, 2, 3), (0, 1, 2), (0, 1)]
    """
    added: list[Constituent] = []
    for index, constituent in enumerate(tree.constituents):
        children = tree.children[index]
        if len(children) <= 2:
            continue
        masks = [1 << c.index if c.is_word else tree.constituents[c.index].mask for c in children]
        head = next(
            (
                i
                for i, c in enumerate(children)
                if is_head(tree.word_functions[c.index] if c.is_word else tree.constituents[c.index].function)
            ),
            len(children) - 1,
        )
        label = constituent.label.removesuffix(MARK) + MARK
        added += [Constituent(mask, label) for mask in _inner_sets(masks, direction, head)]
    return tree.replace(constituents=[*tree.constituents, *added])


@takes(Tree)
def unbinarise(tree: Tree) -> Tree:
    """Remove the constituents that `binarise` added: all but the root whose label ends with `|`.

    >>> flat = Tree(list("abcd"), [({0, 1, 2, 3}, "S")])
    >>> unbinarise(binarise(flat)) == flat
    True
    """
    return tree.replace(
        constituents=[
            c for index, c in enumerate(tree.constituents) if index == 0 or not c.label.endswith(MARK)
        ]
    )


def _inner_sets(masks: Sequence[int], direction: BinarisingRule, head: int) -> Iterable[int]:
    """Return the unions of children that lie strictly between the children and their parent."""
    if direction == "balanced":
        return _halves(masks)
    if direction == "left":
        order = list(masks)
    elif direction == "right":
        order = list(reversed(masks))
    elif direction == "head":
        order = [*masks[head:], *reversed(masks[:head])]
    else:
        raise InvalidOption(f"direction must be left, right, balanced or head, not {direction!r}")
    unions = []
    union = order[0]
    for mask in order[1:-1]:
        union |= mask
        unions.append(union)
    return unions


def _halves(masks: Sequence[int]) -> list[int]:
    unions = []
    todo = [masks]
    while todo:
        part = todo.pop()
        middle = len(part) // 2
        for half in (part[:middle], part[middle:]):
            if len(half) > 1:
                unions.append(reduce(or_, half))
                todo.append(half)
    return unions
