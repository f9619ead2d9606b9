"""A grid of characters with styles, for drawings in a terminal."""

from __future__ import annotations

from enum import IntFlag
from itertools import groupby

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


class Canvas:
    """Rows of cells; a wide character takes two, a combining one shares that of its letter."""

    def __init__(self, rows: int, columns: int) -> None:
        self._cells = [[" "] * columns for _ in range(rows)]
        self._styles = [[""] * columns for _ in range(rows)]

    def write(self, row: int, column: int, text: str, style: str = "") -> None:
        """Write a text from left to right, its first character at `column`."""
        cells = self._cells[row]
        end = column
        invisible = ""  # before the first visible character
        for character in text:
            width = character_columns(character)
            if width == 0 and end > column:
                cells[end - 1 if cells[end - 1] else end - 2] += character
            elif width == 0:
                invisible += character
            else:
                cells[end] = invisible + character if end == column else character
                cells[end + 1 : end + width] = [""] * (width - 1)
                end += width
        self._styles[row][column:end] = [style] * (end - column)

    def render(self, color: bool) -> list[str]:
        """Return the lines, without spaces at their ends."""
        lines = []
        for cells, styles in zip(self._cells, self._styles, strict=True):
            if color:
                runs = groupby(zip(cells, styles, strict=True), key=lambda pair: pair[1])
                lines.append("".join(paint("".join(cell for cell, _ in run), style) for style, run in runs))
            else:
                lines.append("".join(cells))
        return [line.rstrip() for line in lines]
