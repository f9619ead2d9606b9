"""How far probabilities can be trusted: calibration error, Brier score and risk at each coverage.

Everything is measured on candidates of development sentences whose estimates *and* calibration come from
other folds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from treemean.fitting.candidates import Flags, Floats, group
from treemean.fitting.candidates.development import Development
from treemean.fitting.models.calibration import Calibration, fit_calibration
from treemean.fitting.models.estimator import KINDS, of_kind
from treemean.trees import Treebank
from treemean.trees.bitsets import Ints

#: Bins of a reliability diagram.
BINS = 10
#: Shares of the constituents that are kept, for which the risk is told.
COVERAGES = tuple(step / 10 for step in range(1, 11))
#: Fewer right candidates of a kind than this are told to be few.
FEW = 20


@dataclass(frozen=True)
class Reliability:
    """Candidates in bins of equal size by probability.

    Parameters
    ----------
    candidates : int64[B], how many there are in each bin; sizes differ by one at most.
    expected : float64[B], their mean probability.
    observed : float64[B], the share of them that is right.
    """

    candidates: Ints
    expected: Floats
    observed: Floats

    @property
    def calibration_error(self) -> float:
        """The mean distance of both over all candidates; 0 if there are none."""
        distance = self.candidates * np.abs(self.expected - self.observed)
        return float(distance.sum() / max(1, self.candidates.sum()))


def reliability(
    probabilities: Floats, right: Flags, bins: int = BINS, times: Ints | None = None
) -> Reliability:
    """Sort candidates by probability into bins of equal size, and look how many of each are right.

    Candidates of the same probability share what is right among them, so that their order does not matter.
    Bins without candidates are left out. `times` says how often each candidate occurs; once if not given.

    >>> found = reliability(np.array([0.1, 0.3, 0.6, 0.8]), np.array([False, False, True, True]), 2)
    >>> found.expected.round(2).tolist(), found.observed.tolist(), round(found.calibration_error, 2)
    ([0.2, 0.7], [0.0, 1.0], 0.25)
    """
    levels, sizes, rights = _levels(probabilities, right, times)
    share = rights / np.maximum(sizes, 1)
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    each, more = divmod(total, bins)
    found = []
    stop = 0
    for number in range(bins):
        start, stop = stop, stop + each + (number < more)
        if start < stop:
            inside = np.minimum(ends, stop) - np.maximum(ends - sizes, start)  # of every level
            inside = np.maximum(inside, 0)
            found.append((stop - start, inside @ levels / (stop - start), inside @ share / (stop - start)))
    counts, expected, observed = zip(*found) if found else ((), (), ())
    return Reliability(np.array(counts, dtype=np.int64), np.array(expected), np.array(observed))


def _levels(values: Floats, right: Flags, times: Ints | None) -> tuple[Floats, Ints, Ints]:
    """Return the values that occur, ascending, how often each does, and how often it is right."""
    levels, number = np.unique(values, return_inverse=True)
    often = np.ones(len(values), dtype=np.int64) if times is None else times
    sizes, rights = np.zeros((2, len(levels)), dtype=np.int64)
    np.add.at(sizes, number, often)
    np.add.at(rights, number, often * right)
    return levels, sizes, rights


def brier_score(probabilities: Floats, right: Flags, times: Ints | None = None) -> float:
    """Return the mean of (probability − 1 if right, else 0)²; 0 if there are no candidates."""
    often = np.ones(len(right)) if times is None else times
    return float(((probabilities - right) ** 2 * often).sum() / max(1, often.sum()))


def risk_at(
    coverages: Sequence[float], confidence: Floats, right: Flags, times: Ints | None = None
) -> list[float]:
    """Return the share of wrong ones among the most confident ones, for shares of them that are kept.

    Of equally confident ones each counts as wrong in the proportion of all of them.

    >>> risk_at([0.5, 1.0], np.array([0.9, 0.8, 0.2, 0.1]), np.array([True, True, False, True]))
    [0.0, 0.25]
    """
    _, sizes, rights = _levels(-confidence, right, times)
    if not sizes.sum():
        return []
    kept = [max(1, round(coverage * int(sizes.sum()))) for coverage in coverages]
    errors = np.interp(kept, np.append(0, np.cumsum(sizes)), np.append(0, np.cumsum(sizes - rights)))
    return [float(wrong / count) for wrong, count in zip(errors, kept, strict=True)]


@dataclass(frozen=True)
class Unseen:
    """Candidates of sentences that had not been seen when their probabilities were told; columns of M.

    `averaged` tells which of them are in the average of their sentence, and `times` how often each occurs;
    once if not given.
    """

    probability: Floats
    votes: Floats
    right: Flags
    discontinuous: Flags
    averaged: Flags
    times: Ints | None = None

    @staticmethod
    def pooled(parts: Sequence[Unseen]) -> Unseen:
        """Return the candidates of all parts, equal ones once; so memory need not grow with sentences.

        Where there are more than `MOST_LEVELS` different ones, probabilities are rounded to `DIGITS` digits.
        """
        columns = [np.concatenate([getattr(part, name) for part in parts]) for name in _COLUMNS]
        times = np.concatenate([part.how_often for part in parts])
        pooled = _distinct(columns, times)
        if len(pooled.how_often) > MOST_LEVELS:
            columns[0] = columns[0].round(DIGITS)
            pooled = _distinct(columns, times)
        return pooled

    @property
    def how_often(self) -> Ints:
        """int64[M]: how often each candidate occurs."""
        return np.ones(len(self.right), dtype=np.int64) if self.times is None else self.times


_COLUMNS = ("probability", "votes", "right", "discontinuous", "averaged")
#: How many different candidates are told apart to the last digit.
MOST_LEVELS, DIGITS = 200_000, 4


def _distinct(columns: Sequence[Any], times: Ints) -> Unseen:
    number, first = group(columns)
    often = np.zeros(len(first), dtype=np.int64)
    np.add.at(often, number, times)
    return Unseen(**{name: column[first] for name, column in zip(_COLUMNS, columns)}, times=often)


def calibrate_on(development: Development, estimates: Floats, sentences: Flags | None = None) -> Calibration:
    """Calibrate estimates of sentences that they did not see: of all of them, or of those under a mask."""
    rows = development.scored
    if sentences is not None:
        rows = rows & sentences[development.candidates.sentence]
    gapped = development.candidates.discontinuous[rows]
    return fit_calibration(estimates[rows], development.correct[rows], gapped)


def judge_fold(development: Development, estimates: Floats, unseen: Flags, averages: Treebank) -> Unseen:
    """Calibrate by the other folds' estimates, and tell the probabilities of one fold.

    Parameters
    ----------
    estimates : float64[M], each by what did not see the sentence.
    unseen : bool[S], the sentences of the fold.
    averages : their average trees.
    """
    candidates = development.candidates
    own = unseen[candidates.sentence]
    chosen = np.zeros(len(candidates), dtype=bool)
    places = candidates.find(averages, np.flatnonzero(unseen))
    chosen[places[places >= 0]] = True
    rows = development.scored & own
    gapped = candidates.discontinuous[rows]
    return Unseen(
        calibrate_on(development, estimates, ~unseen)(estimates[rows], gapped),
        candidates.counts[rows] / candidates.runs,
        development.correct[rows],
        gapped,
        chosen[rows],
    )


def confidence_report(folds: Sequence[Unseen]) -> dict[str, Any]:
    """Return what the probabilities of all folds are worth, beside the share of the votes; JSON-ready."""
    probability, votes, right, gapped, averaged = (
        np.concatenate([getattr(fold, name) for fold in folds]) for name in _COLUMNS
    )
    times = np.concatenate([fold.how_often for fold in folds])
    report: dict[str, Any] = {}
    for kind in KINDS:
        rows = of_kind(gapped, kind)
        if not rows.any():
            continue
        own, often = right[rows], times[rows]
        found = reliability(probability[rows], own, times=often)
        count, correct = int(often.sum()), int(often @ own)
        report[kind] = {
            "candidates": count,
            "right": correct,
            "calibration_error": found.calibration_error,
            "brier": brier_score(probability[rows], own, often),
            "votes_calibration_error": reliability(votes[rows], own, times=often).calibration_error,
            "votes_brier": brier_score(votes[rows], own, often),
            "constant_brier": correct / count * (1 - correct / count),
            "bins": [
                {"candidates": n, "expected": expected, "observed": observed}
                for n, expected, observed in zip(
                    found.candidates.tolist(), found.expected.tolist(), found.observed.tolist(), strict=True
                )
            ],
        }
    by_probability, by_votes = (
        risk_at(COVERAGES, values[averaged], right[averaged], times[averaged])
        for values in (probability, votes)
    )
    report["risk_coverage"] = [
        {"coverage": coverage, "risk": risk, "risk_by_votes": plain}
        for coverage, risk, plain in zip(COVERAGES, by_probability, by_votes)
    ]
    return report


def confidence_notes(development: Development) -> list[str]:
    """Tell where there are too few examples to trust a calibration."""
    gapped = development.candidates.discontinuous
    right = {kind: int((development.correct & of_kind(gapped, kind)).sum()) for kind in KINDS}
    return [
        f"{f'only {count}' if count else 'no'} {kind} candidates are right: their probabilities are rough"
        for kind, count in right.items()
        if count < FEW
    ]
