"""Which models of trained runs are averaged, what they are called, and where they are."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from treemean.names import Individuals
from treemean.training.folders import RunFolder

_EPOCH = re.compile(r"(.+)-epoch(\d+)")


def models_of(folder: Path, runs: Iterable[int], individuals: Individuals) -> dict[str, Path]:
    """Return the folders of models by name: the selected one of each run, or those of all its epochs."""
    found: dict[str, Path] = {}
    for place in (RunFolder(folder, run) for run in runs):
        if individuals == "runs":
            found[place.path.name] = place.model
        else:
            found |= {f"{place.path.name}-epoch{model.name}": model for model in place.models_of_epochs()}
    return found


def model_called(folder: Path, name: str) -> Path:
    """Return the folder of the model with a name.

    >>> model_called(Path("runs"), "run02").as_posix(), model_called(Path("runs"), "run02-epoch03").as_posix()
    ('runs/run02/model', 'runs/run02/epochs/03')
    """
    epoch = _EPOCH.fullmatch(name)
    return folder / epoch[1] / "epochs" / epoch[2] if epoch else folder / name / "model"
