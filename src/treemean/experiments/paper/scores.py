"""The paper's tables and figures of scores: main results, positives, correlation, agreement, labels."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from pathlib import Path

from treemean.evaluation import agreement
from treemean.evaluation.results import METRICS, Evaluation, LabelScore
from treemean.experiments.main_results import BINARY, NON_BINARY
from treemean.experiments.paper.outcome import ExperimentOutcome, Figure, numbers
from treemean.experiments.paper.study import Study
from treemean.reporting.figures import draw_bars, draw_matrices, draw_points
from treemean.reporting.tables import Cell, Table

#: How many labels are shown.
LABELS = 10


def main(study: Study) -> ExperimentOutcome:
    """Table 2: individuals, the best of them, and the ensembles with significance stars."""
    return ExperimentOutcome(
        {"": study.results.table("Main results (the paper's Table 2)")}, data=study.results.to_dict()
    )


def positives(study: Study) -> ExperimentOutcome:
    """Table 3: true and false positives of the binary and the non-binary ensemble."""
    columns = ["", *(f"{kind} {metric}" for metric in METRICS for kind in ("TP", "FP"))]
    counts = {
        name: [
            number
            for metric in METRICS
            for number in (
                study.results.ensembles[name].counts(metric).matched,
                study.results.ensembles[name].counts(metric).false_positives,
            )
        ]
        for name in (BINARY, NON_BINARY)
    }
    rows: list[list[Cell]] = [[name, *numbers] for name, numbers in counts.items()]
    rows.append(["difference", *(a - b for a, b in zip(*counts.values(), strict=True))])
    title = "True and false positives (the paper's Table 3)"
    return ExperimentOutcome({"": Table(columns, rows, title, [study.note()])})


def correlation(study: Study) -> ExperimentOutcome:
    """Figure 2: continuous against discontinuous F1, one point per run."""
    found = {
        name: (scores.continuous.f1, scores.discontinuous.f1)
        for name, scores in study.results.individuals.items()
    }
    rows: list[list[Cell]] = [[name, *pair] for name, pair in found.items()]
    note = "one run has no correlation"
    if len(found) > 1:
        continuous, discontinuous = zip(*found.values(), strict=True)
        spread = min(statistics.pstdev(continuous), statistics.pstdev(discontinuous))
        note = "one of the scores is the same for all runs"
        if spread > 0:
            note = f"Pearson's r = {statistics.correlation(continuous, discontinuous):.2f}"
    title = "Continuous and discontinuous F1 of the runs (the paper's Figure 2)"
    table = Table(["run", "continuous", "discontinuous"], rows, title, [f"{len(found)} runs: {note}."])

    def draw(path: Path) -> None:
        draw_points(found, path, x="F1 continuous", y="F1 discontinuous", title=note)

    return ExperimentOutcome({"": table}, {"": Figure(table, draw)})


def agreements(study: Study) -> ExperimentOutcome:
    """Pairwise F1 of the runs with each other: overall, continuous and discontinuous."""
    runs = list(study.test.runs.values())
    found: dict[str, list[list[float]]] = {
        metric: agreement(runs, study.protocol, metric=metric).tolist() for metric in METRICS
    }
    rows: list[list[Cell]] = [
        [one, other, *(found[metric][i][j] for metric in METRICS)]
        for i, one in enumerate(study.names)
        for j, other in enumerate(study.names)
        if i < j
    ]
    title = "How much the runs agree with each other: F1 of each pair"
    table = Table(["run", "other run", *METRICS], rows, title)

    def draw(path: Path) -> None:
        draw_matrices(found, study.names, path)

    return ExperimentOutcome({"": table}, {"": Figure(table, draw)})


def labels(study: Study) -> ExperimentOutcome:
    """Figure 8: recall of the most frequent gold labels, of all and of discontinuous constituents."""
    averages = study.results.ensembles
    everyone = {**study.results.chosen, **averages}
    columns = ["constituents", "label", "gold", "share", *everyone, "mean of individuals", "deviation"]
    rows: list[list[Cell]] = []
    for kind in ("all", "discontinuous"):
        tables = {name: _by_label(evaluation, kind) for name, evaluation in everyone.items()}
        gold = {label: recall.gold for label, recall in tables[NON_BINARY].items()}
        total = sum(gold.values())
        for label in sorted(gold, key=lambda label: (-gold[label], label))[:LABELS]:
            found = {name: table[label].recall for name, table in tables.items()}
            alone = [found[name] for name in study.results.chosen]
            spread = statistics.stdev(alone) if len(alone) > 1 else None
            share = 100 * gold[label] / total
            rows.append([kind, label, gold[label], share, *found.values(), statistics.fmean(alone), spread])
    title = "Recall by label in percent (the paper's Figure 8)"
    notes = [study.note(), "Share: of the gold constituents that are scored. Deviation: of the individuals."]
    table = Table(columns, rows, title, notes)
    best = columns.index(NON_BINARY)

    def draw(path: Path) -> None:
        panels = {}
        for kind in ("all", "discontinuous"):
            chosen = [row for row in rows if row[0] == kind]
            names = [f"{row[1] or 'none'}\n{row[3]:.1f}%" for row in chosen]
            mean = (numbers(chosen, -2), numbers(chosen, -1))
            ensemble = (numbers(chosen, best), [0.0] * len(chosen))
            panels[f"{kind} constituents"] = (names, {"individuals": mean, NON_BINARY: ensemble})
        draw_bars(panels, path, y="recall")

    return ExperimentOutcome({"": table}, {"": Figure(table, draw)})


def _by_label(evaluation: Evaluation, kind: str) -> Mapping[str, LabelScore]:
    return evaluation.by_label if kind == "all" else evaluation.by_label_discontinuous
