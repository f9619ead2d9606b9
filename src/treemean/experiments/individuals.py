"""Which models of trained runs are averaged, what they are called, and where they are."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from treemean.errors import InvalidOption
from treemean.names import Individuals
from treemean.parsing import Model
from treemean.parsing.normalisation import Normalisation
from treemean.training.folders import RunFolder

_RUN = re.compile(r"run(\d+)")
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


def models_of_others(own: Path, folders: Sequence[str], individuals: Individuals) -> dict[str, Path]:
    """Return the same of runs in other folders, which are numbered from 2: `run01-of2`, `run01-of2-epoch03`.

    Runs without such a model are left out; see `left_out`. Raises `InvalidOption` for a folder without
    such models, and for one that is named twice, or is the folder of the ensemble's own runs.
    """
    found: dict[str, Path] = {}
    seen = {os.path.realpath(own)}
    for number, folder in enumerate(folders, 2):
        if os.path.realpath(folder) in seen:
            raise InvalidOption(f"ensemble.others: {folder} is named twice, or is the ensemble's own folder")
        seen.add(os.path.realpath(folder))
        models = models_of(Path(folder), runs_in(Path(folder)), individuals)
        if not models:
            kept = " that kept the models of their epochs" if individuals == "epochs" else ""
            raise InvalidOption(f"ensemble.others: there are no trained runs{kept} in {folder}")
        for name, model in models.items():
            run, _, epoch = name.partition("-")
            found[f"{run}-of{number}" + (f"-{epoch}" if epoch else "")] = model
    return found


def runs_in(folder: Path) -> list[int]:
    """Return the numbers of the runs of a folder that have a model."""
    return [run for run in _all_runs_in(folder) if RunFolder(folder, run).model.exists()]


def left_out(folders: Iterable[str], individuals: Individuals) -> list[Path]:
    """Return the runs of some folders that have no model, or, if epochs are asked for, kept none of these."""
    runs = [RunFolder(Path(folder), run) for folder in folders for run in _all_runs_in(Path(folder))]
    return [
        run.path
        for run in runs
        if not run.model.exists() or (individuals == "epochs" and not run.models_of_epochs())
    ]


def _all_runs_in(folder: Path) -> list[int]:
    numbers = (_RUN.fullmatch(path.name) for path in sorted(folder.glob("run*")) if path.is_dir())
    return [int(number[1]) for number in numbers if number]


def check_words(models: Mapping[str, Path], normalisation: Normalisation) -> None:
    """Raise `InvalidOption` unless models see the words of a sentence as a configuration says."""
    for model in models.values():
        seen = Model.load(model).normalisation
        for name in ("lower_case", "number", "punctuation"):
            theirs, ours = getattr(seen, name), getattr(normalisation, name)
            told = {theirs, ours}
            if len(told) > 1 and (name != "punctuation" or "keep" in told or "auto" not in told):
                raise InvalidOption(
                    f"ensemble.others: the model {model} was trained with data.{name} = {theirs!r}, and this "
                    f"ensemble has {ours!r}: their trees would not be of the same words"
                )


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
