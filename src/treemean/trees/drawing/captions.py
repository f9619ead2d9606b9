"""The texts that stand in a drawing."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable

from treemean.errors import TreemeanError
from treemean.printing import HARMFUL
from treemean.trees import bitsets
from treemean.trees.drawing.metrics import columns
from treemean.trees.tree import Constituent, Tree

UNLABELLED = "•"
EMPTY_WORD = "∅"
NO_FUNCTION = "--"  # as treebanks write it
NO_WORDS = "(a tree without words)"

# Characters that would break the lines of a drawing or turn their direction, or that XML forbids.
_UNPRINTABLE = re.compile(f"[{HARMFUL}\ufffe\uffff]")


def printable(text: str) -> str:
    r"""Return a text of one line, with signs in the place of control characters.

    >>> printable("a\tb")
    'a␉b'
    """
    text = _UNPRINTABLE.sub(lambda match: _sign(match.group()), text)
    # A mark without a letter would settle on whatever stands before the text.
    return "◌" + text if text and unicodedata.combining(text[0]) else text


def _sign(character: str) -> str:
    return chr(0x2400 + ord(character)) if character < " " else "\ufffd"


def words_of(tree: Tree) -> list[str]:
    """Return the words as drawn; one that would be invisible is drawn as ∅."""
    return [_visible(word, EMPTY_WORD) for word in tree.words]


def _visible(text: str, otherwise: str) -> str:
    text = printable(text)
    return text if columns(text.strip()) else otherwise


def tags_of(tree: Tree, *, tags: bool, functions: bool) -> list[str]:
    """Return what is written above the words, as in "NN-SB"; empty texts where there is nothing."""
    texts = []
    for tag, function in zip(tree.tags, tree.word_functions, strict=True):
        texts.append(_with_function(printable(tag) if tags else "", function if functions else ""))
    return texts


def _with_function(text: str, function: str) -> str:
    shown = "" if function == NO_FUNCTION else printable(function)
    return f"{text}-{shown}" if text and shown else text or shown


def label_of(constituent: Constituent, *, functions: bool = False) -> str:
    """Return the label of a constituent, with its function as in "NP-SB" on request.

    >>> label_of(Constituent(1, "", "SB"), functions=True)
    '•-SB'
    """
    label = _visible(constituent.label, UNLABELLED)
    return _with_function(label, constituent.function if functions else "")


def chain_label(labels: Iterable[str]) -> str:
    """Return the labels of a unary chain as one, as in "S+VP"."""
    return "+".join(_visible(label, UNLABELLED) for label in labels)


def numbers_of(tree: Tree, name: str | None) -> list[float | None]:
    """Return a named number of every constituent, None where it has none (or NaN).

    Raises `TreemeanError` if no constituent knows the name.
    """
    if name is None:
        return [None] * len(tree.constituents)
    if not any(name in c.values for c in tree.constituents):
        known = sorted({known for c in tree.constituents for known in c.values})
        sentence = f"sentence {tree.id}: " if tree.id else ""
        raise TreemeanError(
            f"{sentence}no constituent has a value named {name!r}; "
            + (f"there are {', '.join(known)}" if known else "there are no values at all")
        )
    found = [c.values.get(name) for c in tree.constituents]
    return [None if value is None or math.isnan(value) else float(value) for value in found]


def number_text(value: float) -> str:
    """Return a number with two decimals at most.

    >>> [number_text(value) for value in (1.0, 0.8, 2 / 3, 0.002)]
    ['1', '0.8', '0.67', '0.002']
    """
    if 0 < abs(value) < 0.005:
        return f"{value:.1g}"
    text = f"{value:.2f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def excerpt(tree: Tree, mask: int) -> list[str]:
    """Return the words of a set of positions, with an ellipsis for every gap.

    >>> excerpt(Tree("Wake your friend up".split(), [(range(4), "S")]), 0b1001)
    ['Wake', '…', 'up']
    """
    words = words_of(tree)
    parts: list[str] = []
    for start, end in bitsets.spans_of(mask):
        parts += ["…"] * bool(parts) + words[start:end]
    return parts
