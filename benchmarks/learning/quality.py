"""What do half precision and the floor do to learning? Three initialisations each.

    python -m benchmarks.learning.quality --out FOLDER --seconds 450

Learning curves from the same data, orders and initialisations: {our kernels, full float32} x {no floor, a
floor of 1e-9}. Runs of one kind are trained together, each kind in a process of its own, since the precision
of kernels is set before they run. Full float32 is the same code without fp16 and without tensor cores, but
for the sums over discontinuous spans, whose operands have 16 binary digits.
"""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from collections.abc import Sequence
from typing import Any

import torch

from benchmarks.common import Budget, exit_if_failed, fail, run_part, show
from benchmarks.learning.common import arguments, config_for, events, folder_for
from benchmarks.learning.study import nats_per_word, study, summary
from benchmarks.reports import Report
from treemean.reporting.tables import Cell
from treemean.training.together import Job

#: The kinds of runs, in the order in which they are trained: precision and floor.
KINDS = [("ours", 0.0), ("float32", 0.0), ("ours", 1e-9), ("float32", 1e-9)]
#: Our kernels as they are; from parameters to rules in float32, the inside algorithm by ours; all in float32.
PRECISIONS = ("ours", "rules", "float32")
#: A share of what is left of the time for each of them; the rest is for those that follow.
SHARES = [0.25, 0.5, 0.5, 1.0]


def main(words: Sequence[str] | None = None) -> None:
    parser = arguments(__doc__ or "", seconds=450)
    parser.add_argument("--corpus", default="third")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--part", help="only this part, in this process")
    options = parser.parse_args(words)
    if options.part:
        _part(options)
        return
    config_for(options.data, options.corpus, *options.override)  # if that fails, no part need be begun
    budget = Budget(options.seconds)
    for kind, share in zip(KINDS, SHARES):
        _run(options, _name(*kind), (budget.left() - 8) * share)
    _table(options, budget)
    exit_if_failed()


def _name(precision: str, floor: float) -> str:
    return f"{precision}-{floor:g}"


def _run(options: Namespace, part: str, seconds: float) -> None:
    """Run a part in a process of its own, which ends itself in time, or is ended."""
    if seconds < 20:
        print(f"no time is left for {part}", flush=True)
        return
    began = time.monotonic()
    code = run_part("benchmarks.learning.quality", part, seconds, options, limit=seconds + 25)
    print(f"{part} took {time.monotonic() - began:.0f} s, exit status {code}", flush=True)
    if code:
        fail(part)


def _part(options: Namespace) -> None:
    budget, report = Budget(options.seconds), Report(options.out, f"quality-{options.part}")
    precision, _, floor = options.part.partition("-")
    _use_precision(precision)
    study(options.part, _jobs(options, precision, float(floor)), budget, report, reserve=10.0)
    report.save(memory=torch.cuda.max_memory_reserved() / 2**30 if torch.cuda.is_available() else 0)
    exit_if_failed()


def _use_precision(name: str) -> None:
    from treemean.grammars.rank.triton.context import use_full_precision
    from treemean.training.gpu.objective import FusedObjective

    if name not in PRECISIONS:
        sys.exit(f"unknown precision {name!r}; there are {', '.join(PRECISIONS)}")
    if name == "float32":
        use_full_precision()
    if name != "ours":
        FusedObjective.dtype = torch.float32
    assert torch.get_float32_matmul_precision() == "highest"


def _jobs(options: Namespace, precision: str, floor: float) -> dict[str, Job]:
    jobs = {}
    for seed in options.seeds:
        given = [
            *(f"grammar.floor={floor}", f"run.init_seed={seed}", f"training.epochs={options.epochs}"),
            *("training.report_every=25", "checkpoint.seconds=0"),
        ]
        config = config_for(options.data, options.corpus, *given, *options.override)
        name = f"{_name(precision, floor)}-{seed}"
        folder = folder_for(options.work / "quality", name, options.data, options.corpus)
        jobs[name] = Job(config, folder, seed)
    return jobs


def _table(options: Namespace, budget: Budget) -> None:
    """Print means and spreads by kind and epoch, and write everything to one file."""
    report = Report(options.out, "quality")
    found: dict[str, dict[str, Any]] = {}
    for precision, floor in KINDS:
        jobs = _jobs(options, precision, floor)
        found[_name(precision, floor)] = {name: summary(job) for name, job in jobs.items()}
    report.save(corpus=options.corpus, epochs=options.epochs, kinds=found)
    rows: list[list[Cell]] = []
    for kind, runs in found.items():
        for epoch in range(1, options.epochs + 1):
            same = [e for run in runs.values() for e in run.get("epochs", []) if e["epoch"] == epoch]
            if same:
                cells = [_cell([nats_per_word(e) for e in same], 4)]
                cells += [
                    _cell([e[key] for e in same], 2) for key in ("f1", "f1_continuous", "f1_discontinuous")
                ]
                rows.append([kind, epoch, len(same), *cells])
    columns = ["kind", "epoch", "runs", "nats per word", "F1", "continuous", "discontinuous"]
    show(columns, rows, f"{budget} mean (lowest to highest) over initialisations")
    for kind, runs in found.items():
        skips = sum(run.get("skips", 0) for run in runs.values())
        restores = sum(len(run.get("restores", [])) for run in runs.values())
        print(f"  {kind}: {skips} steps left out, {restores} times back; {_speed(options, kind)}", flush=True)


def _cell(values: list[float], digits: int) -> str:
    return f"{sum(values) / len(values):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def _speed(options: Namespace, kind: str) -> str:
    """Tell the time of an epoch of all runs, and of measuring one run."""
    seed = options.seeds[0]
    folder = options.work / "quality" / f"{kind}-{seed}"
    if not (folder / f"run{seed:02d}" / "metrics.jsonl").exists():
        return "not begun"
    steps, ends = events(folder, seed), events(folder, seed, "epoch")
    told = []
    for end in ends:
        own = [row for row in steps if row["epoch"] == end["epoch"]]
        if own:
            training = own[-1]["seconds"] - own[0]["seconds"]
            measuring = end["seconds"] - own[-1]["seconds"]
            told.append(f"epoch {end['epoch']}: {training:.1f} s, measuring {measuring:.1f} s")
    return "; ".join(told) or "no epoch is over"


if __name__ == "__main__":
    main()
