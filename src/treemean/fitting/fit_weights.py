"""Fitting models with one weight per run or for each kind of constituents, and those that need no gold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from treemean.evaluation import Evaluation
from treemean.evaluation.results import METRICS
from treemean.fitting import em
from treemean.fitting.candidates import Flags, find_candidates
from treemean.fitting.development import Development
from treemean.fitting.model import HitModel
from treemean.fitting.objectives import SentenceObjective
from treemean.fitting.options import Options, make_report, trade_off_points
from treemean.fitting.selection import BETAS, Scheme, SchemeSearch
from treemean.fitting.weights import equal
from treemean.trees import Treebank


def fit_without_gold(runs: Sequence[Treebank], model: str, options: Options) -> HitModel:
    """Fit equal weights or EM where no gold trees tell how good they are."""
    everyone = tuple(range(len(runs)))
    values = equal(len(runs)) if model == "equal" else em.train(find_candidates(runs))
    assert options.beta is not None
    report = {"schemes": 1, "notes": ["no gold trees were given: nothing is known about the scores"]}
    return HitModel((), everyone, values, SentenceObjective(options.beta), report)


def fit_weights(development: Development, model: str, options: Options) -> HitModel:
    """Fit equal, scalar or typed weights, or EM; runs and β are searched for within every fold again."""
    search = SchemeSearch(
        development,
        model if model in ("scalar", "typed") else "equal",
        options.used_eta,
        metric=options.score,
        scores=options.scores,
        jobs=options.jobs,
    )
    everything = np.ones(len(development.gold), dtype=bool)

    def best(sentences: Flags) -> Scheme:
        return search.search(options.select, options.size, options.beta, sentences)

    def trees(scheme: Scheme, learned: Flags, wanted: Flags) -> Treebank:
        if model != "em":
            return search.trees(scheme, learned, wanted)
        asked = [development.runs[k] for k in scheme.chosen]
        estimated = em.train(find_candidates([run.take(learned) for run in asked]))
        names, everyone = ("",) * len(asked), tuple(range(len(asked)))
        hits = HitModel(names, everyone, estimated, SentenceObjective(scheme.beta))
        return hits.average([run.take(wanted) for run in asked], jobs=options.jobs)

    schemes = [best(~unseen) for unseen in development.held_out]

    def cross_validated(fold_schemes: Sequence[Scheme]) -> Evaluation:
        folds = zip(fold_schemes, development.held_out, strict=True)
        return development.evaluate_folds([trees(scheme, ~unseen, unseen) for scheme, unseen in folds])

    scheme = best(everything)
    values = (
        em.train(find_candidates([development.runs[k] for k in scheme.chosen]))
        if model == "em"
        else search.weights(scheme.chosen, everything)
    )
    report = make_report(
        development, cross_validated(schemes), options, max(1, len(search.tried)), _notes(search, options)
    )
    if options.trade_off:
        report["trade_off"] = trade_off_points(
            {f"β = {b:g}": cross_validated([replace(scheme, beta=b) for scheme in schemes]) for b in BETAS}
        )
    return HitModel((), scheme.chosen, values, SentenceObjective(scheme.beta), report)


def _notes(search: SchemeSearch, options: Options) -> list[str]:
    """Tell which weights are equal because there was nothing to weigh runs by."""
    everything = np.ones(len(search.development.gold), dtype=bool)
    used = {"scalar": (options.score,) if options.scores is None else (), "typed": METRICS[1:]}
    silent = [m for m in used.get(search.rule, ()) if not search.run_f1(m, everything).any()]
    return [f"no run has any {metric} constituent right: these weights are equal" for metric in silent]
