"""Tables as HTML, for notebooks: trees, treebanks and results show themselves by these."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

#: What stands in a cell; None for nothing.
Cell = str | int | float | None


def html_table(
    columns: Sequence[str], rows: Sequence[Sequence[Cell]], title: str = "", notes: Sequence[str] = ()
) -> str:
    """Return a table; the first column is aligned left, the others right, floats have two digits.

    >>> html_table(["run", "F1"], [["a<b", 51.4]]).count("<td")
    2
    """
    caption = f'<caption style="text-align: left"><b>{escape(title)}</b></caption>' if title else ""
    head = "".join(_cell("th", name, number) for number, name in enumerate(columns))
    body = "".join(
        f"<tr>{''.join(_cell('td', _shown(cell), number) for number, cell in enumerate(row))}</tr>"
        for row in rows
    )
    below = "".join(f"<div><small>{escape(note)}</small></div>" for note in notes)
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}"


def _cell(kind: str, text: str, number: int) -> str:
    side = "right" if number else "left"
    return f'<{kind} style="text-align: {side}; white-space: pre-line">{escape(text)}</{kind}>'


def _shown(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, float):
        return f"{cell:.2f}"
    return f"{cell:,}" if isinstance(cell, int) else cell
