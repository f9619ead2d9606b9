"""What `treemean.average` is asked for, checked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, get_args

import numpy as np

from treemean.averaging.arguments import number, whole_number
from treemean.averaging.frequencies import Frequencies
from treemean.averaging.ties import TiesLike, check_ties
from treemean.averaging.weights import Weights, WeightsLike, make_weights
from treemean.errors import InvalidOption, Unsolved
from treemean.names import Direction, Unaries
from treemean.trees import SpanTable

Goal = Literal["average", "binary", "sum"]
#: What constituents are worth: the name of a column of constituent values, or an array per individual.
HitsLike = str | Sequence[Any] | None

#: How many steps a search may take on one sentence before it gives up with an upper bound.
NODE_LIMIT = 1_000_000

_LARGEST_BETA = 1000.0
_BETA_RESOLUTION = 1_000_000
# How ties divide constituents about which nobody has an opinion.
_DIRECTIONS: dict[str, Direction | Literal["last", "values"]] = {
    "canonical": "right",
    "right": "last",
    "left": "left",
    "values": "values",
}
# What the core's integers hold; no search takes so many steps, no machine has so many cores.
_LARGEST_NODE_LIMIT = 1 << 62
_MOST_JOBS = 1 << 10


@dataclass(frozen=True)
class AverageRequest:
    """What to average, checked.

    Attributes
    ----------
    weights : integer weights of the individuals.
    beta2 : β².
    goal : `average` for the best tree, `binary` for the best binary tree, `sum` for the largest plain sum.
    direction : how to divide what is not binary, for the goal `binary`; `last` joins from the child that
        holds the last word, so that all that is added ends there, `values` as those for ties are highest.
    hits : see `treemean.average`.
    node_limit, time_limit, jobs, max_fan_out : see `treemean.average`.
    skipped : see `treemean.average`; a list that fills up.
    frequencies, labelled, unaries, ties : see `treemean.average`.
    tables : the tables of spans among the individuals; their columns come last.
    """

    weights: Weights
    beta2: Fraction = Fraction(1)
    goal: Goal = "average"
    direction: Direction | Literal["last", "values"] = "right"
    hits: HitsLike = None
    node_limit: int = NODE_LIMIT
    time_limit: float | None = None
    jobs: int | None = None
    max_fan_out: int | None = None
    skipped: list[Unsolved] | None = None
    frequencies: Sequence[Frequencies] | None = None
    labelled: bool = False
    unaries: Unaries = "keep"
    ties: TiesLike = "canonical"
    tables: tuple[SpanTable, ...] = ()


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
    max_fan_out: int | None = None,
    skipped: list[Unsolved] | None = None,
    frequencies: Sequence[Frequencies] | None = None,
    labelled: bool = False,
    unaries: Unaries = "keep",
    ties: TiesLike = "canonical",
    tables: Sequence[SpanTable] = (),
) -> AverageRequest:
    """Check what `treemean.average` was asked for, with `count` individuals."""
    if not isinstance(binary, bool | str) or binary not in (False, True, *get_args(Direction)):
        raise InvalidOption(f"binary must be True, False, left, right or balanced, not {binary!r}")
    if not isinstance(additive, bool):
        raise InvalidOption(f"additive must be True or False, not {additive!r}")
    if not isinstance(labelled, bool):
        raise InvalidOption(f"labelled must be True or False, not {labelled!r}")
    if unaries not in get_args(Unaries):
        raise InvalidOption(f"unaries must be keep or none, not {unaries!r}")
    if unaries == "none" and not labelled:
        raise InvalidOption("unaries is for labelled averages: give labelled=True as well")
    if binary is True and hits is not None and check_ties(ties) == "values":
        raise InvalidOption("with hits and values for ties, say how binary trees are divided: binary='right'")
    if tables and (labelled or check_ties(ties) == "values"):
        which = "labelled averages" if labelled else "values for ties"
        raise InvalidOption(f"tables of spans have no labels and no trees: they cannot be used with {which}")
    if binary and additive:
        raise InvalidOption("a binary tree is found by its own sum; leave out `additive`")
    if not (hits is None or isinstance(hits, str | Sequence | np.ndarray)):
        raise InvalidOption(f"hits must be the name of a column or an array per individual, not {hits!r}")
    if time_limit is not None and not (time_limit := number("time_limit", time_limit)) > 0:
        raise InvalidOption(f"time_limit is {time_limit}; it must be positive")
    if skipped is not None and not isinstance(skipped, list):
        raise InvalidOption(f"skipped must be a list to which reasons are added, not {skipped!r}")
    return AverageRequest(
        make_weights(weights, count),
        squared_beta(beta),
        "sum" if additive else "binary" if binary else "average",
        binary if isinstance(binary, str) else _DIRECTIONS[check_ties(ties)],
        hits,
        min(whole_number("node_limit", node_limit, 0), _LARGEST_NODE_LIMIT),
        time_limit,
        None if jobs is None else min(whole_number("jobs", jobs, 1), _MOST_JOBS),
        None if max_fan_out is None else whole_number("max_fan_out", max_fan_out, 1),
        skipped,
        frequencies,
        labelled,
        unaries,
        ties,
        tuple(tables),
    )


def squared_beta(beta: float) -> Fraction:
    """Return β² as a fraction with a denominator of at most a million.

    >>> squared_beta(0.5)
    Fraction(1, 4)
    """
    beta = number("beta", beta)
    if not math.isfinite(beta) or not 0 <= beta <= _LARGEST_BETA:
        raise InvalidOption(f"beta is {beta}; it must be between 0 and {_LARGEST_BETA:g}")
    return (Fraction(repr(float(beta))) ** 2).limit_denominator(_BETA_RESOLUTION)
