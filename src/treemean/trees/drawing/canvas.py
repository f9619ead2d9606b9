"""A grid of characters with styles, for drawings in a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntFlag
from itertools import pairwise

import numpy as np

from treemean.trees.drawing.metrics import character_columns


class Arms(IntFlag):
    """The directions in which a line leaves a cell."""

    UP = 1
    DOWN = 2
    LEFT = 4
    RIGHT = 8

    @property
    def turned(self) -> Arms:
        """The arms after exchanging rows and columns."""
        return Arms((self & 3) << 2 | self >> 2)


# Indexed by the sum of arms; a lone arm is drawn as a whole line.
_GLYPHS = " │││─┘┐┤─└┌├─┴┬┼"
_ANSI = {"right": "32", "wrong": "31", "missed": "33", "gapped": "36"}


def glyph(arms: Arms) -> str:
    """Return the line-drawing character with some arms.

    >>> glyph(Arms.DOWN | Arms.RIGHT), glyph(Arms.UP | Arms.LEFT | Arms.RIGHT)
    ('┌', '┴')
    """
    return _GLYPHS[arms]


def paint(text: str, style: str) -> str:
    """Return a text in the colour of a style, as ANSI codes."""
    return f"\033[{_ANSI[style]}m{text}\033[0m" if style else text


_SPACE, _COVERED = ord(" "), 0xFFFF
_STYLES = ("", *_ANSI)


class Canvas:
    """Rows of cells; a wide character takes two, a combining one shares that of its letter.

    Parameters
    ----------
    rows, columns : its size. A cell takes two bytes, and one more with colour.
    color : whether styles are kept.
    """

    def __init__(self, rows: int, columns: int, *, color: bool) -> None:
        self._cells = np.full((rows, columns), _SPACE, dtype=np.uint16)
        self._styles = np.zeros((rows, columns), dtype=np.uint8) if color else None
        self._odd: dict[int, dict[int, str]] = {}  # row -> column -> what is no single character of two bytes

    def write(self, row: int, column: int, text: str, style: str = "") -> None:
        """Write a text from left to right, its first character at `column`."""
        cells: list[str] = []
        invisible = ""  # before the first visible character
        for character in text:
            width = character_columns(character)
            if width == 0 and cells:
                cells[-1 if cells[-1] else -2] += character
            elif width == 0:
                invisible += character
            else:
                cells += [invisible + character, *[""] * (width - 1)]
                invisible = ""
        odd = self._odd.get(row, {})
        for place, cell in enumerate(cells, column):
            odd.pop(place, None)
            code = ord(cell) if len(cell) == 1 else _COVERED
            if cell and code >= _COVERED:
                odd[place] = cell
            self._cells[row, place] = min(code, _COVERED)
        if odd:
            self._odd[row] = odd
        if self._styles is not None:
            self._styles[row, column : column + len(cells)] = _STYLES.index(style)

    def fill(self, rows: slice, columns: slice, character: str, style: str = "") -> None:
        """Write a line-drawing character into all cells of some rows and columns."""
        self._cells[rows, columns] = ord(character)
        if self._styles is not None:
            self._styles[rows, columns] = _STYLES.index(style)

    def render(self) -> list[str]:
        """Return the lines, without spaces at their ends."""
        lines = []
        for row, codes in enumerate(self._cells):
            text = codes.astype("<u4").tobytes().decode("utf-32-le")
            cells: Sequence[str] = text
            if row in self._odd or chr(_COVERED) in text:
                odd = self._odd.get(row, {})
                cells = [odd.get(i, "") if c == chr(_COVERED) else c for i, c in enumerate(text)]
                text = "".join(cells)
            if self._styles is not None:
                styles = self._styles[row]
                bounds = [0, *(np.flatnonzero(np.diff(styles)) + 1).tolist(), len(styles)]
                text = "".join(
                    paint("".join(cells[start:end]), _STYLES[styles[start]])
                    for start, end in pairwise(bounds)
                    if start < end
                )
            lines.append(text.rstrip())
        return lines
