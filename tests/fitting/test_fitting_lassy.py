"""Fitted hits on published predictions for LASSY; skipped where the data are not."""

from __future__ import annotations

import pytest

import treemean
from treemean.evaluation import evaluate
from treemean.fitting import fit


@pytest.fixture(scope="module")
def lassy(data_folder):
    folder = data_folder / "lassy-predictions"

    def part(name):
        runs = [treemean.read(folder / name / f"run{k:02}.discbracket.gz") for k in range(1, 11)]
        return runs, treemean.read(folder / name / "gold.discbracket.gz")

    return {name: part(name) for name in ("dev", "test")}


def scores_of(lassy, model, chosen):
    runs, gold = lassy["dev"]
    fitted = fit([runs[k - 1] for k in chosen], gold, model)
    runs, gold = lassy["test"]
    found = evaluate(fitted.average([runs[k - 1] for k in chosen]), gold, "paper")
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
