"""Normalising words: lower case, and one symbol for numbers."""

from __future__ import annotations

import re
from numbers import Integral
from types import NoneType

from treemean.errors import check_type
from treemean.trees.arguments import takes
from treemean.trees.treebank import Treebank

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


@takes(Treebank)
def lower_case(treebank: Treebank) -> Treebank:
    """Write all words in lower case."""
    return treebank.with_columns(words=treebank.words.map(str.lower))


def replace_numbers(word: str, symbol: str = "N") -> str:
    """Replace every run of digits (with points and commas inside) by one symbol.

    >>> replace_numbers("1.200,50"), replace_numbers("18-jarige")
    ('N', 'N-jarige')
    """
    return _NUMBER.sub(lambda _: symbol, word)


@takes(Treebank)
def normalise_numbers(treebank: Treebank, symbol: str = "N") -> Treebank:
    """Replace the numbers in all words by one symbol, see `replace_numbers`."""
    return treebank.with_columns(words=treebank.words.map(lambda word: replace_numbers(word, symbol)))


@takes(Treebank)
def filter_by_length(treebank: Treebank, minimum: int = 0, maximum: int | None = None) -> Treebank:
    """Keep the sentences of at least `minimum` and at most `maximum` words."""
    check_type("minimum", minimum, Integral)
    check_type("maximum", maximum, Integral, NoneType)
    keep = treebank.lengths >= minimum
    if maximum is not None:
        keep &= treebank.lengths <= maximum
    return treebank.take(keep)
