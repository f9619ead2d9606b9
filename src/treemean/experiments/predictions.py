"""What several runs say about the same sentences, and their gold trees."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from treemean.errors import FormatError, MismatchError
from treemean.formats import read
from treemean.trees import Treebank

#: How files of gold trees and of runs begin.
GOLD, RUN = "gold", "run"

# What stands where in the folder of an ensemble.
#: The parts of `parses`.
DEVELOPMENT, TEST = "dev", "test"
#: The averages.
NON_BINARY_FILE, BINARY_FILE = "ensemble/non-binary.discbracket", "ensemble/binary.discbracket"
#: The fitted model, if there is one, and all scores.
HITS_FILE, RESULTS_FILE = "ensemble/hits.json", "results.json"


@dataclass(frozen=True)
class Predictions:
    """Gold trees of some sentences, and what runs say about them, by the name of the run."""

    gold: Treebank
    runs: Mapping[str, Treebank]


def files_of(folder: str | os.PathLike[str]) -> dict[str, Path]:
    """Return the files `gold.*` and `run*.*` of a folder; a run is named after its file, endings apart."""
    files: dict[str, Path] = {}
    for path in _listed(Path(folder)):
        name = path.name.partition(".")[0]
        if name != GOLD and not name.startswith(RUN):
            continue
        if name in files:
            raise FormatError(
                f"two files are named {name}: {files[name].name} and {path.name}", path=str(folder)
            )
        files[name] = path
    if GOLD not in files:
        raise FormatError(f"there is no file {GOLD}.* with gold trees", path=str(folder))
    if len(files) < 2:
        raise FormatError(f"there are no files {RUN}*.* with trees of runs", path=str(folder))
    return files


def read_folder(folder: str | os.PathLike[str], dialect: str = "auto") -> Predictions:
    """Read `gold.*` and `run*.*` of a folder, in any format; see `files_of`.

    `dialect` is of PTB brackets among them.
    """
    trees = {name: read(path, dialect=dialect) for name, path in files_of(folder).items()}
    return Predictions(trees.pop(GOLD), trees)


def read_parts(
    test: str | os.PathLike[str], development: str | os.PathLike[str] | None, dialect: str
) -> tuple[Predictions, Predictions | None]:
    """Read the folder of the test sentences, and that of the development sentences with the same runs."""
    asked = read_folder(test, dialect)
    if development is None:
        return asked, None
    known = read_folder(development, dialect)
    _check_same_runs(known, asked)
    return asked, Predictions(known.gold, {name: known.runs[name] for name in asked.runs})


def _check_same_runs(development: Predictions, test: Predictions) -> None:
    """Raise an error, which names the runs, if the two do not have the same ones."""
    for here, there, ones, others in (
        ("development", "test", development, test),
        ("test", "development", test, development),
    ):
        if missing := [name for name in ones.runs if name not in others.runs]:
            raise MismatchError(
                f"{', '.join(missing)}: among the runs of the {here} set, not of the {there} set"
            )


def _listed(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise FormatError("there is no such folder", path=str(folder))
    files = [path for path in folder.iterdir() if path.is_file()]
    return sorted(files, key=lambda path: [(len(part), part) for part in re.split(r"(\d+)", path.name)])
