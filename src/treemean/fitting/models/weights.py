"""One weight per run, or one for each kind of constituents: equal, scalar and typed weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from treemean.errors import FormatError, TreemeanError
from treemean.files import stored
from treemean.fitting.candidates import Candidates, Floats
from treemean.fitting.candidates.votes import VoteTable


@dataclass(frozen=True)
class RunWeights:
    """Weights of K runs with a mean of 1 each, for continuous and for discontinuous constituents.

    `name` tells the rule they come from.
    """

    name: str
    continuous: tuple[float, ...]
    discontinuous: tuple[float, ...]

    def probabilities(self, candidates: Candidates | VoteTable) -> Floats:
        """Return the weighted share of the votes of each candidate, from 0 to 1."""
        by_kind: Floats = candidates.votes @ np.array([self.continuous, self.discontinuous]).T
        by_kind = by_kind / candidates.runs
        return np.where(candidates.discontinuous, by_kind[:, 1], by_kind[:, 0])

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready data."""
        return {"continuous": list(self.continuous), "discontinuous": list(self.discontinuous)}

    @staticmethod
    def from_dict(name: str, data: Mapping[str, Any]) -> RunWeights:
        """Make weights from what `to_dict` gave."""
        continuous, discontinuous = (
            tuple(stored.reals(data, kind).tolist()) for kind in ("continuous", "discontinuous")
        )
        if min(*continuous, *discontinuous) < 0 or not (any(continuous) and any(discontinuous)):
            raise FormatError("weights of runs are not negative, and not all 0")
        return RunWeights(name, continuous, discontinuous)


def equal(runs: int) -> RunWeights:
    """Return the same weight for all runs."""
    return RunWeights("equal", (1.0,) * runs, (1.0,) * runs)


def scalar(scores: Sequence[float]) -> RunWeights:
    """Return weights proportional to any scores; equal ones where all scores are 0.

    >>> scalar([1, 3]).continuous
    (0.5, 1.5)
    """
    weights = _normalised(scores)
    return RunWeights("scalar", weights, weights)


def typed(continuous: Sequence[float], discontinuous: Sequence[float]) -> RunWeights:
    """Return weights proportional to scores on either kind of constituents."""
    return RunWeights("typed", _normalised(continuous), _normalised(discontinuous))


def _normalised(scores: Sequence[float]) -> tuple[float, ...]:
    given = np.asarray(scores, dtype=np.float64)
    if not np.isfinite(given).all() or (given < 0).any():
        raise TreemeanError(f"scores must be finite and not negative: {', '.join(map(str, scores))}")
    if not given.any():  # no run has found anything: nothing tells them apart
        return (1.0,) * len(given)
    return tuple((given / given.mean()).tolist())
