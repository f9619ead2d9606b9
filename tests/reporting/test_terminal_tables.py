"""Tables as the terminal shows them."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

import treemean
from treemean.cli.output import show_tables
from treemean.fitting import fit
from treemean.reporting.fitting import fit_tables
from treemean.reporting.tables import Table


def shown(table: Table) -> list[str]:
    out = io.StringIO()
    Console(width=60, file=out).print(table.to_rich(60))
    return [line.rstrip() for line in out.getvalue().splitlines()]


def test_notes_below_a_narrow_table_are_as_wide_as_the_terminal() -> None:
    note = "Nothing in this note is longer than the terminal is wide."
    title = "A title that is wider than the table"
    lines = shown(Table(["run"], [["a"]], title, [note]))
    assert lines[0] == title
    assert lines[-1] == note


def test_no_number_is_broken_and_no_column_lost_in_a_narrow_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    columns = ["ensemble", *(f"{kind} {part}" for part in ("overall", "discontinuous") for kind in "ABCD")]
    numbers = [float(1000 + number) for number in range(8)]
    table = Table([*columns, "words"], [["non-binary ensemble", *numbers, "many words " * 9]])
    show_tables([table], "table")
    lines = capsys.readouterr().out.splitlines()
    (row,) = (line for line in lines if "1000.00" in line)
    assert all(f"{number:.2f}" in row for number in numbers)
    assert table.width_within(60) == max(map(len, lines)) > 60
    show_tables([Table(["run", "F1"], [["a", 1.0]])], "table")
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 60


def test_weights_without_gold_trees_are_shown() -> None:
    model = fit([run[:40] for run in treemean.sample.runs()], model="agreement")
    (table,) = fit_tables(model)
    assert [row[0] for row in table.rows] == list(model.runs)
    assert table.columns == ["run", "continuous", "discontinuous"]
    assert any("gap of one word" in note for note in table.notes)
