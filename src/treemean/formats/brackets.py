"""Trees as nested brackets: what discbracket and the brackets of the Penn Treebank share."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import groupby
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from treemean import _core
from treemean.errors import UnwritableTree
from treemean.formats.writing import TextWriter, Unwritable
from treemean.trees import Tree, Treebank
from treemean.trees.strings import CodedStrings

_BLANK = re.compile(r"\s")
#: What brackets are called in -LRB- and its kind.
_NAMES = "LRB|RRB|LCB|RCB|LSB|RSB"


def literally(text: str, marks: str) -> str:
    """Put a ~ into what readers would take for an escaped bracket, or for something that got a ~.

    >>> literally("-LRB-", "-"), literally("-~LRB-", "-"), literally("pre-LSB", "-")
    ('-~LRB-', '-~~LRB-', 'pre-LSB')
    """
    return re.sub(rf"([{marks}])(?=~+(?:{_NAMES})|(?:{_NAMES})(?:\1|[()]))", r"\1~", text)


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


class BracketWriter:
    """A `BatchWriter` that leaves all plain trees to the core.

    Parameters
    ----------
    stream, serialise, format_name, unwritable : as of `TextWriter`, which writes the trees that need care.
    escape : escapes brackets.
    positions : whether leaves are INDEX=word.
    needs_care : which sentences of a batch need more than a line of brackets, or cannot be written.
    """

    def __init__(
        self,
        stream: IO[bytes],
        serialise: Callable[[Tree], str],
        format_name: str,
        unwritable: Unwritable,
        *,
        escape: Callable[[str], str],
        positions: bool,
        needs_care: Callable[[Treebank], NDArray[np.bool_]],
    ) -> None:
        self._careful = TextWriter(stream, serialise, format_name, unwritable)
        self._stream, self._unwritable = stream, unwritable
        self._escape, self._positions, self._needs_care = escape, positions, needs_care

    def write(self, batch: Treebank) -> None:
        """Write a batch."""
        care = self._needs_care(batch) | _has_odd_texts(batch)
        start = 0
        for careful, group in groupby(care.tolist()):
            stop = start + len(list(group))
            if careful:
                self._careful.write(batch[start:stop])
            else:
                self._stream.write(self._native(batch[start:stop]))
                self._unwritable.seen += stop - start
            start = stop

    def close(self) -> None:
        """Nothing stands at the end."""

    def _native(self, batch: Treebank) -> bytes:
        trees = (batch.word_offsets, batch.constituent_offsets, batch.bits)
        words, tags, labels = (self._texts(column) for column in (batch.words, batch.tags, batch.labels))
        return _core.write_brackets(trees, words, tags, labels, positions=self._positions)

    def _texts(self, column: CodedStrings) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        escaped = column.compact().map(self._escape)
        return escaped.codes, escaped.vocabulary.data, escaped.vocabulary.offsets


def _has_odd_texts(batch: Treebank) -> NDArray[np.bool_]:
    """Return which sentences have no words, an empty word, or white space in a text."""
    odd: NDArray[np.bool_] = batch.lengths == 0
    blank = [
        (batch.words.where(lambda text: not text or bool(_BLANK.search(text))), batch.word_offsets),
        (batch.tags.where(lambda text: bool(_BLANK.search(text))), batch.word_offsets),
        (batch.labels.where(lambda text: bool(_BLANK.search(text))), batch.constituent_offsets),
    ]
    for bad, offsets in blank:
        odd[np.searchsorted(offsets, np.flatnonzero(bad), side="right") - 1] = True
    return odd
