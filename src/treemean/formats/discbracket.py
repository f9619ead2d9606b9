"""Discbracket: brackets whose leaves carry their position, `(VP (V 0=Wake) (PRT 3=up))`, one tree per line.

Both ways to escape brackets inside words are read, `#LRB#` (disco-dop) and `-LRB-` (TN-LCFRS and others);
the first is written, and what is literally one of them gets a ~: `#~LRB#`. Words may stand without a tag. The
older flavour with bare numbers as leaves and the sentence after a tab is read too; other text after a tab
becomes the metadata `comment`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

import numpy as np
from numpy.typing import NDArray

from treemean import _core
from treemean.files.source import Source
from treemean.formats.brackets import BracketWriter, literally, serialise_brackets
from treemean.formats.native import read_native
from treemean.formats.problems import Problems
from treemean.formats.writing import BatchWriter, Unwritable
from treemean.trees import Tree, Treebank


def read(source: Source, problems: Problems, *, encoding: str) -> Iterator[Treebank]:
    """Read discbracket."""
    return read_native(
        source,
        problems,
        lambda text, final, skip, known: _core.read_brackets(text, True, final, skip, known=known)[0],
        encoding=encoding,
    )


def serialise(tree: Tree) -> str:
    """Return a tree as one line.

    >>> serialise(Tree(["a", "b"], [({0, 1}, "S")], tags=["X", "Y"]))
    '(S (X 0=a) (Y 1=b))\\n'
    """
    text = serialise_brackets(tree, lambda index, word: f"{index}={word}", _escape)
    comment = tree.metadata.get("comment", "")
    return f"{text}\t{' '.join(comment.split())}\n" if comment.strip() else f"{text}\n"


def _escape(text: str) -> str:
    """Escape brackets, and what would be taken for escaped ones.

    >>> _escape("(-LRB-)"), _escape("#~LRB#")
    ('#LRB#-~LRB-#RRB#', '#~~LRB#')
    """
    return literally(text, "-#").replace("(", "#LRB#").replace(")", "#RRB#")


def writer(stream: IO[bytes], unwritable: Unwritable) -> BatchWriter:
    """Open a writer."""
    return BracketWriter(
        stream,
        serialise,
        "discbracket",
        unwritable,
        escape=_escape,
        positions=True,
        needs_care=_may_have_comments,
    )


def _may_have_comments(batch: Treebank) -> NDArray[np.bool_]:
    """Return which sentences have metadata, if any of these in the batch is a comment."""
    if b'"comment"' not in batch.metadata.data.tobytes():
        return np.zeros(len(batch), dtype=bool)
    return np.diff(batch.metadata.offsets) > 0
