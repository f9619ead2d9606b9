"""Brackets of the Penn Treebank and its relatives: continuous trees, `(S (NP (D the) (N cat)) (V sleeps))`.

Trees may run over several lines. Traces (`-NONE-`) and other empty leaves are left out, and so is the wrapper
without label, `( (S …))`, unless they are asked for. Brackets inside words are escaped as `-LRB-`, `-RRB-`,
and what is literally `-LRB-` as `-~LRB-`. What leaves look like is a matter of the dialect.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import IO

import numpy as np
from numpy.typing import NDArray

from treemean import _core
from treemean.errors import FormatError, UnwritableTree
from treemean.files.source import Source
from treemean.formats.brackets import BracketWriter, literally, serialise_brackets
from treemean.formats.dialects import Dialect, foreign_leaf, get_dialect, recognise
from treemean.formats.native import Chunk, read_native
from treemean.formats.notes import Notes
from treemean.formats.problems import Problems
from treemean.formats.writing import BatchWriter, Unwritable
from treemean.trees import Tree, Treebank

#: Words that readers may take for empty leaves, as `is_surely_empty` of the core does.
_EMPTY = re.compile(
    r"\*(?:[A-Za-z0-9?]+\*)?-[A-Za-z0-9]+|\*(?:T|ICH|con|pro|exp|arb|RNR|PPA|OP|0|\?|xxx)\*", re.I
)
_CURLY_AND_SQUARE = {"{": "-LCB-", "}": "-RCB-", "[": "-LSB-", "]": "-RSB-"}


def read(
    source: Source,
    problems: Problems,
    *,
    encoding: str,
    keep_wrapper: bool = False,
    dialect: str = "auto",
    keep_empty: bool = False,
    keep_lemmas: bool = False,
    notes: Notes | None = None,
) -> Iterator[Treebank]:
    """Read brackets; the options are those of `read_batches`."""
    reader = _Reader(
        source.name,
        get_dialect(dialect),
        keep_wrapper,
        keep_empty,
        keep_lemmas,
        Notes() if notes is None else notes,
    )
    return read_native(source, problems, reader, encoding=encoding, comments="lemmas")


class _Reader:
    """Gives pieces of text to the core, the first of which may have to tell the dialect."""

    def __init__(
        self,
        name: str,
        dialect: Dialect | None,
        keep_wrapper: bool,
        keep_empty: bool,
        keep_lemmas: bool,
        notes: Notes,
    ) -> None:
        self._name, self._dialect, self._notes = name, dialect, notes
        self._guessed = dialect is None
        self._keep = {"keep_wrapper": keep_wrapper, "keep_empty": keep_empty, "keep_lemmas": keep_lemmas}
        self._lines = 0

    def __call__(self, text: bytes, final: bool, skip: bool, known: _core.Vocabularies) -> Chunk:
        if self._dialect is None:
            try:
                self._dialect = recognise(text)
            except FormatError as doubt:
                raise FormatError(doubt.message, path=self._name) from None
            self._notes.recognised[self._dialect] += 1
        chunk, empty, wordless, foreign, line = _core.read_brackets(
            text,
            False,
            final,
            skip,
            leaves=self._dialect.leaves,
            helsinki=self._dialect.helsinki,
            guessed=self._guessed,
            known=known,
            **self._keep,
        )
        if foreign:
            raise foreign_leaf(foreign.decode("utf-8", "replace"), self._lines + line, self._name)
        self._lines += chunk[2]
        self._notes.empty_leaves += empty
        self._notes.wordless += wordless
        return chunk


def serialise(tree: Tree, *, keep_empty: bool = False) -> str:
    """Return a tree as one line; discontinuous trees cannot be expressed, empty leaves only if they are kept.

    >>> serialise(Tree(["(", "b"], [({0, 1}, "S")], tags=["X", ""]))
    '(S (X -LRB-) b)\\n'
    """
    for c in tree.constituents:
        if not c.is_continuous:
            words = " … ".join(" ".join(tree.words[start:end]) for start, end in c.spans)
            raise UnwritableTree(f"the constituent {c.label} [{words}] is discontinuous")
    if not keep_empty:
        if "-NONE-" in tree.tags:
            raise UnwritableTree("it has a word with the tag -NONE-, which marks traces here (--keep-empty)")
        for word in tree.words:
            if _EMPTY.fullmatch(word):
                raise UnwritableTree(f"the word {word!r} would be taken for an empty leaf (--keep-empty)")
    text = serialise_brackets(tree, lambda index, word: word, _escape)
    if not tree.constituents[0].label:
        text = f"( {text})"  # a root without label would be taken for the usual wrapper
    return text + "\n"


def _escape(text: str) -> str:
    """Escape brackets, and what would be taken for escaped ones.

    >>> [_escape(text) for text in ("(a)", "{", "-LRB-", "NP[sg]")]
    ['-LRB-a-RRB-', '-LCB-', '-~LRB-', 'NP[sg]']
    """
    if text in _CURLY_AND_SQUARE:  # as the Penn Treebank has them; inside words they do no harm
        return _CURLY_AND_SQUARE[text]
    return literally(text, "-").replace("(", "-LRB-").replace(")", "-RRB-")


def writer(stream: IO[bytes], unwritable: Unwritable, *, keep_empty: bool = False) -> BatchWriter:
    """Open a writer; with `keep_empty`, empty leaves are written, too."""
    return BracketWriter(
        stream,
        partial(serialise, keep_empty=keep_empty),
        "PTB brackets",
        unwritable,
        escape=_escape,
        positions=False,
        needs_care=partial(_needs_care, keep_empty=keep_empty),
    )


def _needs_care(batch: Treebank, keep_empty: bool) -> NDArray[np.bool_]:
    """Return which sentences are discontinuous, have empty leaves, or a root without label."""
    care = np.zeros(len(batch), dtype=bool)
    care[batch.sentence_of[batch.fan_outs > 1]] = True
    if not keep_empty:
        empty = batch.tags.where("-NONE-".__eq__)
        empty |= batch.words.where(lambda word: _EMPTY.fullmatch(word) is not None)
        care[np.searchsorted(batch.word_offsets, np.flatnonzero(empty), side="right") - 1] = True
    rooted = batch.constituent_counts > 0
    care[rooted] |= batch.labels.where("".__eq__)[batch.constituent_offsets[:-1][rooted]]
    return care
