"""What runs have learnt as tables in Markdown."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from benchmarks.page.chance import p_value
from benchmarks.page.tables import MISSING
from treemean.reporting import Table

SCORES = ("overall", "continuous", "discontinuous")
#: What kinds of runs are made of, the two parts of their names.
PRECISIONS = {"ours": "kernels", "float32": "full float32"}
FLOORS = {"0": "no floor", "1e-09": "floor 1e-9"}
#: What runs of several kinds are compared by.
COMPARED = ("nats", "overall", "discontinuous")
PRECISION = "Nats per word and F1 by epoch, of kernels and of full float32, without and with a floor"
#: Epochs of a long run that its table shows, beside the best and the last one.
SHOWN = (1, 2, 3, 5, 10, 15, 20, 25, 30)


def learning_tables(data: Mapping[str, Any]) -> dict[str, str]:
    """Return all tables for which there are runs, by name."""
    makers = {
        "learning": learning_table,
        "ensemble": ensemble_table,
        "stability": stability_table,
        "compare": compare_table,
    }
    tables = {name: make(data[name]) for name, make in makers.items() if data.get(name)}
    drawn = any(name in tables for name in ("ensemble", "stability", "compare"))
    return (
        tables
        | ({"curves": "![Learning curves](../images/gpu-learning.svg)"} if drawn else {})
        | ({"precision": f"![{PRECISION}](../images/gpu-precision.svg)"} if "learning" in tables else {})
    )


def learning_table(kinds: Mapping[str, Any]) -> str:
    """Return means and ranges of kinds after some epochs; and how often chance makes them differ as much."""
    rows = []
    for floor, floor_name in FLOORS.items():
        for precision, name in PRECISIONS.items():
            runs = kinds.get(f"{precision}-{floor}", {})
            begin = [f"{name}, {floor_name}", str(len(runs))]
            for epoch in _doubling(common_epochs(runs)):
                ranges = [_range(reached(runs, epoch, key), _digits(key)) for key in COMPARED]
                rows.append([*begin, str(epoch), *ranges])
                begin = ["", ""]
    runs = {name: run for kind in kinds.values() for name, run in kind.items()}
    parts = [_table(["", "runs", "epoch", *_heads(COMPARED)], rows, f"({_trouble(runs)}.)")]
    last = common_epochs(runs)
    differences = _differences(kinds, last) if last else []
    if differences:
        parts.append(_table([f"means after epoch {last} (p)", "runs", *_heads(COMPARED)], differences))
    return "\n\n".join(parts)


def _differences(kinds: Mapping[str, Any], epoch: int) -> list[list[str]]:
    """Return means of kernels beside float32 and of no floor beside a floor, each with all else equal."""
    by_floor = {name: [f"{precision}-{floor}" for precision in PRECISIONS] for floor, name in FLOORS.items()}
    by_precision = {
        name: [f"{precision}-{floor}" for floor in FLOORS] for precision, name in PRECISIONS.items()
    }
    rows = []
    for pairs, sides in ((by_floor, PRECISIONS), (by_precision, FLOORS)):
        there = {name: [pair] for name, pair in pairs.items() if all(kind in kinds for kind in pair)}
        if len(there) > 1:
            there["all runs"] = list(pairs.values())
        for name, strata in there.items():
            counts = [str(sum(len(kinds[kind]) for kind in side)) for side in zip(*strata)]
            cells = [_difference(kinds, strata, epoch, key) for key in COMPARED]
            rows.append([f"{' / '.join(sides.values())}: {name}", " / ".join(counts), *cells])
    return rows


def _difference(kinds: Mapping[str, Any], strata: Sequence[Sequence[str]], epoch: int, key: str) -> str:
    found = [[reached(kinds[kind], epoch, key) for kind in pair] for pair in strata]
    means = [f"{statistics.fmean(chain(*side)):.{_digits(key)}f}" for side in zip(*found)]
    return f"{' / '.join(means)} ({p_value([(first, second) for first, second in found]):.2g})"


def common_epochs(runs: Mapping[str, Any]) -> int:
    """Return the number of epochs that are over for all of some runs."""
    return min((len(run["epochs"]) for run in runs.values()), default=0)


def reached(runs: Mapping[str, Any], epoch: int, key: str) -> list[float]:
    """Return what each of some runs reached after an epoch (from 1)."""
    return [run["epochs"][epoch - 1][key] for run in runs.values()]


def ensemble_table(told: Mapping[str, Any]) -> str:
    """Return mean and standard deviation over the runs after each epoch, and how long all that took."""
    runs = [run["epochs"] for run in told["runs"].values()]
    seconds = told.get("epoch_seconds", [])
    rows = []
    for number, same in enumerate(zip(*runs), 1):
        cells = [_spread([epoch[name] for epoch in same], _digits(name)) for name in _NAMES]
        taken = f"{seconds[number - 1]:.0f}" if number <= len(seconds) else MISSING
        rows.append([str(number), *cells, taken])
    pieces = told.get("pieces", [])
    note = f"{len(runs)} runs, mean ± standard deviation; {_trouble(told['runs'])}. "
    note += f"In all {sum(pieces):.0f} s in {_count(len(pieces), 'piece')}, everything included."
    return _table(["epoch", *_heads(_NAMES), "seconds"], rows, note)


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
        seconds = f"; {sum(told['pieces']):.0f} s in all" if told.get("pieces") else ""
        parts.append(_table(["epoch", *_heads(_NAMES)], rows, f"({name}; {_trouble({name: run})}{seconds}.)"))
    return "\n\n".join(parts)


def compare_table(told: Mapping[str, Any]) -> str:
    """Return nats per word and F1 scores of every variant after each epoch."""
    longest = max(len(run["epochs"]) for run in told["runs"].values())
    rows = [[name, *(_cell(epoch) for epoch in run["epochs"])] for name, run in told["runs"].items()]
    head = ["", *(f"epoch {number}" for number in range(1, longest + 1))]
    return _table(head, rows, f"({_trouble(told['runs'])}.)")


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], *notes: str) -> str:
    return Table(head, rows, notes=notes).to_markdown()


_NAMES = ("nats", *SCORES)


def _heads(keys: Sequence[str]) -> list[str]:
    return ["nats per word" if key == "nats" else f"F1 {key}" for key in keys]


def _digits(key: str) -> int:
    return 3 if key == "nats" else 1


def _doubling(last: int) -> list[int]:
    """Return 1, 2, 4, … and the last number."""
    return sorted({2**power for power in range(last.bit_length())} | {last} - {0})


def _range(values: Sequence[float], digits: int) -> str:
    mean = f"{statistics.fmean(values):.{digits}f}"
    ends = f" ({min(values):.{digits}f}–{max(values):.{digits}f})"
    return mean + (ends if len(values) > 1 else "")


def _cell(epoch: Mapping[str, float]) -> str:
    return f"{epoch['nats']:.3f}: {' / '.join(f'{epoch[name]:.1f}' for name in SCORES)}"


def _number(epoch: Mapping[str, float], name: str) -> str:
    return f"{epoch[name]:.{_digits(name)}f}"


def _spread(values: Sequence[float], digits: int) -> str:
    mean = f"{statistics.fmean(values):.{digits}f}"
    return f"{mean} ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else mean


def _trouble(runs: Mapping[str, Any]) -> str:
    skips, restores = (sum(run[name] for run in runs.values()) for name in ("skips", "restores"))
    back = f"{_count(restores, 'time')} set back" if restores else "never set back"
    return f"{_count(skips, 'step')} left out, {back}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
