"""The figures of docs/measurements/gpu.md."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

from benchmarks.page.learning_tables import COMPARED, FLOORS, PRECISIONS, common_epochs, reached
from benchmarks.page.tables import decoding_time
from benchmarks.reference import PUBLIC, public_step, public_trees

PARTS = {"grammar": "grammar and emissions", "inside": "inside", "backward": "backward", "update": "update"}
#: From dark to light, told apart in print and by those who do not see red and green apart.
SHADES = ("#08306b", "#2171b5", "#6baed6", "#c6dbef")
OURS, PUBLICS = "#2171b5", "#d95f0e"
VARIANTS = ("#2171b5", "#d95f0e", "#31a354", "#756bb1")
COLOURS = dict(zip(PRECISIONS, VARIANTS))
SCORES = {
    "nats": "nats per word",
    "overall": "F1 overall",
    "continuous": "F1 continuous",
    "discontinuous": "F1 discontinuous",
}
STYLE: dict[Any, Any] = {
    "svg.hashsalt": "treemean", "svg.fonttype": "path", "font.size": 9, "axes.titlesize": 9.5,
    "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False,
    "axes.grid": True, "axes.axisbelow": True, "grid.alpha": 0.25,
}  # fmt: skip


def draw_steps(data: Mapping[str, Any], target: Path) -> None:
    """Draw the parts of a step, steps and trees beside the public code, and the rate of epochs."""
    rates = [row for row in data.get("epochs", {}).get("runs", []) if row.get("expected")]
    with plt.rc_context(STYLE):
        figure, panels = plt.subplots(
            1, 3 if rates else 2, figsize=(10.4 if rates else 7.4, 3.5), layout="constrained"
        )
        _draw_parts(panels[0], data["steps"])
        _draw_beside(panels[1], data)
        if rates:
            _draw_rates(panels[2], rates)
        figure.suptitle(f"TN-LCFRS, published sizes, 20 sentences, one {data['device']}", fontsize=10.5)
        figure.savefig(target, metadata={"Date": None})
        plt.close(figure)


def _draw_parts(axes: Any, steps: Sequence[Mapping[str, Any]]) -> None:
    lengths = [str(step["n"]) for step in steps]
    base = [0.0] * len(steps)
    for (name, label), shade in zip(PARTS.items(), SHADES):
        values = [step[name] for step in steps]
        axes.bar(lengths, values, bottom=base, label=label, color=shade, width=0.62)
        base = [a + b for a, b in zip(base, values)]
    for place, (top, step) in enumerate(zip(base, steps)):
        axes.annotate(f"{step['whole']:.1f}", (place, top), (0, 3), textcoords="offset points", ha="center")
    axes.set(xlabel="words in a sentence", ylabel="milliseconds", title="A training step, its parts")
    axes.grid(axis="x", visible=False)
    axes.margins(y=0.12)
    axes.legend(reverse=True, loc="upper left")


def _draw_beside(axes: Any, data: Mapping[str, Any]) -> None:
    trees = {row["n"]: decoding_time(row) for row in data.get("decoding", []) if row["batch"] == 20}
    steps = {row["n"]: row["whole"] for row in data["steps"]}
    public = {n: public_step(n) for n in PUBLIC}, {n: public_trees(n) for n in PUBLIC}
    for pair, whose, colour in ((public, ", public code", PUBLICS), ((steps, trees), "", OURS)):
        for values, label, style in zip(pair, ("training step", "MBR trees"), ("o-", "s:")):
            axes.plot(
                list(values), list(values.values()), style, color=colour, label=label + whose, markersize=4
            )
        for n in PUBLIC:
            both = sorted(float(values[n]) for values in pair if n in values)
            for value, offset in zip(both, (-11, 5) if len(both) == 2 else (5,)):
                axes.annotate(
                    f"{value:.1f}" if value < 20 else f"{value:.0f}", (n, value), (0, offset),
                    textcoords="offset points", ha="center", color=colour, fontsize=7.5,
                )  # fmt: skip
    axes.set(
        xlabel="words in a sentence", ylabel="milliseconds", yscale="log", ylim=(0.6, 1000), xlim=(7, 43),
        xticks=list(PUBLIC), title="Beside the public code",
    )  # fmt: skip
    axes.legend(loc="center left", fontsize=7.5, bbox_to_anchor=(0.16, 0.44), labelspacing=0.3)


def _draw_rates(axes: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    places = range(len(rows))
    for name, shade, shift in (("expected", SHADES[2], -0.19), ("measured", SHADES[1], 0.19)):
        values = [row.get(name) or 0 for row in rows]
        if not any(values):
            continue
        axes.bar([p + shift for p in places], values, width=0.36, label=name, color=shade)
        for place, value in zip(places, values):
            axes.annotate(
                f"{value / 1000:.1f}k", (place + shift, value), (0, 3), textcoords="offset points",
                ha="center", fontsize=7.5,
            )  # fmt: skip
    axes.set_xticks(list(places), [f"{row['runs']}" for row in rows])
    axes.set(
        xlabel="runs at once", ylabel="sentences per second, all runs", title="An epoch of the Dutch text"
    )
    axes.grid(axis="x", visible=False)
    axes.margins(y=0.3)
    axes.legend(loc="upper left", ncols=2)


def draw_learning(data: Mapping[str, Any], target: Path) -> None:
    """Draw learning curves: all runs of the ensemble, the long run, and variants, each in a row."""
    rows = [
        (title, data[name]["runs"], many)
        for name, title, many in (
            ("ensemble", "The ensemble: runs (thin) and their mean", True),
            ("stability", "One long run", False),
            ("compare", "Variants, every third sentence", False),
        )
        if data.get(name)
    ]
    if not rows:
        return
    with plt.rc_context(STYLE):
        figure = plt.figure(figsize=(10.4, 0.3 + 2.5 * len(rows)), layout="constrained")
        for part, (title, runs, many) in zip(figure.subfigures(len(rows), 1, squeeze=False)[:, 0], rows):
            part.suptitle(title, fontsize=10.5, x=0.01, ha="left")
            for axes, (key, label) in zip(part.subplots(1, len(SCORES)), SCORES.items()):
                _draw_curves(axes, runs, key, many)
                axes.set(title=label, xlabel="epoch")
                axes.xaxis.get_major_locator().set_params(integer=True)
                if key == "overall" and len(runs) > 1:
                    axes.legend(loc="lower right", fontsize=7)
        figure.savefig(target, metadata={"Date": None})
        plt.close(figure)


def _draw_curves(axes: Any, runs: Mapping[str, Any], key: str, many: bool) -> None:
    lines = {name: [epoch[key] for epoch in run["epochs"]] for name, run in runs.items()}
    if many:
        for values in lines.values():
            axes.plot(range(1, len(values) + 1), values, color=SHADES[2], linewidth=0.8, alpha=0.8)
        means = [sum(same) / len(same) for same in zip(*lines.values())]
        axes.plot(range(1, len(means) + 1), means, "o-", color=SHADES[0], markersize=3, label="mean")
        return
    for (name, values), colour in zip(lines.items(), VARIANTS):
        axes.plot(range(1, len(values) + 1), values, "o-", color=colour, markersize=2.5, label=name)


def draw_precision(kinds: Mapping[str, Any], target: Path) -> None:
    """Draw what runs reached by epoch, kernels beside float32; without and with a floor, each in a row."""
    rows = {
        name: {
            precision: kinds[f"{precision}-{floor}"]
            for precision in PRECISIONS
            if f"{precision}-{floor}" in kinds
        }
        for floor, name in FLOORS.items()
    }
    rows = {name: there for name, there in rows.items() if there}
    if not rows:
        return
    with plt.rc_context(STYLE):
        figure, panels = plt.subplots(
            len(rows), len(COMPARED), sharex=True, sharey="col", squeeze=False,
            figsize=(10.4, 0.6 + 2.7 * len(rows)), layout="constrained",
        )  # fmt: skip
        for line, (floor, there) in zip(panels, rows.items()):
            for axes, key in zip(line, COMPARED):
                for precision, runs in there.items():
                    _draw_runs(axes, runs, key, PRECISIONS[precision], COLOURS[precision])
                axes.set(title=f"{SCORES[key]}, {floor}", xlabel="epoch")
                axes.xaxis.get_major_locator().set_params(integer=True)
                axes.xaxis.set_tick_params(labelbottom=True)
            line[0].legend(loc="upper right")
        figure.suptitle("Every third sentence: runs (thin) and their means", fontsize=10.5)
        figure.savefig(target, metadata={"Date": None})
        plt.close(figure)


def _draw_runs(axes: Any, runs: Mapping[str, Any], key: str, name: str, colour: str) -> None:
    for run in runs.values():
        line = [epoch[key] for epoch in run["epochs"]]
        axes.plot(range(1, len(line) + 1), line, color=colour, linewidth=0.8, alpha=0.6)
    epochs = range(1, common_epochs(runs) + 1)
    means = [statistics.fmean(reached(runs, epoch, key)) for epoch in epochs]
    label = f"{name}, {len(runs)} run{'' if len(runs) == 1 else 's'}"
    axes.plot(epochs, means, "o-", color=colour, linewidth=2, markersize=4, label=label)
