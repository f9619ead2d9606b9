"""Single trees as text in brackets, and back; for notebooks, tests and letters."""

from __future__ import annotations

from io import BytesIO
from typing import Literal

from treemean.errors import FormatError
from treemean.files.source import Source
from treemean.formats import discbracket, ptb
from treemean.formats.problems import Problems
from treemean.formats.registry import find_format, get_format
from treemean.trees import Tree, Treebank


def from_brackets(text: str, *, id: str = "") -> Tree:
    """Return the tree of a text in brackets, with positions (discbracket) or without (Penn Treebank).

    Raises `FormatError` if the text is not one tree.

    >>> from_brackets("(S (VP (V 0=Wake) (PRT 3=up)) (NP (D 1=your) (N 2=friend)))").fan_out
    2
    >>> from_brackets("(S (NP (D the) (N cat)) (V sleeps))").words
    ('the', 'cat', 'sleeps')
    """
    with Source(BytesIO(text.strip().encode()), "<text>") as source:
        found = find_format(source)
        if found is None or found.name not in ("discbracket", "ptb"):
            raise FormatError("a tree in brackets begins with a bracket, as in (S (NP it) (VP works))")
        trees = Treebank.concatenate(list(found.read(source, Problems(), encoding="utf-8")))
    if len(trees) != 1:
        raise FormatError(f"there are {len(trees)} trees in this text; treemean.read reads files of trees")
    return trees[0].replace(id=id) if id else trees[0]


def to_brackets(tree: Tree, format: Literal["discbracket", "ptb"] = "discbracket") -> str:
    """Return a tree as a line of text in brackets; raise `UnwritableTree` for what the format lacks.

    >>> to_brackets(Tree(["a", "b"], [({0, 1}, "S")], tags=["X", "Y"]))
    '(S (X 0=a) (Y 1=b))'
    """
    serialise = {"discbracket": discbracket.serialise, "ptb": ptb.serialise}.get(format)
    if serialise is None:
        raise FormatError(f"{get_format(format).title} is not written in brackets: discbracket and ptb are")
    return serialise(tree).rstrip("\n")
