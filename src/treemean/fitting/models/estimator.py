"""What estimators of correctness share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from treemean.errors import TreemeanError
from treemean.fitting.candidates import Candidates, Flags, Floats
from treemean.fitting.candidates.development import Development
from treemean.fitting.candidates.features import Features
from treemean.fitting.candidates.votes import VoteTable

Kind = Literal["continuous", "discontinuous"]
KINDS: tuple[Kind, ...] = ("continuous", "discontinuous")


class Estimator(Protocol):
    """Tells how likely candidates are correct."""

    @property
    def name(self) -> str:
        """The name of the model."""

    def probabilities(self, candidates: Candidates) -> Floats:
        """Return float64[M]; what linear models give may lie outside 0 to 1."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready data."""


class VoteEstimator(Estimator, Protocol):
    """Tells that from votes alone, so that a table of them will do."""

    def probabilities(self, candidates: Candidates | VoteTable) -> Floats:
        """Return float64[M]."""


@dataclass(frozen=True)
class Training:
    """What fitting an estimator gives.

    Parameters
    ----------
    estimator : fitted to all development data.
    out_of_fold : float64[M], for every candidate the probability by estimators that did not see its sentence.
    schemes : how many settings were compared.
    """

    estimator: Estimator
    out_of_fold: Floats
    schemes: int


def of_kind(discontinuous: Flags, kind: Kind) -> Flags:
    """Return which candidates are of a kind."""
    return discontinuous if kind == "discontinuous" else ~discontinuous


def folds_of(development: Development, kind: Kind | None = None) -> Iterator[tuple[Flags, Flags]]:
    """Yield, fold by fold, the candidates to learn from and those to predict, of one kind or of both.

    Candidates that the protocol does not score are predicted, but nothing is learned from them.
    """
    fold = development.folds[development.candidates.sentence]
    gapped = development.candidates.discontinuous
    wanted = np.ones_like(gapped) if kind is None else of_kind(gapped, kind)
    for held_out in range(development.fold_count):
        yield wanted & development.scored & (fold != held_out), wanted & (fold == held_out)


def check_features(expected: tuple[str, ...], features: Features) -> None:
    """Raise an error unless features are those a model was fitted to."""
    if features.names != expected:
        unknown = [name for name in expected if name not in features.names]
        raise TreemeanError(
            f"the model was fitted to {len(expected)} features, and there are {len(features.names)}; "
            + (f"{unknown[0]!r} is unknown" if unknown else "they come in another order")
        )


def sigmoid(z: Floats) -> Floats:
    """Return 1 / (1 + exp(−z)), without overflow."""
    return 0.5 * (1.0 + np.tanh(0.5 * z))


def log_losses(logits: Floats, correct: Flags) -> Floats:
    """Return −log P(what is true) of every candidate.

    >>> log_losses(np.zeros(2), np.array([True, False])).round(4).tolist()
    [0.6931, 0.6931]
    """
    return np.logaddexp(0.0, logits) - correct * logits


def best_settings(
    development: Development,
    loss: Callable[[Floats, Flags], Floats],
    estimates: Mapping[float, Floats],
    rows: Flags,
) -> tuple[float, Floats]:
    """Choose between settings by the losses of estimates that did not see the sentences.

    Parameters
    ----------
    loss : of every candidate, from its estimate and from whether it is correct.
    estimates : by setting, float64[M]; of sentences that an estimator did not see.
    rows : which candidates count.

    Returns
    -------
    The setting with the smallest loss, and float64[M]: for every candidate the estimate with the setting that
    is best on the *other* folds, so that nothing about its own sentence had a say in the choice.
    """
    fold = development.folds[development.candidates.sentence]
    sums = {
        setting: np.bincount(
            fold[rows], weights=loss(found, development.correct)[rows], minlength=development.fold_count
        )
        for setting, found in estimates.items()
    }
    unseen = np.empty(len(fold))
    for held_out in range(development.fold_count):
        elsewhere = np.arange(development.fold_count) != held_out
        setting = min(sums, key=lambda s: float(sums[s][elsewhere].sum()))
        unseen[fold == held_out] = estimates[setting][fold == held_out]
    return min(sums, key=lambda s: float(sums[s].sum())), unseen
