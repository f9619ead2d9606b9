"""Which runs are asked, and with which β: compared by the development score of their averages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np

from treemean.averaging import average
from treemean.errors import InvalidOption, no_such
from treemean.evaluation import Counts, Evaluation
from treemean.evaluation.results import METRICS
from treemean.fitting.candidates import Flags, Floats
from treemean.fitting.candidates.development import Development
from treemean.fitting.models.weights import RunWeights, equal, scalar, typed
from treemean.names import Metric, SelectionRule, Target
from treemean.trees import Treebank
from treemean.trees.bitsets import Ints

#: Values of β that are compared.
BETAS = (0.3, 0.5, 0.7, 0.85, 1.0, 1.2, 1.5)
#: η where the discontinuous score is the target: the overall score decides between equals only.
DISCONTINUOUS_ETA = 10.0


def eta_of(target: Target, eta: float) -> float:
    """Return the η of a target: 0 for `overall`, the given one for `both`."""
    return {"overall": 0.0, "disc": DISCONTINUOUS_ETA, "both": eta}[target]


def target_score(overall: Counts, discontinuous: Counts, eta: float) -> float:
    """Return F1 overall + η F1 discontinuous."""
    return overall.f1 + eta * discontinuous.f1


@dataclass(frozen=True)
class Scheme:
    """A choice of runs (ascending) and a β."""

    chosen: tuple[int, ...]
    beta: float


class SchemeSearch:
    """Compares schemes of weighted runs on any part of the development sentences.

    Parameters
    ----------
    development : the data.
    rule : `equal`, `scalar` (by F1 of one metric, or by given scores) or `typed` (by the F1 of either kind).
    eta : what the score is; see `target_score`.
    metric : whose F1 are the scalar weights.
    scores : scalar weights that are given, one for each run.
    """

    def __init__(
        self,
        development: Development,
        rule: str,
        eta: float,
        *,
        metric: Metric = "discontinuous",
        scores: Sequence[float] | None = None,
        jobs: int | None = None,
    ) -> None:
        self.development, self.rule, self.eta = development, rule, eta
        self._metric, self._scores, self._jobs = metric, scores, jobs
        self._counts = {
            metric: np.stack([counts_of(e, metric, len(development.gold)) for e in evaluations])
            for evaluations in [[development.evaluate(run) for run in development.trees]]
            for metric in METRICS
        }
        self.tried: set[Scheme] = set()

    def run_f1(self, metric: Metric, sentences: Flags) -> Floats:
        """Return the F1 of every run on some sentences, in percent."""
        matched, predicted, gold = self._counts[metric][:, :, sentences].sum(axis=2).T
        whole = predicted + gold
        return np.where(whole > 0, 200 * matched / np.maximum(whole, 1), 0.0)

    def weights(self, chosen: Sequence[int], sentences: Flags) -> RunWeights:
        """Return the weights of chosen runs that follow from some sentences."""
        if self.rule == "equal":
            return equal(len(chosen))
        picked = list(chosen)
        if self.rule == "scalar":
            scores = self.run_f1(self._metric, sentences) if self._scores is None else np.array(self._scores)
            return scalar(scores[picked].tolist())
        kinds = [self.run_f1(metric, sentences)[picked].tolist() for metric in METRICS[1:]]
        return typed(*kinds)

    def trees(self, scheme: Scheme, learned: Flags, wanted: Flags) -> Treebank:
        """Return the trees of some sentences, with weights learned from others."""
        weights = self.weights(scheme.chosen, learned)
        runs = [self.development.runs[k] for k in scheme.chosen]
        taken = runs if wanted.all() else [run.take(wanted) for run in runs]
        typed_weights = {"continuous": weights.continuous, "discontinuous": weights.discontinuous}
        labelled = self.development.labelled
        return average(taken, typed_weights, beta=scheme.beta, labelled=labelled, jobs=self._jobs)

    def score(self, scheme: Scheme, sentences: Flags) -> float:
        """Return the score of a scheme on the sentences that its weights are learned from."""
        self.tried.add(scheme)
        found = self.development.evaluate(self.trees(scheme, sentences, sentences), sentences)
        return target_score(found.overall, found.discontinuous, self.eta)

    def search(
        self, selection: SelectionRule, size: int | None, beta: float | None, sentences: Flags
    ) -> Scheme:
        """Return the best scheme on some sentences; β is searched for if it is None, with the runs found."""

        def score(chosen: tuple[int, ...]) -> float:
            return self.score(Scheme(chosen, 1.0 if beta is None else beta), sentences)

        order = np.argsort(-self.run_f1("overall", sentences), kind="stable").tolist()
        chosen = select(selection, order, size, score)
        if beta is not None:
            return Scheme(chosen, beta)
        return max((Scheme(chosen, b) for b in BETAS), key=lambda scheme: self.score(scheme, sentences))


def select(
    selection: SelectionRule,
    order: Sequence[int],
    size: int | None,
    score: Callable[[tuple[int, ...]], float],
) -> tuple[int, ...]:
    """Choose runs, and return them ascending.

    Parameters
    ----------
    selection : `all`; `top`, the best ones of an order; `forward`, adding the run that helps most;
        `backward`, leaving out the run that harms most.
    order : the runs, best first.
    size : how many; the number with the best score if None.
    score : of a choice of runs.

    >>> select("top", [2, 0, 1], 2, lambda chosen: 0.0)
    (0, 2)
    >>> select("forward", [0, 1, 2], None, lambda chosen: -abs(sum(chosen) - 3))
    (1, 2)
    """
    everything = tuple(sorted(order))
    if selection == "all":
        return everything
    if size is not None and not 1 <= size <= len(order):
        raise InvalidOption(f"{size} of {len(order)} runs cannot be chosen")
    if selection == "top":
        path = [tuple(sorted(order[:count])) for count in range(1, len(order) + 1)]
    elif selection == "forward":
        path = [()]
        while len(path[-1]) < len(order if size is None else range(size)):
            larger = [tuple(sorted({*path[-1], k})) for k in order if k not in path[-1]]
            path.append(max(larger, key=score))
    elif selection == "backward":
        path = [everything]
        while len(path[-1]) > (1 if size is None else size):
            path.append(
                max((tuple(k for k in path[-1] if k != out) for out in order if out in path[-1]), key=score)
            )
    else:
        raise InvalidOption(no_such("selection", selection, get_args(SelectionRule)))
    if size is not None:
        return next(chosen for chosen in path if len(chosen) == size)
    return max((chosen for chosen in path if chosen), key=score)


def counts_of(evaluation: Evaluation, metric: Metric, sentences: int) -> Ints:
    """Return matched, predicted and gold counts of all sentences, 0 where one was not scored: int64[3, S]."""
    found = np.zeros((3, sentences), dtype=np.int64)
    counts = evaluation.per_sentence[metric]
    found[:, evaluation.sentences] = (counts.matched, counts.predicted, counts.gold)
    return found
