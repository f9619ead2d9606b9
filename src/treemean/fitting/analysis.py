"""Candidates beside gold trees: what votes are worth, which runs err together, what could be found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treemean.fitting.candidates import Flags, Floats
from treemean.fitting.candidates.development import Development
from treemean.fitting.models.estimator import Kind, of_kind
from treemean.trees.bitsets import Ints


@dataclass(frozen=True)
class Precision:
    """Candidates in groups: how many there are, and how many of them are correct.

    Parameters
    ----------
    group : float64[B], what the candidates of a group have in common (votes, or the mean probability).
    candidates, correct : int64[B].
    """

    group: Floats
    candidates: Ints
    correct: Ints

    @property
    def precision(self) -> Floats:
        """float64[B], in percent; 0 for a group of nothing."""
        return 100 * self.correct / np.maximum(self.candidates, 1)


def precision_by_votes(development: Development, fan_out: int | None = None) -> Precision:
    """Return precision by number of votes (1 to K), of candidates of a fan-out or of all."""
    candidates = development.candidates
    rows = development.scored & (True if fan_out is None else candidates.fan_outs == fan_out)
    size = candidates.runs + 1
    return Precision(
        np.arange(1.0, size),
        np.bincount(candidates.counts[rows], minlength=size)[1:],
        np.bincount(candidates.counts[rows & development.correct], minlength=size)[1:],
    )


def calibration(probabilities: Floats, correct: Flags, groups: int = 10) -> Precision:
    """Return precision by estimated probability, in groups of equal expected numbers of correct candidates.

    >>> found = calibration(np.array([0.1, 0.1, 0.4, 0.4]), np.array([False, False, True, False]), 2)
    >>> found.group.round(2).tolist(), found.correct.tolist()
    ([0.1, 0.4], [0, 1])
    """
    order = np.argsort(probabilities, kind="stable")
    reached = np.cumsum(probabilities[order])
    total = reached[-1] if len(reached) else 0.0
    number = np.minimum((reached / max(total, 1e-12) * groups - 1e-9).astype(np.int64), groups - 1)
    count = np.bincount(number, minlength=groups)
    expected = np.bincount(number, weights=probabilities[order], minlength=groups)
    right = np.bincount(number[correct[order]], minlength=groups)
    filled = count > 0
    return Precision((expected / np.maximum(count, 1))[filled], count[filled], right[filled])


def shared_candidates(development: Development, kind: Kind, *, correct: bool) -> Floats:
    """Return how much two runs propose the same right or wrong candidates of a kind: float64[K, K].

    Of the candidates that one of the two proposes, the percentage that both do (Jaccard's coefficient).
    """
    rows = of_kind(development.candidates.discontinuous, kind) & development.scored
    votes = development.candidates.votes[rows & (development.correct == correct)].astype(np.float64)
    both = votes.T @ votes
    alone = np.diag(both)
    shared: Floats = 100 * both / np.maximum(alone[:, None] + alone[None, :] - both, 1)
    return shared


def pair_precision(development: Development, kind: Kind) -> Floats:
    """Return the precision of the candidates of a kind that two runs both propose: float64[K, K], in percent.

    The diagonal holds the precision of each run alone; NaN stands where two runs share nothing.
    """
    rows = of_kind(development.candidates.discontinuous, kind) & development.scored
    votes = development.candidates.votes[rows].astype(np.float64)
    right = development.candidates.votes[rows & development.correct].astype(np.float64)
    both = votes.T @ votes
    return np.where(both > 0, 100 * (right.T @ right) / np.maximum(both, 1), np.nan)


@dataclass(frozen=True)
class Supply:
    """How many gold constituents there are, how many anybody proposes, and among how many candidates."""

    gold: int
    proposed: int
    candidates: int

    @property
    def best_f1(self) -> float:
        """F1 of choosing the right candidates and nothing else, in percent."""
        return 200 * self.proposed / max(1, self.proposed + self.gold)


def supply(development: Development, kind: Kind | None = None) -> Supply:
    """Return what a perfect choice among the candidates could find."""
    gold = development.gold_counts.sum(axis=0)
    gapped = development.candidates.discontinuous
    rows = np.ones_like(gapped) if kind is None else of_kind(gapped, kind)
    count = {None: gold[0], "continuous": gold[0] - gold[1], "discontinuous": gold[1]}[kind]
    return Supply(int(count), int((rows & development.correct).sum()), int((rows & development.scored).sum()))
