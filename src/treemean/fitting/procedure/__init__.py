"""Fitting hit models to development data, with honest numbers about them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import get_args

import numpy as np

from treemean.averaging.arguments import columns_of
from treemean.errors import InvalidOption, TreemeanError, no_such
from treemean.evaluation.protocols import Protocol
from treemean.evaluation.results import METRICS
from treemean.fitting.candidates import find_candidates
from treemean.fitting.candidates.development import make_development
from treemean.fitting.candidates.votes import VoteSums
from treemean.fitting.models.apart import GAP_WEIGHT
from treemean.fitting.models.hit_model import MODELS, HitModel
from treemean.fitting.procedure.estimators import TRAINERS, fit_estimator
from treemean.fitting.procedure.options import Options
from treemean.fitting.procedure.provenance import Fingerprint, provenance_of
from treemean.fitting.procedure.weights import WITHOUT_GOLD, fit_weights, fit_without_gold
from treemean.names import Metric, ObjectiveName, SelectionRule, Target
from treemean.trees import Individual, Treebank

#: From so many development sentences on, boosted trees are the default model.
BOOSTED_FROM = 300


def fit(
    runs: Sequence[Individual],
    gold: Treebank | None = None,
    model: str | None = None,
    *,
    target: Target = "both",
    eta: float = 0.5,
    objective: ObjectiveName | None = None,
    beta: float | None = 1.0,
    select: SelectionRule = "all",
    size: int | None = None,
    score: Metric = "discontinuous",
    scores: Sequence[float] | None = None,
    protocol: str | Protocol = "paper",
    folds: int = 5,
    seed: int = 0,
    names: Sequence[str] | None = None,
    jobs: int | None = None,
    trade_off: bool = False,
    labelled: bool = False,
    gaps_from: Sequence[int] = (),
    gap_weight: float = GAP_WEIGHT,
) -> HitModel:
    """Fit a hit model to development data.

    Parameters
    ----------
    runs : development treebanks of the runs that are to be averaged. After these there may be tables of
        spans (`SpanTable`) for the models `logistic` and `boosted`: their spans become candidates, and their
        posteriors tell how likely a candidate is.
    gold : gold trees of these sentences, by position; `agreement`, `em`, `apart` and `equal` need none.
    model : a name in `MODELS`; `logistic` for fewer than 300 sentences and `boosted` otherwise if not given.
    target : `overall`, `disc` or `both`: F1_overall + η F1_discontinuous.
    eta : the η of `both`.
    objective : `corpus` (the default of signed, logistic and boosted), `expected`, or `sentence` (the paper's
        F_β, the default of the others and their only one).
    beta : the β of `sentence`; None to search for it.
    select, size : which runs to use: `all`, the `top` ones by F1, or those found by `forward` or `backward`
        selection; how many, or the number that scores best if not given. Choices are compared by the
        averages of `scalar` and `typed` weights for these two models, and by plain averages for the others.
    score, scores : what the `scalar` weights are: a development F1 (that of discontinuous constituents is
        the paper's rule), or given numbers, one for each run.
    protocol : what counts as correct.
    folds, seed : how sentences are divided for cross-validation; the seed of boosting, too.
    names : what the runs are called.
    jobs : the number of threads for averaging.
    trade_off : add the scores under other values of η (or of β, for the objective `sentence`) to the report.
    labelled : learn values of labelled constituents, for joint averages of sets and labels; a constituent is
        then correct if gold has the same label over the same words. Such a model is for these averages only,
        and one without labels is not for them.
    gaps_from : for the model `apart`: from which runs constituents with gaps come, counted from 0.
    gap_weight : for the model `apart`: what such a constituent is worth if all these runs propose it, and
        none of the others does; 1 is the worth of a continuous one that all the others propose.

    The result's `report` has the cross-validated development scores with bootstrap intervals, the number of
    schemes that were compared, and notes; its `provenance` names data, versions and seeds.

    >>> from treemean.trees import Tree
    >>> good = Treebank.from_trees([Tree("a b c".split(), [({0, 1, 2}, ""), ({0, 1}, "")])] * 4)
    >>> bad = Treebank.from_trees([Tree("a b c".split(), [({0, 1, 2}, ""), ({1, 2}, "")])] * 4)
    >>> fitted = fit([bad, good, bad], good, "signed", target="overall")
    >>> [c.positions for c in fitted.average([bad, good, bad])[0]]
    [(0, 1, 2), (0, 1)]
    """
    given = None if scores is None else tuple(float(s) for s in scores)
    options = Options(
        target, eta, objective, beta, select, size, score, given, folds, seed, jobs, trade_off, labelled,
        tuple(gaps_from), gap_weight,
    )  # fmt: skip
    chosen_model = _default_model(gold) if model is None else model
    trees = [run for run in runs if isinstance(run, Treebank)]
    tables = len(runs) - len(trees)
    if tables:
        _check_tables(chosen_model, gold, options, len(trees))
    if gold is None:
        return fit_batches([trees], chosen_model, options, len(runs), names)
    _check(chosen_model, gold, options, len(runs))
    if labelled:
        _check_labels(trees, gold)
    called = _names(names, len(runs))
    development = make_development(runs, gold, protocol=protocol, labelled=labelled, folds=folds, seed=seed)
    fitted = (
        fit_estimator(development, chosen_model, options)
        if chosen_model in TRAINERS
        else fit_weights(development, chosen_model, options)
    )
    fitted = replace(fitted, tables=tables)
    read = [Fingerprint.of(columns_of(run)) for run in runs]
    return _described(fitted, options, read, Fingerprint.of(gold), called)


def fit_batches(
    batches: Iterable[Sequence[Treebank]],
    model: str,
    options: Options,
    runs: int,
    names: Sequence[str] | None = None,
) -> HitModel:
    """Fit a model that needs no gold to runs that are read part by part: only votes are added up.

    The model is that which `fit` finds for the whole.
    """
    _check(model, None, options, runs)
    called = _names(names, runs)
    votes = VoteSums(runs)
    read = [Fingerprint() for _ in range(runs)]
    labels: list[set[str]] = [set() for _ in range(runs)]
    for batch in batches:
        votes.add(VoteSums.of(find_candidates(batch, labelled=options.labelled)))
        for fingerprint, seen, part in zip(read, labels, batch, strict=True):
            fingerprint.add(part)
            seen.update(part.labels.texts if len(part.labels) else ())
    if options.labelled:
        for number, seen in enumerate(labels, 1):
            _check_some_label(f"run {number}", seen)
    return _described(fit_without_gold(votes.table(), model, options), options, read, None, called)


def _described(
    fitted: HitModel,
    options: Options,
    runs: Sequence[Fingerprint],
    gold: Fingerprint | None,
    names: tuple[str, ...],
) -> HitModel:
    """Return a model with all that is told about it."""
    report = {
        "model": fitted.name,
        "target": options.target,
        "eta": options.used_eta,
        "sentences": runs[0].sentences,
        **fitted.report,
    }
    provenance = provenance_of(runs, gold, names, options)
    return replace(fitted, runs=names, report=report, provenance=provenance)


def _names(names: Sequence[str] | None, runs: int) -> tuple[str, ...]:
    called = tuple(names) if names is not None else tuple(f"run {k}" for k in range(1, runs + 1))
    if len(called) != runs:
        raise InvalidOption(f"{len(called)} names for {runs} runs")
    return called


def _listed() -> str:
    *others, last = WITHOUT_GOLD
    return f"{', '.join(others)} and {last}"


def _default_model(gold: Treebank | None) -> str:
    if gold is None:
        raise TreemeanError(f"fitting needs gold trees (--gold); only the models {_listed()} do without")
    return "boosted" if len(gold) >= BOOSTED_FROM else "logistic"


def _check(model: str, gold: Treebank | None, options: Options, runs: int) -> None:
    """Raise an error where options do not go together."""
    if model not in MODELS:
        raise InvalidOption(no_such("model", model, MODELS))
    if gold is None and model not in WITHOUT_GOLD:
        raise TreemeanError(f"the model {model} is fitted to gold trees; only {_listed()} do without")
    for name, value, known in (
        ("target", options.target, get_args(Target)),
        ("objective", options.objective, (None, *get_args(ObjectiveName))),
        ("selection", options.select, get_args(SelectionRule)),
        ("score", options.score, METRICS),
    ):
        if value not in known:
            raise InvalidOption(no_such(name, value, map(str, known)))
    if not np.isfinite(options.eta) or options.eta < 0:
        raise InvalidOption(f"eta is {options.eta}; it must be finite and not negative")
    if options.beta is not None and not 0 <= options.beta <= 1000:
        raise InvalidOption(f"beta is {options.beta}; it must be between 0 and 1000")
    _check_needless(model, options)
    if model not in TRAINERS and options.objective not in (None, "sentence"):
        raise InvalidOption(f"the model {model} works only with the objective 'sentence'")
    if gold is None and (options.select != "all" or options.beta is None or options.trade_off):
        raise TreemeanError("runs and β are chosen by gold trees, and a trade-off needs them, too")
    if model == "apart" and options.select != "all":
        raise InvalidOption("the model apart uses all runs: leave out the selection")
    if model == "apart" and options.labelled:
        raise InvalidOption(
            "the model apart compares sets of words, whatever their labels: leave out labelled"
        )
    if options.scores is not None and model != "scalar":
        raise InvalidOption(f"the model {model} takes no given scores; `scalar` does")
    if options.scores is not None and len(options.scores) != runs:
        raise InvalidOption(f"{len(options.scores)} scores for {runs} runs")


def _check_tables(model: str, gold: Treebank | None, options: Options, trees: int) -> None:
    """Raise an error where tables of spans are given to what cannot use them."""
    if gold is None:
        raise InvalidOption("tables of spans need gold trees, and the model logistic or boosted")
    if model not in ("logistic", "boosted"):
        raise InvalidOption(f"the model {model} takes no tables of spans; logistic and boosted do")
    if options.labelled:
        raise InvalidOption("tables of spans have no labels: leave out labelled")
    if not trees:
        raise InvalidOption("tables of spans go with treebanks of the same sentences: give at least one")


def _check_labels(runs: Sequence[Treebank], gold: Treebank | None) -> None:
    """Raise an error if a treebank has constituents, but no labels."""
    for name, bank in [*((f"run {k}", run) for k, run in enumerate(runs, 1)), ("the gold", gold)]:
        if bank is not None and len(bank.labels):
            _check_some_label(name, set(bank.labels.texts))


def _check_some_label(name: str, labels: set[str]) -> None:
    if labels == {""}:
        raise TreemeanError(f"{name} has no labels: fit without them")


def _check_needless(model: str, options: Options) -> None:
    """Raise an error where an option is given that would change nothing."""
    of_sentence = model not in TRAINERS or options.objective == "sentence"
    usual = Options()
    for name, differs, needed, allowed in (
        ("beta", options.beta != usual.beta, "the objective 'sentence'", of_sentence),
        ("eta", options.eta != usual.eta, "the target 'both'", options.target == "both"),
        ("size", options.size is not None, "a selection of runs", options.select != "all"),
        ("score", options.score != usual.score, "the model 'scalar'", model == "scalar"),
        ("trade-off", options.trade_off, "η or β", options.objective != "expected"),
        ("gaps_from", options.gaps_from != usual.gaps_from, "the model 'apart'", model == "apart"),
        ("gap_weight", options.gap_weight != usual.gap_weight, "the model 'apart'", model == "apart"),
    ):
        if differs and not allowed:
            raise InvalidOption(f"{name} works only with {needed}, and would change nothing here")
