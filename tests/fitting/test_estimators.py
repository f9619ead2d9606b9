"""Estimates of how likely candidates are correct, and that they did not see their own gold."""

from __future__ import annotations

import numpy as np
from fitting_instances import bank

from treemean import sample
from treemean.averaging import average
from treemean.evaluation import evaluate
from treemean.fitting import fit
from treemean.fitting.candidates.development import make_development
from treemean.fitting.models import logistic, signed
from treemean.fitting.models.estimator import best_settings
from treemean.fitting.models.logistic import PENALTIES, fit_path, weighted_gram
from treemean.trees import Treebank


def test_regressions_have_no_slope_left() -> None:
    rng = np.random.default_rng(0)
    table = rng.normal(size=(300, 4)) * [1, 5, 0.1, 0] + 3
    correct = rng.random(300) < 1 / (1 + np.exp(-table[:, 0]))
    for regression in fit_path(table, correct, PENALTIES):
        x = (table - regression.means) / regression.scales
        p = 1 / (1 + np.exp(-regression.logits(table)))
        gradient = x.T @ (p - correct) + regression.penalty * regression.coefficients
        assert np.abs(gradient).max() < 0.05
    assert np.isfinite(next(iter(fit_path(table, np.zeros(300, dtype=bool), [1.0]))).intercept)


def test_gram_matrices_in_pieces() -> None:
    rng = np.random.default_rng(0)
    for rows, columns in ((0, 3), (1, 3), (70_000, 3), (333, 60), (20, 500)):
        x, w = rng.normal(size=(rows, columns)).astype(np.float32), rng.random(rows).astype(np.float32)
        np.testing.assert_allclose(weighted_gram(x, w), (x * w[:, None]).T @ x, rtol=1e-3, atol=1e-2)


def test_out_of_fold_estimates_did_not_see_their_sentences() -> None:
    """Gold that nothing predicts: only estimates that saw the answers could tell right from wrong."""
    rng = np.random.default_rng(3)
    shapes = [[[{0, 1}], [{1, 2}], [{2, 3}]][rng.integers(3)] for _ in range(60)]
    truth = bank(*[[[{0, 1}], [{1, 2}], [{2, 3}]][rng.integers(3)] for _ in range(60)])
    development = make_development([bank(*shapes)] * 2, truth)
    p, correct = logistic.train(development).out_of_fold, development.correct
    assert abs(p[correct].mean() - p[~correct].mean()) < 0.1


def test_settings_are_chosen_by_other_folds_than_those_they_are_scored_on(runs, gold) -> None:
    development = make_development(runs, gold, folds=3)
    fold = development.folds[development.candidates.sentence]
    rows = np.ones(len(fold), dtype=bool)
    # Setting f is without loss in fold f alone: a choice that looked at its own fold would take it.
    estimates = {float(f): np.full(len(fold), float(f)) for f in range(3)}
    _, unseen = best_settings(
        development, lambda found, _: np.where(fold == found, 0.0, 1.0), estimates, rows
    )
    assert not (unseen == fold).any()


def test_estimates_do_not_depend_on_the_gold_of_their_own_fold(monkeypatch) -> None:
    """Change the gold of one fold: its out-of-fold estimates stay what they were, for any given penalty."""
    for module in (logistic, signed):
        monkeypatch.setattr(module, "PENALTIES", (3.0,))
    parses, truth = [run[:60] for run in sample.runs()], sample.gold()[:60]
    held_out = make_development(parses, truth).folds == 0
    other = Treebank.from_trees([parses[0][s] if held_out[s] else tree for s, tree in enumerate(truth)])
    first, second = (make_development(parses, gold) for gold in (truth, other))
    own = held_out[first.candidates.sentence]
    assert (first.correct != second.correct)[own].any()
    for train in (logistic.train, signed.train):
        one, two = (train(data).out_of_fold for data in (first, second))
        np.testing.assert_allclose(one[own], two[own])
        assert not np.allclose(one[~own], two[~own])


def test_the_plain_average_stands_beside(runs, gold) -> None:
    plain = evaluate(average(runs), gold, "paper")
    for name in ("typed", "logistic"):
        report = fit(runs, gold, name).report
        assert report["plain_average"]["overall"] == plain.overall.f1
    worse = fit(runs, gold, "logistic", objective="sentence", beta=0.3).report
    assert any("plain average" in note for note in worse["notes"])
