"""Groups of runs that are compared: trained one group after the other, each group's runs together."""

from __future__ import annotations

import gc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from common import Report, Reporter, events

from gpu.timing import Budget, guard
from treemean.training.stopping import Deadline, Stop, Stopped
from treemean.training.together import Job, train_together


@dataclass(frozen=True)
class Group:
    """Runs that are trained together, by what they are called, until they or `enough` say so."""

    name: str
    jobs: Mapping[str, Job]
    enough: Stop = lambda: False


def study(groups: Sequence[Group], budget: Budget, report: Report, *, reserve: float = 20.0) -> bool:
    """Train all groups as far as time allows; tell after each; return whether all is done.

    Called again with the same folders it goes on where it was. What is left of the time is shared evenly by
    the groups that are not finished; `reserve` seconds are kept for saving.
    """
    complete = True
    for place, group in enumerate(groups):
        seconds = (budget.left() - reserve) / (len(groups) - place)
        if seconds <= 5:
            complete = False
            print(f"{budget} no time is left for {group.name}", flush=True)
        else:
            finished = guard(group.name, lambda group=group, s=seconds: _train(group, s, budget))  # type: ignore[misc]
            complete = complete and bool(finished)
            gc.collect()
            torch.cuda.empty_cache()
        report.save(**{group.name: {label: summary(job) for label, job in group.jobs.items()}})
        _print(group, budget)
    report.save(complete=complete)
    print(f"{budget} {'everything is done' if complete else 'the same command goes on'}", flush=True)
    return complete


def _train(group: Group, seconds: float, budget: Budget) -> bool:
    print(f"{budget} {group.name}: {len(group.jobs)} runs, for at most {seconds:.0f} s", flush=True)
    late = Deadline(seconds)
    if group.enough():
        return True
    try:
        jobs, watcher = list(group.jobs.values()), Reporter(budget, 20.0)
        train_together(jobs, progress=watcher, stop=lambda: late() or group.enough())
    except Stopped:
        return group.enough()
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
        "accuracy": [entry["difference"] for entry in events(folder, run, "accuracy")],
        "curve": [
            (row["step"], row["perplexity"], row["rate"]) for row in steps[:: max(1, len(steps) // 60)]
        ],
    }


def nats_per_word(scores: Mapping[str, Any]) -> float:
    """Return the negative log-likelihood of a word of the development set."""
    return float(-scores["log_likelihood"] / scores["words"])


def _print(group: Group, budget: Budget) -> None:
    print(f"{budget} {group.name}: epoch, development nats per word, F1 (continuous, discontinuous)")
    for label, job in group.jobs.items():
        told = summary(job)
        points = [
            f"{e['epoch']}: {nats_per_word(e):.4f} {e['f1']:.2f} "
            f"({e['f1_continuous']:.2f}, {e['f1_discontinuous']:.2f}){'*' if e['selected'] else ''}"
            for e in told.get("epochs", [])
        ]
        trouble = ""
        if told:
            trouble = f"; {told['skips']} left out, {told['redone']} in full precision, "
            trouble += f"{len(told['restores'])} times back"
        print(f"  {label}: {'; '.join(points) or 'no epoch is over'}{trouble}", flush=True)
