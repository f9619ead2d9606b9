"""Is training reproducible? The same runs twice, once in one piece and once in several, compared bit by bit.

    python -m benchmarks.learning.reproducible --out FOLDER

Every piece is a process of its own. Models, learning curves and selected epochs must be the same.
"""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from safetensors.torch import load_file

from benchmarks.common import Budget, exit_if_failed, fail, run_part
from benchmarks.learning.common import arguments, config_for, events, folder_for
from benchmarks.learning.study import study
from benchmarks.reports import Report
from treemean.program import STOPPED
from treemean.training.folders import RunFolder
from treemean.training.together import Job

#: The two ways, and how many pieces there should be.
WAYS = {"whole": 1, "pieces": 3}
#: Seconds that a process needs before the first step, about.
START = 30.0


def main() -> None:
    parser = arguments(__doc__ or "", seconds=520)
    parser.add_argument("--corpus", default="full")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--part", choices=list(WAYS), help="only this way, in this process")
    options = parser.parse_args()
    if options.part:
        _train(options)
        return
    budget, report = Budget(options.seconds), Report(options.out, "reproducible")
    taken: dict[str, list[float]] = {}
    for way, pieces in WAYS.items():
        training = taken["whole"][0] - START if way == "pieces" else None
        limit = None if training is None else START + training / pieces
        taken[way] = _call(options, way, limit, budget)
    compared = [_compare(options, run) for run in range(1, options.runs + 1)]
    report.save(seconds=taken, corpus=options.corpus, epochs=options.epochs, compared=compared)
    equal = sum(row["equal"] for row in compared)
    told = ", ".join(f"{way} {' + '.join(f'{s:.0f}' for s in seconds)} s" for way, seconds in taken.items())
    print(f"{equal} of {len(compared)} runs are the same bits ({told}) {budget}")
    for row in compared:
        if not row["equal"]:
            fail(f"run {row['run']}: {row['first']}")
    exit_if_failed()


def _call(options: Namespace, way: str, limit: float | None, budget: Budget) -> list[float]:
    """Train in processes of their own until it is finished; return the seconds of each."""
    seconds: list[float] = []
    while True:
        before = budget.left()
        if before < START:
            sys.exit(f"no time is left to train {way}: the same command goes on")
        code = run_part("benchmarks.learning.reproducible", way, min(limit or before, before), options)
        seconds.append(round(before - budget.left(), 1))
        if code == 0:
            return seconds
        if code != STOPPED:
            sys.exit(f"training {way} ended with exit code {code}")


def _jobs(options: Namespace, way: str) -> dict[int, Job]:
    given = (f"training.epochs={options.epochs}", "training.report_every=50", "checkpoint.seconds=0")
    config = config_for(options.data, options.corpus, *given, *options.override)
    folder = folder_for(options.work, f"reproducible-{way}", options.data, options.corpus)
    return {run: Job(config, folder, run) for run in range(1, options.runs + 1)}


def _train(options: Namespace) -> None:
    budget, report = Budget(options.seconds), Report(options.work, f"reproducible-{options.part}")
    jobs = {f"run {run}": job for run, job in _jobs(options, options.part).items()}
    done = study(options.part, jobs, budget, report, reserve=5.0)
    exit_if_failed()
    sys.exit(0 if done else STOPPED)


def _compare(options: Namespace, run: int) -> dict[str, Any]:
    """Compare a run of both ways; tell what differs first."""
    folders = [Path(_jobs(options, way)[run].folder) for way in WAYS]
    curves = [[(e["step"], e["perplexity"]) for e in events(folder, run)] for folder in folders]
    epochs = [[e["development"] for e in events(folder, run, "epoch")] for folder in folders]
    first = next((f"loss until step {a[0]}" for a, b in zip(*curves) if a != b), "")
    if not first and len(curves[0]) != len(curves[1]):
        first = f"{len(curves[0])} and {len(curves[1])} reports"
    if not first and json.dumps(epochs[0]) != json.dumps(epochs[1]):
        first = "measures of an epoch"
    models = [load_file(str(RunFolder(folder, run).model / "model.safetensors")) for folder in folders]
    different = [name for name, tensor in models[0].items() if not tensor.equal(models[1][name])]
    if not first and different:
        first = f"parameters {', '.join(different[:3])}"
    return {"run": run, "equal": not first, "first": first, "reports": len(curves[0]), "different": different}


if __name__ == "__main__":
    main()
