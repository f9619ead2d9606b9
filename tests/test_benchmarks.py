"""What scripts measured on a GPU becomes one file, tables and figures."""

from __future__ import annotations

import doctest
import json
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def _benchmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")


def epochs(count: int, f1: float) -> list[dict[str, Any]]:
    return [
        {
            "epoch": number, "seconds": 10.0 * number, "log_likelihood": -60.0 + number, "words": 10,
            "f1": f1 + number, "f1_continuous": f1 + 2, "f1_discontinuous": 1.0,
        }
        for number in range(1, count + 1)
    ]  # fmt: skip


def runs(names: list[str], count: int) -> dict[str, Any]:
    return {
        name: {"epochs": epochs(count, 30.0 + place), "restores": [], "skips": place}
        for place, name in enumerate(names)
    }


def measured(folder: Path) -> None:
    parts = {"grammar": 1.0, "inside": 0.2, "backward": 0.3, "update": 0.1}
    steps = [{"n": n, "batch": 20, "runs": 1, "whole": 1.7, "memory": 1.0, **parts} for n in (10, 20, 30, 40)]
    check = {"case": "n = 2", "good": True, "found": {"log_z": 1e-4, "gradients": {"root": 2e-4}}}
    (folder / "gpu.json").write_text(
        json.dumps({"device": "a GPU", "gate": {"passed": True, "inside": [check]}, "steps": steps})
    )
    told = {"device": "a GPU", "ensemble": runs(["run 1", "run 2"], 3), "complete": True}
    (folder / "ensemble.json").write_text(
        json.dumps(told | {"pieces": [40.0, 5.5], "epoch_seconds": [9, 9, 9]})
    )
    (folder / "quality-ours-0.json").write_text(json.dumps({"ours-0": runs(["ours-0-1"], 2)}))


def test_measurements_are_brought_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from gpu import report

    measured(tmp_path)
    docs = tmp_path / "docs"
    for name in ("images", "measurements"):
        (docs / name).mkdir(parents=True)
    marks = ("checks", "steps", "ensemble", "learning", "curves")
    (docs / "gpu.md").write_text("".join(f"<!-- {name} -->\nold\n<!-- end -->\n" for name in marks))
    kept = {"learning": {"float32-0": {"float32-0-1": {"epochs": [], "skips": 0, "restores": 0}}}}
    (docs / "measurements" / "gpu-h200.json").write_text(json.dumps(kept))
    monkeypatch.setattr(sys, "argv", ["report", str(tmp_path), "--docs", str(docs)])
    report.main()
    page, data = (
        (docs / "gpu.md").read_text(),
        json.loads((docs / "measurements" / "gpu-h200.json").read_text()),
    )
    assert "old" not in page
    assert "| inside, for given rules | 1 | 1e-04 | 2e-04 | – |" in page
    assert "| 10 | 20 | 1.70 | 56 | 1.00 | 0.20 | 0.30 | 0.10 | 1.00 | – | 36 |" in page
    assert "| 1 | 5.900 ± 0.000 | 31.5 ± 0.7 | 32.5 ± 0.7 | 1.0 ± 0.0 | 9 |" in page
    assert "1 step left out, never set back. In all 46 s in 2 pieces" in page
    assert set(data["learning"]) == {"float32-0", "ours-0"}  # the one was kept, the other is new
    assert data["ensemble"]["runs"]["run 2"]["epochs"][2]["overall"] == 34.0
    assert {path.name for path in (docs / "images").iterdir()} == {"gpu-steps.svg", "gpu-learning.svg"}


def test_errors_that_are_not_finite_are_told() -> None:
    from gpu import learning_tables, report

    for errors, told in (([1e-5, 2e-4], "never off by more than 2e-04 nats"), ([1e-5, None], "not always")):
        run = runs(["run 1"], 1)["run 1"] | {"redone": 0, "accuracy": errors}
        assert told in learning_tables.ensemble_table({"runs": report.curves({"run 1": run})})


@pytest.mark.parametrize("name", ["report", "tables"])
def test_the_examples_run(name: str) -> None:
    module = __import__(f"gpu.{name}", fromlist=[name])
    failed, attempted = doctest.testmod(module)
    assert attempted > 0
    assert failed == 0
