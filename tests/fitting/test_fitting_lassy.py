"""Fitted hits on published predictions for LASSY; skipped where the data are not."""

from __future__ import annotations

import pytest

from treemean.evaluation import evaluate
from treemean.fitting import fit


def scores_of(lassy, model, chosen):
    """Fit a model to the development data of some runs, and score its averages of test data."""

    def part(name):
        return [lassy(name, f"run{k:02}") for k in chosen], lassy(name, "gold")

    fitted = fit(*part("dev"), model)
    runs, gold = part("test")
    found = evaluate(fitted.average(runs), gold, "paper")
    return found.overall.f1, found.continuous.f1, found.discontinuous.f1


ALL = range(1, 11)


def test_typed_weights_of_five_runs(lassy) -> None:
    overall, continuous, discontinuous = scores_of(lassy, "typed", (1, 8, 5, 3, 6))
    assert overall >= 51.5
    assert continuous >= 55.3
    assert discontinuous >= 10.0


def test_em_of_ten_runs(lassy) -> None:
    overall, _, discontinuous = scores_of(lassy, "em", ALL)
    assert overall >= 51.3
    assert discontinuous >= 9.0


def test_logistic_of_ten_runs(lassy) -> None:
    overall, _, discontinuous = scores_of(lassy, "logistic", ALL)
    assert overall >= 56
    assert discontinuous >= 8


@pytest.mark.slow
def test_boosted_of_ten_runs(lassy) -> None:
    overall, _, discontinuous = scores_of(lassy, "boosted", ALL)
    assert overall >= 61.5
    assert discontinuous >= 8.5
