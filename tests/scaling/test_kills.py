"""Whatever is killed and whenever: the same command goes on, with the bytes of an undisturbed run."""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import Any

import pytest
from scaling_instances import SHARD, content, make_model, runs_of, write_runs, write_ties
from scaling_tasks import ERRORS, divide, fail, fail_by_another, leave, refuse

import treemean
from commands import python, run, without_room
from killing import children_of, kill, kill_again_and_again, start
from treemean.scaling.engines import open_engine


def average_command(folder: Path, output: Path) -> list[object]:
    runs = sorted(folder.glob("run?"))
    return ["average", *runs, "-o", output, "--engine", "local", "--workers", 2, "--shard-size", SHARD]


def convert_command(folder: Path, output: Path) -> list[object]:
    return [
        *("convert", folder / "run0.parquet", output, "--engine", "local", "--workers", 2),
        *("--shard-size", SHARD, "--remove-punctuation", "--branching", "random"),
    ]


def convert_text_command(folder: Path, output: Path) -> list[object]:
    return ["convert", folder / "run0.discbracket", output, "--shard-size", SHARD, "--binarise", "right"]


def average_text_command(folder: Path, output: Path) -> list[object]:
    """Files that are no Parquet are copied first."""
    runs = [folder / "run0.discbracket", folder / "run1"]
    return ["average", *runs, "-o", output, "--engine", "local", "--workers", 2, "--shard-size", SHARD]


def average_sides_command(folder: Path, output: Path) -> list[object]:
    """With all that is found by further passes, or written beside the shards."""
    return [
        *(*average_command(folder, output), "--probability", "--ties", folder / "ties.jsonl"),
        *("--stats", f"{output}.json"),
    ]


def parse_command(folder: Path, output: Path) -> list[object]:
    return [
        *("parse", folder / "model", folder / "run0.parquet", "-o", output, "--max-length", 6),
        *("--engine", "local", "--workers", 2, "--shard-size", SHARD),
    ]


COMMANDS = {
    "parse": parse_command,
    "average": average_command,
    "convert": convert_command,
    "convert-text": convert_text_command,
    "average-text": average_text_command,
    "average-sides": average_sides_command,
}


def check_kills(tmp_path: Path, name: str, kills: int, sentences: int) -> None:
    write_runs(tmp_path, 3, sentences)
    treemean.write(runs_of(1, sentences)[0], tmp_path / "run0.discbracket")
    if name == "parse":
        make_model(tmp_path / "model")
    if name == "average-sides":
        write_ties(tmp_path / "ties.jsonl", sentences)
    command = COMMANDS[name]
    run(*command(tmp_path, tmp_path / "undisturbed"))
    rng = random.Random(f"{name}{kills}")
    done = trial = 0
    while done < kills:
        output = tmp_path / f"disturbed{trial}"
        done += kill_again_and_again(
            command(tmp_path, output), output, min(3, kills - done), rng, tmp_path / "log"
        )
        assert content(output) == content(tmp_path / "undisturbed")
        if name == "average-sides":
            assert Path(f"{output}.json").read_bytes() == (tmp_path / "undisturbed.json").read_bytes()
        trial += 1
        assert trial < 10 * kills, "the job is too short to be killed"


@pytest.mark.parametrize("name", ["average", "convert"])
def test_some_kills(tmp_path: Path, name: str) -> None:
    check_kills(tmp_path, name, 3, 280)


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_many_kills(tmp_path: Path, name: str) -> None:
    check_kills(tmp_path, name, 20, 400)


@pytest.mark.slow
def test_an_evaluation_is_killed(tmp_path: Path) -> None:
    """It goes on: what it prints, and the scores of sentences, are compared; nothing is left of its work."""
    paths, work, scores = write_runs(tmp_path, 2, 2000), tmp_path / "work", tmp_path / "scores.csv"
    command = ["evaluate", *paths, "--json", "--per-sentence", scores]
    expected = run(*command).stdout
    rows = scores.read_bytes()
    command += ["--engine", "local", "--workers", 2, "--work", work]
    rng = random.Random(7)
    killed = trial = 0
    while killed < 20:
        scores.unlink()
        log = tmp_path / f"log{trial}"
        killed += kill_again_and_again(command, work, min(3, 20 - killed), rng, log)
        assert log.read_text().endswith(expected)
        assert scores.read_bytes() == rows
        assert not [*work.iterdir()]
        assert not [*tmp_path.glob(".*")]
        trial += 1
        assert trial < 100, "the job is too short to be killed"


@pytest.mark.slow
def test_workers_of_an_evaluation_are_killed(tmp_path: Path) -> None:
    """What it prints is compared."""
    paths = write_runs(tmp_path, 2, 2000)
    command = ["evaluate", *paths, "--json", "--engine", "local", "--workers", 2]
    expected = run(*command).stdout
    rng = random.Random(4)
    killed = 0
    while killed < 6:
        log = tmp_path / f"log{killed}"
        process = start(command, log)
        here = 0  # the same task may lose its process five times
        while process.poll() is None:
            workers = children_of(process.pid)
            if workers and here < 2 and rng.random() < 0.2:
                here += kill(rng.choice(workers))
            time.sleep(0.05 * rng.random())
        killed += here
        assert process.returncode == 0, log.read_text()
        assert log.read_text() == expected


def test_workers_end_with_their_driver(tmp_path: Path) -> None:
    """A driver that is killed leaves no process behind."""
    write_runs(tmp_path, 3, 280)
    process = start(average_command(tmp_path, tmp_path / "mean"), tmp_path / "log")
    workers: list[int] = []
    while not workers and process.poll() is None:
        workers = children_of(process.pid)
        time.sleep(0.01)
    process.kill()
    process.wait()
    assert workers
    while any(Path(f"/proc/{worker}/cmdline").exists() for worker in workers):
        time.sleep(0.01)  # a hang is a failure


def test_a_worker_that_always_dies_is_told() -> None:
    with (
        open_engine("local", workers=2) as engine,
        pytest.raises(treemean.TreemeanError, match=r"ended its process 5 times \(exit code 3\)"),
    ):
        list(engine.map(leave, 3, [None]))


def test_errors_of_workers_are_told_as_they_are() -> None:
    with open_engine("local", workers=2) as engine:
        with pytest.raises(treemean.TreemeanError, match=r"^no such thing as 1$"):
            list(engine.map(refuse, "no such thing as", [1, 1]))
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            list(engine.map(divide, 1, [0]))
        assert sorted(engine.map(divide, 6, [1, 2, 3])) == [(0, 6.0), (1, 3.0), (2, 2.0)]


@pytest.mark.parametrize("engine", ["local", pytest.param("ray", marks=pytest.mark.slow)])
def test_errors_of_ours_come_back_as_themselves(engine: Any) -> None:
    if engine == "ray":
        pytest.importorskip("ray")
    with open_engine(engine, workers=2) as opened:
        for number, error in enumerate(ERRORS):
            with pytest.raises(type(error)) as found:
                list(opened.map(fail, None, [number]))
            assert type(found.value) is type(error)
            assert (str(found.value), vars(found.value)) == (str(error), vars(error))
        with pytest.raises(treemean.TreemeanError, match=r"^number 7$") as found:  # by its base
            list(opened.map(fail_by_another, None, [7]))
        assert type(found.value) is treemean.TreemeanError


def test_a_full_disk_stops_cleanly(tmp_path: Path) -> None:
    """What was written stays, nothing else is left, and with room the same command goes on."""
    write_runs(tmp_path, 1, 280)
    command = ["convert", tmp_path / "run0.parquet", tmp_path / "out", "--shard-size", 200]
    whole = tmp_path / "whole"
    run("convert", tmp_path / "run0.parquet", whole, "--shard-size", 200)
    sizes = sorted(path.stat().st_size for path in whole.glob("part-*"))

    done = python("-m", "treemean", *command, code=1, **without_room(sizes[0] + 100))
    assert "File too large" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list((tmp_path / "out").glob("*.part"))
    run(*command)
    assert content(tmp_path / "out") == content(whole)
