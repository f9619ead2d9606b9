"""Fitting models with one weight per run or for each kind of constituents, and those that need no gold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from treemean.evaluation.results import METRICS
from treemean.fitting.candidates import Candidates, Flags, Floats, find_candidates
from treemean.fitting.candidates.development import Development
from treemean.fitting.candidates.votes import VoteTable
from treemean.fitting.models import agreement, em
from treemean.fitting.models.apart import Apart
from treemean.fitting.models.calibration import calibration_without_gold
from treemean.fitting.models.estimator import Estimator, VoteEstimator
from treemean.fitting.models.hit_model import HitModel
from treemean.fitting.models.objectives import SentenceObjective
from treemean.fitting.models.weights import RunWeights, equal
from treemean.fitting.procedure.confidence import (
    calibrate_on,
    confidence_notes,
    confidence_report,
    judge_fold,
)
from treemean.fitting.procedure.options import Options, make_report, trade_off_points
from treemean.fitting.procedure.selection import BETAS, Scheme, SchemeSearch
from treemean.trees import Treebank

#: What makes a model from votes, without gold trees.
Trainer = Callable[[Candidates | VoteTable], VoteEstimator]
#: Models that learn from votes alone, and how they are trained.
UNSUPERVISED: dict[str, Trainer] = {"agreement": agreement.train, "em": em.train}
#: All that look at no gold trees: others learn nothing, or are told which runs are of which kind.
WITHOUT_GOLD = ("equal", *UNSUPERVISED, "apart")


def trainer_of(model: str, options: Options) -> Trainer:
    """Return what makes a model of `WITHOUT_GOLD`."""
    if model == "apart":
        return lambda candidates: Apart.of_runs(candidates.runs, options.gaps_from, options.gap_weight)
    return UNSUPERVISED.get(model, lambda candidates: equal(candidates.runs))


def fit_without_gold(votes: VoteTable, model: str, options: Options) -> HitModel:
    """Fit what needs no gold trees where none tell how good it is."""
    assert options.beta is not None
    train = trainer_of(model, options)
    report: dict[str, Any] = {
        "schemes": 1,
        "notes": ["no gold trees were given: nothing is known about the scores"],
    }
    # Without one of its runs, the model apart would be another one, or none.
    calibration = None if model == "apart" else calibration_without_gold(votes, train)
    if calibration is not None:
        report["notes"] += ["probabilities are those that two further runs would agree"]
    objective = SentenceObjective(options.beta)
    return HitModel(
        (),
        tuple(range(votes.runs)),
        train(votes),
        objective,
        report,
        calibration=calibration,
        labelled=options.labelled,
    )


def fit_weights(development: Development, model: str, options: Options) -> HitModel:
    """Fit weights, or what needs no gold; runs and β are searched for within every fold again."""
    search = SchemeSearch(
        development,
        model if model in ("scalar", "typed") else "equal",
        options.used_eta,
        metric=options.score,
        scores=options.scores,
        jobs=options.jobs,
    )
    everything = np.ones(len(development.gold), dtype=bool)
    by_estimator = model in WITHOUT_GOLD and model != "equal"

    def best(sentences: Flags) -> Scheme:
        return search.search(options.select, options.size, options.beta, sentences)

    def values_of(chosen: tuple[int, ...], learned: Flags) -> RunWeights | Estimator:
        if not by_estimator:
            return search.weights(chosen, learned)
        asked = [development.runs[k] for k in chosen]
        seen = [run.take(learned) for run in asked]
        return trainer_of(model, options)(find_candidates(seen, labelled=development.labelled))

    def trees(scheme: Scheme, learned: Flags, wanted: Flags) -> Treebank:
        if not by_estimator:
            return search.trees(scheme, learned, wanted)
        asked = [development.runs[k] for k in scheme.chosen]
        names, everyone = ("",) * len(asked), tuple(range(len(asked)))
        values, objective = values_of(scheme.chosen, learned), SentenceObjective(scheme.beta)
        hits = HitModel(names, everyone, values, objective, labelled=development.labelled)
        return hits.average([run.take(wanted) for run in asked], jobs=options.jobs)

    @cache
    def estimates(chosen: tuple[int, ...]) -> tuple[Development, Floats]:
        """Return development data of some runs, and estimates by values that did not see the sentence."""
        everyone = len(chosen) == len(development.runs)
        data = development if everyone else development.of_runs(chosen)
        found = np.empty(len(data.candidates))
        for unseen in data.held_out:
            own = unseen[data.candidates.sentence]
            found[own] = values_of(chosen, ~unseen).probabilities(data.candidates)[own]
        return data, found

    schemes = [best(~unseen) for unseen in development.held_out]

    def fold_trees(fold_schemes: Sequence[Scheme]) -> list[Treebank]:
        folds = zip(fold_schemes, development.held_out, strict=True)
        return [trees(scheme, ~unseen, unseen) for scheme, unseen in folds]

    scheme = best(everything)
    averages = fold_trees(schemes)
    data, found = estimates(scheme.chosen)
    report = make_report(
        development,
        development.evaluate_folds(averages),
        options,
        max(1, len(search.tried)),
        [*confidence_notes(data), *_notes(search, options)],
    )
    folds = zip(schemes, development.held_out, averages, strict=True)
    report["confidence"] = confidence_report(
        [judge_fold(*estimates(scheme.chosen), unseen, mean) for scheme, unseen, mean in folds]
    )
    if options.trade_off:
        report["trade_off"] = trade_off_points(
            {
                f"β = {b:g}": development.evaluate_folds(fold_trees([replace(s, beta=b) for s in schemes]))
                for b in BETAS
            }
        )
    calibration = calibrate_on(data, found)
    values, objective = values_of(scheme.chosen, everything), SentenceObjective(scheme.beta)
    return HitModel(
        (), scheme.chosen, values, objective, report, calibration=calibration, labelled=development.labelled
    )


def _notes(search: SchemeSearch, options: Options) -> list[str]:
    """Tell which weights are equal because there was nothing to weigh runs by."""
    everything = np.ones(len(search.development.gold), dtype=bool)
    used = {"scalar": (options.score,) if options.scores is None else (), "typed": METRICS[1:]}
    silent = [m for m in used.get(search.rule, ()) if not search.run_f1(m, everything).any()]
    return [f"no run has any {metric} constituent right: these weights are equal" for metric in silent]
