"""Runs that are compared: trained together, as far as time allows, and told of in few numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.common import Budget
from benchmarks.learning.common import Reporter, events
from benchmarks.reports import Report, guard
from treemean.training.stopping import Deadline, Stop, Stopped
from treemean.training.together import Job, train_together


def study(
    name: str,
    jobs: Mapping[str, Job],
    budget: Budget,
    report: Report,
    *,
    enough: Stop = lambda: False,
    reserve: float = 20.0,
) -> bool:
    """Train runs together as far as time allows; tell of them; return whether all is done.

    Called again with the same folders it goes on where it was.

    Parameters
    ----------
    name, jobs : what the runs are called, together and each.
    enough : says that they may be stopped, as if all were done.
    reserve : seconds that are kept for saving.
    """
    seconds = budget.left() - reserve
    if seconds > 5:
        print(f"{budget} {name}: {len(jobs)} runs, for at most {seconds:.0f} s", flush=True)
        complete = bool(guard(name, _train, list(jobs.values()), Deadline(seconds), enough, budget))
    else:
        complete = False
        print(f"{budget} no time is left for {name}", flush=True)
    report.save(**{name: {label: summary(job) for label, job in jobs.items()}}, complete=complete)
    print(f"{budget} {name}: epoch, development nats per word, F1 (continuous, discontinuous)")
    for label, told in report.values[name].items():
        print(f"  {label}: {_run_line(told)}", flush=True)
    print(f"{budget} {'everything is done' if complete else 'the same command goes on'}", flush=True)
    return complete


def _train(jobs: Sequence[Job], late: Stop, enough: Stop, budget: Budget) -> bool:
    if enough():
        return True
    try:
        train_together(jobs, progress=Reporter(budget, 20.0), stop=lambda: late() or enough())
    except Stopped:
        return enough()
    return True


def summary(job: Job) -> dict[str, Any]:
    """Return what a run has recorded so far, in few numbers."""
    folder, run = Path(job.folder), job.run
    if not (folder / f"run{run:02d}" / "metrics.jsonl").exists():
        return {}
    steps = events(folder, run)
    return {
        "epochs": [
            {name: entry[name] for name in ("epoch", "step", "seconds", "selected", "train")}
            | entry["development"]
            for entry in events(folder, run, "epoch")
        ],
        "restores": events(folder, run, "restore"),
        "skips": len(events(folder, run, "skip")),
        "redone": len(events(folder, run, "redo")),
        "curve": [
            (row["step"], row["perplexity"], row["rate"]) for row in steps[:: max(1, len(steps) // 60)]
        ],
    }


def nats_per_word(scores: Mapping[str, Any]) -> float:
    """Return the negative log-likelihood of a word of the development set."""
    return float(-scores["log_likelihood"] / scores["words"])


def _run_line(run: Mapping[str, Any]) -> str:
    points = [
        f"{e['epoch']}: {nats_per_word(e):.4f} {e['f1']:.2f} "
        f"({e['f1_continuous']:.2f}, {e['f1_discontinuous']:.2f}){'*' if e['selected'] else ''}"
        for e in run.get("epochs", [])
    ]
    trouble = ""
    if run:
        trouble = f"; {run['skips']} left out, {run['redone']} in full precision, "
        trouble += f"{len(run['restores'])} times back"
    return f"{'; '.join(points) or 'no epoch is over'}{trouble}"
