"""What a fit is asked for, and what is told about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from treemean.averaging import average
from treemean.evaluation import Evaluation, bootstrap_interval
from treemean.evaluation.results import METRICS
from treemean.fitting.candidates.development import Development
from treemean.fitting.fit.selection import eta_of, target_score
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

    @property
    def used_eta(self) -> float:
        """The η of the target."""
        return eta_of(self.target, self.eta)


def make_report(
    development: Development, evaluation: Evaluation, options: Options, schemes: int, notes: list[str]
) -> dict[str, Any]:
    """Return cross-validated scores with bootstrap intervals, and how they came about.

    Beside them stand the scores of the plain average of all runs, which needs no fitting.
    """
    intervals = {
        metric: bootstrap_interval(evaluation, metric, samples=_SAMPLES, seed=options.seed)
        for metric in METRICS
    }
    plain = development.evaluate(average(list(development.runs), jobs=options.jobs))
    scores = [target_score(e.overall, e.discontinuous, options.used_eta) for e in (evaluation, plain)]
    if scores[0] < scores[1]:
        notes = [*notes, "the plain average of all runs has a better score on these sentences"]
    return {
        "cross_validated": {
            metric: {"f1": i.estimate, "low": i.low, "high": i.high} for metric, i in intervals.items()
        },
        "plain_average": {metric: plain.counts(metric).f1 for metric in METRICS},
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
