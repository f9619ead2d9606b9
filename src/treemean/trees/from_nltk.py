"""Trees from NLTK."""

from __future__ import annotations

import re
from typing import Any

from treemean.errors import InvalidTree
from treemean.trees.tree import Constituent, Tree

_POSITION = re.compile(r"(\d+)=(.*)", re.DOTALL)


def from_nltk(tree: Any, *, id: str = "") -> Tree:
    """Return a tree of NLTK as a `Tree`.

    A node right above a single word is its tag, unless it is the whole tree. If all leaves begin with
    different positions, `0=Wake`, these tell the order of the words, so that the tree may be discontinuous.

    >>> import nltk
    >>> tree = from_nltk(nltk.Tree.fromstring("(S (NP (DT the) (NN cat)) (VB slept))"))
    >>> tree.words, tree.tags, [c.label for c in tree]
    (('the', 'cat', 'slept'), ('DT', 'NN', 'VB'), ['S', 'NP'])
    """
    if not hasattr(tree, "label") or not hasattr(tree, "leaves"):
        raise InvalidTree(f"this is no tree of NLTK but a {type(tree).__name__}")
    leaves = [str(leaf) for leaf in tree.leaves()]
    if not leaves:
        raise InvalidTree("a tree of NLTK without words")
    found = [_POSITION.fullmatch(leaf) for leaf in leaves]
    numbered = {int(match[1]) for match in found if match} == set(range(len(leaves)))
    place = [int(match[1]) if numbered and match else index for index, match in enumerate(found)]
    words, tags = [""] * len(leaves), [""] * len(leaves)
    for position, leaf, match in zip(place, leaves, found, strict=True):
        words[position] = match[2] if numbered and match else leaf
    constituents: list[Constituent] = []
    seen = 0  # leaves so far
    # Nodes in the order in which they stand; None closes the uppermost open one.
    todo: list[Any] = [tree]
    opened: list[tuple[int, str, int]] = []  # index among constituents, label, leaves before it
    while todo:
        node = todo.pop()
        if node is None:
            index, label, start = opened.pop()
            constituents[index] = Constituent.over(place[start:seen], label)
        elif not hasattr(node, "label"):
            seen += 1
        elif opened and len(node) == 1 and not hasattr(node[0], "label"):
            tags[place[seen]] = str(node.label())
            seen += 1
        elif len(node) == 0:
            raise InvalidTree(f"the node {node.label()!r} has no children")
        else:
            opened.append((len(constituents), str(node.label()), seen))
            constituents.append(Constituent(0))
            todo += [None, *reversed(node)]
    return Tree(words, constituents, tags=tags, id=id)
