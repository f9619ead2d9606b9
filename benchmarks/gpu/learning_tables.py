"""What runs have learnt as tables in Markdown."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from gpu.tables import MISSING, table

SCORES = ("overall", "continuous", "discontinuous")
KINDS = {
    "ours-0": "kernels, no floor",
    "float32-0": "full float32, no floor",
    "ours-1e-09": "kernels, floor 1e-9",
    "float32-1e-09": "full float32, floor 1e-9",
}
#: Epochs of a long run that its table shows, beside the best and the last one.
SHOWN = (1, 2, 3, 5, 10, 15, 20, 25, 30)


def learning_tables(data: Mapping[str, Any]) -> dict[str, str]:
    """Return all tables for which there are runs, by name."""
    makers = {
        "learning": learning_table,
        "ensemble": ensemble_table,
        "average": average_table,
        "stability": stability_table,
        "compare": compare_table,
    }
    tables = {name: make(data[name]) for name, make in makers.items() if data.get(name)}
    drawn = any(name in tables for name in ("ensemble", "stability", "compare"))
    return tables | ({"curves": "![Learning curves](images/gpu-learning.svg)"} if drawn else {})


def learning_table(kinds: Mapping[str, Any]) -> str:
    """Return nats per word and F1 scores after each epoch, for each kind and initialisation."""
    longest = max(len(run["epochs"]) for runs in kinds.values() for run in runs.values())
    rows = []
    for kind in sorted(kinds, key=list(KINDS).index):
        for name, run in kinds[kind].items():
            cells = [_cell(epoch) for epoch in run["epochs"]]
            rows.append([KINDS[kind], name.rpartition("-")[2], *cells, *[MISSING] * (longest - len(cells))])
    return table(["", "seed", *(f"epoch {n}" for n in range(1, longest + 1))], rows)


def ensemble_table(told: Mapping[str, Any]) -> str:
    """Return mean and standard deviation over the runs after each epoch, and how long all that took."""
    runs = [run["epochs"] for run in told["runs"].values()]
    seconds = told.get("epoch_seconds", [])
    rows = []
    for number, same in enumerate(zip(*runs), 1):
        cells = [_spread([epoch[name] for epoch in same], 3 if name == "nats" else 1) for name in _NAMES]
        taken = f"{seconds[number - 1]:.0f}" if number <= len(seconds) else MISSING
        rows.append([str(number), *cells, taken])
    pieces = told.get("pieces", [])
    note = f"{len(runs)} runs, mean ± standard deviation; {_trouble(told['runs'])}. "
    note += f"In all {sum(pieces):.0f} s in {_count(len(pieces), 'piece')}, everything included."
    head = ["epoch", "nats per word", *(f"F1 {name}" for name in SCORES), "seconds"]
    return f"{table(head, rows)}\n\n{note}"


def average_table(told: Mapping[str, Any]) -> str:
    """Return test scores of single runs and of their averages."""
    spread = [f"{told['mean'][name]:.2f} ± {told['standard_deviation'][name]:.2f}" for name in SCORES]
    chosen = told["selection"]["chosen"]
    best = [f"{max(told['individuals'][run][name] for run in chosen):.2f}" for name in SCORES]
    base = max(told["baselines"], key=lambda name: float(told["baselines"][name]["overall"]))
    rows = [
        [f"{base}, the best baseline", *_scores(told["baselines"][base])],
        [f"mean of the {len(chosen)} chosen runs ± standard deviation", *spread],
        ["the best of them in each score, with hindsight", *best],
        *([name, *_scores(found)] for name, found in told["ensembles"].items()),
        *(
            [f"non-binary ensemble, {name} of equal weight", *_scores(found)]
            for name, found in told.get("equal_weights", {}).items()
        ),
        *(
            [f"ensemble of all runs, hits fitted to development trees ({name})", *_scores(found)]
            for name, found in told.get("fitted", {}).items()
        ),
    ]
    return f"{table(['', *(f'F1 {name}' for name in SCORES)], rows)}\n\n({told['selection']['note']}.)"


def stability_table(told: Mapping[str, Any]) -> str:
    """Return some epochs of a long run, and which was the best."""
    parts = []
    for name, run in told["runs"].items():
        epochs = run["epochs"]
        best = max(epochs, key=lambda epoch: float(epoch["overall"]))["epoch"]
        shown = [e for e in epochs if e["epoch"] in (*SHOWN, best, len(epochs))]
        rows = [
            [f"{e['epoch']}{' (best)' if e['epoch'] == best else ''}", *(_number(e, key) for key in _NAMES)]
            for e in shown
        ]
        head = ["epoch", "nats per word", *(f"F1 {score}" for score in SCORES)]
        seconds = f"; {sum(told['pieces']):.0f} s in all" if told.get("pieces") else ""
        parts.append(f"{table(head, rows)}\n\n({name}; {_trouble({name: run})}{seconds}.)")
    return "\n\n".join(parts)


def compare_table(told: Mapping[str, Any]) -> str:
    """Return nats per word and F1 scores of every variant after each epoch."""
    longest = max(len(run["epochs"]) for run in told["runs"].values())
    rows = [[name, *(_cell(epoch) for epoch in run["epochs"])] for name, run in told["runs"].items()]
    head = ["", *(f"epoch {number}" for number in range(1, longest + 1))]
    return f"{table(head, rows)}\n\n({_trouble(told['runs'])}.)"


_NAMES = ("nats", *SCORES)


def _cell(epoch: Mapping[str, float]) -> str:
    return f"{epoch['nats']:.3f}: {' / '.join(f'{epoch[name]:.1f}' for name in SCORES)}"


def _number(epoch: Mapping[str, float], name: str) -> str:
    return f"{epoch[name]:.{3 if name == 'nats' else 1}f}"


def _scores(found: Mapping[str, float]) -> list[str]:
    return [f"{found[name]:.2f}" for name in SCORES]


def _spread(values: Sequence[float], digits: int) -> str:
    mean = f"{statistics.fmean(values):.{digits}f}"
    return f"{mean} ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else mean


def _trouble(runs: Mapping[str, Any]) -> str:
    skips, restores = (sum(run[name] for run in runs.values()) for name in ("skips", "restores"))
    back = f"{_count(restores, 'time')} set back" if restores else "never set back"
    off = [run["accuracy"] for run in runs.values() if "accuracy" in run]
    if None in off:
        error = ", log Z not always finite"
    else:
        error = f", log Z never off by more than {max(off):.0e} nats per word" if off else ""
    return f"{_count(skips, 'step')} left out, {back}{error}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
