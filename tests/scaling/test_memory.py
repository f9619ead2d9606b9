"""Memory stays flat while input grows, and workers stay below the ceiling that docs/scaling.md states."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from scaling_instances import make_model, runs_of

import treemean
from commands import python

#: Bytes that a worker with five runs may take.
CEILING = 500 << 20
#: Allocators round, and vocabularies grow a little.
SLACK = 60 << 20

# Runs a command, and prints the largest memory of a process that it, or one of its workers, had.
MEASURE = """
import resource, subprocess, sys
subprocess.run([sys.executable, "-m", "treemean", *sys.argv[1:]], check=True, capture_output=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
"""


def memory_of(*command: object) -> int:
    return int(python("-c", MEASURE, *command).stdout)


def write(folder: Path, count: int, sentences: int) -> list[Path]:
    paths = [folder / f"{sentences}-{number}.parquet" for number in range(count)]
    for path, run in zip(paths, runs_of(count, sentences), strict=True):
        treemean.write(run, path)
    return paths


ROWS, PAGE, LAST = "(a file of rows)", "(a page)", "(the last treebank)"
COMMANDS = {
    "evaluate": ["evaluate"],
    "compare": ["compare"],
    "stats": ["stats"],
    "draw": ["draw", "--sentences", "1", "--gold", LAST],
    "average": ["average", "-o", "/dev/null", "--to", "parquet", "--jobs", "1"],
    "convert": ["convert", "--to", "jsonl"],
    "probability": ["average", "-o", "/dev/null", "--to", "parquet", "--jobs", "1", "--probability"],
    "agree": ["agree"],
    "disputed": ["agree", "--json", "--disputed", ROWS],
    "fit": ["fit", "--model", "agreement", "-o", "/dev/null"],
    "report": ["report", "-o", PAGE, "--most", "1000", "--probability", "--gold", LAST],
}
FILES = {"draw": 2, "evaluate": 2, "compare": 3, "stats": 1, "convert": 1}
#: These take minutes for more sentences than this.
MOST = {"report": 50_000, "agree": 100_000, "disputed": 50_000, "probability": 200_000, "fit": 200_000}


def growth(folder: Path, name: str, small: int, large: int) -> int:
    """Return by how much memory grows from a small to a large input."""
    found = []
    for sentences in (small, large):
        files: list[object] = [*write(folder, FILES.get(name, 3), sentences)]
        if name == "convert":
            files.append("/dev/null")
        named: dict[str, object] = {ROWS: folder / "rows.csv", PAGE: folder / "page.html", LAST: files[-1]}
        if LAST in COMMANDS[name]:
            files.pop()
        options = [named.get(one, one) for one in COMMANDS[name][1:]]
        found.append(memory_of(COMMANDS[name][0], *files, *options))
    return found[1] - found[0]


#: Tested below, each in its own way.
ALSO_TESTED = {"parse", "sample"}


def test_every_command_is_tested_or_told_to_grow() -> None:
    from treemean.cli import app

    known = {command.name or command.callback.__name__ for command in app.registered_commands}
    known |= {str(group.name) for group in app.registered_groups}
    page = (Path(__file__).parents[2] / "docs" / "measurements" / "scaling.md").read_text()
    (told,) = re.findall(r"^Not flat by design: (.*?) All other commands", page, re.DOTALL | re.MULTILINE)
    growing = {name.split()[0] for name in re.findall(r"`([a-z ]+)`", told)}
    tested = {command[0] for command in COMMANDS.values()} | ALSO_TESTED
    assert tested | growing == known
    assert not tested & growing


def test_scores_take_no_more_memory_for_more_sentences(tmp_path: Path) -> None:
    assert growth(tmp_path, "evaluate", 5_000, 25_000) < SLACK


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_memory_is_flat(tmp_path: Path, name: str) -> None:
    """From a batch to a hundred of them, or as many as can be waited for."""
    assert growth(tmp_path, name, 5_000, MOST.get(name, 400_000)) < SLACK


@pytest.mark.slow
@pytest.mark.parametrize("how", [[], ["--jobs", 2]], ids=["one process", "several"])
def test_memory_of_parsing_is_flat(tmp_path: Path, how: list[object]) -> None:
    """Of sentences that are too long to be parsed, which takes least time: they are read and written."""
    model = make_model(tmp_path / "model")
    found = []
    for sentences in (5_000, 60_000):
        (path,) = write(tmp_path, 1, sentences)
        found.append(memory_of("parse", model, path, "-o", tmp_path / "trees.jsonl", "--max-length", 2, *how))
    assert found[1] - found[0] < SLACK


@pytest.mark.slow
def test_memory_of_generating_is_flat(tmp_path: Path) -> None:
    small, large = (
        memory_of("sample", tmp_path / f"{count}.dbr", "--generate", count) for count in (9_000, 60_000)
    )
    assert large - small < SLACK


@pytest.mark.slow
def test_workers_stay_below_the_ceiling(tmp_path: Path) -> None:
    paths = write(tmp_path, 5, 60_000)
    command = ["average", *paths, "-o", tmp_path / "mean", "--engine", "local", "--workers", 2]
    assert memory_of(*command) < CEILING
