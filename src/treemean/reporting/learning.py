"""How runs learn, as a web page: the curves of all runs of a folder, from what they measured so far."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any

from treemean._version import __version__
from treemean.errors import FormatError
from treemean.files.output import write_file
from treemean.reporting.curves import Points, curves_svg, legend_html
from treemean.trees.html import Cell, html_table

#: The name of the page in a folder of runs.
PAGE = "report.html"
#: After so many seconds browsers load the page again, as long as runs are at work.
_REFRESH = 15
_SCORES = {"f1": "F1", "f1_continuous": "F1, continuous", "f1_discontinuous": "F1, discontinuous"}

_STYLE = """
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.5rem; margin-bottom: 0 } h2 { font-size: 1.1rem; margin: 0 0 .3rem }
.grids { display: grid; grid-template-columns: repeat(auto-fit, minmax(24rem, 1fr)); gap: 1.5rem }
.grids { margin: 1.5rem 0 }
.curves { width: 100%; height: auto } .curves .line { fill: none; stroke-width: 1.6 }
.curves .axis { fill: none; stroke: #8888 } .curves .grid { stroke: #8883 }
.curves text { fill: currentColor; font-size: 12px }
.legend span { margin-right: 1.2rem; white-space: nowrap }
.legend i { display: inline-block; width: 1.6rem; margin-right: .4rem; vertical-align: middle }
table { border-collapse: collapse } td, th { padding: .2rem .8rem .2rem 0; border-bottom: 1px solid #8884 }
.nothing, small { opacity: .75 }
"""


@dataclass
class RunCurves:
    """What a run measured.

    Parameters
    ----------
    name : of its folder.
    steps : (epochs that are over, with a share of the present one; perplexity; learning rate; words per
        second) of steps, which are counted throughout.
    epochs : what was measured after each epoch, by its number.
    chosen : the epoch whose model is kept so far; None before the first.
    finished : whether the run is over.
    """

    name: str
    steps: list[tuple[float, float, float, float]] = field(default_factory=list)
    epochs: dict[int, dict[str, Any]] = field(default_factory=dict)
    chosen: int | None = None
    finished: bool = False

    def of_steps(self, column: int) -> Points:
        """Return a column of `steps` over epochs."""
        return [(step[0], step[column]) for step in self.steps]

    def development(self, score: str) -> Points:
        """Return a development score after each epoch, where there is one."""
        found = ((epoch, told["development"].get(score)) for epoch, told in sorted(self.epochs.items()))
        return [(float(epoch), value) for epoch, value in found if value is not None]


def read_curves(folder: str | os.PathLike[str]) -> list[RunCurves]:
    """Read what the runs of a folder have measured so far.

    The last line of a file may be on its way and is left out if it is not complete. Raises `FormatError`,
    which names file and line, for any other line that cannot be read.
    """
    return [_read(path) for path in sorted(Path(folder).glob("run*/metrics.jsonl"))]


def _read(path: Path) -> RunCurves:
    run = RunCurves(path.parent.name, finished=(path.parent / "result.json").exists())
    lines = path.read_bytes().split(b"\n")
    steps: dict[tuple[int, int], dict[str, Any]] = {}
    for number, line in enumerate(lines[:-1], 1):  # what follows the last line break is not complete
        try:
            told = json.loads(line)
            if told["event"] == "step":
                steps[told["epoch"], told["step"]] = told  # of repeated steps the last one counts
            elif told["event"] == "epoch":
                run.epochs[told["epoch"]] = told
                run.chosen = told["epoch"] if told["selected"] else run.chosen
        except (ValueError, KeyError, TypeError) as error:
            raise FormatError(f"not a line of measurements: {error}", path=str(path), line=number) from error
    ends = {0: 0} | {epoch: told["step"] for epoch, told in run.epochs.items()}
    for (epoch, step), told in sorted(steps.items()):
        place = epoch - 1 + _share(step, ends.get(epoch - 1, 0), ends.get(epoch), ends.get(epoch - 2, 0))
        run.steps.append((place, told["perplexity"], told["rate"], told["words_per_second"]))
    return run


def _share(step: int, start: int, end: int | None, before: int) -> float:
    """Return how much of an epoch is over; one that has no end yet is taken to be as long as the one before.

    >>> _share(15, 10, 20, 0), _share(12, 10, None, 0)
    (0.5, 0.2)
    """
    length = end - start if end is not None else max(start - before, step - start)
    return min((step - start) / length, 1.0) if length > 0 else 0.0


def learning_page(runs: Sequence[RunCurves], title: str) -> str:
    """Return the page; it asks to be loaded again while a run is at work."""
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    at_work = not runs or not all(run.finished for run in runs)
    refresh = f'<meta http-equiv="refresh" content="{_REFRESH}">' if at_work else ""
    marked = {run.name: float(run.chosen) for run in runs if run.chosen is not None}
    pictures = [
        _picture("Perplexity of the text trained on", {r.name: r.of_steps(1) for r in runs}, log=True)
    ]
    for score, name in {"perplexity": "perplexity of held-out text", **_SCORES}.items():
        found = {run.name: run.development(score) for run in runs}
        if any(found.values()):
            pictures.append(_picture(f"Development: {name}", found, log=score == "perplexity", marked=marked))
    pictures.append(_picture("Learning rate", {run.name: run.of_steps(2) for run in runs}))
    pictures.append(_picture("Words per second", {run.name: run.of_steps(3) for run in runs}))
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8">{refresh}'
        f'<meta name="viewport" content="width=device-width"><title>{escape(title)}</title>'
        f"<style>{_STYLE}</style></head><body><h1>{escape(title)}</h1>"
        f"<small>treemean {__version__}, {now}{', still training' if at_work else ''}</small>"
        f"{legend_html([run.name for run in runs])}{_table(runs)}"
        f'<div class="grids">{"".join(pictures)}</div>'
        "<small>The large dots are the epochs whose models are kept.</small></body></html>\n"
    )


def _picture(
    title: str, lines: Mapping[str, Points], *, log: bool = False, marked: Mapping[str, float] | None = None
) -> str:
    drawing = curves_svg(lines, x="epochs", y=title, log=log, marked=marked)
    return f"<section><h2>{escape(title)}</h2>{drawing}</section>"


def _table(runs: Sequence[RunCurves]) -> str:
    scores = [score for score in _SCORES if any(run.development(score) for run in runs)]
    columns = ["run", "epochs", "kept", "perplexity", *(_SCORES[s] for s in scores), "minutes", ""]
    rows: list[list[Cell]] = []
    for run in runs:
        last = run.epochs[max(run.epochs)] if run.epochs else {}
        best = run.epochs[run.chosen]["development"] if run.chosen in run.epochs else {}
        seconds = last.get("seconds")
        rows.append(
            [
                *(run.name, len(run.epochs), run.chosen, best.get("perplexity")),
                *(best.get(score) for score in scores),
                None if seconds is None else seconds / 60,
                "done" if run.finished else "at work",
            ]
        )
    return html_table(columns, rows)


def write_learning_page(folder: str | os.PathLike[str]) -> Path:
    """Write the page of a folder of runs into it, and return where it is."""
    path = Path(folder) / PAGE
    write_file(path, learning_page(read_curves(folder), f"Training: {Path(folder).resolve().name}").encode())
    return path
