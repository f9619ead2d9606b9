"""What a fit is asked for, and what is told about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from treemean.averaging import average
from treemean.evaluation import Evaluation, bootstrap_interval
from treemean.evaluation.results import METRICS
from treemean.fitting.candidates.development import Development
from treemean.fitting.models.apart import GAP_WEIGHT
from treemean.fitting.procedure.selection import eta_of, target_score
from treemean.names import Metric, ObjectiveName, SelectionRule, Target

_SAMPLES = 2000


@dataclass(frozen=True)
class Options:
    """What a fit was asked for; see `fit`."""

    target: Target = "both"
    eta: float = 0.5
    objective: ObjectiveName | None = None
    beta: float | None = 1.0
    select: SelectionRule = "all"
    size: int | None = None
    score: Metric = "discontinuous"
    scores: tuple[float, ...] | None = None
    folds: int = 5
    seed: int = 0
    jobs: int | None = None
    trade_off: bool = False
    labelled: bool = False
    gaps_from: tuple[int, ...] = ()
    gap_weight: float = GAP_WEIGHT

    @property
    def used_eta(self) -> float:
        """The η of the target."""
        return eta_of(self.target, self.eta)


def make_report(
    development: Development, evaluation: Evaluation, options: Options, schemes: int, notes: list[str]
) -> dict[str, Any]:
    """Return cross-validated scores with bootstrap intervals, and how they came about.

    Beside them stand the scores of the plain average of all runs, which needs no fitting: with labels, of the
    joint average, and of that with labels by vote.
    """
    intervals = {
        metric: bootstrap_interval(evaluation, metric, samples=_SAMPLES, seed=options.seed)
        for metric in METRICS
    }
    kinds = {"plain_average": development.labelled}
    if development.labelled:
        kinds["labels_by_vote"] = False
    plain = {
        name: development.evaluate(average(development.trees, labelled=labelled, jobs=options.jobs))
        for name, labelled in kinds.items()
    }
    score = target_score(evaluation.overall, evaluation.discontinuous, options.used_eta)
    for name, found in plain.items():
        if score < target_score(found.overall, found.discontinuous, options.used_eta):
            which = "with labels by vote" if name == "labels_by_vote" else "of all runs"
            notes = [*notes, f"the plain average {which} has a better score on these sentences"]
    return {
        "cross_validated": {
            metric: {"f1": i.estimate, "low": i.low, "high": i.high} for metric, i in intervals.items()
        },
        **{name: {metric: found.counts(metric).f1 for metric in METRICS} for name, found in plain.items()},
        "folds": options.folds,
        "seed": options.seed,
        "schemes": schemes,
        "notes": notes,
    }


def trade_off_points(evaluations: Mapping[str, Evaluation]) -> list[dict[str, Any]]:
    """Return the scores of several settings, and which of them no other one beats in both scores."""
    points = [(name, e.overall.f1, e.discontinuous.f1) for name, e in evaluations.items()]
    return [
        {
            "setting": name,
            "overall": overall,
            "discontinuous": gapped,
            "front": not any(
                o >= overall and d >= gapped and (o > overall or d > gapped) for _, o, d in points
            ),
        }
        for name, overall, gapped in points
    ]
