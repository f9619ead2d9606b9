"""Normalising words: lower case, and one symbol for numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from numbers import Integral
from types import NoneType

from treemean.errors import check_type
from treemean.trees.alike import as_treebank, of_treebanks
from treemean.trees.tree import Tree
from treemean.trees.treebank import Treebank

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


@of_treebanks
def lower_case(treebank: Treebank) -> Treebank:
    """Write all words in lower case."""
    return treebank.with_columns(words=treebank.words.map(str.lower))


def replace_numbers(word: str, symbol: str = "N") -> str:
    """Replace every run of digits (with points and commas inside) by one symbol.

    >>> replace_numbers("1.200,50"), replace_numbers("18-jarige")
    ('N', 'N-jarige')
    """
    return _NUMBER.sub(lambda _: symbol, word)


@of_treebanks
def normalise_numbers(treebank: Treebank, symbol: str = "N") -> Treebank:
    """Replace the numbers in all words by one symbol, see `replace_numbers`."""
    return treebank.with_columns(words=treebank.words.map(lambda word: replace_numbers(word, symbol)))


def filter_by_length(
    treebank: Treebank | Iterable[Tree], minimum: int = 0, maximum: int | None = None
) -> Treebank:
    """Keep the sentences of at least `minimum` and at most `maximum` words."""
    treebank = as_treebank(treebank)
    check_type("minimum", minimum, Integral)
    check_type("maximum", maximum, Integral, NoneType)
    keep = treebank.lengths >= minimum
    if maximum is not None:
        keep &= treebank.lengths <= maximum
    return treebank.take(keep)
