"""Fitted hits on published predictions for LASSY; skipped where the data are not."""

from __future__ import annotations

import pytest

from treemean.averaging import average
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


@pytest.mark.parametrize(
    ("part", "chosen", "overall", "discontinuous"),
    [("test", ALL, 52.9, 8.7), ("dev", ALL, 54.6, 10.4), ("test", (1, 3, 5, 7, 9), 52.1, 8.5)],
)
def test_agreement_without_any_gold(lassy, part, chosen, overall, discontinuous) -> None:
    """Fitted to the very trees that are averaged; gold trees are only looked at to score."""
    runs, gold = [lassy(part, f"run{k:02}") for k in chosen], lassy(part, "gold")
    found = evaluate(fit(runs, None, "agreement").average(runs), gold, "paper")
    equal = evaluate(average(runs), gold, "paper")
    assert found.overall.f1 >= overall >= equal.overall.f1
    assert found.discontinuous.f1 >= discontinuous


def test_logistic_of_ten_runs(lassy) -> None:
    overall, _, discontinuous = scores_of(lassy, "logistic", ALL)
    assert overall >= 56
    assert discontinuous >= 8


@pytest.mark.slow
def test_boosted_of_ten_runs(lassy) -> None:
    overall, _, discontinuous = scores_of(lassy, "boosted", ALL)
    assert overall >= 61.5
    assert discontinuous >= 8.5
