"""What `treemean.average` is asked for, checked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from treemean.averaging.weights import Weights, WeightsLike, make_weights
from treemean.errors import TreemeanError

Direction = Literal["left", "right", "balanced"]
Goal = Literal["average", "binary", "sum"]
#: What constituents are worth: the name of a column of constituent values, or an array per individual.
HitsLike = str | Sequence[Any] | None

#: How many steps a search may take on one sentence before it gives up with an upper bound.
NODE_LIMIT = 1_000_000

_LARGEST_BETA = 1000.0
_BETA_RESOLUTION = 1_000_000


@dataclass(frozen=True)
class Request:
    """What to average, checked.

    Attributes
    ----------
    weights : integer weights of the individuals.
    beta2 : β².
    goal : `average` for the best tree, `binary` for the best binary tree, `sum` for the largest plain sum.
    direction : how to divide what is not binary, for the goal `binary`.
    hits : see `treemean.average`.
    node_limit, time_limit, jobs : see `treemean.average`.
    """

    weights: Weights
    beta2: Fraction = Fraction(1)
    goal: Goal = "average"
    direction: Direction = "right"
    hits: HitsLike = None
    node_limit: int = NODE_LIMIT
    time_limit: float | None = None
    jobs: int | None = None


def make_request(
    count: int,
    weights: WeightsLike,
    *,
    beta: float = 1.0,
    binary: bool | Direction = False,
    hits: HitsLike = None,
    additive: bool = False,
    node_limit: int = NODE_LIMIT,
    time_limit: float | None = None,
    jobs: int | None = None,
) -> Request:
    """Check what `treemean.average` was asked for, with `count` individuals."""
    if binary not in (False, True, "left", "right", "balanced"):
        raise TreemeanError(f"binary must be True, False, left, right or balanced, not {binary!r}")
    if binary and additive:
        raise TreemeanError("a binary tree is found by its own sum; leave out `additive`")
    if node_limit < 0:
        raise TreemeanError(f"node_limit is {node_limit}; it must not be negative")
    if time_limit is not None and not time_limit > 0:
        raise TreemeanError(f"time_limit is {time_limit}; it must be positive")
    if jobs is not None and jobs < 1:
        raise TreemeanError(f"jobs is {jobs}; it must be at least 1")
    return Request(
        make_weights(weights, count),
        squared_beta(beta),
        "sum" if additive else "binary" if binary else "average",
        binary if isinstance(binary, str) else "right",
        hits,
        node_limit,
        time_limit,
        jobs,
    )


def squared_beta(beta: float) -> Fraction:
    """Return β² as a fraction with a denominator of at most a million.

    >>> squared_beta(0.5)
    Fraction(1, 4)
    """
    if not math.isfinite(beta) or not 0 <= beta <= _LARGEST_BETA:
        raise TreemeanError(f"beta is {beta}; it must be between 0 and {_LARGEST_BETA:g}")
    return (Fraction(repr(float(beta))) ** 2).limit_denominator(_BETA_RESOLUTION)
