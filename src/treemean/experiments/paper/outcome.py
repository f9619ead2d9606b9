"""What an experiment gives: tables, figures with their numbers, drawings; and how they are written."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from treemean.files.output import write_file
from treemean.reporting.figures import check_figure
from treemean.reporting.tables import Cell, Table

#: The formats of every figure.
FIGURES = ("svg", "pdf")


def numbers(rows: Iterable[Sequence[Cell]], place: int) -> list[float]:
    """Return a column of numbers, 0 where there is none."""
    return [float(row[place] or 0.0) for row in rows]


@dataclass(frozen=True)
class Figure:
    """A figure: its numbers, one row per fact, and a function that draws it into a file."""

    numbers: Table
    draw: Callable[[Path], None]


@dataclass(frozen=True)
class ExperimentOutcome:
    """What an experiment gives, each by what is added to the experiment's name (nothing, or as `-1`).

    Parameters
    ----------
    tables : are written as Markdown, CSV, LaTeX and JSON.
    figures : are written as SVG and PDF, their numbers as CSV.
    drawings : trees, as SVG.
    data : more than the tables tell, for their JSON.
    """

    tables: Mapping[str, Table] = field(default_factory=dict)
    figures: Mapping[str, Figure] = field(default_factory=dict)
    drawings: Mapping[str, str] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)

    def write(self, folder: Path, name: str) -> list[Path]:
        """Write everything into a folder that exists, and return the files."""
        written: list[Path] = []

        def put(path: Path, text: str) -> None:
            write_file(path, text.rstrip("\n").encode() + b"\n")
            written.append(path)

        for ending, table in self.tables.items():
            stem = name + ending
            put(folder / f"{stem}.md", table.to_markdown())
            put(folder / f"{stem}.csv", table.to_csv())
            put(folder / f"{stem}.tex", table.to_latex())
            found = {
                "title": table.title,
                "notes": list(table.notes),
                "rows": table.to_records(),
                **self.data,
            }
            put(folder / f"{stem}.json", json.dumps(found, indent=1, ensure_ascii=False, allow_nan=False))
        for ending, figure in self.figures.items():
            for kind in FIGURES:
                path = folder / f"{name}{ending}.{kind}"
                check_figure(path)
                figure.draw(path)
                written.append(path)
            if ending not in self.tables:
                put(folder / f"{name}{ending}.csv", figure.numbers.to_csv())
        for ending, drawing in self.drawings.items():
            put(folder / f"{name}{ending}.svg", drawing)
        return written
