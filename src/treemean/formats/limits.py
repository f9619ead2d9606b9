"""How large a sentence may be, so that a small file cannot ask for unbounded memory or time."""

from __future__ import annotations

from treemean.errors import InvalidTree

#: Words of one sentence.
MAX_WORDS = 1 << 17
#: Words times constituents of one sentence, that is, the bits that its sets of positions take.
MAX_CELLS = 1 << 28


def check_size(words: int, constituents: int) -> None:
    """Raise `InvalidTree` if a sentence is larger than any real one, before its sets are built.

    >>> check_size(40, 60)
    """
    if words > MAX_WORDS:
        raise InvalidTree(f"a sentence of {words} words; at most {MAX_WORDS} are read")
    if words * constituents > MAX_CELLS:
        raise InvalidTree(
            f"{constituents} constituents over {words} words; their product may be {MAX_CELLS} at most"
        )
