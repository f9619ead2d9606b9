"""Calibration: what an estimator says of candidates is turned into how often it is right when it says so.

The map is monotone, for continuous and discontinuous candidates apart: isotonic regression (pool adjacent
violators) of correctness on estimates that did not see the sentence. Each level of it is drawn towards the
share of right candidates as if `PRIOR` more of them had been seen, so that few examples promise neither 0 nor
1; between levels it is linear.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from treemean.errors import FormatError
from treemean.files import stored
from treemean.fitting.candidates import Candidates, Flags, Floats
from treemean.fitting.candidates.votes import VoteTable, votes_of
from treemean.fitting.models.estimator import KINDS, VoteEstimator, of_kind
from treemean.trees.bitsets import Ints

#: How many candidates with the overall share of right ones are added to each level.
PRIOR = 3.0

_DECIMALS = 12


@dataclass(frozen=True)
class MonotoneMap:
    """A map of estimates to probabilities: linear between given places, constant beyond them.

    Parameters
    ----------
    estimates : float64[L], never falling.
    probabilities : float64[L], never falling, in 0 to 1.
    """

    estimates: Floats
    probabilities: Floats

    def __call__(self, estimates: Floats) -> Floats:
        """Return the probabilities of estimates."""
        return np.interp(estimates, self.estimates, self.probabilities)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready data."""
        return {"estimates": self.estimates.tolist(), "probabilities": self.probabilities.tolist()}

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> MonotoneMap:
        """Make a map from what `to_dict` gave."""
        estimates, probabilities = (stored.reals(data, name) for name in ("estimates", "probabilities"))
        if len(estimates) != len(probabilities) or not len(estimates):
            raise FormatError("the columns of a calibration have different lengths, or none")
        if (np.diff(estimates) < 0).any() or (np.diff(probabilities) < 0).any():
            raise FormatError("the numbers of a calibration fall")
        if probabilities[0] < 0 or probabilities[-1] > 1:
            raise FormatError("the probabilities of a calibration lie between 0 and 1")
        return MonotoneMap(estimates, probabilities)


#: What is done with estimates of a kind of which there was no example.
UNCHANGED = MonotoneMap(np.array([0.0, 1.0]), np.array([0.0, 1.0]))


@dataclass(frozen=True)
class Calibration:
    """Maps of estimates to probabilities, for either kind of candidates."""

    continuous: MonotoneMap
    discontinuous: MonotoneMap

    def __call__(self, estimates: Floats, discontinuous: Flags) -> Floats:
        """Return the probabilities of candidates."""
        return np.where(discontinuous, self.discontinuous(estimates), self.continuous(estimates))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready data."""
        return {"continuous": self.continuous.to_dict(), "discontinuous": self.discontinuous.to_dict()}

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Calibration:
        """Make a calibration from what `to_dict` gave."""
        return Calibration(*(MonotoneMap.from_dict(data[kind]) for kind in KINDS))


def pool_adjacent_violators(totals: Floats, weights: Floats) -> Floats:
    """Return the never falling numbers that are nearest to totals / weights: least weighted sum of squares.

    Neighbours in the wrong order are put together until there are none; O(n). Totals and weights are added,
    and not means averaged, so that equal shares of counted things are equal to the last digit.

    >>> pool_adjacent_violators(np.array([1.0, 0.0, 2.0]), np.array([1.0, 3.0, 1.0])).tolist()
    [0.25, 0.25, 2.0]
    """
    pools: list[tuple[float, float, int]] = []
    for place_total, place_weight in zip(totals.tolist(), weights.tolist(), strict=True):
        total, weight, length = place_total, place_weight, 1
        while pools and pools[-1][0] / pools[-1][1] >= total / weight:
            before = pools.pop()
            total, weight, length = total + before[0], weight + before[1], length + before[2]
        pools.append((total, weight, length))
    means = np.array([total / weight for total, weight, _ in pools], dtype=np.float64)
    return np.repeat(means, [length for *_, length in pools])


def fit_map(estimates: Floats, right: Flags, prior: float = PRIOR, times: Ints | None = None) -> MonotoneMap:
    """Return how often candidates are right, by what was estimated of them.

    Candidates of the same estimate count together, so that neither their order matters, nor that of the runs,
    whose votes are added up in that order: estimates are compared to so many digits as this leaves alone.
    `times` is how often each counts; once if not given.
    """
    if not len(estimates):
        return UNCHANGED
    places, number = np.unique(np.round(estimates, _DECIMALS), return_inverse=True)
    each = np.ones(len(right), dtype=np.int64) if times is None else times
    seen, matched = _sums(number, each), _sums(number, each * right)
    level = np.unique(pool_adjacent_violators(matched, seen), return_inverse=True)[1]
    size, correct = _sums(level, seen), _sums(level, matched)
    centres = _sums(level, places * seen) / size
    share = float((correct.sum() + 0.5) / (size.sum() + 1))
    drawn = pool_adjacent_violators(correct + prior * share, size + prior)
    return MonotoneMap(centres, np.clip(drawn, 0.0, 1.0))


def _sums(number: Ints, values: Floats | Ints) -> Floats:
    return np.bincount(number, weights=values).astype(np.float64)


def fit_calibration(
    estimates: Floats, right: Flags, discontinuous: Flags, times: Ints | None = None
) -> Calibration:
    """Fit both maps to estimates of candidates (by what did not see them) and whether these are right."""
    each = np.ones(len(right), dtype=np.int64) if times is None else times
    rows = [of_kind(discontinuous, kind) for kind in KINDS]
    return Calibration(*(fit_map(estimates[these], right[these], times=each[these]) for these in rows))


def calibration_without_gold(
    candidates: Candidates | VoteTable, train: Callable[[VoteTable], VoteEstimator]
) -> Calibration | None:
    """Calibrate an estimator by the runs alone; None for a single run, of which nothing can be said.

    Each run is left out in turn: how often does it propose a candidate of which the others make such an
    estimate? A candidate is given the square of that share, the probability that two further runs,
    independent of each other, would both propose it. (Runs are nearer to each other than to gold trees.)
    What nobody votes for has probability 0.
    """
    if candidates.runs < 2:
        return None
    votes = votes_of(candidates)
    parts = []
    for left_out in range(votes.runs):
        others = votes.without_run(left_out)
        by_others = votes.counts > votes.votes[:, left_out]
        estimates = train(others).probabilities(others)
        parts.append((estimates, votes.votes[by_others, left_out], others.discontinuous, others.times))
    estimates, proposed, gapped, times = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    found = fit_calibration(estimates, proposed, gapped, times)
    return Calibration(_of_two(found.continuous), _of_two(found.discontinuous))


def _of_two(share: MonotoneMap) -> MonotoneMap:
    above = share.estimates > 0
    return MonotoneMap(
        np.concatenate([[0.0], share.estimates[above]]),
        np.concatenate([[0.0], share.probabilities[above] ** 2]),
    )
