"""Boosted decision trees as plain arrays: what scikit-learn fits is kept and applied without it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treemean.errors import FormatError
from treemean.fitting.candidates import Floats
from treemean.trees.bitsets import Ints

LEAF = -1


@dataclass(frozen=True, eq=False)
class Forest:
    """Decision trees whose leaves are added up.

    Columns, over the nodes of all trees, one tree after the other, each with its root first
    -------
    roots : int64[T], where each tree begins.
    feature : int64, the column of features that a node asks, `LEAF` for none.
    threshold : float64; features up to it go left.
    left, right : int64, the nodes below, later than the node itself.
    value : float64, what a leaf adds.
    base : what is there before the first tree.
    """

    roots: Ints
    feature: Ints
    threshold: Floats
    left: Ints
    right: Ints
    value: Floats
    base: float

    def __len__(self) -> int:
        return len(self.roots)

    def first(self, trees: int) -> Forest:
        """Return only the first so many trees."""
        if trees >= len(self):
            return self
        end = int(self.roots[trees])
        return Forest(
            self.roots[:trees],
            self.feature[:end],
            self.threshold[:end],
            self.left[:end],
            self.right[:end],
            self.value[:end],
            self.base,
        )

    def logits(self, table: Floats) -> Floats:
        """Return the sum of all trees for rows of features: float64[M]."""
        columns = np.ascontiguousarray(table.T)
        total = np.full(len(table), self.base)
        for tree in range(len(self)):
            self._add(tree, columns, total)
        return total

    def staged_logits(self, table: Floats, stages: list[int]) -> Floats:
        """Return the sums of the first so many trees, for ascending numbers of them: float64[stages, M]."""
        columns = np.ascontiguousarray(table.T)
        total = np.full(len(table), self.base)
        found = np.empty((len(stages), len(table)))
        done = 0
        for row, stage in enumerate(stages):
            for tree in range(done, min(stage, len(self))):
                self._add(tree, columns, total)
            found[row], done = total, stage
        return found

    def _add(self, tree: int, columns: Floats, total: Floats) -> None:
        """Add what a tree says; rows are divided at every node, so that each is touched once a level."""
        waiting = [(int(self.roots[tree]), np.arange(len(total)))]
        while waiting:
            node, rows = waiting.pop()
            feature = self.feature[node]
            if feature == LEAF:
                total[rows] += self.value[node]
                continue
            goes_left = columns[feature][rows] <= self.threshold[node]
            waiting.append((int(self.left[node]), rows[goes_left]))
            waiting.append((int(self.right[node]), rows[~goes_left]))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready data."""
        columns = ("roots", "feature", "threshold", "left", "right", "value")
        return {**{name: getattr(self, name).tolist() for name in columns}, "base": self.base}

    @staticmethod
    def from_dict(data: Mapping[str, Any], features: int) -> Forest:
        """Make a forest from what `to_dict` gave, and check that following it comes to an end."""
        whole = [np.array(data[name], dtype=np.int64) for name in ("roots", "feature", "left", "right")]
        threshold, value = (np.array(data[name], dtype=np.float64) for name in ("threshold", "value"))
        roots, feature, left, right = whole
        count = len(feature)
        if not all(len(column) == count for column in (left, right, threshold, value)):
            raise FormatError("the columns of the boosted trees have different lengths")
        inner = np.flatnonzero(feature != LEAF)
        later = (
            (left[inner] > inner) & (right[inner] > inner) & (left[inner] < count) & (right[inner] < count)
        )
        known = (feature[inner] >= 0) & (feature[inner] < features)
        if not (later & known).all() or not ((roots >= 0) & (roots < count)).all():
            raise FormatError("the boosted trees lead nowhere: a node or feature number is out of range")
        if not np.isfinite(value).all() or np.isnan(threshold).any():
            raise FormatError("the boosted trees hold numbers that are not finite")
        return Forest(roots, feature, threshold, left, right, value, float(data["base"]))


def constant_forest(base: float) -> Forest:
    """Return a forest without trees."""
    whole, real = np.zeros(0, dtype=np.int64), np.zeros(0)
    return Forest(whole, whole, real, whole, whole, real, base)


def forest_of(classifier: Any) -> Forest:
    """Return the trees of a fitted scikit-learn `HistGradientBoostingClassifier` of two classes."""
    parts: list[NDArray[Any]] = [stage[0].nodes for stage in classifier._predictors]
    sizes = [len(part) for part in parts]
    roots = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    nodes = np.concatenate(parts)
    shift = np.repeat(roots, sizes)
    leaf = nodes["is_leaf"].astype(bool)
    return Forest(
        roots,
        np.where(leaf, LEAF, nodes["feature_idx"].astype(np.int64)),
        np.where(leaf, 0.0, nodes["num_threshold"].astype(np.float64)),
        np.where(leaf, 0, nodes["left"].astype(np.int64) + shift),
        np.where(leaf, 0, nodes["right"].astype(np.int64) + shift),
        np.where(leaf, nodes["value"].astype(np.float64), 0.0),
        float(np.ravel(classifier._baseline_prediction)[0]),
    )
