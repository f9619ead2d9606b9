"""How wide a text is: exactly in the columns of a terminal, roughly in the ems of a sans-serif font."""

from __future__ import annotations

import re
import unicodedata

#: Letters of ASCII and lines, of which drawings consist; each takes a column.
_USUAL = re.compile("[ -~\u2500-\u257f]+")
_SOFT_HYPHEN = "\u00ad"
_NARROW = frozenset("iIjlftr.,:;'’‘`|!()[]{}/\\-–·1 ")
_BROAD = frozenset("mwMWQOG@%&—…✓✗")


def columns(text: str) -> int:
    """Return how many columns of a terminal a text takes.

    >>> columns("Bücher"), columns("u\u0308"), columns("日本")
    (6, 1, 4)
    """
    if text.isascii():
        return len(text)
    unusual = _USUAL.sub("", text)
    return len(text) - len(unusual) + sum(character_columns(character) for character in unusual)


def character_columns(character: str) -> int:
    """Return 0 for combining and invisible characters, 2 for wide ones, else 1."""
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return int(character == _SOFT_HYPHEN)
    if "\u1160" <= character <= "\u11ff":  # vowels and finals of Hangul, set into the syllable before them
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def ems(text: str) -> float:
    """Return a cautious estimate of the width of a text in ems.

    >>> ems("ill") < ems("NP") < ems("日本") == 2
    True
    """
    return sum(_character_ems(character) for character in text)


def _character_ems(character: str) -> float:
    width = character_columns(character)
    if width != 1:
        return width / 2
    if character in _NARROW:
        return 0.36
    if character in _BROAD:
        return 0.92
    return 0.7 if character.isupper() else 0.6
