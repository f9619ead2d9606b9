"""Boosted decision trees on votes and shape, blended with the logistic regression.

Boosting finds how votes and shapes work together, but needs many examples; the regression needs few. Their
log-odds are blended, for continuous and discontinuous candidates apart, with the share of either that
cross-validation finds most likely, so that rare kinds and small development sets lean on the regression.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from treemean.errors import MissingDependency, TreemeanError
from treemean.files import stored
from treemean.fitting.candidates import Candidates, Flags, Floats
from treemean.fitting.candidates.development import Development
from treemean.fitting.candidates.features import features_of
from treemean.fitting.models import logistic
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
from treemean.fitting.models.forest import Forest, constant_forest, forest_of
from treemean.fitting.models.logistic import Logistic

#: Numbers of trees that are tried.
STAGES = [20, 40, 60, 80, 100, 120]
#: Shares of the boosted trees in the blend that are tried.
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)

_AGREEMENT = 1e-6
_UNKNOWN_TREES = "the trees of this version of scikit-learn are not understood"


@dataclass(frozen=True)
class Boosted:
    """Boosted trees, a logistic regression, and the share of the trees for either kind of candidates."""

    name: ClassVar[str] = "boosted"
    features: tuple[str, ...]
    forest: Forest
    regression: Logistic
    continuous_share: float
    discontinuous_share: float

    def probabilities(self, candidates: Candidates) -> Floats:
        """Return how likely candidates are correct."""
        features = features_of(candidates, self.features)
        check_features(self.features, features)
        gapped = candidates.discontinuous
        share = np.where(gapped, self.discontinuous_share, self.continuous_share)
        logits = share * self.forest.logits(features.table)
        return sigmoid(logits + (1 - share) * self.regression.logits(features, gapped))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready data."""
        return {
            "features": list(self.features),
            "forest": self.forest.to_dict(),
            "regression": self.regression.to_dict(),
            "continuous_share": self.continuous_share,
            "discontinuous_share": self.discontinuous_share,
        }

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Boosted:
        """Make a model from what `to_dict` gave."""
        features = stored.texts(data, "features")
        return Boosted(
            features,
            Forest.from_dict(data["forest"], len(features)),
            Logistic.from_dict(data["regression"]),
            stored.real(data, "continuous_share"),
            stored.real(data, "discontinuous_share"),
        )


def train(development: Development, seed: int = 0) -> Training:
    """Fit trees and regression; trees and shares are as many as cross-validated likelihood prefers."""
    table, correct, scored = development.features.table, development.correct, development.scored
    if not correct.any() or correct[scored].all():
        what = "none" if not correct.any() else "all"
        raise TreemeanError(f"{what} of the candidates are correct: there is nothing for boosting to learn")
    beside = logistic.train(development, seed)
    assert isinstance(beside.estimator, Logistic)
    folds = list(folds_of(development))
    *fold_forests, whole = _fit_side_by_side(table, correct, [*(known for known, _ in folds), scored], seed)
    staged = np.zeros((len(STAGES), len(table)))
    for forest, (_, unknown) in zip(fold_forests, folds, strict=True):
        staged[:, unknown] = forest.staged_logits(table[unknown], STAGES)
    by_stage: dict[float, Floats] = dict(zip(STAGES, staged, strict=True))
    best, boosted = best_settings(development, log_losses, by_stage, scored)
    linear = _logit(beside.out_of_fold)
    gapped = development.candidates.discontinuous
    blend = np.empty(len(table))
    shares = {}
    for kind in KINDS:
        every = of_kind(gapped, kind)
        tried = {share: share * boosted + (1 - share) * linear for share in SHARES}
        shares[kind], unseen = best_settings(development, log_losses, tried, every & scored)
        blend[every] = unseen[every]
    model = Boosted(
        development.features.names,
        whole.first(int(best)),
        beside.estimator,
        shares["continuous"],
        shares["discontinuous"],
    )
    return Training(model, sigmoid(blend), beside.schemes + len(STAGES) + len(KINDS) * len(SHARES))


def _logit(p: Floats) -> Floats:
    inside = np.clip(p, 1e-12, 1 - 1e-12)
    return np.log(inside) - np.log1p(-inside)


def _fit_side_by_side(table: Floats, correct: Flags, parts: list[Flags], seed: int) -> list[Forest]:
    """Boost trees on several parts of the rows at the same time.

    Each fit has one thread: so the sums, and with them the trees, do not depend on the number of cores, and
    threads do not wait for each other on a busy machine. The limit holds for the thread that sets it.
    """
    try:
        from sklearn.ensemble import HistGradientBoostingClassifier
        from threadpoolctl import threadpool_limits
    except ImportError as error:
        raise MissingDependency(
            "boosted trees are fitted with scikit-learn (pip install 'treemean[fit]'); logistic does without"
        ) from error

    def fit(rows: Flags) -> Forest:
        x, y = table[rows], correct[rows]
        if not y.any() or y.all():  # a fold without examples of one kind: nothing to divide
            share = (y.sum() + 0.5) / (len(y) + 1)
            return constant_forest(float(np.log(share / (1 - share))))
        classifier = HistGradientBoostingClassifier(
            max_iter=STAGES[-1],
            learning_rate=0.12,
            max_leaf_nodes=31,
            max_bins=64,
            l2_regularization=1.0,
            early_stopping=False,
            random_state=seed,
        )
        with threadpool_limits(limits=1, user_api="openmp"):
            classifier.fit(x, y)
            try:
                forest = forest_of(classifier)
            except (AttributeError, KeyError, ValueError, TypeError) as error:
                raise TreemeanError(_UNKNOWN_TREES) from error
            sample = x[:: max(1, len(x) // 1000)]
            theirs = classifier.predict_proba(sample)[:, 1]
        if np.abs(sigmoid(forest.logits(sample)) - theirs).max() > _AGREEMENT:
            raise TreemeanError(_UNKNOWN_TREES)
        return forest

    # scikit-learn changes the filters of warnings for a while, in every thread, and may leave none behind.
    with warnings.catch_warnings(), ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(fit, parts))
