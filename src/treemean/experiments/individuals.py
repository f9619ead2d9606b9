"""Which models of trained runs are averaged, what they are called, and where they are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from treemean.errors import InvalidOption
from treemean.names import Individuals
from treemean.training.folders import RunFolder

# A run, the folder of runs if it is another than the first, and an epoch.
_NAME = re.compile(r"(run\d+)(?:-of(\d+))?(?:-epoch(\d+))?")


def models_of(folder: Path, runs: Iterable[int], individuals: Individuals) -> dict[str, Path]:
    """Return the folders of models by name: the selected one of each run, or those of all its epochs."""
    found: dict[str, Path] = {}
    for place in (RunFolder(folder, run) for run in runs):
        if individuals == "runs":
            found[place.path.name] = place.model
        else:
            found |= {f"{place.path.name}-epoch{model.name}": model for model in place.models_of_epochs()}
    return found


def models_of_others(folders: Sequence[str], individuals: Individuals) -> dict[str, Path]:
    """Return the same of runs in other folders, which are numbered from 2: `run01-of2`, `run01-of2-epoch03`.

    Raises `InvalidOption` for a folder without such models.
    """
    found: dict[str, Path] = {}
    for number, folder in enumerate(folders, 2):
        runs = (int(path.parent.name[3:]) for path in sorted(Path(folder).glob("run[0-9]*/model")))
        own = models_of(Path(folder), runs, individuals)
        if not own:
            kept = " that kept the models of their epochs" if individuals == "epochs" else ""
            raise InvalidOption(f"ensemble.others: there are no trained runs{kept} in {folder}")
        for name, model in own.items():
            run, _, epoch = name.partition("-")
            found[f"{run}-of{number}" + (f"-{epoch}" if epoch else "")] = model
    return found


def model_called(folder: Path, name: str, others: Sequence[str] = ()) -> Path:
    """Return the folder of the model with a name.

    >>> model_called(Path("runs"), "run02").as_posix(), model_called(Path("runs"), "run02-epoch03").as_posix()
    ('runs/run02/model', 'runs/run02/epochs/03')
    >>> model_called(Path("runs"), "run02-of3", ["n-lcfrs/runs", "c-lcfrs/runs"]).as_posix()
    'c-lcfrs/runs/run02/model'
    """
    parts = _NAME.fullmatch(name)
    if parts is None:
        return folder / name / "model"
    run, number, epoch = parts.groups()
    place = (folder if number is None else Path(others[int(number) - 2])) / run
    return place / "epochs" / epoch if epoch else place / "model"
