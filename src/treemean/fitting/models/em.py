"""Reliability without gold: two classes of continuous candidates, told apart by who votes for them (EM).

A candidate is right or wrong, which nobody tells; a run votes for right ones with one probability and for
wrong ones with another, independently of the other runs. Both, and the share of right ones, are estimated
together. Sets of words that no run proposes are never seen; how many there must be follows from the model,
and they count as votes withheld. (Without them, few runs would seem far more reliable than they are.)
Discontinuous candidates keep their plain votes: there the classes that EM finds are families
of runs with the same errors, not right and wrong ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from treemean.errors import FormatError, MismatchError
from treemean.files import stored
from treemean.fitting.candidates import Candidates, Flags, Floats
from treemean.fitting.candidates.votes import VoteTable, votes_of
from treemean.fitting.models.estimator import sigmoid

#: Two classes have 2K + 1 probabilities, and the votes of K runs 2^K − 2 frequencies to tell them by: too few
#: below four runs, whose votes count plainly.
LEAST_RUNS = 4

_ROUNDS = 500
_TOLERANCE = 1e-8
_LEAST_SEEN = 1e-3  # however rarely runs vote, at most a thousand times as many candidates are imagined


@dataclass(frozen=True)
class TwoClasses:
    """How often each run votes for right and for wrong candidates: float64[K] each.

    `prior` is the share of right ones among all candidates, seen and unseen.
    """

    name: ClassVar[str] = "em"
    prior: float
    right: Floats
    wrong: Floats

    def probabilities(self, candidates: Candidates | VoteTable) -> Floats:
        """Return how likely continuous candidates are right, and for the others their share of the votes."""
        if candidates.runs != len(self.right):
            raise MismatchError(f"reliabilities of {len(self.right)} runs for {candidates.runs} runs")
        share = candidates.counts / candidates.runs
        if candidates.runs < LEAST_RUNS:
            return share
        return np.where(candidates.discontinuous, share, self.posterior(candidates.votes))

    def posterior(self, votes: Flags) -> Floats:
        """Return how likely candidates with such votes (bool[M, K]) are right."""
        for_right, for_wrong = np.log(self.right / self.wrong), np.log((1 - self.right) / (1 - self.wrong))
        prior = np.log(self.prior / (1 - self.prior))
        return sigmoid(prior + votes @ for_right + ~votes @ for_wrong)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready data."""
        return {"prior": self.prior, "right": self.right.tolist(), "wrong": self.wrong.tolist()}

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> TwoClasses:
        """Make a model from what `to_dict` gave."""
        prior, right, wrong = (
            stored.real(data, "prior"),
            stored.reals(data, "right"),
            stored.reals(data, "wrong"),
        )
        every = np.concatenate([[prior], right, wrong])
        if len(right) != len(wrong) or not ((every > 0) & (every < 1)).all():
            raise FormatError("the probabilities of the two classes lie between 0 and 1, two for each run")
        return TwoClasses(prior, right, wrong)


def train(candidates: Candidates | VoteTable) -> TwoClasses:
    """Estimate the classes from the votes for continuous candidates.

    It begins with the share of votes, so that the class with more votes is the right one. One vote of either
    kind is added for each run and class, which keeps all probabilities inside 0 to 1 whatever the data.
    """
    given = votes_of(candidates)
    given = given.take(~given.discontinuous)
    real, times = given.votes.astype(np.float64), given.times.astype(np.float64)
    right = np.clip(real.mean(axis=1), 0.05, 0.95)
    model = _estimate(real, times, right, 0.0, 0.0)
    for _ in range(_ROUNDS):
        before, right = right, model.posterior(given.votes)
        model = _estimate(real, times, right, *_unseen(model, int(given.times.sum())))
        if np.abs(right - before).max(initial=0.0) < _TOLERANCE:
            break
    return model


def _unseen(model: TwoClasses, seen: int) -> tuple[float, float]:
    """Return how many right and wrong candidates there must be that nobody votes for."""
    right = model.prior * float(np.prod(1 - model.right))
    wrong = (1 - model.prior) * float(np.prod(1 - model.wrong))
    everything = seen / max(1 - right - wrong, _LEAST_SEEN)
    return everything * right, everything * wrong


def _estimate(
    votes: Floats, times: Floats, right: Floats, unseen_right: float, unseen_wrong: float
) -> TwoClasses:
    right, wrong = times * right, times * (1 - right)
    all_right, all_wrong = right.sum() + unseen_right, wrong.sum() + unseen_wrong
    return TwoClasses(
        float((all_right + 1) / (all_right + all_wrong + 2)),
        (right @ votes + 1) / (all_right + 2),
        (wrong @ votes + 1) / (all_wrong + 2),
    )
