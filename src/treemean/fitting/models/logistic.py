"""Logistic regression on votes and shape, for continuous and discontinuous candidates apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from treemean.errors import FormatError
from treemean.files import stored
from treemean.fitting.candidates import Candidates, Flags, Floats
from treemean.fitting.candidates.development import Development
from treemean.fitting.candidates.features import Features, features_of
from treemean.fitting.models.estimator import (
    KINDS,
    Training,
    best_settings,
    check_features,
    folds_of,
    log_losses,
    of_kind,
    sigmoid,
)

#: Strengths of the penalty that are tried, strongest first.
PENALTIES = (300.0, 30.0, 3.0, 0.3)

_STEPS = 50
_TOLERANCE = 1e-6
_SMALL_PRODUCT = 200_000  # multiplications
_STACK = 64
_SMALL_SYSTEM, _PART = 95, 40  # equations


@dataclass(frozen=True)
class Regression:
    """One regression: P(correct) = σ(intercept + coefficients · (x − means) / scales)."""

    means: Floats
    scales: Floats
    coefficients: Floats
    intercept: float
    penalty: float

    def logits(self, table: Floats) -> Floats:
        """Return the log-odds of rows of features."""
        slopes = self.coefficients / self.scales
        logits: Floats = np.einsum("ij,j->i", table, slopes)
        return logits + (self.intercept - float((self.means * slopes).sum()))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready data."""
        return {
            "means": self.means.tolist(),
            "scales": self.scales.tolist(),
            "coefficients": self.coefficients.tolist(),
            "intercept": self.intercept,
            "penalty": self.penalty,
        }

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Regression:
        """Make a regression from what `to_dict` gave."""
        means, scales, coefficients = (
            stored.reals(data, name) for name in ("means", "scales", "coefficients")
        )
        if not means.shape == scales.shape == coefficients.shape:
            raise FormatError("the columns of a regression have different lengths")
        if not (scales > 0).all():
            raise FormatError("the scales of a regression are positive")
        return Regression(
            means, scales, coefficients, stored.real(data, "intercept"), stored.real(data, "penalty")
        )


@dataclass(frozen=True)
class Logistic:
    """Two regressions over named features."""

    name: ClassVar[str] = "logistic"
    features: tuple[str, ...]
    continuous: Regression
    discontinuous: Regression

    def logits(self, features: Features, discontinuous: Flags) -> Floats:
        """Return the log-odds of candidates."""
        check_features(self.features, features)
        result = np.empty(len(discontinuous))
        for kind, regression in zip(KINDS, (self.continuous, self.discontinuous), strict=True):
            rows = of_kind(discontinuous, kind)
            result[rows] = regression.logits(features.table[rows])
        return result

    def probabilities(self, candidates: Candidates) -> Floats:
        """Return how likely candidates are correct."""
        return sigmoid(self.logits(features_of(candidates, self.features), candidates.discontinuous))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready data."""
        return {
            "features": list(self.features),
            "continuous": self.continuous.to_dict(),
            "discontinuous": self.discontinuous.to_dict(),
        }

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Logistic:
        """Make a model from what `to_dict` gave."""
        features = stored.texts(data, "features")
        continuous, discontinuous = (Regression.from_dict(data[kind]) for kind in KINDS)
        if not len(continuous.means) == len(discontinuous.means) == len(features):
            raise FormatError(f"a regression over {len(features)} features has other numbers of coefficients")
        return Logistic(features, continuous, discontinuous)


def train(development: Development, seed: int = 0) -> Training:
    """Fit both regressions; the penalties are those with the best cross-validated likelihood."""
    table, correct = development.features.table, development.correct
    found = {}
    out_of_fold = np.empty(len(table))
    for kind in KINDS:
        every = of_kind(development.candidates.discontinuous, kind)
        rows = every & development.scored
        held_out = {penalty: np.zeros(len(table)) for penalty in PENALTIES}
        for known, unknown in folds_of(development, kind):
            for regression in fit_path(table[known], correct[known], PENALTIES):
                held_out[regression.penalty][unknown] = regression.logits(table[unknown])
        best, unseen = best_settings(development, log_losses, held_out, rows)
        out_of_fold[every] = unseen[every]
        path = fit_path(table[rows], correct[rows], [p for p in PENALTIES if p >= best])
        found[kind] = list(path)[-1]
    model = Logistic(development.features.names, found["continuous"], found["discontinuous"])
    return Training(model, sigmoid(out_of_fold), len(PENALTIES) ** len(KINDS))


def fit_path(table: Floats, correct: Flags, penalties: Sequence[float]) -> Iterable[Regression]:
    """Yield regressions for several penalties, each beginning where the one before ended.

    Half an observation of either class at the mean of all features keeps the intercept finite where one of
    the classes is missing.
    """
    means = table.mean(axis=0) if len(table) else np.zeros(table.shape[1])
    scales = table.std(axis=0) if len(table) else np.ones(table.shape[1])
    scales = np.where(scales > 1e-9, scales, 1.0)
    x = np.concatenate([(table - means) / scales, np.ones((len(table), 1))], axis=1)
    x = np.concatenate([x, np.append(np.zeros(table.shape[1]), 1.0)[None]])
    y = np.append(correct.astype(np.float64), 0.5)
    weights = np.zeros(x.shape[1])
    for penalty in penalties:
        weights = _newton(x, y, penalty, weights)
        yield Regression(means, scales, weights[:-1], float(weights[-1]), penalty)


def _newton(x: Floats, y: Floats, penalty: float, start: Floats) -> Floats:
    """Minimise −log likelihood + penalty/2 · |coefficients|², the last weight (the intercept) being free."""
    ridge = np.full(len(start), penalty)
    ridge[-1] = 0.0
    weights, value = start, _objective(x, y, ridge, start)
    single = x.astype(np.float32)  # curvature need not be exact, and this is twice as fast
    for _ in range(_STEPS):
        p = sigmoid(np.einsum("ij,j->i", x, weights))
        gradient = np.einsum("ij,i->j", x, p - y) + ridge * weights
        curvature = weighted_gram(single, (p * (1 - p)).astype(np.float32))
        step = solved(curvature + np.diag(ridge + 1e-6 * len(y)), gradient)
        size = 1.0
        while (lower := _objective(x, y, ridge, weights - size * step)) > value and size > 1e-6:
            size /= 2
        if value - lower <= _TOLERANCE * len(y) * 1e-2:
            return weights if lower > value else weights - size * step
        weights, value = weights - size * step, lower
    return weights


def weighted_gram(x: NDArray[np.float32], weights: NDArray[np.float32]) -> Floats:
    """Return Xᵀ diag(weights) X: float64[F, F].

    The rows are taken in pieces so small that no library divides one among threads: threads that wait for
    each other on a busy machine cost more than they gain. For the same reason `einsum` makes other products.
    """
    rows, columns = x.shape
    piece = max(1, _SMALL_PRODUCT // columns**2)
    total = np.zeros((columns, columns))
    for begin in range(0, rows, piece * _STACK):
        part, weight = x[begin : begin + piece * _STACK], weights[begin : begin + piece * _STACK]
        whole = len(part) // piece * piece
        for these in (slice(0, whole), slice(whole, len(part))):
            if these.start < these.stop:
                stack = part[these].reshape(-1, min(piece, these.stop - these.start), columns)
                scaled = (part[these] * weight[these, None]).reshape(stack.shape)
                total += (scaled.transpose(0, 2, 1) @ stack).sum(axis=0)
    return total


def solved(matrix: Floats, right: Floats) -> Floats:
    """Return x with matrix · x = right, for a positive definite matrix.

    A large one is solved in parts, by elimination, for the reason that `weighted_gram` gives.

    >>> solved(np.array([[2.0, 0.0], [0.0, 4.0]]), np.array([2.0, 2.0])).tolist()
    [1.0, 0.5]
    """
    if len(right) <= _SMALL_SYSTEM:
        return np.asarray(np.linalg.solve(matrix, right), dtype=np.float64)
    first, rest = slice(0, _PART), slice(_PART, None)
    known = np.linalg.solve(matrix[first, first], np.column_stack([matrix[first, rest], right[first]]))
    product = np.einsum("ij,jk->ik", matrix[rest, first], known)
    others = solved(matrix[rest, rest] - product[:, :-1], right[rest] - product[:, -1])
    return np.concatenate([known[:, -1] - np.einsum("ij,j->i", known[:, :-1], others), others])


def _objective(x: Floats, y: Floats, ridge: Floats, weights: Floats) -> float:
    z = np.einsum("ij,j->i", x, weights)
    return float((np.logaddexp(0.0, z) - y * z).sum() + 0.5 * (ridge * weights**2).sum())
