"""Constituents that carry how likely they are right: by fitted models, by runs alone, by commands."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest
from fitting_instances import ONE_KIND, bank

import treemean
from commands import run
from instances import independent_trees
from treemean import average, sample
from treemean.errors import MismatchError, TreemeanError, Unsolved
from treemean.fitting import HitModel, add_probabilities, fit, load, reliability
from treemean.fitting.candidates.development import make_development
from treemean.trees import Treebank

LASSY_RUNS = range(1, 11)


@pytest.mark.parametrize("name", ONE_KIND)
def test_every_model_tells_probabilities_and_keeps_them_in_its_file(name, runs, gold, tmp_path) -> None:
    fitted = fit(runs, gold, name, folds=3)
    mean = fitted.average(runs, probability=True)
    p = mean.constituent_values["probability"]
    whole = mean.sizes == mean.lengths[mean.sentence_of]
    assert (p[whole] == 1).all()
    assert ((p > 0) & (p < 1))[~whole].all()
    assert mean == fitted.average(runs)  # the trees stay the same
    fitted.save(tmp_path / "hits.json")
    again = load(tmp_path / "hits.json").average(runs, probability=True)
    np.testing.assert_array_equal(again.constituent_values["probability"], p)
    told = fitted.report["confidence"]
    assert told["continuous"]["calibration_error"] < 0.1 < told["continuous"]["votes_calibration_error"]
    for kind in ("continuous", "discontinuous"):
        assert told[kind]["brier"] < told[kind]["votes_brier"]
        assert sum(found["candidates"] for found in told[kind]["bins"]) == told[kind]["candidates"]
    assert [point["coverage"] for point in told["risk_coverage"]][-1] == 1
    wrong = [point["risk"] for point in told["risk_coverage"]]
    if name in ("logistic", "boosted"):  # votes alone do not tell which constituents of an average are right
        assert wrong[2] < wrong[-1]


def test_probabilities_of_a_fold_do_not_see_its_gold() -> None:
    """Gold that nothing predicts: told after the fact, right ones would look more probable."""
    rng = np.random.default_rng(3)
    shapes = [[[{0, 1}], [{1, 2}], [{2, 3}]][rng.integers(3)] for _ in range(80)]
    truth = bank(*[[[{0, 1}], [{1, 2}], [{2, 3}]][rng.integers(3)] for _ in range(80)])
    told = fit([bank(*shapes)] * 2, truth, "equal").report["confidence"]["continuous"]
    assert told["brier"] >= told["constant_brier"]


def test_calibration_helps_where_estimates_are_wrong(runs, gold) -> None:
    """The share of the votes promises too much; fitted on one half it holds on the other one."""
    dev, test = [r[::2] for r in runs], [r[1::2] for r in runs]
    fitted = fit(dev, gold[::2], "equal")
    beside = make_development(test, gold[1::2])
    candidates, p = fitted.probabilities(test)
    rows = beside.scored & ~candidates.discontinuous
    votes = candidates.counts / candidates.runs
    errors = [reliability(x[rows], beside.correct[rows]).calibration_error for x in (p, votes)]
    assert errors[0] < 0.06 < 0.2 < errors[1]


def test_the_runs_alone_promise_less_than_votes(runs, gold) -> None:
    mean = average(runs)
    told = add_probabilities(mean, runs)
    p, support = (told.constituent_values[name] for name in ("probability", "support"))
    assert ((p >= 0) & (p <= 1)).all()
    beside = make_development(runs, gold)
    candidates, every = fit(runs, None, "agreement").probabilities(runs)
    rows = beside.scored & ~candidates.discontinuous
    errors = [
        reliability(x[rows], beside.correct[rows]).calibration_error
        for x in (every, candidates.counts / candidates.runs)
    ]
    assert errors[0] < errors[1] / 2
    assert support.mean() > p.mean()
    shuffled = add_probabilities(mean, [runs[k] for k in (3, 0, 4, 2, 1)])
    np.testing.assert_allclose(shuffled.constituent_values["probability"], p)


def test_what_nobody_proposes_is_not_probable(runs, gold) -> None:
    binary = fit(runs, gold, "typed").average([r[:20] for r in runs], binary=True, probability=True)
    p, support = (binary.constituent_values[name] for name in ("probability", "support"))
    assert (p[support == 0] == 0).all()
    assert (p[support > 0] > 0).all()


def test_sentences_that_are_skipped(tmp_path) -> None:
    """The second of three is beyond the method: what is told of the third is not told of another one."""
    rng = random.Random(5)
    long, short, last = (independent_trees(words, 3, rng, 0.0) for words in (40, 6, 7))
    banks = [Treebank.from_trees(trees) for trees in zip(short, long, last, strict=True)]
    fitted = fit(banks, None, "equal")
    skipped: list[Unsolved] = []
    method = {"method": "dynamic-programming"}
    mean = fitted.average(banks, **method, skipped=skipped, probability=True)
    assert [error.sentence for error in skipped] == [2]
    others = [bank.take([0, 2]) for bank in banks]
    expected = fitted.with_probabilities(fitted.average(others, **method), others)
    told = mean.constituent_values["probability"]
    np.testing.assert_array_equal(told, expected.constituent_values["probability"])
    assert (told > 0).all()
    names = [f"{k}.jsonl" for k in range(3)]
    for name, bank_of_run in zip(names, banks, strict=True):
        treemean.write(bank_of_run, tmp_path / name)
    fitted.save(tmp_path / "hits.json")
    run("average", *names, "--hits", "hits.json", "--probability", "--method", "dynamic-programming",
        "--skip-unsolved", "-o", "mean.jsonl", cwd=tmp_path)  # fmt: skip
    np.testing.assert_allclose(treemean.read(tmp_path / "mean.jsonl").constituent_values["probability"], told)


def test_files_of_the_first_version_load_without_probabilities(runs, gold) -> None:
    fitted = fit(runs, gold, "logistic")
    data = json.loads(json.dumps(fitted.to_dict()))
    data["version"] = 1
    del data["calibration"]
    old = HitModel.from_dict(data)
    assert old.average(runs) == fitted.average(runs)
    with pytest.raises(TreemeanError, match="fit them again"):
        old.average(runs, probability=True)


def test_what_cannot_be_told(runs) -> None:
    with pytest.raises(TreemeanError, match="one run alone"):
        add_probabilities(runs[0], runs[:1])
    with pytest.raises(MismatchError):
        add_probabilities(average(runs)[:100], runs)
    with pytest.raises(MismatchError, match="5 runs, and 4"):
        fit(runs, None, "agreement").probabilities(runs[:4])


def test_few_right_ones_are_told(runs, gold) -> None:
    notes = fit([r[:10] for r in runs], gold[:10], "logistic", folds=2).report["notes"]
    assert any("rough" in note for note in notes)


# ---- on the command line ----------------------------------------------------------------------------

RUNS = [f"run{k}.discbracket" for k in (1, 2, 3)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("probability")
    for name, parses in zip(RUNS, sample.runs(), strict=False):
        treemean.write(parses[:60], folder / name)
    treemean.write(sample.gold()[:60], folder / "gold.discbracket")
    return folder


def test_from_fit_to_drawing(folder) -> None:
    shown = run("fit", *RUNS, "--gold", "gold.discbracket", "--reliability", "r.svg", "-o", "hits.json",
                cwd=folder)  # fmt: skip
    assert "calibration error" in " ".join(shown.stdout.split())
    assert "Risk" in shown.stdout
    assert (folder / "r.svg").read_text().startswith("<?xml")
    for name in ("mean.jsonl", "mean.parquet"):
        run("average", *RUNS, "--hits", "hits.json", "--probability", "-o", name, cwd=folder)
    lines, columns = treemean.read(folder / "mean.jsonl"), treemean.read(folder / "mean.parquet")
    banks = [treemean.read(folder / name) for name in RUNS]
    expected = load(folder / "hits.json").average(banks, probability=True)
    for told in (lines, columns):
        np.testing.assert_allclose(
            told.constituent_values["probability"], expected.constituent_values["probability"]
        )
    run("convert", "mean.jsonl", "sure.jsonl", "--min-probability", "0.5", cwd=folder)
    sure = treemean.read(folder / "sure.jsonl")
    assert 0 < len(sure.labels) < len(lines.labels)
    assert sure.constituent_values["probability"].min() >= 0.5
    drawn = run("draw", "mean.jsonl", "--values", "probability", "--sentences", "1", cwd=folder)
    assert "0." in drawn.stdout


def test_by_the_runs_alone(folder) -> None:
    run("average", *RUNS, "--probability", "-o", "alone.jsonl", cwd=folder)
    banks = [treemean.read(folder / name) for name in RUNS]
    expected = add_probabilities(average(banks), banks).constituent_values["probability"]
    told = treemean.read(folder / "alone.jsonl").constituent_values["probability"]
    np.testing.assert_allclose(told, expected)
    run("average", *RUNS, "--probability", "--weights", "1,0,2", "-o", "two.jsonl", cwd=folder)
    asked = [banks[0], banks[2]]
    expected = add_probabilities(average(banks, [1, 0, 2]), asked).constituent_values["probability"]
    told = treemean.read(folder / "two.jsonl").constituent_values["probability"]
    np.testing.assert_allclose(told, expected)


def test_mistakes_are_told(folder) -> None:
    lost = run("average", *RUNS, "--probability", "-o", "x.discbracket", cwd=folder, code=1)
    assert "cannot hold probabilities" in lost.stderr
    alone = run("average", RUNS[0], "--probability", "-o", "x.jsonl", cwd=folder, code=2)
    assert "one run alone" in alone.stderr
    blind = run("fit", *RUNS, "--model", "em", "--reliability", "x.svg", "-o", "x.json", cwd=folder, code=2)
    assert "--gold" in blind.stderr
    ending = run("fit", *RUNS, "--gold", "gold.discbracket", "--reliability", "x.doc", "-o", "x.json",
                 cwd=folder, code=1)  # fmt: skip
    assert "svg" in ending.stderr
    run("fit", *RUNS, "--gold", "gold.discbracket", "--model", "typed", "-o", "old.json", cwd=folder)
    data = json.loads((folder / "old.json").read_text())
    data["version"] = 1
    (folder / "old.json").write_text(json.dumps(data))
    old = run("average", *RUNS, "--hits", "old.json", "--probability", "-o", "x.jsonl", cwd=folder, code=1)
    assert "fit them again" in old.stderr
    assert not list(folder.glob("x.*"))


# ---- on LASSY ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_lassy(lassy) -> None:
    check_lassy(lassy, "logistic", 0.02)


@pytest.mark.slow
def test_lassy_with_boosted_trees(lassy) -> None:
    check_lassy(lassy, "boosted", 0.015)


def check_lassy(lassy, model: str, limit: float) -> None:
    """Fitted to development data, all candidates of test data in ten bins of equal size."""
    dev, test = ([lassy(part, f"run{k:02}") for k in LASSY_RUNS] for part in ("dev", "test"))
    beside = make_development(test, lassy("test", "gold"))
    candidates, p = fit(dev, lassy("dev", "gold"), model).probabilities(test)
    for gapped in (False, True):
        rows = beside.scored & (candidates.discontinuous == gapped)
        right = beside.correct[rows]
        votes = candidates.counts[rows] / candidates.runs
        assert reliability(p[rows], right).calibration_error <= limit
        told, by_votes = (((x - right) ** 2).mean() for x in (p[rows], votes))
        assert told < (0.25 if gapped else 0.7) * by_votes
        assert told < right.mean() * (1 - right.mean())
