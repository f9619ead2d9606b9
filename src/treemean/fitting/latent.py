"""Reliability without gold: two classes of continuous candidates, told apart by who votes for them (EM).

A candidate is right or wrong, which nobody tells; a run votes for right ones with one probability and for
wrong ones with another, independently of the other runs. Both, and the share of right ones, are estimated
together. Discontinuous candidates keep their plain votes: there the classes that EM finds are families of
runs with the same errors, not right and wrong ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from treemean.errors import MismatchError
from treemean.fitting.candidates import Candidates, Flags, Floats
from treemean.fitting.estimators import sigmoid

_ROUNDS = 500
_TOLERANCE = 1e-8


@dataclass(frozen=True)
class TwoClasses:
    """How often each run votes for right and for wrong candidates: float64[K] each; `prior` are right."""

    name: ClassVar[str] = "em"
    prior: float
    right: Floats
    wrong: Floats

    def probabilities(self, candidates: Candidates) -> Floats:
        """Return how likely continuous candidates are right, and the share of votes of the others."""
        if candidates.runs != len(self.right):
            raise MismatchError(f"reliabilities of {len(self.right)} runs for {candidates.runs} runs")
        share = candidates.counts / candidates.runs
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
        arrays = [np.array(data[name], dtype=np.float64) for name in ("right", "wrong")]
        return TwoClasses(float(data["prior"]), *arrays)


def train(candidates: Candidates) -> TwoClasses:
    """Estimate the classes from the votes for continuous candidates.

    It begins with the share of votes, so that the class with more votes is the right one. One vote of either
    kind is added for each run and class, which keeps all probabilities inside 0 to 1 whatever the data.
    """
    votes = candidates.votes[~candidates.discontinuous]
    real = votes.astype(np.float64)
    right = np.clip(real.mean(axis=1), 0.05, 0.95)
    model = _estimate(real, right)
    for _ in range(_ROUNDS):
        before, right = right, model.posterior(votes)
        model = _estimate(real, right)
        if np.abs(right - before).max(initial=0.0) < _TOLERANCE:
            break
    return model


def _estimate(votes: Floats, right: Floats) -> TwoClasses:
    wrong = 1 - right
    return TwoClasses(
        float((right.sum() + 1) / (len(right) + 2)),
        (right @ votes + 1) / (right.sum() + 2),
        (wrong @ votes + 1) / (wrong.sum() + 2),
    )
