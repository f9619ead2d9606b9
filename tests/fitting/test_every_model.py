"""Every hit model: fits, averages, survives its file, and bears odd development data."""

from __future__ import annotations

import json

import numpy as np
import pytest
from fitting_instances import ONE_KIND, bank

from treemean import sample
from treemean.averaging import average
from treemean.errors import TreemeanError
from treemean.evaluation import evaluate
from treemean.fitting import fit, load


@pytest.mark.parametrize("name", ONE_KIND)
def test_every_model_fits_averages_and_survives_its_file(name, runs, gold, tmp_path) -> None:
    fitted = fit(runs, gold, name, folds=3)
    assert fitted.name == name
    result = fitted.average(runs)
    assert result.sentence_values["optimal"].all()
    score = evaluate(result, gold).overall.f1
    assert score > max(evaluate(run, gold).overall.f1 for run in runs)
    fitted.save(tmp_path / "hits.json")
    again = load(tmp_path / "hits.json")
    assert again.average(runs) == result
    assert again.to_dict() == fitted.to_dict()
    hits = fitted.hits(runs)
    assert [len(h) for h in hits] == [len(run.labels) for run in runs]
    report = fitted.report["cross_validated"]
    assert all(report[m]["low"] <= report[m]["f1"] <= report[m]["high"] for m in report)
    assert fitted.report["schemes"] >= 1
    assert [run["sentences"] for run in fitted.provenance["runs"]] == [120] * len(runs)


@pytest.mark.parametrize("name", ONE_KIND)
def test_the_same_data_give_the_same_model(name, runs, gold) -> None:
    few = [run[:40] for run in runs]
    first, second = (fit(few, gold[:40], name, folds=2, jobs=jobs).to_dict() for jobs in (1, 3))
    assert json.dumps(first) == json.dumps(second)


@pytest.mark.parametrize("name", ONE_KIND)
@pytest.mark.parametrize("count", [1, 20, pytest.param(100, marks=pytest.mark.slow)])
def test_one_run_and_many(name, count, runs, gold) -> None:
    many = [runs[k % len(runs)][:12] for k in range(count)]
    fitted = fit(many, gold[:12], name, folds=2)
    result = fitted.average(many)
    assert len(result) == 12
    if count == 1 and name in ("equal", "scalar", "typed"):
        assert np.array_equal(result.bits, many[0].bits)  # a binary run is its own average


@pytest.mark.parametrize("name", ONE_KIND)
def test_development_data_without_discontinuous_gold(name, runs, gold) -> None:
    flat = np.array([tree.fan_out == 1 for tree in gold])
    assert 20 < flat.sum() < len(gold)
    fitted = fit([run.take(flat) for run in runs], gold.take(flat), name, folds=3)
    result = fitted.average(runs)
    assert len(result) == len(gold)
    if name in ("scalar", "typed", "signed", "logistic", "boosted"):
        told = ("no discontinuous constituent", "any discontinuous constituent")
        assert any(words in note for note in fitted.report["notes"] for words in told)
    if name in ("signed", "logistic", "boosted"):
        gapped = [evaluate(bank, gold).discontinuous.predicted for bank in (result, runs[0])]
        assert gapped[0] <= 0.2 * gapped[1]


def test_gold_without_any_correct_candidate() -> None:
    run = bank(*[[{0, 1}]] * 6)
    other = bank(*[[{1, 2}]] * 6)
    for name in ONE_KIND:
        if name == "boosted":
            with pytest.raises(TreemeanError, match="none of the candidates"):
                fit([run, run], other, name, folds=2)
        else:
            assert len(fit([run, run], other, name, folds=2).average([run, run])) == 6


def test_sentences_without_candidates() -> None:
    run = bank([], [], [])
    for name in ("equal", "agreement", "em", "scalar", "typed", "signed", "logistic"):
        assert fit([run, run], run, name, folds=2).average([run, run]) == average([run, run])


def test_runs_may_keep_the_punctuation_that_gold_marks() -> None:
    whole = sample.generate(40, seed=5)
    parses = sample.noisy_parses(whole, runs=3, seed=1)
    fitted = fit(parses, whole, "logistic", folds=2)
    mean = fitted.average(parses)
    assert evaluate(mean, whole).overall.f1 > evaluate(parses[0], whole).overall.f1
