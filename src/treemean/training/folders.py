"""The folder of several runs and the folder of one: what is where, and that nothing in it is mixed up.

OUT/resolved.toml        the complete configuration
OUT/corpus/              the data as numbers
OUT/run01/metrics.jsonl  what was measured, line by line
OUT/run01/checkpoint/    from which an interrupted run goes on
OUT/run01/model/         the selected model
OUT/run01/result.json    written when the run is finished
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from treemean.errors import FormatError, TreemeanError
from treemean.training.config import load_config, to_toml
from treemean.training.sections import TrainingConfig

#: Not the name that the file of a user is likely to have, who may train beside it.
RESOLVED = "resolved.toml"


@dataclass(frozen=True)
class RunResult:
    """What a finished run gave.

    Parameters
    ----------
    run : its number.
    model : the folder of the selected model.
    select : by what it was selected on the development set, `"f1"` or `"likelihood"`.
    epoch : in which it was selected.
    metrics : what it is worth on the development set, see `development.Scores`.
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


class RunFolder:
    """The folder of one run."""

    def __init__(self, folder: str | os.PathLike[str], run: int) -> None:
        self.run = run
        self.path = Path(folder) / f"run{run:02d}"
        self.model = self.path / "model"
        self.checkpoint = self.path / "checkpoint"
        self.metrics = self.path / "metrics.jsonl"
        self._result = self.path / "result.json"

    def result(self, checksum: str) -> RunResult | None:
        """Return the result if the run is finished; raise if it is of another configuration or other data."""
        try:
            told = json.loads(self._result.read_bytes())
            if told.pop("checksum") != checksum:
                raise TreemeanError(
                    f"{self.path} holds a run of another configuration or of other data: train elsewhere"
                )
            return RunResult(run=self.run, model=self.model, **told)
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError) as error:
            if isinstance(error, TreemeanError):
                raise
            raise FormatError(f"the result is damaged: {error}", path=str(self._result)) from error

    def finish(self, result: RunResult, checksum: str) -> None:
        """Write the result."""
        from treemean.formats.source import open_output

        told = asdict(result) | {"checksum": checksum}
        del told["run"], told["model"]
        with open_output(self._result) as stream:
            stream.write(json.dumps(told, indent=1).encode() + b"\n")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes from training the same run at the same time."""
        self.path.mkdir(parents=True, exist_ok=True)
        with open(self.path / ".lock", "w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise TreemeanError(f"another process is training {self.path}") from error
            yield


class Metrics:
    """A file of one JSON object per line that is only ever appended to, also over interruptions.

    Parameters
    ----------
    path : the file.
    size : how many bytes of it are to be kept: what stood in it at the last checkpoint.
    """

    def __init__(self, path: Path, size: int) -> None:
        self._path = path
        with self._told():
            self._file = open(path, "ab", buffering=0)  # noqa: SIM115 - open as long as the run
            if self._file.tell() < size:
                self._file.close()
                raise TreemeanError(f"{path} was changed: it is shorter than at the last checkpoint")
            self._file.truncate(size)

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise TreemeanError(
                f"{self._path}: {error.strerror}. The run goes on when the same command is given again"
            ) from error

    def write(self, entry: Mapping[str, Any]) -> None:
        """Append an entry; numbers that are none become null."""
        with self._told():
            self._file.write(json.dumps(_finite(entry), allow_nan=False, ensure_ascii=False).encode() + b"\n")

    def flush(self) -> int:
        """Bring everything to the disk and return the size of the file."""
        with self._told():
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

    Settings on which results do not depend may differ, and all of them before a run has begun.
    """
    path = Path(folder) / RESOLVED
    begun = [*Path(folder).glob("run*/checkpoint/*"), *Path(folder).glob("run*/result.json")]
    if not path.exists() or not begun:
        return
    before, now = load_config(path).deciding(), config.deciding()
    changed = [f"{key} was {before[key]!r} and is {now[key]!r}" for key in now if before[key] != now[key]]
    if changed:
        raise TreemeanError(
            f"{folder} holds runs of another configuration ({'; '.join(changed)}): train elsewhere"
        )


def mark_folder(config: TrainingConfig, folder: str | os.PathLike[str]) -> None:
    """Write the configuration into the folder of its runs."""
    from treemean.formats.source import open_output

    Path(folder).mkdir(parents=True, exist_ok=True)
    with open_output(Path(folder) / RESOLVED) as stream:
        stream.write(to_toml(config).encode())


def checksum_of(config: TrainingConfig, facts: Mapping[str, Any]) -> str:
    """Return the SHA-256 of everything that decides a result: the configuration and the data."""
    files = {part: sorted(sums.values()) for part, sums in (facts["files"] or {}).items()}
    text = json.dumps([config.deciding(), files], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
