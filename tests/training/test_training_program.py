"""The program without the rest of the package, and several processes that share batches."""

from __future__ import annotations

import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

import treemean
from commands import python, started
from parser_instances import SIZES, write_instance
from training_instances import ended, in_child
from treemean.training import load_config, train
from treemean.training.__main__ import main
from treemean.training.corpus import prepare
from treemean.training.sections import DataConfig

torch.set_num_threads(1)

#: What is absent where nothing can be installed.
ABSENT = ("pyarrow", "typer", "rich", "lxml", "scipy", "sklearn", "matplotlib", "treemean._core")


WITHOUT_THE_PACKAGE = {
    "a.dbr": "error: discbracket needs all of treemean",
    "a.tiger": "error: TIGER XML needs all of treemean",
    "a.parquet": "error: Parquet needs all of treemean",
    "folder": "folder: the folder holds no files",
    "absent": "absent: No such file or directory",
}


@pytest.fixture(scope="module")
def nearly_alone(tmp_path_factory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """A process in which nothing but PyTorch and NumPy is installed, and the folder in which it trained.

    It is given treebanks that it cannot read, and then a configuration, whose kernels need a GPU.
    """
    folder = tmp_path_factory.mktemp("alone")
    config = write_instance(folder)
    for given in ("a.dbr", "a.tiger", "a.parquet"):
        (folder / given).write_text("(S 0=a 1=b)\n")
    (folder / "folder").mkdir()
    code = f"""
import sys
for name in {ABSENT!r}:
    sys.modules[name] = None
from treemean import program
from treemean.training.__main__ import main
program.begin()
for name in {list(WITHOUT_THE_PACKAGE)!r}:
    assert main(["n-pcfg", "--folder", "x", "--override", f"data.train={{name}}"]) == 1
kernels = ["--override", "grammar.backend=triton", "--override", "training.device=cpu"]
sys.exit(main([{str(config)!r}, "--folder", "out", "--run", "1", *kernels]))
"""
    package = str(Path(treemean.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": package, "TRITON_INTERPRET": "0"}  # which other tests set
    return folder, python("-c", code, env=environment, cwd=folder)


def test_training_runs_where_nothing_but_pytorch_and_numpy_is_installed(nearly_alone):
    lines = nearly_alone[1].stdout.splitlines()
    assert "33 sentences to train on" in lines[0]
    assert lines[1].startswith("run 1, epoch 1/2, step 3/8: loss ")
    assert "words/s" in lines[1]
    assert lines[-1].startswith(f"{Path('out') / 'run01' / 'model'}: epoch")
    assert "selected by f1; development perplexity" in lines[-1]
    assert (nearly_alone[0] / "out" / "run01" / "model").is_dir()


def test_treebank_formats_say_that_they_need_the_package(nearly_alone):
    told = nearly_alone[1].stderr.splitlines()[: len(WITHOUT_THE_PACKAGE)]
    for line, message in zip(told, WITHOUT_THE_PACKAGE.values(), strict=True):
        assert message in line


def test_warnings_are_lines_for_people(nearly_alone):
    (told,) = nearly_alone[1].stderr.splitlines()[len(WITHOUT_THE_PACKAGE) :]
    assert told.startswith("warning: Triton kernels need a GPU, and there are none for the device cpu")


def test_pytorch_that_is_missing_is_named_with_its_extra():
    code = """
import sys
sys.modules["torch"] = None
from treemean.cli import main
sys.argv = ["treemean", *sys.argv[1:]]
main()
"""
    for arguments in (["train", "tn-lcfrs"], ["parse", "model"], ["debug", "config", "tn-lcfrs"]):
        result = python("-c", code, *arguments, code=1)
        assert "pip install 'treemean[train]'" in result.stderr
        assert "Traceback" not in result.stderr


@pytest.mark.parametrize("name", ["torch", "safetensors", "numpy"])
def test_what_is_missing_is_told_in_one_line(tmp_path, name):
    (tmp_path / "sitecustomize.py").write_text(f"import sys\nsys.modules[{name!r}] = None\n")
    result = program("n-pcfg", "--folder", "x", folder=tmp_path, PYTHONPATH=str(tmp_path))
    assert result.returncode == 1
    assert result.stderr.startswith("error: training and parsing need PyTorch and safetensors (")
    assert result.stderr.count("\n") == 1
    assert name in result.stderr


def program(*arguments, folder, **environment):
    command = [sys.executable, "-m", "treemean.training", *map(str, arguments)]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
    )


def test_a_full_output_is_named(tmp_path):
    config = str(write_instance(tmp_path))

    def work() -> None:
        with open("/dev/full", "w") as full, open(tmp_path / "errors", "w") as errors:
            os.dup2(full.fileno(), 1)
            sys.stdout, sys.stderr = os.fdopen(1, "w"), errors
            sys.exit(main([config, "--run", "1", "--folder", str(tmp_path / "out")]))

    assert ended(in_child(work)) == 1
    assert (tmp_path / "errors").read_text() == "error: standard output: No space left on device\n"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("command", ["treemean.training", "treemean"])
def test_signals_while_it_starts_end_it_without_a_word(tmp_path, command, number, code):
    """PyTorch is replaced by something that is slow to import, and takes interruptions for defects."""
    (tmp_path / "torch.py").write_text(
        "import pathlib, time\n"
        "pathlib.Path('started').touch()\n"
        "try:\n    time.sleep(60)\n"
        "except BaseException as error:\n    raise ImportError('broken') from error\n"
    )
    names = ["train", "n-pcfg"] if command == "treemean" else ["n-pcfg"]
    words = [sys.executable, "-m", command, *names, "--folder", "out"]
    slow = {"cwd": tmp_path, "env": {**os.environ, "PYTHONPATH": str(tmp_path)}}
    with started(*words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **slow) as process:
        deadline = time.monotonic() + 60
        while not (tmp_path / "started").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(number)
        told, _ = process.communicate(timeout=30)
    assert (process.returncode, told) == (code, "")


@pytest.mark.parametrize(
    ("command", "number", "code"),
    [
        ("treemean.training", signal.SIGTERM, 143),
        ("treemean", signal.SIGINT, 130),
        pytest.param("treemean.training", signal.SIGINT, 130, marks=pytest.mark.slow),
        pytest.param("treemean", signal.SIGTERM, 143, marks=pytest.mark.slow),
    ],
)
def test_interrupted_training_tells_how_to_go_on(tmp_path, command, number, code):
    config = str(write_instance(tmp_path))
    names = ["train", config] if command == "treemean" else [config]
    override = ["--override", "training.epochs=100000", "--override", "training.patience=100000"]
    words = [sys.executable, "-m", command, *names, *override, "--folder", tmp_path / "out", "--run", "1"]
    with started(*words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + 60
        metrics = tmp_path / "out" / "run01" / "metrics.jsonl"
        while not (metrics.exists() and metrics.stat().st_size) and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(number)
        _, told = process.communicate(timeout=30)
    assert process.returncode == code
    assert "Traceback" not in told
    assert "Aborted" not in told
    assert told.endswith("interrupted; the same command goes on from the last checkpoint\n")


def test_examples_of_the_help_work_as_printed(tmp_path, monkeypatch, capsys):
    """But for those of several processes or a CUDA device."""
    write_instance(tmp_path)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    shown = capsys.readouterr().out
    lines = shown[shown.index("examples:") :].replace("\\\n", "").splitlines()
    examples = [shlex.split(line) for line in lines if line.startswith("  python -m ")]
    assert len(examples) == 3
    for _, _, _, *arguments in examples:
        short = ["training.epochs=1"]
        if "tn-lcfrs-small" in arguments:
            short += [f"grammar.{name}={size}" for name, size in SIZES.items()]
        words = [*arguments, *(word for setting in short for word in ("--override", setting))]
        assert main(words) == 0, (words, capsys.readouterr().err)


def test_development_trees_that_are_absent_are_named(tmp_path, capsys):
    config = str(write_instance(tmp_path))
    for name in ("absent.jsonl", "nope"):
        override = f"data.development={tmp_path / name}"
        assert main([config, "--folder", str(tmp_path / "out"), "--override", override]) == 1
        assert f"{name}: No such file or directory" in capsys.readouterr().err


def test_wrong_arguments_are_explained(tmp_path, capsys):
    for seconds in ("-1", "nan"):
        assert main([str(write_instance(tmp_path)), "--folder", "x", "--seconds", seconds]) == 1
        assert f"0 seconds or more, not after {seconds}" in capsys.readouterr().err
    assert main(["tn-lcrfs", "--folder", str(tmp_path)]) == 1
    assert "Did you mean tn-lcfrs" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["tn-lcfrs", "--folder", "x", "--run", "1", "--runs", "2"])
    for several in (["--parallel", "2"], ["--together"]):
        with pytest.raises(SystemExit):
            main(["tn-lcfrs", "--folder", "x", "--run", "1", *several])
        assert "--parallel and --together are for several runs" in capsys.readouterr().err


@pytest.mark.parametrize("share", [1e-300, 0.999999])
def test_something_is_left_to_train_on_and_to_measure_on(tmp_path, share):
    path = tmp_path / "three.txt"
    path.write_text("a b\nc d\ne f\n")
    data = prepare(DataConfig(train=(str(path),), held_out=share))
    assert sorted([len(data.train), len(data.development)]) == [1, 2]


def test_data_of_which_nothing_can_be_used_are_named(tmp_path, capsys):
    config = str(write_instance(tmp_path))
    (tmp_path / "one.txt").write_text("Ja !\n")
    given = [config, "--folder", str(tmp_path / "out"), "--override", "training.select=likelihood"]
    for name, message in (
        (
            "data.train",
            "there is nothing to train on in data.train ({}): 1 sentence read, and none has 2 to 7",
        ),
        (
            "data.development",
            "there is nothing to measure on in data.development ({}): no sentence has 2 to 7",
        ),
    ):
        assert main([*given, "--override", f"{name}={tmp_path / 'one.txt'}"]) == 1
        assert message.format(tmp_path / "one.txt") in capsys.readouterr().err


def test_events_can_be_read_by_other_programs(tmp_path, capsys):
    config = write_instance(tmp_path)
    assert main([str(config), "--folder", str(tmp_path / "out"), "--run", "2", "--events"]) == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {event["kind"] for event in events} == {"note", "step", "epoch", "end"}
    assert {event["run"] for event in events} == {2}


def torchrun(words: list[str]) -> None:
    command = ("-m", "torch.distributed.run", "--nproc-per-node", "2", "--standalone")
    python(*command, "-m", "treemean.training", *words, env={**os.environ, "OMP_NUM_THREADS": "1"})


def fork(words: list[str]) -> None:
    """Do what `torchrun` does, but for importing PyTorch in three processes."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    place = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}

    def work(rank: int) -> None:
        os.environ |= place | {"RANK": str(rank), "LOCAL_RANK": str(rank)}
        sys.exit(main(words))

    children = [in_child(lambda rank=rank: work(rank)) for rank in range(2)]
    assert [ended(child) for child in children] == [0, 0]


@pytest.mark.parametrize("launch", [fork, pytest.param(torchrun, marks=pytest.mark.slow)])
def test_two_processes_learn_what_one_learns(tmp_path, launch):
    """Batches of 3 and fewer: shares are unequal, and some processes have none."""
    overrides = ["batches.size=3", "training.precision=float64", "recovery.drift=1e-4", "recovery.window=3"]
    config = write_instance(tmp_path)
    given = [word for override in overrides for word in ("--override", override)]
    launch([str(config), "--folder", str(tmp_path / "two"), "--only", "1", *given])
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
