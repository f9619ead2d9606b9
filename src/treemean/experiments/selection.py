"""Which individuals take part in an ensemble, and how much say each has: by the paper's rules, or fitted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from treemean.averaging import average
from treemean.errors import InvalidOption
from treemean.evaluation import Evaluation, evaluate
from treemean.experiments.predictions import Predictions
from treemean.fitting import HitModel, fit
from treemean.names import EnsembleModel, WeightRule
from treemean.trees import Treebank


@dataclass(frozen=True)
class Selection:
    """The individuals of an ensemble, best first.

    Parameters
    ----------
    chosen : their numbers, counted from 0.
    weights : one for each of `chosen`; all are 1 where a model was fitted.
    note : what a reader of the results must know about the choice.
    model : what weighs their constituents, if it was fitted.
    """

    chosen: tuple[int, ...]
    weights: tuple[float, ...]
    note: str
    model: HitModel | None = None

    def average(
        self, individuals: Sequence[Treebank], *, binary: bool = False, jobs: int | None = None
    ) -> Treebank:
        """Return the exact average of the chosen ones of `individuals`."""
        if self.model is not None:
            return self.model.average(individuals, binary=binary, jobs=jobs)
        return average([individuals[i] for i in self.chosen], self.weights, binary=binary, jobs=jobs)


def choose(
    development: Predictions | None,
    count: int,
    *,
    model: EnsembleModel = "paper",
    keep: int = 5,
    weigh: WeightRule = "discontinuous",
    protocol: str = "paper",
    seed: int = 0,
    jobs: int | None = None,
) -> Selection:
    """Choose and weigh individuals by what they say about development sentences.

    Parameters
    ----------
    development : without any, all `count` individuals take part with equal weights.
    model : `paper`, see `select`; `equal`, the same individuals with equal weights; or a model of
        `treemean.fitting`, which sees all individuals.
    """
    if development is None:
        if model not in ("paper", "equal"):
            raise InvalidOption(f"the model {model} is fitted to development trees, and there are none")
        return all_equal(count)
    runs = list(development.runs.values())
    scores = [evaluate(run, development.gold, protocol=protocol) for run in runs]
    if model in ("paper", "equal"):
        return select(scores, keep, "equal" if model == "equal" else weigh)
    names = list(development.runs)
    fitted = fit(runs, development.gold, model, protocol=protocol, names=names, seed=seed, jobs=jobs)
    chosen = tuple(i for i in _ranked(scores) if i in fitted.chosen)
    note = f"{len(chosen)} of {len(runs)} individuals; their constituents are weighed by a fitted model"
    return Selection(
        chosen,
        (1.0,) * len(chosen),
        f"{note} ({fitted.name}, {len(development.gold):,} development sentences)",
        fitted,
    )


def select(development: Sequence[Evaluation], keep: int, weigh: WeightRule = "discontinuous") -> Selection:
    """Choose the best individuals by development F1 overall, and weigh them by development F1.

    Parameters
    ----------
    development : the scores of every individual on the development set, in the order of the individuals.
    keep : how many to choose; of equally good ones those that come first.
    weigh : by F1 on discontinuous constituents in the paper, with two digits after the point, so that the
        weights that a table shows make the same averages. Where that is zero for all of the chosen ones, they
        are weighted equally, and the note says so.

    `fit(runs, gold, "scalar", select="top", size=keep)` of `treemean.fitting` makes the same averages but for
    the rounding of weights. It needs the trees, and averages them in every fold to say how good the choice
    is; here scores are all that is known, and the paper's table wants the individuals in the order of their
    scores.
    """
    check_rule(weigh)
    if not 1 <= keep <= len(development):
        raise InvalidOption(f"cannot choose {keep} of {len(development)} individuals")
    chosen = tuple(_ranked(development)[:keep])
    note = f"{keep} of {len(development)} individuals chosen by development F1 overall"
    if weigh == "equal":
        return Selection(chosen, (1.0,) * keep, f"{note}; equal weights")
    weights = tuple(round(development[i].counts(weigh).f1, 2) for i in chosen)
    if not any(weights):
        return Selection(
            chosen, (1.0,) * keep, f"{note}; equal weights, as development F1 {weigh} is zero for all"
        )
    return Selection(chosen, weights, f"{note}, weighted by development F1 {weigh}")


def all_equal(count: int) -> Selection:
    """Choose all individuals with equal weights: what can be done without development gold."""
    return Selection(
        tuple(range(count)),
        (1.0,) * count,
        f"all {count} individuals, equal weights: no gold development trees",
    )


def check_rule(weigh: str) -> None:
    """Raise an error if there is no such rule."""
    if weigh not in get_args(WeightRule):
        raise InvalidOption(f"weights are by {', '.join(get_args(WeightRule))}, not by {weigh!r}")


def _ranked(scores: Sequence[Evaluation]) -> list[int]:
    return sorted(range(len(scores)), key=lambda i: -scores[i].overall.f1)
