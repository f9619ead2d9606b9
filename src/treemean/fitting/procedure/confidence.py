"""How far probabilities can be trusted: calibration error, Brier score and risk at each coverage.

Everything is measured on candidates of development sentences whose estimates *and* calibration come from
other folds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from treemean.fitting.candidates import Flags, Floats
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


def reliability(probabilities: Floats, right: Flags, bins: int = BINS) -> Reliability:
    """Sort candidates by probability into bins of equal size, and look how many of each are right.

    Candidates of the same probability share what is right among them, so that their order does not matter.
    Bins without candidates are left out.

    >>> found = reliability(np.array([0.1, 0.3, 0.6, 0.8]), np.array([False, False, True, True]), 2)
    >>> found.expected.round(2).tolist(), found.observed.tolist(), round(found.calibration_error, 2)
    ([0.2, 0.7], [0.0, 1.0], 0.25)
    """
    order = np.argsort(probabilities, kind="stable")
    _, number = np.unique(probabilities, return_inverse=True)
    share = np.bincount(number, weights=right) / np.maximum(np.bincount(number), 1)
    parts = [part for part in np.array_split(order, bins) if len(part)]
    return Reliability(
        np.array([len(part) for part in parts], dtype=np.int64),
        np.array([probabilities[part].mean() for part in parts]),
        np.array([share[number[part]].mean() for part in parts]),
    )


def brier_score(probabilities: Floats, right: Flags) -> float:
    """Return the mean of (probability − 1 if right, else 0)²; 0 if there are no candidates."""
    return float(((probabilities - right) ** 2).sum() / max(1, len(right)))


def risk_at(coverages: Sequence[float], confidence: Floats, right: Flags) -> list[float]:
    """Return the share of wrong ones among the most confident ones, for shares of them that are kept.

    Of equally confident ones each counts as wrong in the proportion of all of them.

    >>> risk_at([0.5, 1.0], np.array([0.9, 0.8, 0.2, 0.1]), np.array([True, True, False, True]))
    [0.0, 0.25]
    """
    levels, number = np.unique(-confidence, return_inverse=True)
    size = np.bincount(number, minlength=len(levels))
    wrong = np.bincount(number, weights=~right, minlength=len(levels)) / np.maximum(size, 1)
    errors = np.concatenate([[0.0], np.cumsum(np.repeat(wrong, size))])
    kept = [max(1, round(coverage * len(right))) for coverage in coverages]
    return [float(errors[count] / count) for count in kept] if len(right) else []


@dataclass(frozen=True)
class Unseen:
    """Candidates of sentences that had not been seen when their probabilities were told; columns of M.

    `averaged` tells which of them are in the average of their sentence.
    """

    probability: Floats
    votes: Floats
    right: Flags
    discontinuous: Flags
    averaged: Flags


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
    names = ("probability", "votes", "right", "discontinuous", "averaged")
    probability, votes, right, gapped, averaged = (
        np.concatenate([getattr(fold, name) for fold in folds]) for name in names
    )
    report: dict[str, Any] = {}
    for kind in KINDS:
        rows = of_kind(gapped, kind)
        if not rows.any():
            continue
        found, share = reliability(probability[rows], right[rows]), right[rows].mean()
        report[kind] = {
            "candidates": int(rows.sum()),
            "right": int(right[rows].sum()),
            "calibration_error": found.calibration_error,
            "brier": brier_score(probability[rows], right[rows]),
            "votes_calibration_error": reliability(votes[rows], right[rows]).calibration_error,
            "votes_brier": brier_score(votes[rows], right[rows]),
            "constant_brier": float(share * (1 - share)),
            "bins": [
                {"candidates": n, "expected": expected, "observed": observed}
                for n, expected, observed in zip(
                    found.candidates.tolist(), found.expected.tolist(), found.observed.tolist(), strict=True
                )
            ],
        }
    by_probability, by_votes = (
        risk_at(COVERAGES, values[averaged], right[averaged]) for values in (probability, votes)
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
        f"only {count} {kind} candidates are right: their probabilities are rough"
        for kind, count in right.items()
        if count < FEW
    ]
