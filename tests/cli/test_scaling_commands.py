"""Options of jobs over shards: what goes together, and what is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import treemean
from treemean import sample, scaling
from treemean.cli import app


def call(*arguments: object, code: int = 0) -> str:
    """Call a command in this process, and return what it said."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], env={"COLUMNS": "200"})
    if isinstance(result.exception, treemean.TreemeanError):
        assert code == 1
        return str(result.exception)
    assert result.exit_code == code, result.output
    return result.output


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / f"run{number}.parquet" for number in (1, 2, 3)]
    for path, run in zip(paths, sample.runs()[:3], strict=True):
        treemean.write(run[:50], path)
    return paths


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--workers", 2], "it works only with --engine"),
        (["--address", "auto"], "it works only with --engine"),
        (["--engine", "local", "--to", "jsonl"], "shards are Parquet files"),
        (["--engine", "local", "--time-limit", 1], "cannot be used when shards are written"),
        (["--shard-size", 10, "--jobs", 2], "cannot be used when shards are written"),
        (["--engine", "local", "--ties", "values.jsonl"], "nor a file"),
    ],
)
def test_options_that_do_not_go_together(runs: list[Path], tmp_path: Path, options, message: str) -> None:
    assert message in call("average", *runs, "-o", tmp_path / "mean", *options, code=2)
    assert not (tmp_path / "mean").exists()


def test_shards_are_not_printed(runs: list[Path], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for output in ("-", tmp_path / "file"):
        said = call("average", *runs, "-o", output, "--engine", "local", code=2)
        assert "shards are written to a folder" in said
    said = call("average", *runs, "-o", tmp_path / "mean", "--engine", "local", "--address", "auto", code=1)
    assert "give the engine ray" in said


def test_a_folder_is_asked_for_by_its_name(runs: list[Path], tmp_path: Path) -> None:
    said = call("average", *runs, "-o", f"{tmp_path / 'mean'}/")
    assert "50 sentences averaged, 50 proven optimal" in said
    assert "was finished before: nothing to do" in call("average", *runs, "-o", f"{tmp_path / 'mean'}/")
    assert scaling.average(runs, tmp_path / "mean", workers=1).before  # the same job, told otherwise
    assert treemean.read(tmp_path / "mean") == treemean.average([treemean.read(run) for run in runs])


def test_conversions_of_shards_say_what_plain_ones_say(runs: list[Path], tmp_path: Path) -> None:
    options = ["--max-length", 7, "--sentences", "3-40", "--make-continuous"]
    plain = call("convert", runs[0], tmp_path / "plain.parquet", *options)
    shards = call("convert", runs[0], tmp_path / "shards", "--shard-size", 9, *options)
    assert shards.replace("/shards", "/plain.parquet") == plain
    assert treemean.read(tmp_path / "shards") == treemean.read(tmp_path / "plain.parquet")
    said = call("convert", runs[0], tmp_path / "none", "--shard-size", 9, "--sentences", "60", code=1)
    assert "there is no sentence 60; it has 50" in said


def test_what_was_set_aside_is_written_as_it_stood(tmp_path: Path) -> None:
    source = tmp_path / "some.jsonl"
    treemean.write(sample.gold()[:4], source)
    source.write_text(source.read_text() + "{bad\n")
    said = call(
        *(
            "convert",
            source,
            tmp_path / "out",
            "--shard-size",
            2,
            "--skip-bad",
            "--bad-file",
            tmp_path / "bad",
        ),
    )
    assert "1 bad sentence skipped" in said
    assert (tmp_path / "bad").read_text() == "{bad\n"


def test_info() -> None:
    told = json.loads(call("info", "--json"))
    assert told["treemean"] == treemean.__version__
    assert told["packages"]["numpy"]
    assert told["cores"] >= 1
    assert f"treemean  {treemean.__version__}" in call("info")
