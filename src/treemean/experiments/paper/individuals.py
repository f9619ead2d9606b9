"""Figure 3: how many individuals an ensemble needs."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from treemean.evaluation.results import METRICS
from treemean.experiments.paper.outcome import ExperimentOutcome, Figure, numbers
from treemean.experiments.paper.study import Study
from treemean.reporting.figures import Line, draw_lines
from treemean.reporting.tables import Cell, Table

#: How many random subsets of each size are averaged, as in the paper.
TRIALS = 30


def individuals(study: Study) -> ExperimentOutcome:
    """Score averages of random subsets of every size, and of the best runs, one more at a time."""
    count = len(study.names)
    rng = np.random.default_rng(study.seed)
    subsets = {
        size: [tuple(sorted(rng.choice(count, size, replace=False).tolist())) for _ in range(TRIALS)]
        for size in range(1, count + 1)
    }
    known: dict[tuple[int, ...], list[float]] = {}

    def scores(runs: Sequence[int]) -> list[float]:
        """Return the F1 of the average of some runs, which is the same in whatever order they come."""
        key = tuple(sorted(runs))
        if key not in known:
            trees = study.weighed(key).average(list(study.test.runs.values()), jobs=study.jobs)
            evaluation = study.score(trees)
            known[key] = [evaluation.counts(metric).f1 for metric in METRICS]
        return known[key]

    order = study.best_first()
    rows: list[list[Cell]] = []
    for size, drawn in subsets.items():
        found = [scores(runs) for runs in drawn]
        for metric, values in zip(METRICS, zip(*found, strict=True), strict=True):
            rows.append(["random", size, metric, statistics.fmean(values), statistics.stdev(values), TRIALS])
    for size in range(1, count + 1):
        for metric, value in zip(METRICS, scores(order[:size]), strict=True):
            rows.append(["best to worst", size, metric, value, None, 1])
    ranked = ", ".join(study.names[i] for i in order)
    by = "test" if study.development is None else "development"
    notes = [
        f"{TRIALS} random subsets of each size, drawn with the seed {study.seed}; deviation over them.",
        f"Best to worst by {by} F1 overall: {ranked}. Runs are weighed by {_rule(study)}.",
    ]
    columns = ["order", "individuals", "metric", "F1", "deviation", "trials"]
    table = Table(columns, rows, "Effect of the number of individuals (the paper's Figure 3)", notes)

    def draw(path: Path) -> None:
        panels: dict[str, dict[str, Line]] = {"random": {}, "best to worst": {}}
        for order_name, lines in panels.items():
            for metric in METRICS:
                chosen = [row for row in rows if (row[0], row[2]) == (order_name, metric)]
                lines[metric] = (numbers(chosen, 1), numbers(chosen, 3), numbers(chosen, 4))
        draw_lines(panels, path, x="number of individuals", y="F1")

    return ExperimentOutcome({"": table}, {"": Figure(table, draw)})


def _rule(study: Study) -> str:
    if study.development is None or study.weigh == "equal":
        return "nothing: all are equal"
    return f"development F1 {study.weigh}"
