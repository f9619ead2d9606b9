"""The program without the rest of the package, and several processes that share batches."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

import treemean
from parser_instances import gold_trees, write_instance
from treemean import write
from treemean.parsing import read_columns
from treemean.training import load_config, train
from treemean.training.__main__ import main

torch.set_num_threads(1)

#: What is absent where nothing can be installed.
ABSENT = ("pyarrow", "typer", "rich", "lxml", "scipy", "sklearn", "matplotlib", "treemean._core")


def test_training_runs_where_nothing_but_pytorch_and_numpy_is_installed(tmp_path):
    config = write_instance(tmp_path)
    code = f"""
import sys
for name in {ABSENT!r}:
    sys.modules[name] = None
from treemean.training.__main__ import main
sys.exit(main([{str(config)!r}, "--folder", {str(tmp_path / "out")!r}, "--run", "1"]))
"""
    environment = {**os.environ, "PYTHONPATH": str(Path(treemean.__file__).parents[1])}
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment
    )
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert "33 sentences to train on" in lines[0]
    assert lines[1].startswith("run 1, epoch 1/2, step 3/8: loss ")
    assert "words/s" in lines[1]
    assert lines[-1].startswith(f"{tmp_path / 'out' / 'run01' / 'model'}: epoch")
    assert "selected by f1; development perplexity" in lines[-1]


def test_treebank_formats_say_that_they_need_the_package(tmp_path):
    code = f"""
import sys
for name in {ABSENT!r}:
    sys.modules[name] = None
from treemean.training.__main__ import main
sys.exit(main(["n-pcfg", "--folder", "x", "--override", "data.train=a.dbr"]))
"""
    (tmp_path / "a.dbr").write_text("(S 0=a 1=b)\n")
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert result.returncode == 1
    assert "treebank formats need all of treemean" in result.stderr


def test_pytorch_that_is_missing_is_named_with_its_extra():
    code = """
import sys
sys.modules["torch"] = None
from treemean.cli import main
sys.argv = ["treemean", *sys.argv[1:]]
main()
"""
    for arguments in (["train", "tn-lcfrs"], ["parse", "model"], ["debug", "config", "tn-lcfrs"]):
        result = subprocess.run(
            [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
        )
        assert result.returncode == 1
        assert "install treemean[train]" in result.stderr
        assert "Traceback" not in result.stderr


def test_gold_trees_are_prepared_for_such_a_machine(tmp_path, capsys):
    write(gold_trees(), tmp_path / "gold.jsonl")
    assert main(["prepare", str(tmp_path / "gold.jsonl"), str(tmp_path / "gold.npz")]) == 0
    assert "12 sentences written" in capsys.readouterr().out
    assert read_columns(tmp_path / "gold.npz") == gold_trees()
    assert main(["prepare", str(tmp_path / "absent.jsonl"), str(tmp_path / "gold.npz")]) == 1
    assert "error: " in capsys.readouterr().err
    (tmp_path / "text.txt").write_text("no trees here\n")
    assert main(["prepare", str(tmp_path / "text.txt"), str(tmp_path / "gold.npz")]) == 1
    assert "text.txt: plain text has no trees" in capsys.readouterr().err


def test_wrong_arguments_are_explained(tmp_path, capsys):
    for seconds in ("-1", "nan"):
        assert main([str(write_instance(tmp_path)), "--folder", "x", "--seconds", seconds]) == 1
        assert f"0 seconds or more, not after {seconds}" in capsys.readouterr().err
    assert main(["tn-lcrfs", "--folder", str(tmp_path)]) == 1
    assert "did you mean tn-lcfrs" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["tn-lcfrs", "--folder", "x", "--run", "1", "--runs", "2"])


def test_events_can_be_read_by_other_programs(tmp_path, capsys):
    config = write_instance(tmp_path)
    assert main([str(config), "--folder", str(tmp_path / "out"), "--run", "2", "--events"]) == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {event["kind"] for event in events} == {"note", "step", "epoch", "end"}
    assert {event["run"] for event in events} == {2}


def torchrun(config: Path, folder: Path, *overrides: str) -> None:
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--standalone"]
    command += ["-m", "treemean.training"]
    command += [str(config), "--folder", str(folder), "--only", "1"]
    for override in overrides:
        command += ["--override", override]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert result.returncode == 0, result.stderr[-3000:]


def test_two_processes_learn_what_one_learns(tmp_path):
    """Batches of 3 and fewer: shares are unequal, and some processes have none."""
    overrides = ["batches.size=3", "training.precision=float64", "recovery.drift=1e-4", "recovery.window=3"]
    config = write_instance(tmp_path)
    torchrun(config, tmp_path / "two", *overrides)
    train(load_config(config, overrides), tmp_path / "one")
    one, two = (
        load_file(tmp_path / name / "run01" / "model" / "model.safetensors") for name in ("one", "two")
    )
    for name, tensor in one.items():
        torch.testing.assert_close(two[name], tensor, rtol=1e-9, atol=1e-11)
    events = [
        [json.loads(line) for line in (tmp_path / name / "run01" / "metrics.jsonl").read_text().splitlines()]
        for name in ("one", "two")
    ]
    assert [e["event"] for e in events[0]] == [e["event"] for e in events[1]]
    assert any(e["event"] == "restore" for e in events[0])
    for first, second in zip(*events, strict=True):
        if first["event"] == "step":
            assert second["loss"] == pytest.approx(first["loss"], rel=1e-9)
            assert second["norm"] == pytest.approx(first["norm"], rel=1e-7)
