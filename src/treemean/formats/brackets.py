"""Trees as nested brackets: what discbracket and the brackets of the Penn Treebank share."""

from __future__ import annotations

import re
from collections.abc import Callable

from treemean.errors import UnwritableTree
from treemean.trees import Tree

_BLANK = re.compile(r"\s")


def serialise_brackets(tree: Tree, leaf: Callable[[int, str], str], escape: Callable[[str], str]) -> str:
    """Return a tree as `(LABEL child child …)`, children by their first word, tags as nodes over one word.

    A word without a tag stands directly in its parent, unless it would then be taken for a tagged word or
    the parent has no label; then it gets a node without label.
    """
    if not tree.words:
        raise UnwritableTree("it has no words")
    for kind, texts in (
        ("word", tree.words),
        ("tag", tree.tags),
        ("label", [c.label for c in tree.constituents]),
    ):
        for text in texts:
            if (kind == "word" and not text) or _BLANK.search(text):
                raise UnwritableTree(
                    f"the {kind} {text!r} {'is empty' if not text else 'contains white space'}"
                )
    out: list[str] = []
    # Entries are the next child to write, or text that closes a constituent; a stack, as trees may be deep.
    todo: list[tuple[int, bool] | str] = [(0, False)]
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            out.append(item)
            continue
        index, is_word = item
        if is_word:
            out.append(leaf(index, escape(tree.words[index])))
            continue
        children = tree.children[index]
        label = escape(tree.constituents[index].label)
        out.append(f"({label}")
        todo.append(")")
        for child in reversed(children):
            if not child.is_word:
                todo += [(child.index, False), " "]
                continue
            tag = escape(tree.tags[child.index])
            if tag or len(children) == 1 or not label:
                todo += [")", (child.index, True), f" ({tag} "]
            else:
                todo += [(child.index, True), " "]
    return "".join(out)
