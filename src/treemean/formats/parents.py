"""Trees from parent pointers, the way in which most treebank formats tell them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from treemean.errors import InvalidTree
from treemean.formats.limits import check_size
from treemean.trees import Constituent, Tree

TOP = -1


@dataclass(slots=True)
class Node:
    """A constituent as files tell it: a label, a function, and the index of its parent (`TOP` for none)."""

    label: str
    function: str = ""
    parent: int = TOP


def tree_from_parents(
    words: Sequence[str],
    word_parents: Sequence[int],
    nodes: Sequence[Node],
    *,
    tags: Sequence[str] | None = None,
    word_functions: Sequence[str] | None = None,
    id: str = "",
    metadata: Mapping[str, str] | None = None,
    root_label: str = "ROOT",
) -> Tree:
    """Build a tree from the parents of its words and nodes.

    A root labelled `root_label` is added if no node spans the whole sentence. Cycles are errors, and so are
    nodes without words. O(n · depth).

    >>> tree_from_parents(["a", "b"], [0, TOP], [Node("X")]).constituents[0].label
    'ROOT'
    """
    check_size(len(words), len(nodes))
    depths = _depths(nodes)
    check_size(len(words), len(nodes), max(depths, default=0) + 1)
    masks = [0] * len(nodes)
    for position, parent in enumerate(word_parents):
        if parent != TOP:
            masks[parent] |= 1 << position
    for index in sorted(range(len(nodes)), key=lambda i: -depths[i]):
        if nodes[index].parent != TOP:
            masks[nodes[index].parent] |= masks[index]
    constituents = []
    for index in sorted(range(len(nodes)), key=lambda i: depths[i]):  # of equal sets the upper one first
        if not masks[index]:
            raise InvalidTree(f"node {nodes[index].label!r} has no words")
        constituents.append(Constituent(masks[index], nodes[index].label, nodes[index].function))
    return Tree.with_root(
        words,
        constituents,
        root_label=root_label,
        tags=tags,
        word_functions=word_functions,
        id=id,
        metadata=metadata,
    )


def _depths(nodes: Sequence[Node]) -> list[int]:
    depths = [-1] * len(nodes)
    for start in range(len(nodes)):
        path: list[int] = []
        index = start
        while index != TOP and depths[index] < 0:
            if len(path) > len(nodes):
                raise InvalidTree(f"node {nodes[start].label!r} is above itself")
            path.append(index)
            index = nodes[index].parent
        depth = -1 if index == TOP else depths[index]
        for step in reversed(path):
            depth += 1
            depths[step] = depth
    return depths
