"""Tables: made once as data, shown in the terminal, as Markdown or as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING

from treemean.printing import harmless
from treemean.trees.html import html_table

if TYPE_CHECKING:
    import rich.console

#: 0 of 0.
NOTHING = "–"
Cell = str | int | float | None
#: Larger numbers, as of a grammar that went astray, are shown by their magnitude.
_LARGE = 1e9
#: So many characters of a cell are not broken, however many columns there are.
_UNFOLDED = 16


@dataclass(frozen=True)
class Table:
    """Rows of cells under column names, with a title above and notes below.

    Parameters
    ----------
    columns : the names; the first column is aligned left, the others right.
    rows : as many cells each as there are columns. Floats are shown with two digits, None as nothing.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    title: str = ""
    notes: Sequence[str] = field(default_factory=tuple)

    def to_rich(self, width: int = 80) -> rich.console.Group:
        """Return the table for the terminal; title and notes take its whole width, however narrow it is.

        Parameters
        ----------
        width : of the terminal; the table is wider if it would lose columns or parts of numbers otherwise.
        """
        from rich import box
        from rich.console import Group
        from rich.table import Table as RichTable
        from rich.text import Text

        table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
        for number, (name, column_width) in enumerate(zip(self.columns, self._widths(width), strict=True)):
            table.add_column(
                Text(harmless(name)),
                justify="left" if number == 0 else "right",
                overflow="fold",
                width=column_width,
            )
        for row in self.rows:
            table.add_row(*[Text(harmless(_shown(cell))) for cell in row])
        title = [Text(harmless(self.title), style="bold")] if self.title else []
        notes = [Text(harmless(note), style="dim") for note in self.notes]
        return Group(*title, table, *notes)

    def width_within(self, width: int) -> int:
        """Return how wide the table is in a terminal of this width: wider if it cannot be that narrow."""
        return sum(self._widths(width)) + self._between()

    def _between(self) -> int:
        return 3 * len(self.columns) - 1

    def _widths(self, width: int) -> list[int]:
        """Return the widths of the columns; Rich itself breaks numbers, and cuts columns off."""
        from rich.cells import cell_len

        widths, least = [], []
        for number, name in enumerate(self.columns):
            cells = [cell_len(harmless(_shown(row[number]))) for row in self.rows]
            words = [cell_len(harmless(word)) for word in name.split()]
            widths.append(max([1, cell_len(harmless(name)), *cells]))
            least.append(min(max([1, *words, *cells]), _UNFOLDED))
        while sum(widths) + self._between() > width and widths != least:
            # The widest of those that can be narrower.
            number = max((n for n in range(len(widths)) if widths[n] > least[n]), key=widths.__getitem__)
            widths[number] -= 1
        return widths

    def to_markdown(self) -> str:
        """Return the table as Markdown.

        >>> print(Table(["run", "F1"], [["a", 51.4]]).to_markdown())
        | run | F1 |
        |---|---:|
        | a | 51.40 |
        """
        lines = [f"**{self.title}**", ""] if self.title else []
        lines.append("| " + " | ".join(_markdown(name) for name in self.columns) + " |")
        lines.append("|---|" + "---:|" * (len(self.columns) - 1))
        lines += ["| " + " | ".join(_markdown(_shown(cell)) for cell in row) + " |" for row in self.rows]
        if self.notes:
            lines += ["", *self.notes]
        return "\n".join(lines)

    def to_latex(self) -> str:
        r"""Return the table as LaTeX with the rules of the package booktabs; the notes stand below it.

        >>> print(Table(["run", "F1"], [["a_1", 51.4]], "Scores").to_latex())
        \begin{table}
        \centering
        \caption{Scores}
        \begin{tabular}{lr}
        \toprule
        run & F1 \\
        \midrule
        a\_1 & 51.40 \\
        \bottomrule
        \end{tabular}
        \end{table}
        """
        rows = [" & ".join(_latex(_shown(cell)) for cell in row) + r" \\" for row in self.rows]
        return "\n".join(
            [
                r"\begin{table}",
                r"\centering",
                *([rf"\caption{{{_latex(self.title)}}}"] if self.title else []),
                rf"\begin{{tabular}}{{l{'r' * (len(self.columns) - 1)}}}",
                r"\toprule",
                " & ".join(_latex(name) for name in self.columns) + r" \\",
                r"\midrule",
                *rows,
                r"\bottomrule",
                r"\end{tabular}",
                *(rf"\par\smallskip{{\footnotesize {_latex(note)}}}" for note in self.notes),
                r"\end{table}",
            ]
        )

    def _repr_html_(self) -> str:
        """Return the table that notebooks show."""
        shown = [[_shown(cell) for cell in row] for row in self.rows]
        return html_table(self.columns, shown, self.title, self.notes)

    def to_records(self) -> list[dict[str, Cell]]:
        """Return every row as a mapping from the names of the columns, numbers unrounded."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def to_csv(self) -> str:
        """Return the columns and rows as CSV, numbers unrounded; title and notes are left out."""
        return "\n".join(csv_lines(self.columns, self.rows))


def csv_lines(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> Iterator[str]:
    """Yield rows as CSV without ends of lines, the names of the columns first; numbers are unrounded."""
    for row in chain([columns], rows):
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerow(["" if cell is None else cell for cell in row])
        yield out.getvalue()[:-1]


def _shown(cell: Cell) -> str:
    """Return a cell as text.

    >>> _shown(41.667), _shown(12345), _shown(2e120), _shown(None)
    ('41.67', '12,345', '2.0e+120', '')
    """
    if cell is None:
        return ""
    if isinstance(cell, float):
        return f"{cell:.2f}" if abs(cell) < _LARGE else f"{cell:.1e}"
    return f"{cell:,}" if isinstance(cell, int) else cell


#: What LaTeX takes for something else, and what it calls it.
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "–": "--",
    "η": r"$\eta$",
    "…": r"\dots{}",
    "\n": " ",
    **{character: "\\" + character for character in "&%$#_{}"},
}


def _latex(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)


def _markdown(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ")
