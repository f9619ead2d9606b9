"""Runs spread by an engine are those of `train_runs`, also when processes are killed."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from commands import run
from killing import kill_again_and_again
from parser_instances import tiny_config, write_instance
from treemean.scaling.engines import open_engine
from treemean.training import train_runs
from treemean.training.spread import train_spread


def models(folder: Path) -> dict[str, bytes]:
    found = sorted(folder.glob("run*/model/*.safetensors"))
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def test_spread_runs_are_the_same_runs(tmp_path: Path) -> None:
    config = tiny_config(tmp_path / "data", "run.runs=2", "training.epochs=1")
    expected = train_runs(config, tmp_path / "plain", parallel=1)
    told = []
    with open_engine("local", workers=2) as engine:
        found = train_spread(
            config, tmp_path / "spread", engine, done=lambda over, count: told.append((over, count))
        )
        again = train_spread(config, tmp_path / "spread", engine)
    assert [result.metrics for result in found] == [result.metrics for result in expected]
    assert [result.metrics for result in again] == [result.metrics for result in expected]
    assert told == [(1, 2), (2, 2)]
    assert models(tmp_path / "spread") == models(tmp_path / "plain") != {}


@pytest.mark.slow
def test_killed_runs_go_on(tmp_path: Path) -> None:
    config = write_instance(tmp_path / "data")
    command = ["train", config, "--engine", "local", "--workers", 2, "--runs", 3, "-o"]
    run(*command, tmp_path / "undisturbed", cwd=tmp_path / "data")
    kills = kill_again_and_again(
        [*command, tmp_path / "disturbed"], tmp_path / "disturbed", 4, random.Random(2), tmp_path / "log"
    )
    assert kills == 4
    assert models(tmp_path / "disturbed") == models(tmp_path / "undisturbed") != {}
