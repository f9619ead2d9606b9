"""Signed weights: what a vote of each run adds to the probability, for either kind of candidates.

The probability of a candidate is estimated as the sum of the weights of the runs that vote for it, by least
squares with a penalty. Where several runs share their errors, some of the weights come out negative.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from treemean.errors import FormatError, MismatchError
from treemean.files import stored
from treemean.fitting.candidates import Candidates, Flags, Floats
from treemean.fitting.candidates.development import Development
from treemean.fitting.models.estimator import KINDS, Training, best_settings, folds_of, of_kind

#: Strengths of the penalty that are tried.
PENALTIES = (1.0, 10.0, 100.0)


@dataclass(frozen=True)
class Signed:
    """Weights per run: float64[K] for continuous and for discontinuous candidates."""

    name: ClassVar[str] = "signed"
    continuous: Floats
    discontinuous: Floats

    def probabilities(self, candidates: Candidates) -> Floats:
        """Return sums of weights, which may lie outside 0 to 1."""
        if candidates.runs != len(self.continuous):
            raise MismatchError(f"weights of {len(self.continuous)} runs for {candidates.runs} runs")
        by_kind = candidates.votes @ np.stack([self.continuous, self.discontinuous], axis=1)
        return np.where(candidates.discontinuous, by_kind[:, 1], by_kind[:, 0])

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready data."""
        return {"continuous": self.continuous.tolist(), "discontinuous": self.discontinuous.tolist()}

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Signed:
        """Make a model from what `to_dict` gave."""
        continuous, discontinuous = (stored.reals(data, kind) for kind in KINDS)
        if len(continuous) != len(discontinuous):
            raise FormatError("the weights of either kind are of different numbers of runs")
        return Signed(continuous, discontinuous)


def train(development: Development, seed: int = 0) -> Training:
    """Fit the weights; the penalties are those with the smallest cross-validated error."""
    votes = development.candidates.votes.astype(np.float64)
    correct = development.correct
    out_of_fold = np.zeros(len(votes))
    weights = {}
    for kind in KINDS:
        every = of_kind(development.candidates.discontinuous, kind)
        rows = every & development.scored
        held_out = {penalty: np.zeros(len(votes)) for penalty in PENALTIES}
        for known, unknown in folds_of(development, kind):
            for penalty, sums in held_out.items():
                sums[unknown] = votes[unknown] @ _ridge(votes[known], correct[known], penalty)
        best, unseen = best_settings(development, _squared_errors, held_out, rows)
        out_of_fold[every] = unseen[every]
        weights[kind] = _ridge(votes[rows], correct[rows], best)
    model = Signed(weights["continuous"], weights["discontinuous"])
    return Training(model, out_of_fold, len(PENALTIES) * len(KINDS))


def _squared_errors(sums: Floats, correct: Flags) -> Floats:
    return (sums - correct) ** 2


def _ridge(votes: Floats, correct: Flags, penalty: float) -> Floats:
    runs = votes.shape[1]
    solution = np.linalg.solve(votes.T @ votes + penalty * np.eye(runs), votes.T @ correct)
    return solution.astype(np.float64)
