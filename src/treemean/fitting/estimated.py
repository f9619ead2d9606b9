"""Fitting models that estimate how likely candidates are correct."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from treemean.averaging import average
from treemean.evaluation import Evaluation
from treemean.fitting import boosted, linear, logistic
from treemean.fitting.development import Development
from treemean.fitting.estimators import Training
from treemean.fitting.model import HitModel
from treemean.fitting.objectives import (
    CorpusObjective,
    ExpectedObjective,
    Objective,
    SentenceObjective,
    settle,
)
from treemean.fitting.options import Options, make_report, trade_off_points
from treemean.fitting.selection import BETAS, SchemeSearch, target_score

#: Estimators by name; training also gives what they would have said of sentences they did not see.
TRAINERS: Mapping[str, Callable[[Development, int], Training]] = {
    "signed": linear.train,
    "logistic": logistic.train,
    "boosted": boosted.train,
}
#: Values of η along which the overall score is given up for the discontinuous one.
ETAS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 10.0)


def fit_estimator(development: Development, model: str, options: Options) -> HitModel:
    """Fit an estimator, and settle the objective on what it says of sentences that it did not see."""
    notes = []
    chosen = tuple(range(len(development.runs)))
    schemes = 0
    if options.select != "all":
        search = SchemeSearch(development, "equal", options.used_eta, jobs=options.jobs)
        everything = np.ones(len(development.gold), dtype=bool)
        chosen = search.search(options.select, options.size, 1.0, everything).chosen
        schemes += len(search.tried)
        notes.append("the runs were selected on all development sentences")
        development = development.of_runs(chosen)
    training = TRAINERS[model](development, options.seed)
    if not development.gold_counts[:, 1].any():
        notes.append("the gold has no discontinuous constituent: none is expected anywhere")

    def evaluated(objective: Objective) -> Evaluation:
        arguments = objective.arguments(
            development.runs, development.candidates, training.out_of_fold, options.jobs
        )
        return development.evaluate(average(list(development.runs), **arguments, jobs=options.jobs))

    found = [(objective, evaluated(objective)) for objective in _objectives(development, training, options)]
    objective, evaluation = max(
        found, key=lambda pair: target_score(pair[1].overall, pair[1].discontinuous, options.used_eta)
    )
    report = make_report(evaluation, options, schemes + training.schemes + len(found) - 1, notes)
    if options.trade_off:
        report["trade_off"] = trade_off_points(
            {
                name: evaluated(other)
                for name, other in _trade_off_objectives(development, training, options).items()
            }
        )
    return HitModel((), chosen, training.estimator, objective, report)


def _objectives(development: Development, training: Training, options: Options) -> list[Objective]:
    """Return the objective, or one for each β that is to be compared."""
    gold, _ = _gold_per_word(development)
    if options.objective == "expected":
        return [ExpectedObjective(gold)]
    if options.objective == "sentence":
        return [SentenceObjective(b) for b in (BETAS if options.beta is None else (options.beta,))]
    return [_settled(development, training, options.used_eta, options)]


def _trade_off_objectives(
    development: Development, training: Training, options: Options
) -> dict[str, Objective]:
    """Return objectives between the overall and the discontinuous score, by name."""
    if options.objective == "sentence":
        return {f"β = {b:g}": SentenceObjective(b) for b in BETAS}
    return {f"η = {eta:g}": _settled(development, training, eta, options) for eta in ETAS}


def _settled(development: Development, training: Training, eta: float, options: Options) -> CorpusObjective:
    start = CorpusObjective(eta, *_gold_per_word(development))
    return settle(start, development.runs, development.candidates, training.out_of_fold, options.jobs)


def _gold_per_word(development: Development) -> tuple[float, float]:
    """Return the gold constituents per word of the runs: all, and discontinuous ones."""
    overall, discontinuous = (
        development.gold_counts.sum(axis=0) / max(1, development.candidates.words)
    ).tolist()
    return overall, discontinuous
