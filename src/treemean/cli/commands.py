"""What commands say about the files that they name: which are read, and which are written.

A parameter says so in its annotation, `Annotated[str, READS, typer.Argument(…)]`. Before a command runs, no
file to write may also be another file of it; while it runs, nothing may be written over what it reads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, Literal, get_type_hints

import typer

from treemean.cli import help

#: The parameter that lets a command write over its first input.
IN_PLACE = "in_place"


@dataclass(frozen=True)
class Files:
    """What a command does with the files of a parameter.

    Parameters
    ----------
    role : whether it reads or writes them; a folder is written file by file, see `files.inputs.protected`.
    of_folder : which files of a folder are read, all if none are named.
    folder_must_exist : whether the folder of a file to write is looked for before the command runs.
    """

    role: Literal["reads", "writes"]
    of_folder: tuple[str, ...] = ()
    folder_must_exist: bool = False


READS, WRITES = Files("reads"), Files("writes", folder_must_exist=True)
#: Writes a folder, which is made with those above it; or a file that is opened before anything else is done.
WRITES_FOLDER = Files("writes")
#: Reads the trees of a folder, see `experiments.predictions.read_folder`.
READS_PREDICTIONS = Files("reads", ("gold*", "run*"))
#: Reads what `treemean ensemble` left in the folders below its own; tables may go to its own.
READS_ENSEMBLE = Files("reads", ("parses/*/*",))
#: Reads a trained model, or the models of an ensemble; trees may go into the same folder.
READS_MODEL = Files("reads", ("model.*", "results.json", "hits.json", "run*/model/*"))


class App(help.App):
    """Commands that look after their files."""

    def command(self, name: str | None = None, **options: Any) -> Callable[[Any], Any]:
        """Register a command, see `typer.Typer.command`."""
        register = super().command(name, **options)

        def decorate(function: Any) -> Any:
            register(_guarded(function))
            return function

        return decorate


def files_of(function: Callable[..., Any]) -> dict[str, Files]:
    """Return what a command says about its parameters."""
    hints = get_type_hints(function, include_extras=True)
    return {
        name: said
        for name, hint in hints.items()
        for said in getattr(hint, "__metadata__", ())
        if isinstance(said, Files)
    }


def _guarded(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def run(**given: Any) -> Any:
        from treemean.files.inputs import protected
        from treemean.files.output import check_folder

        said = files_of(function)
        inputs = [path for _, path in _paths(given, said, "reads")]
        if given.get(IN_PLACE):
            del inputs[0]
        advice = "; --in-place writes over the input" if IN_PLACE in given else ""
        outputs = list(_paths(given, said, "writes"))
        check_different(outputs, inputs, advice)
        for name, path in outputs:
            if said[name].folder_must_exist:
                check_folder(path)
        with protected(inputs):
            return function(**given)

    return run


def check_different(outputs: Sequence[tuple[str, str]], inputs: Sequence[str], advice: str = "") -> None:
    """Raise a usage error if a file to write is also another file of the same command.

    Parameters
    ----------
    outputs : with the names of their parameters.
    advice : what to do about it.
    """
    from treemean.files.inputs import is_same

    for place, (name, target) in enumerate(outputs):
        others = [*inputs, *(path for _, path in outputs[:place])]
        if any(is_same(target, other) for other in others):
            hint = "OUT" if name == "target" else f"--{name.replace('_', '-')}"
            raise typer.BadParameter(
                f"{target} is also an input, or another output, of this command{advice}", param_hint=hint
            )


def _paths(
    given: Mapping[str, Any], said: Mapping[str, Files], role: Literal["reads", "writes"]
) -> Iterator[tuple[str, str]]:
    """Yield the files of a role as they are given, with the names of their parameters."""
    for name, files in said.items():
        values = given.get(name)
        if files.role != role or not values:
            continue
        for value in values if isinstance(values, list) else [values]:
            if files.of_folder and os.path.isdir(value):
                inside = (path for pattern in files.of_folder for path in Path(value).glob(pattern))
                yield from ((name, str(path)) for path in inside if path.is_file())
            else:
                yield name, os.fspath(value)
