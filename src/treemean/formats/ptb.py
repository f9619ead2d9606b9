"""Brackets of the Penn Treebank: continuous trees, `(S (NP (D the) (N cat)) (V sleeps))`.

Trees may run over several lines; a line that begins with a bracket begins a new tree. Traces (`-NONE-`) are
left out, and the wrapper without label, `( (S …))`, unless it is asked for. Brackets inside words are escaped
as `-LRB-`, `-RRB-`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

import numpy as np
from numpy.typing import NDArray

from treemean import _core
from treemean.errors import UnwritableTree
from treemean.files.source import Source
from treemean.formats.brackets import BracketWriter, serialise_brackets
from treemean.formats.native import read_native
from treemean.formats.problems import Problems
from treemean.formats.writing import BatchWriter, Unwritable
from treemean.trees import Tree, Treebank


def read(
    source: Source, problems: Problems, *, encoding: str, keep_wrapper: bool = False
) -> Iterator[Treebank]:
    """Read brackets; a wrapper may be kept, as a root without label."""
    return read_native(
        source,
        problems,
        lambda text, final, skip: _core.read_brackets(text, False, final, skip, keep_wrapper),
        encoding=encoding,
    )


def serialise(tree: Tree) -> str:
    """Return a tree as one line; discontinuous trees cannot be expressed.

    >>> serialise(Tree(["(", "b"], [({0, 1}, "S")], tags=["X", ""]))
    '(S (X -LRB-) b)\\n'
    """
    for c in tree.constituents:
        if not c.is_continuous:
            words = " … ".join(" ".join(tree.words[start:end]) for start, end in c.spans)
            raise UnwritableTree(f"the constituent {c.label} [{words}] is discontinuous")
    if "-NONE-" in tree.tags:
        raise UnwritableTree("it has a word with the tag -NONE-, which marks traces here")
    text = serialise_brackets(tree, lambda index, word: word, _escape)
    if not tree.constituents[0].label:
        text = f"( {text})"  # a root without label would be taken for the usual wrapper
    return text + "\n"


def _escape(text: str) -> str:
    return text.replace("(", "-LRB-").replace(")", "-RRB-")


def writer(stream: IO[bytes], unwritable: Unwritable) -> BatchWriter:
    """Open a writer."""
    return BracketWriter(
        stream,
        serialise,
        "PTB brackets",
        unwritable,
        escape=_escape,
        positions=False,
        needs_care=_needs_care,
    )


def _needs_care(batch: Treebank) -> NDArray[np.bool_]:
    """Return which sentences are discontinuous, have a trace's tag, or a root without label."""
    care = np.zeros(len(batch), dtype=bool)
    care[batch.sentence_of[batch.fan_outs > 1]] = True
    traces = np.flatnonzero(batch.tags.where("-NONE-".__eq__))
    care[np.searchsorted(batch.word_offsets, traces, side="right") - 1] = True
    rooted = batch.constituent_counts > 0
    care[rooted] |= batch.labels.where("".__eq__)[batch.constituent_offsets[:-1][rooted]]
    return care
