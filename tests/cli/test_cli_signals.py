"""What is left behind when a command is interrupted: its old output, and nothing else."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import treemean
from commands import started
from instances import independent_trees
from treemean.trees import Treebank


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("name", ["mean.discbracket", "mean.parquet"])
def test_an_interrupted_average_leaves_the_old_output(
    tmp_path: Path, number: signal.Signals, code: int, name: str
) -> None:
    runs = []
    for index, tree in enumerate(independent_trees(80, 14, random.Random(1), 0.3)):
        runs.append(tmp_path / f"run{index}.jsonl")
        treemean.write(Treebank.from_trees([tree] * 5), runs[-1])
    output, stats = tmp_path / name, tmp_path / "stats.json"
    output.write_text("old")
    stats.write_text("old")
    before = set(tmp_path.iterdir())
    words = [sys.executable, "-m", "treemean", "average", *runs, "-o", output, "--stats", stats, "--binary"]
    with started(*words, stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + 60
        while set(tmp_path.iterdir()) == before and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(0.7)  # until it searches
        assert process.poll() is None
        process.send_signal(number)
        _, errors = process.communicate(timeout=30)  # alone it would take hours
    assert process.returncode == code
    assert "Traceback" not in errors
    assert ("interrupted; files are as before" in errors) == (number == signal.SIGINT)
    assert output.read_text() == stats.read_text() == "old"
    assert set(tmp_path.iterdir()) == before


def test_an_interrupted_job_says_that_it_goes_on(tmp_path: Path) -> None:
    trees = [*independent_trees(1, 14, random.Random(1), 0.3)] * 400
    treemean.write(Treebank.from_trees(trees), tmp_path / "run.jsonl")
    output = tmp_path / "out"
    words = ["convert", tmp_path / "run.jsonl", output, "--shard-size", 1]
    with started(sys.executable, "-m", "treemean", *words, stderr=subprocess.PIPE) as process:
        while not [*output.glob("part-*")]:  # a hang is a failure
            assert process.poll() is None
            time.sleep(0.001)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert errors == "interrupted; the same command goes on from where it was\n"
    assert [*output.glob("part-*")]
