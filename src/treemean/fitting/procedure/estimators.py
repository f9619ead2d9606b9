"""Fitting models that estimate how likely candidates are correct.

Nothing that is scored by cross-validation has been chosen by its own score. Candidates of a fold are
estimated by models of the other folds, with settings (penalties, numbers of trees, blends) that are best on
the other folds. Runs and β are chosen on the other folds again. Only two numbers come from all development
sentences: how many gold constituents there are per word, and how many of them are discontinuous. (A trace is
left: the settings compared on other folds were fitted with this fold's gold. Removing it would take as many
fits again for each fold.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, cached_property

import numpy as np

from treemean.averaging import average
from treemean.evaluation import Evaluation
from treemean.fitting.candidates import Flags
from treemean.fitting.candidates.development import Development
from treemean.fitting.models import boosted, logistic, signed
from treemean.fitting.models.estimator import Training
from treemean.fitting.models.hit_model import HitModel
from treemean.fitting.models.objectives import (
    CorpusObjective,
    ExpectedObjective,
    Objective,
    SentenceObjective,
    settle,
)
from treemean.fitting.procedure.confidence import (
    calibrate_on,
    confidence_notes,
    confidence_report,
    judge_fold,
)
from treemean.fitting.procedure.options import Options, make_report, trade_off_points
from treemean.fitting.procedure.selection import BETAS, SchemeSearch, target_score
from treemean.trees import Treebank

#: Estimators by name; training also gives what they would have said of sentences they did not see.
TRAINERS: Mapping[str, Callable[[Development, int], Training]] = {
    "signed": signed.train,
    "logistic": logistic.train,
    "boosted": boosted.train,
}
#: Values of η along which the overall score is given up for the discontinuous one.
ETAS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 10.0)


class _Attempt:
    """An estimator for some of the runs, and the trees that it makes of sentences that it did not see."""

    def __init__(self, development: Development, model: str, options: Options) -> None:
        self.development, self._options = development, options
        self.training = TRAINERS[model](development, options.seed)
        overall, discontinuous = development.gold_counts.sum(axis=0) / max(1, development.candidates.words)
        self._gold = float(overall), float(discontinuous)

    def corpus(self, eta: float) -> CorpusObjective:
        """Return the objective of the corpus, settled on what is said of unseen sentences."""
        return settle(
            CorpusObjective(eta, *self._gold),
            self.development.runs,
            self.development.candidates,
            self.training.out_of_fold,
            self._options.jobs,
        )

    def trees(self, objective: Objective) -> Treebank:
        """Return trees of all development sentences, each by an estimator that did not see it."""
        data, jobs = self.development, self._options.jobs
        arguments = objective.arguments(data.runs, data.candidates, self.training.out_of_fold, jobs)
        return average(list(data.runs), **arguments, labelled=data.labelled, jobs=jobs)

    @cached_property
    def tried(self) -> list[tuple[Objective, Treebank]]:
        """What was asked for: one objective, or one for each β that is to be compared; with its trees."""
        options = self._options
        objectives: list[Objective]
        if options.objective == "expected":
            objectives = [ExpectedObjective(self._gold[0])]
        elif options.objective == "sentence":
            objectives = [SentenceObjective(b) for b in (BETAS if options.beta is None else (options.beta,))]
        else:
            objectives = [self.corpus(options.used_eta)]
        return [(objective, self.trees(objective)) for objective in objectives]

    def best(self, sentences: Flags) -> tuple[Objective, Treebank]:
        """Return the objective with the best score on some sentences, and its trees of all sentences."""
        if len(self.tried) == 1:
            return self.tried[0]

        def score(pair: tuple[Objective, Treebank]) -> float:
            found = self.development.evaluate(pair[1].take(sentences), sentences)
            return target_score(found.overall, found.discontinuous, self._options.used_eta)

        return max(self.tried, key=score)


def fit_estimator(development: Development, model: str, options: Options) -> HitModel:
    """Fit an estimator, and settle the objective on what it says of sentences that it did not see."""
    search = SchemeSearch(development, "equal", options.used_eta, jobs=options.jobs)

    @cache
    def attempt(chosen: tuple[int, ...]) -> _Attempt:
        everyone = len(chosen) == len(development.runs)
        return _Attempt(development if everyone else development.of_runs(chosen), model, options)

    tables = range(len(development.trees), len(development.runs))  # which are used, whatever runs are chosen

    def chosen_by(sentences: Flags) -> tuple[int, ...]:
        return (*search.search(options.select, options.size, 1.0, sentences).chosen, *tables)

    attempts = [(attempt(chosen_by(~unseen)), unseen) for unseen in development.held_out]

    def cross_validated(trees: Callable[[_Attempt, Flags], Treebank]) -> Evaluation:
        return development.evaluate_folds([trees(tried, unseen).take(unseen) for tried, unseen in attempts])

    everything = np.ones(len(development.gold), dtype=bool)
    chosen = chosen_by(everything)
    whole = attempt(chosen)
    notes = confidence_notes(whole.development)
    if not development.gold_counts[:, 1].any():
        notes.append("the gold has no discontinuous constituent: none is expected anywhere")
    averages = [tried.best(~unseen)[1].take(unseen) for tried, unseen in attempts]
    report = make_report(
        development,
        development.evaluate_folds(averages),
        options,
        len(search.tried) + whole.training.schemes + len(whole.tried) - 1,
        notes,
    )
    report["confidence"] = confidence_report(
        [
            judge_fold(tried.development, tried.training.out_of_fold, unseen, trees)
            for (tried, unseen), trees in zip(attempts, averages, strict=True)
        ]
    )
    if options.trade_off:
        of_sentence = options.objective == "sentence"

        @cache
        def trees_with(tried: _Attempt, value: float) -> Treebank:
            return tried.trees(SentenceObjective(value) if of_sentence else tried.corpus(value))

        def evaluated(value: float) -> Evaluation:
            return cross_validated(lambda tried, _: trees_with(tried, value))

        letter, values = ("β", BETAS) if of_sentence else ("η", ETAS)
        report["trade_off"] = trade_off_points({f"{letter} = {v:g}": evaluated(v) for v in values})
    calibration = calibrate_on(whole.development, whole.training.out_of_fold)
    best = whole.best(everything)[0]
    return HitModel(
        (),
        chosen,
        whole.training.estimator,
        best,
        report,
        calibration=calibration,
        labelled=development.labelled,
    )
