"""Tables in the terminal."""

from __future__ import annotations

import io

from rich.console import Console

from treemean.reporting.tables import Table


def shown(table: Table, width: int) -> list[str]:
    console = Console(file=io.StringIO(), width=max(width, table.width_within(width)))
    console.print(table.to_rich(width))
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def test_titles_and_notes_are_as_wide_as_the_terminal() -> None:
    title, note = "A title of several words", "A note [that] is much wider than the only column."
    lines = shown(Table(["run"], [["a"], ["b"]], title, [note, "Another one."]), 80)
    assert lines[0] == title
    assert lines[-2:] == [note, "Another one."]


def test_names_of_rows_are_not_broken_where_columns_are_many() -> None:
    columns = ["", *(f"column number {k}" for k in range(12))]
    lines = shown(Table(columns, [["discontinuous", *range(12)]]), 80)
    assert any(line.split() == ["discontinuous", *map(str, range(12))] for line in lines)
