"""Tables as the terminal shows them."""

from __future__ import annotations

import io

from rich.console import Console

import treemean
from treemean.fitting import fit
from treemean.reporting.fitting import fit_tables
from treemean.reporting.tables import Table


def shown(table: Table) -> list[str]:
    out = io.StringIO()
    Console(width=60, file=out).print(table.to_rich())
    return [line.rstrip() for line in out.getvalue().splitlines()]


def test_notes_below_a_narrow_table_are_as_wide_as_the_terminal() -> None:
    note = "Nothing in this note is longer than the terminal is wide."
    title = "A title that is wider than the table"
    lines = shown(Table(["run"], [["a"]], title, [note]))
    assert lines[0] == title
    assert lines[-1] == note


def test_weights_without_gold_trees_are_shown() -> None:
    model = fit([run[:40] for run in treemean.sample.runs()], model="agreement")
    (table,) = fit_tables(model)
    assert [row[0] for row in table.rows] == list(model.runs)
    assert table.columns == ["run", "continuous", "discontinuous"]
    assert any("gap of one word" in note for note in table.notes)
