"""Which individuals take part in an ensemble, and how much say each has: the paper's rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from treemean.errors import InvalidOption
from treemean.evaluation import Evaluation

#: What weighs an individual: its development F1 of one kind of constituents, or nothing.
WeightRule = Literal["discontinuous", "overall", "continuous", "equal"]


@dataclass(frozen=True)
class Selection:
    """The individuals of an ensemble, best first.

    Parameters
    ----------
    chosen : their numbers, counted from 0.
    weights : one for each of `chosen`.
    note : what a reader of the results must know about the choice.
    """

    chosen: tuple[int, ...]
    weights: tuple[float, ...]
    note: str


def select(development: Sequence[Evaluation], keep: int, weigh: WeightRule = "discontinuous") -> Selection:
    """Choose the best individuals by development F1 overall, and weigh them by development F1.

    Parameters
    ----------
    development : the scores of every individual on the development set, in the order of the individuals.
    keep : how many to choose; of equally good ones those that come first.
    weigh : by F1 on discontinuous constituents in the paper. Where that is zero for all of the chosen ones,
        they are weighted equally, and the note says so.

    `fit(runs, gold, "scalar", select="top", size=keep)` of `treemean.fitting` makes the same averages. It
    needs the trees, and averages them in every fold to say how good the choice is; here scores are all that
    is known, and the paper's table wants the individuals in the order of their scores.
    """
    check_rule(weigh)
    if not 1 <= keep <= len(development):
        raise InvalidOption(f"cannot choose {keep} of {len(development)} individuals")
    ranked = sorted(range(len(development)), key=lambda i: -development[i].overall.f1)
    chosen = tuple(ranked[:keep])
    note = f"{keep} of {len(development)} individuals chosen by development F1 overall"
    if weigh == "equal":
        return Selection(chosen, (1.0,) * keep, f"{note}; equal weights")
    weights = tuple(development[i].counts(weigh).f1 for i in chosen)
    if not any(weights):
        return Selection(
            chosen, (1.0,) * keep, f"{note}; equal weights, as development F1 {weigh} is zero for all"
        )
    return Selection(chosen, weights, f"{note}, weighted by development F1 {weigh}")


def all_equal(count: int) -> Selection:
    """Choose all individuals with equal weights: what can be done without development gold."""
    return Selection(
        tuple(range(count)),
        (1.0,) * count,
        f"all {count} individuals, equal weights: no gold development trees",
    )


def check_rule(weigh: str) -> None:
    """Raise an error if there is no such rule."""
    if weigh not in get_args(WeightRule):
        raise InvalidOption(f"weights are by {', '.join(get_args(WeightRule))}, not by {weigh!r}")
