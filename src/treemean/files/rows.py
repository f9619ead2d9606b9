"""Rows as a file that programs read: CSV or JSON Lines."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from treemean.errors import InvalidOption
from treemean.files.output import open_output

Value = str | int | float | bool | None
#: Lists are lists in JSON; in CSV their entries are separated by blanks, or by | where they may have blanks.
Row = Mapping[str, Value | Sequence[str] | Sequence[int]]


def rows_format(path: str | os.PathLike[str]) -> Literal["csv", "jsonl"]:
    """Return the format that the name of a file tells, compressed (.gz) or not; refuse others."""
    name = Path(path).name.lower().removesuffix(".gz")
    if name.endswith(".csv"):
        return "csv"
    if name.endswith(".jsonl"):
        return "jsonl"
    raise InvalidOption(
        f"{os.fspath(path)}: the name of this file must end in .csv or .jsonl (and .gz if compressed)"
    )


def write_rows(path: str | os.PathLike[str], columns: Sequence[str], rows: Iterable[Row]) -> None:
    """Write rows with the same columns each; the file appears whole or not."""
    form = rows_format(path)
    with open_output(path) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8", newline="", write_through=True)
        writer = csv.writer(text, lineterminator="\n")
        if form == "csv":
            writer.writerow(columns)
        for row in rows:
            if form == "csv":
                writer.writerow([_csv_cell(row[column]) for column in columns])
            else:
                text.write(json.dumps({column: row[column] for column in columns}, ensure_ascii=False) + "\n")
        text.flush()
        text.detach()


def _csv_cell(cell: Value | Sequence[str] | Sequence[int]) -> str | int | float:
    """Return a value as CSV has it.

    >>> [_csv_cell(cell) for cell in (None, True, 1.5, [0, 3], ["run a", "run b"])]
    ['', 'true', 1.5, '0 3', 'run a|run b']
    """
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, str | int | float):
        return cell
    return ("|" if any(isinstance(entry, str) for entry in cell) else " ").join(map(str, cell))
