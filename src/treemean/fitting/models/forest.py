"""Boosted decision trees as plain arrays: what scikit-learn fits is kept and applied without it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treemean.errors import FormatError
from treemean.files import stored
from treemean.fitting.candidates import Floats
from treemean.trees.bitsets import Ints

LEAF = -1

#: Small whole numbers, of a type that depends on how large they are.
Small = NDArray[np.unsignedinteger[Any]]


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
        last: Floats = self.staged_logits(table, [len(self)])[0]
        return last

    def staged_logits(self, table: Floats, stages: Sequence[int]) -> Floats:
        """Return the sums of the first so many trees, for ascending numbers of them: float64[stages, M].

        Features are compared with each threshold once. From then on everything is bytes, which a processor
        handles by the dozen.
        """
        columns, steps = self._coded(table)
        starts = [*self.roots.tolist(), len(self.feature)]
        total = np.full(len(table), self.base)
        found = np.empty((len(stages), len(table)))
        done = 0
        for row, stage in enumerate(stages):
            for tree in range(done, min(stage, len(self))):
                total += self._tree(starts[tree], starts[tree + 1], columns, steps)
            found[row], done = total, stage
        return found

    def _coded(self, table: Floats) -> tuple[dict[int, Small], Ints]:
        """Return for each feature how many of its thresholds a row exceeds, and the number of each node's."""
        columns: dict[int, Small] = {}
        steps = np.zeros(len(self.feature), dtype=np.int64)
        for feature in np.unique(self.feature[self.feature != LEAF]).tolist():
            nodes = np.flatnonzero(self.feature == feature)
            thresholds, steps[nodes] = np.unique(self.threshold[nodes], return_inverse=True)
            column = np.ascontiguousarray(table[:, feature])
            exceeded = np.zeros(len(column), dtype=np.min_scalar_type(len(thresholds)))
            for threshold in thresholds:
                exceeded += column > threshold
            columns[feature] = exceeded
        return columns, steps

    def _tree(self, start: int, end: int, columns: Mapping[int, Small], steps: Ints) -> Floats:
        """Return what a tree says of every row: leaves are carried upwards, until the root has the answer."""
        feature, left, right = (c[start:end].tolist() for c in (self.feature, self.left, self.right))
        leaves = np.flatnonzero(self.feature[start:end] == LEAF)
        small = np.min_scalar_type(len(leaves))
        number = np.zeros(end - start, dtype=small)
        number[leaves] = np.arange(len(leaves))
        answers: dict[int, Small] = {}
        for node in range(end - start - 1, -1, -1):
            if feature[node] == LEAF:
                answers[node] = number[node : node + 1]
                continue
            column = columns[feature[node]]
            below, above = answers.pop(left[node] - start), answers.pop(right[node] - start)
            goes_right = -(column > column.dtype.type(steps[start + node])).astype(small)  # no bits or all
            answers[node] = below ^ ((below ^ above) & goes_right)
        said: Floats = self.value[start + leaves][answers[0]]
        return said

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready data."""
        columns = ("roots", "feature", "threshold", "left", "right", "value")
        return {**{name: getattr(self, name).tolist() for name in columns}, "base": self.base}

    @staticmethod
    def from_dict(data: Mapping[str, Any], features: int) -> Forest:
        """Make a forest from what `to_dict` gave, and check that its parts are trees."""
        roots, feature, left, right = (
            stored.wholes(data, name) for name in ("roots", "feature", "left", "right")
        )
        threshold, value = (stored.reals(data, name) for name in ("threshold", "value"))
        count = len(feature)
        if not all(len(column) == count for column in (left, right, threshold, value)):
            raise FormatError("the columns of the boosted trees have different lengths")
        inner = np.flatnonzero(feature != LEAF)
        below = np.concatenate([left[inner], right[inner]])
        once = np.array_equal(np.sort(np.concatenate([roots, below])), np.arange(count))
        if (
            not once
            or (np.diff(roots) <= 0).any()
            or ((feature[inner] < 0) | (feature[inner] >= features)).any()
        ):
            raise FormatError("the boosted trees lead nowhere: a node or feature number is out of range")
        tree = np.searchsorted(roots, np.arange(count), side="right")
        above = np.concatenate([inner, inner])
        if (below <= above).any() or (tree[below] != tree[above]).any():
            raise FormatError("the boosted trees lead nowhere: a node is not below the one that names it")
        return Forest(roots, feature, threshold, left, right, value, stored.real(data, "base"))


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
