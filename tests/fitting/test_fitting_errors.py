"""What cannot work is told: options, files, numbers."""

from __future__ import annotations

import json

import pytest

from treemean.errors import FormatError, InvalidOption, MismatchError, TreemeanError
from treemean.fitting import HitModel, fit, load


def test_wrong_uses_are_told(runs, gold) -> None:
    with pytest.raises(InvalidOption, match="no model 'magic'"):
        fit(runs, gold, "magic")
    with pytest.raises(TreemeanError, match="needs gold"):
        fit(runs)
    with pytest.raises(TreemeanError, match="fitted to gold"):
        fit(runs, None, "typed")
    with pytest.raises(MismatchError, match="120 sentences, and the gold has 119"):
        fit(runs, gold[:119], "typed")
    with pytest.raises(TreemeanError, match="at least one"):
        fit([], gold, "typed")
    with pytest.raises(InvalidOption, match="eta is -1"):
        fit(runs, gold, "logistic", eta=-1)
    with pytest.raises(TreemeanError, match="at least 2"):
        fit(runs, gold, "typed", folds=1)
    with pytest.raises(MismatchError, match="5 runs, and 4 are given"):
        fit(runs, gold, "logistic").average(runs[:4])


def damaged(data: dict, change: str) -> str:
    if change == "version":
        data["version"] = 99
    elif change == "format":
        data["format"] = "something else"
    elif change == "model":
        data["model"] = "magic"
    elif change == "values":
        del data["values"]["forest"]["left"]
    elif change == "loop":
        data["values"]["forest"]["left"][0] = 0
    elif change == "length":
        data["values"]["forest"]["value"].pop()
    elif change == "chosen":
        data["chosen"] = [77]
    elif change == "objective":
        data["objective"]["kind"] = "luck"
    elif change == "dag":  # every node names the next one twice: as a walk it would take 2^80 steps
        later = [*range(1, 81), 0]
        data["values"]["forest"].update(
            roots=[0],
            feature=[0] * 80 + [-1],
            threshold=[0.5] * 81,
            left=later,
            right=later,
            value=[0.0] * 81,
        )
    elif change == "nan":
        data["values"]["continuous_share"] = float("nan")
    elif change == "large":
        data["values"]["forest"]["left"][0] = 10**30
    elif change == "text":
        data["runs"] = "abcde"
    elif change == "fraction":
        data["chosen"][0] = 0.5
    elif change == "escape":
        data["runs"][0] = "\x1b[31m"
    elif change == "negative":
        data["objective"]["gold"] = -1.0
    elif change == "number":
        data["objective"] = [1]
    elif change == "deep":
        return "[" * 100_000
    elif change == "cut":
        return json.dumps(data)[:-20]
    elif change == "list":
        return "[]"
    return json.dumps(data)


@pytest.fixture(scope="module")
def boosted(runs, gold) -> HitModel:
    return fit(runs, gold, "boosted", folds=2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("version", "version 99"),
        ("format", "no file of hits"),
        ("model", "magic"),
        ("values", "damaged"),
        ("loop", "lead nowhere"),
        ("length", "different lengths"),
        ("chosen", "77"),
        ("objective", "damaged"),
        ("dag", "lead nowhere"),
        ("nan", "finite numbers"),
        ("large", "whole numbers"),
        ("text", "not a list"),
        ("fraction", "whole numbers"),
        ("escape", "printable"),
        ("negative", "not negative"),
        ("number", "objective"),
        ("deep", "no JSON"),
        ("cut", "no JSON"),
        ("list", "no file of hits"),
    ],
)
def test_broken_files_are_told(boosted, tmp_path, change, message) -> None:
    path = tmp_path / "hits.json"
    path.write_text(damaged(boosted.to_dict(), change))
    with pytest.raises(FormatError, match=message) as caught:
        load(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("typed", "continuous", [-1, 1, 1, 1, 1]),
        ("scalar", "discontinuous", [0, 0, 0, 0, 0]),
        ("equal", "continuous", [1, 1]),
        ("agreement", "continuous", [-1.0, 1, 1, 1, 1]),
        ("agreement", "discontinuous", [1.0]),
        ("agreement", "one_word", 1.5),
        ("em", "right", [0.0, 0.5, 0.5, 0.5, 0.5]),
        ("em", "wrong", [0.5, 0.5]),
        ("em", "prior", 2),
        ("signed", "continuous", [[0.1]] * 5),
        ("signed", "discontinuous", [0.1]),
    ],
)
def test_numbers_that_cannot_be_are_told(name, place, value, runs, gold) -> None:
    data = fit([run[:20] for run in runs], gold[:20], name, folds=2).to_dict()
    data["values"][place] = value
    with pytest.raises(FormatError):
        HitModel.from_dict(json.loads(json.dumps(data)))


def test_files_may_be_compressed_but_not_endless(runs, gold, tmp_path, monkeypatch) -> None:
    fitted = fit(runs, gold, "typed")
    fitted.save(tmp_path / "hits.json.gz")
    assert load(tmp_path / "hits.json.gz").to_dict() == fitted.to_dict()
    packed = (tmp_path / "hits.json.gz").read_bytes()
    (tmp_path / "cut.json.gz").write_bytes(packed[: len(packed) // 2])
    with pytest.raises(FormatError, match="too early"):
        load(tmp_path / "cut.json.gz")
    monkeypatch.setattr("treemean.fitting.models.hit_model._LARGEST", 100)
    with pytest.raises(FormatError, match="at most 100 bytes"):
        load(tmp_path / "hits.json.gz")


def test_options_that_would_change_nothing_are_told(runs, gold) -> None:
    for model, options in (
        ("logistic", {"beta": 0.5}),
        ("logistic", {"eta": 1.0, "target": "disc"}),
        ("typed", {"score": "overall"}),
        ("typed", {"size": 2}),
        ("signed", {"objective": "expected", "trade_off": True}),
    ):
        with pytest.raises(InvalidOption, match="change nothing"):
            fit(runs, gold, model, **options)
    for beta in (float("nan"), -1.0):
        with pytest.raises(InvalidOption, match="beta"):
            fit(runs, None, "em", beta=beta)


def test_a_missing_file_is_told(tmp_path) -> None:
    with pytest.raises(FormatError, match="No such file"):
        load(tmp_path / "none.json")
