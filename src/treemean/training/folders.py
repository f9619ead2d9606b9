"""The folder of several runs and the folder of one: what is where, and that nothing in it is mixed up.

OUT/resolved.toml        the complete configuration
OUT/corpus/              the data as numbers
OUT/run01/metrics.jsonl  what was measured, line by line
OUT/run01/checkpoint/    from which an interrupted run goes on
OUT/run01/model/         the selected model
OUT/run01/epochs/01/     the model of an epoch, if all of them are kept (checkpoint.epochs)
OUT/run01/result.json    written when the run is finished
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import count, takewhile
from pathlib import Path
from typing import Any

from treemean.errors import FormatError, InvalidOption, TreemeanError
from treemean.files.checksums import content_checksum
from treemean.files.locks import lock, try_lock
from treemean.files.output import write_file
from treemean.files.records import record
from treemean.files.sealed import sealed, unsealed
from treemean.parsing.model import DESCRIPTION, TENSORS, check_model
from treemean.training.config import load_config, to_toml
from treemean.training.sections import TrainingConfig

#: Not the name that the file of a user is likely to have, who may train beside it.
RESOLVED = "resolved.toml"
_LOCK = ".lock"


@dataclass(frozen=True)
class RunResult:
    """What a finished run gave.

    Parameters
    ----------
    run : its number.
    model : the folder of the selected model.
    select : by what it was selected on the development set, `"f1"` or `"likelihood"`.
    epoch : in which it was selected.
    metrics : what it is worth on the development set, see `development.DevelopmentScores`.
    finished : why the run ended.
    steps, seconds : how long it was.
    """

    run: int
    model: Path
    select: str
    epoch: int
    metrics: Mapping[str, Any]
    finished: str
    steps: int
    seconds: float


class NoModel(TreemeanError):
    """A run that is over and has no model; others can be trained all the same."""


def all_of(results: Sequence[RunResult], failures: Sequence[NoModel]) -> list[RunResult]:
    """Return the results of some runs; raise one error that names those without a model, if there are any."""
    if not failures:
        return list(results)
    if not results and len(failures) == 1:
        raise failures[0]
    count = len(results) + len(failures)
    raise NoModel(
        f"{len(failures)} of {count} runs {'has' if len(failures) == 1 else 'have'} no model; those that are "
        f"finished are not trained again. {'; '.join(map(str, failures))}"
    )


class RunFolder:
    """The folder of one run."""

    def __init__(self, folder: str | os.PathLike[str], run: int) -> None:
        self.run = run
        self.path = Path(folder) / f"run{run:02d}"
        self.model = self.path / "model"
        self.checkpoint = self.path / "checkpoint"
        self.metrics = self.path / "metrics.jsonl"
        self._result = self.path / "result.json"

    def model_of_epoch(self, epoch: int) -> Path:
        """Return where the model of an epoch is kept, if those of all epochs are."""
        return self.path / "epochs" / f"{epoch:02d}"

    def models_of_epochs(self) -> list[Path]:
        """Return the models of all epochs from the first one on, as far as they are kept."""
        every = map(self.model_of_epoch, count(1))
        return list(takewhile(lambda model: (model / DESCRIPTION).exists(), every))

    def result(self, checksum: str) -> RunResult | None:
        """Return the result if the run is finished.

        Raises `TreemeanError` if it is of another run, another configuration or other data, and `NoModel` if
        its model is not there any more, or damaged.
        """
        try:
            told = unsealed(self._result.read_bytes())
            made_from = told.pop("checksum")
            result = record(RunResult, {"run": self.run, "model": self.model, **told})
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError) as error:
            raise FormatError(
                f"the result is damaged ({error}): remove {self.path} to train the run anew",
                path=str(self._result),
            ) from error
        if made_from != checksum:
            raise TreemeanError(
                f"{self.path} holds a run of another configuration or of other data: give another folder (-o)"
            )
        if result.run != self.run:
            raise TreemeanError(
                f"{self.path} holds run {result.run}, not run {self.run}: remove it to train the run anew"
            )
        for name in (DESCRIPTION, TENSORS):
            if not (self.model / name).is_file():
                raise NoModel(
                    f"run {self.run} is finished, but its model is gone: there is no {self.model / name}. "
                    f"Put it back, or remove {self.path} to train the run anew"
                )
        try:
            check_model(self.model)
        except FormatError as error:
            raise NoModel(
                f"run {self.run} is finished, but its model is damaged ({error}). Put it back, or remove "
                f"{self.path} to train the run anew"
            ) from error
        return result

    def is_over(self, checksum: str) -> bool:
        """Tell whether the run is finished, also if its model is gone or damaged."""
        try:
            return self.result(checksum) is not None
        except NoModel:
            return True

    def finish(self, result: RunResult, checksum: str) -> None:
        """Write the result."""
        told = asdict(result) | {"checksum": checksum}
        del told["model"]
        write_file(self._result, sealed(told))

    @contextmanager
    def locked(self, config: TrainingConfig) -> Iterator[None]:
        """Keep other processes from training the same run at the same time, or others in another way.

        Raises `TreemeanError` if one does, or has changed the configuration of the folder meanwhile.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        with open(self.path / _LOCK, "w") as file:
            with folder_locked(self.path.parent):
                if not try_lock(file):
                    raise TreemeanError(
                        f"another process is training {self.path}: wait until it ends, or give another "
                        "folder (-o)"
                    )
                check_folder(config, self.path.parent)
            yield


@contextmanager
def folder_locked(folder: str | os.PathLike[str]) -> Iterator[None]:
    """Wait until no other process looks at the folder of some runs or changes it, and keep them from it.

    For a short time only: while a configuration is compared with that of the folder and written, and while a
    run in it is locked.
    """
    Path(folder).mkdir(parents=True, exist_ok=True)
    with open(Path(folder) / _LOCK, "w") as file:
        lock(file)
        yield


class Metrics:
    """A file of one JSON object per line that is only ever appended to, also over interruptions.

    Parameters
    ----------
    path : the file.
    size : how many bytes of it are to be kept: what stood in it at the last checkpoint.

    Attributes
    ----------
    lost : how many of these bytes are not there any more, because somebody removed or shortened the file.
    """

    def __init__(self, path: Path, size: int) -> None:
        self._path = path
        with self._explaining_errors():
            self._file = open(path, "a+b", buffering=0)  # noqa: SIM115 - open as long as the run
            if self._file.tell() < size:  # whole lines are kept
                self._file.seek(0)
                kept = self._file.read().rfind(b"\n") + 1
            else:
                kept = size
            self.lost = size - kept
            self._file.truncate(kept)
            self._file.seek(kept)

    @contextmanager
    def _explaining_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise TreemeanError(
                f"{self._path}: {error.strerror}. The run goes on when the same command is given again"
            ) from error

    def write(self, entry: Mapping[str, Any]) -> None:
        """Append an entry; numbers that are none become null."""
        with self._explaining_errors():
            self._file.write(json.dumps(_finite(entry), allow_nan=False, ensure_ascii=False).encode() + b"\n")

    def flush(self) -> int:
        """Bring everything to the disk and return the size of the file."""
        with self._explaining_errors():
            os.fsync(self._file.fileno())
        return self._file.tell()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


def check_folder(config: TrainingConfig, folder: str | os.PathLike[str]) -> None:
    """Raise `TreemeanError` if a folder holds runs of another configuration; it names the settings.

    Settings on which results do not depend may differ, and all of them before a run has begun. To be called
    while the folder is locked. Raises `FormatError`, which says what to do, if what it says is damaged.
    """
    path = Path(folder) / RESOLVED
    if not path.exists() or not _is_begun(Path(folder)):
        return
    try:
        before, now = load_config(path).deciding(), config.deciding()
    except (FormatError, InvalidOption) as error:
        # Without it, runs of another configuration are still known by their checksums.
        what = error.message if isinstance(error, FormatError) else error
        raise FormatError(
            f"the configuration of these runs is damaged, or of another treemean ({what}): remove {path}, "
            "and it is written anew",
            path=str(path),
        ) from error
    changed = [
        f"{key} was {before.get(key)!r} and is {now[key]!r}" for key in now if before.get(key) != now[key]
    ]
    if changed:
        raise TreemeanError(
            f"{folder} holds runs of another configuration ({'; '.join(changed)}): give another folder (-o)"
        )


def check_runs(folder: str | os.PathLike[str], checksum: str) -> None:
    """Raise `TreemeanError` if a run in a folder is of another configuration or of other data.

    `checksum` is that of `checksum_of`. Damage is reported when its run is trained.
    """
    for pattern in ("run*/result.json", "run*/checkpoint/checkpoint.json"):
        for path in sorted(Path(folder).glob(pattern)):
            try:
                made_from = unsealed(path.read_bytes()).get("checksum", checksum)
            except (OSError, ValueError):
                continue
            if made_from != checksum:
                raise TreemeanError(
                    f"{path} is of another configuration or of other data: give another folder (-o), or "
                    f"remove {folder} to begin anew"
                )


def _is_begun(folder: Path) -> bool:
    """Tell whether a run has left something behind, or is being trained by some process."""
    if any(folder.glob("run*/checkpoint/*")) or any(folder.glob("run*/result.json")):
        return True
    for path in folder.glob(f"run*/{_LOCK}"):
        with open(path) as file:
            if not try_lock(file):
                return True
    return False


def mark_folder(config: TrainingConfig, folder: str | os.PathLike[str]) -> None:
    """Write the configuration into the folder of its runs."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    write_file(Path(folder) / RESOLVED, to_toml(config).encode())


def checksum_of(config: TrainingConfig, facts: Mapping[str, Any]) -> str:
    """Return the SHA-256 of everything that decides a result: the configuration and the data."""
    files = {part: sorted(sums.values()) for part, sums in (facts["files"] or {}).items()}
    return content_checksum([config.deciding(), files])
