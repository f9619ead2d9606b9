"""Bring runs home that were to learn discontinuous constituents: table and figure of docs/discontinuity.md.

    python -m benchmarks.page.discontinuity REPORT …

Each REPORT is a discontinuity.json of `benchmarks.learning.discontinuity`. Its runs are joined to those of
docs/measurements/discontinuity-h200.json; of a run that is there already, the one with more epochs is kept.
Without any report, table and figure are made again from what is kept.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

from benchmarks.common import ROOT
from benchmarks.learning.ensemble import PRESETS
from benchmarks.learning.study import nats_per_word
from benchmarks.page.__main__ import fill
from benchmarks.page.chance import sign_p_value
from benchmarks.page.figures import SHADES, STYLE
from treemean.evaluation.results import METRICS
from treemean.files.output import write_file
from treemean.reporting.tables import Table

#: What is said of the numbers.
ABOUT = "development scores after each epoch of runs on the Dutch text; together: with how many runs"
#: Among settings: the grammar, unless it is TN-LCFRS.
PRESET = "--preset"
#: How many panels of the figure stand side by side.
BESIDE = 5
#: A run that learns discontinuous constituents, and one that does not: their F1.
MUCH, NOTHING = 5.0, 0.5
#: What makes a run what it is.
Key = tuple[tuple[str, ...], int, int, int]
Runs = dict[Key, list[dict[str, Any]]]


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("reports", type=Path, nargs="*", help="discontinuity.json")
    parser.add_argument("--docs", type=Path, default=ROOT / "docs")
    options = parser.parse_args(words)
    target, page = (
        options.docs / "measurements" / "discontinuity-h200.json",
        options.docs / "discontinuity.md",
    )
    kept = json.loads(target.read_text()) if target.exists() else {"runs": []}
    runs = {_key(run): run["epochs"] for run in kept["runs"]}
    for path in options.reports:
        report = json.loads(path.read_text())
        kept |= {name: report[name] for name in ("device", "torch")}
        for key, epochs in runs_of(report):
            if len(epochs) > len(runs.get(key, ())):
                runs[key] = epochs
    names = ("settings", "initialisation", "order", "together")
    told = [dict(zip(names, key)) | {"epochs": epochs} for key, epochs in sorted(runs.items())]
    write_file(target, json.dumps(kept | {"about": ABOUT, "runs": told}, indent=1).encode() + b"\n")
    table = variants_table(runs)
    write_file(page, fill(page.read_text(), {"variants": table}).encode())
    print(table)
    draw(runs, options.docs / "images" / "discontinuity.svg")


def _key(run: Mapping[str, Any]) -> Key:
    return tuple(run["settings"]), run["initialisation"], run["order"], run["together"]


def runs_of(report: Mapping[str, Any]) -> Iterator[tuple[Key, list[dict[str, Any]]]]:
    """Yield the runs of a report, and what was measured after each of their epochs."""
    grammar = [] if report["preset"] == PRESETS[0] else [f"{PRESET} {report['preset']}"]
    for variant, settings in report["variants"].items():
        for name, run in report[variant].items():
            initialisation, order = map(int, name.removeprefix(f"{variant}-").split("-"))
            epochs = [
                {
                    "epoch": epoch["epoch"],
                    "nats": round(nats_per_word(epoch), 4),
                    "overall": round(epoch["f1"], 2),
                    "continuous": round(epoch["f1_continuous"], 2),
                    "discontinuous": round(epoch["f1_discontinuous"], 2),
                }
                for epoch in run.get("epochs", [])
            ]
            yield ((*grammar, *settings), initialisation, order, len(report[variant])), epochs


def variants_table(runs: Mapping[Key, Sequence[Mapping[str, Any]]]) -> str:
    """Return means and spreads by settings and epoch, beside the same runs without the settings."""
    rows: list[list[str | float | None]] = []
    for settings in sorted({key[0] for key in runs}, key=lambda settings: (len(settings), settings)):
        own = {key[1:]: epochs for key, epochs in runs.items() if key[0] == settings}
        for epoch in range(max(map(len, own.values()))):
            there = {key: epochs[epoch] for key, epochs in own.items() if len(epochs) > epoch}
            gapped = [scores["discontinuous"] for scores in there.values()]
            rows.append(
                [
                    ", ".join(f"`{setting}`" for setting in settings) or "published",
                    str(epoch + 1),
                    str(len(there)),
                    *(_cell([scores[metric] for scores in there.values()]) for metric in METRICS),
                    str(sum(value >= MUCH for value in gapped)),
                    str(sum(value < NOTHING for value in gapped)),
                    _beside(there, runs, epoch) if settings else "",
                ]
            )
    columns = ["settings", "epoch", "runs", *METRICS, f"≥ {MUCH:g}", f"< {NOTHING:g}", "difference"]
    return Table(columns, rows).to_markdown().strip()


def _cell(values: Sequence[float]) -> str:
    return f"{statistics.fmean(values):.1f} ± {statistics.stdev(values) if len(values) > 1 else 0:.1f}"


def _beside(there: Mapping[Any, Mapping[str, Any]], runs: Mapping[Key, Any], epoch: int) -> str:
    """Return the mean difference of discontinuous F1 from the same runs without settings, and its chance."""
    differences = [
        scores["discontinuous"] - runs[(), *key][epoch]["discontinuous"]
        for key, scores in there.items()
        if len(runs.get(((), *key), ())) > epoch
    ]
    if not differences:
        return "–"
    return f"{statistics.fmean(differences):+.1f} (p = {sign_p_value(differences):.2f})"


def draw(runs: Mapping[Key, Sequence[Mapping[str, Any]]], target: Path) -> None:
    """Draw discontinuous F1 over epochs, each run a line: published settings, and others."""
    every = sorted({key[0] for key in runs}, key=lambda settings: (len(settings), settings))
    with plt.rc_context(STYLE):
        rows, columns = -(-len(every) // BESIDE), min(BESIDE, len(every))
        figure, panels = plt.subplots(
            rows,
            columns,
            sharey=True,
            figsize=(2.1 * columns + 0.5, 3.0 * rows),
            layout="constrained",
            squeeze=False,
        )
        for axes in panels.flat[len(every) :]:
            axes.set_visible(False)
        for axes, settings in zip(panels.flat, every):
            for key, epochs in runs.items():
                if key[0] == settings:
                    values = [scores["discontinuous"] for scores in epochs]
                    axes.plot(
                        range(1, len(values) + 1), values, "o-", markersize=3, color=SHADES[1], alpha=0.6
                    )
            title = "\n".join(
                setting.removeprefix("grammar.").removeprefix(f"{PRESET} ") for setting in settings
            )
            axes.set(title=title or "published", xlabel="epoch", xlim=(0.8, 4.2), xticks=range(1, 5))
        for row in panels:
            row[0].set_ylabel("F1 discontinuous")
        figure.savefig(target, metadata={"Date": None})
        plt.close(figure)


if __name__ == "__main__":
    main()
