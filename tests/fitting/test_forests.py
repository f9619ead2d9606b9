"""Boosted trees: walked as scikit-learn walks them, and kept without it."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands import python
from treemean.errors import MissingDependency
from treemean.fitting import fit, load
from treemean.fitting.candidates.development import make_development
from treemean.fitting.models.forest import Forest, forest_of


def test_forests_say_what_scikit_learn_says(runs, gold) -> None:
    ensemble = pytest.importorskip("sklearn.ensemble")
    development = make_development(runs, gold)
    table, correct = development.features.table, development.correct
    classifier = ensemble.HistGradientBoostingClassifier(max_iter=20, random_state=1).fit(table, correct)
    forest = forest_of(classifier)
    again = Forest.from_dict(json.loads(json.dumps(forest.to_dict())), table.shape[1])
    for one in (forest, again):
        p = 1 / (1 + np.exp(-one.logits(table)))
        np.testing.assert_allclose(p, classifier.predict_proba(table)[:, 1], atol=1e-12)
    stages = forest.staged_logits(table, [5, 20])
    np.testing.assert_allclose(stages[1], forest.logits(table))
    np.testing.assert_allclose(stages[0], forest.first(5).logits(table))
    expected = list(classifier.staged_decision_function(table))[4]
    np.testing.assert_allclose(stages[0], np.ravel(expected), atol=1e-12)


@st.composite
def forests(draw) -> Forest:
    """Make a few random trees over three features, with parents before children."""
    roots, feature, threshold, left, right, value = [], [], [], [], [], []

    def grow(depth: int) -> int:
        node = len(feature)
        inner = depth < 5 and draw(st.booleans())
        for column, entry in ((feature, -1), (threshold, 0.0), (left, 0), (right, 0), (value, 0.0)):
            column.append(entry)
        if inner:
            feature[node], threshold[node] = draw(st.integers(0, 2)), draw(st.sampled_from([0.0, 0.5, 1.0]))
            left[node], right[node] = grow(depth + 1), grow(depth + 1)
        else:
            value[node] = float(draw(st.integers(-4, 4)))
        return node

    for _ in range(draw(st.integers(0, 3))):
        roots.append(grow(0))
    data = {"roots": roots, "feature": feature, "threshold": threshold, "left": left, "right": right}
    return Forest.from_dict({**data, "value": value, "base": 0.5}, 3)


@given(forests(), st.integers(0, 2**32 - 1))
def test_forests_are_walked_from_root_to_leaf(forest, seed) -> None:
    table = np.random.default_rng(seed).choice([-0.5, 0.0, 0.25, 0.5, 1.0, 2.0], size=(20, 3))
    for row, said in zip(table, forest.logits(table), strict=True):
        total = forest.base
        for node in forest.roots:
            while forest.feature[node] >= 0:
                goes_left = row[forest.feature[node]] <= forest.threshold[node]
                node = forest.left[node] if goes_left else forest.right[node]
            total += forest.value[node]
        assert said == total


def test_forests_of_many_leaves_and_thresholds() -> None:
    """A chain of 300 questions: more than a byte can number."""
    count = 300
    nodes = np.arange(2 * count + 1)
    asks = (nodes % 2 == 0) & (nodes < 2 * count)
    forest = Forest.from_dict(
        {
            "roots": [0],
            "feature": np.where(asks, 0, -1).tolist(),
            "threshold": np.where(asks, nodes / 2, 0.0).tolist(),
            "left": np.where(asks, nodes + 1, 0).tolist(),
            "right": np.where(asks, nodes + 2, 0).tolist(),
            "value": np.where(asks, 0.0, np.where(nodes < 2 * count, (nodes - 1) / 2, count)).tolist(),
            "base": 0.0,
        },
        1,
    )
    np.testing.assert_array_equal(forest.logits(np.arange(320.0)[:, None]), np.minimum(np.arange(320), count))


def test_boosting_leaves_the_threads_of_others_alone(runs, gold) -> None:
    control = pytest.importorskip("threadpoolctl")
    with control.threadpool_limits(limits=2, user_api="blas"):
        before = [pool["num_threads"] for pool in control.threadpool_info() if pool["user_api"] == "blas"]
        fit(runs, gold, "boosted", folds=2)
        after = [pool["num_threads"] for pool in control.threadpool_info() if pool["user_api"] == "blas"]
    assert before == after


def test_boosted_needs_scikit_learn_to_fit_and_not_to_load(runs, gold, tmp_path, monkeypatch) -> None:
    fitted = fit(runs, gold, "boosted", folds=2)
    fitted.save(tmp_path / "hits.json")
    monkeypatch.setitem(sys.modules, "sklearn.ensemble", None)
    with pytest.raises(MissingDependency, match=r"treemean\[fit\]"):
        fit(runs, gold, "boosted", folds=2)
    assert load(tmp_path / "hits.json").average(runs) == fitted.average(runs)
    code = "import sys, treemean.fitting; print('sklearn' in sys.modules, 'matplotlib' in sys.modules)"
    assert python("-c", code).stdout.split() == ["False", "False"]
