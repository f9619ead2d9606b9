"""How large a sentence may be, so that a small file cannot ask for unbounded memory or time.

The readers of the core have the same limits (`src/core/columns.hpp`).
"""

from __future__ import annotations

import numpy as np

from treemean.errors import InvalidTree
from treemean.trees import Tree, Treebank

#: Words of one sentence.
MAX_WORDS = 1 << 17
#: Constituents of one sentence, and how many of them may stand above each other.
MAX_CONSTITUENTS = 1 << 17
MAX_DEPTH = 1 << 15
#: Words times constituents of one sentence, that is, the bits that its sets of positions take.
MAX_CELLS = 1 << 28
#: Lines, elements and attributes, or brackets and commas, by which one sentence is told. Each of them may
#: take a hundred bytes of memory; the largest sentences that other limits leave need half as many.
MAX_PIECES = 1 << 21
#: Bytes of the id of a sentence, or of its metadata, where a file may say them once for many sentences.
MAX_NOTE = 1 << 18


def check_size(words: int, constituents: int, depth: int = 0) -> None:
    """Raise `InvalidTree` if a sentence is larger than any real one, before its sets are built.

    >>> check_size(40, 60)
    """
    if words > MAX_WORDS:
        raise too_large(f"more than {MAX_WORDS} words")
    if depth > MAX_DEPTH:
        raise too_large(f"constituents in more than {MAX_DEPTH} others")
    if constituents > MAX_CONSTITUENTS:
        raise too_large(f"more than {MAX_CONSTITUENTS} constituents")
    if words * constituents > MAX_CELLS:
        raise too_large(
            f"{constituents} constituents over {words} words, and their product may be {MAX_CELLS} at most"
        )


def depth_of(tree: Tree) -> int:
    """Return how many constituents stand above each other at most. O(constituents)."""
    depths: list[int] = []
    for parent in tree.parents:  # parents come before their children
        depths.append(1 if parent < 0 else depths[parent] + 1)
    return max(depths, default=0)


def first_beyond(treebank: Treebank, start: int = 0) -> tuple[int, InvalidTree] | None:
    """Return the first sentence from a place on that is beyond a limit, and why; None if all are within."""
    words, constituents = treebank.lengths, np.diff(treebank.constituent_offsets)
    suspicious = (words > MAX_WORDS) | (constituents > MAX_DEPTH) | (words * constituents > MAX_CELLS)
    for index in np.flatnonzero(suspicious[start:]) + start:
        try:
            check_size(int(words[index]), int(constituents[index]))
            check_size(int(words[index]), int(constituents[index]), depth_of(treebank[int(index)]))
        except InvalidTree as error:
            return int(index), error
    return None


def check_pieces(text: bytes, signs: bytes, before: int = 0) -> int:
    """Return how many of some signs there are, and raise `InvalidTree` if that is too much for one sentence.

    Parameters
    ----------
    text : of one sentence, or a part of it.
    signs : each begins something that takes memory.
    before : how many there are in the parts before.
    """
    pieces = before + sum(text.count(sign) for sign in signs)
    if pieces > MAX_PIECES:
        raise too_large(f"more than {MAX_PIECES} pieces")
    return pieces


def too_large(reason: str) -> InvalidTree:
    """Return the error for a sentence that is beyond a limit."""
    return InvalidTree(f"the sentence is too large: {reason}")
