"""The state of a run on disk. A run can be ended at any moment; what was complete before stays.

A checkpoint is `checkpoint.json`, which names files of tensors and their checksums. Files of tensors are
never changed. New ones are written first, then the description takes its name in one step, and only then
files are removed that neither it nor the description before it (`previous.json`) names. If a checkpoint is
damaged or gone, the run goes on from the one before it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from torch import Tensor

from treemean.errors import FormatError, TreemeanError
from treemean.files.checksums import checksum
from treemean.files.output import write_file
from treemean.files.sealed import sealed, unsealed
from treemean.files.tensors import read_tensors, write_tensors

_VERSION = 1
_CURRENT, _PREVIOUS = "checkpoint.json", "previous.json"
#: By role, such as `"current"`: the name of a file of tensors and its checksum.
_Files = dict[str, dict[str, str]]
State = TypeVar("State")


class _Damaged(FormatError):
    """A checkpoint that cannot be used, though the one before it perhaps can."""


class Checkpoints:
    """The checkpoints of one run.

    Parameters
    ----------
    folder : where they are, in the folder of the run, whose name is recorded and compared, as it has the
        number of the run; made when the first one is written.
    checksum : of everything that decides the run, see `folders.checksum_of`; recorded and compared.
    spare : another file that may hold some of the tensors, to mend a damaged one from: the exported model.

    Attributes
    ----------
    notes : what `load` met and a user should know.
    """

    def __init__(
        self, folder: str | os.PathLike[str], checksum: str, spare: str | os.PathLike[str] | None = None
    ) -> None:
        self.folder = Path(folder)
        self._run = self.folder.parent.name
        self.notes: list[str] = []
        self._checksum, self._spare = checksum, None if spare is None else Path(spare)
        self._files: _Files = {}
        self._lost: list[dict[str, str]] = []  # files of tensors that the spare one replaces
        self._written = b""  # the description that was loaded or saved last

    # ---- reading --------------------------------------------------------------------------------

    def load(self, make: Callable[[Any], State]) -> State | None:
        """Return the state of the last checkpoint that is whole, None if there was none yet.

        Parameters
        ----------
        make : makes the state from JSON data, and raises `ValueError` if it cannot be one.

        If the last checkpoint is gone or damaged, the one before it is used, and `notes` says so. Raises
        `FormatError`, which says how to go on, if that cannot be used either, or if they are of another
        version, and `TreemeanError` if they are of another run, another configuration or other data.
        """
        self.notes = []
        problem: _Damaged | None = None
        for name in (_CURRENT, _PREVIOUS):
            try:
                state = self._load(self.folder / name, make)
            except FileNotFoundError:
                continue
            except _Damaged as error:
                problem = problem or error
                continue
            if name == _PREVIOUS:
                why = problem or f"{self.folder / _CURRENT} is gone"
                self.notes.append(
                    f"{why}: going on from the checkpoint before it ({_PREVIOUS}), which is whole"
                )
            return state
        if problem is not None:
            raise FormatError(f"{problem.message}. {self._advice()}", path=problem.path) from problem
        # What is left of a process that was killed while it wrote the first checkpoint is of step 0.
        learnt = [path for path in self._tensor_files() if not path.name.endswith(_file_name("", 0))]
        if learnt:
            raise FormatError(
                f"neither {_CURRENT} nor {_PREVIOUS} is there, which say what {learnt[0].name} is. "
                f"{self._advice()}",
                path=str(self.folder),
            )
        return None

    def _load(self, path: Path, make: Callable[[Any], State]) -> State:
        try:
            data = path.read_bytes()
            told = unsealed(data)
            version = told["version"]
        except FileNotFoundError:
            raise
        except (OSError, ValueError, KeyError) as error:
            raise _Damaged(f"the checkpoint is damaged ({error})", path=str(path)) from error
        if version != _VERSION:
            raise FormatError(
                f"a checkpoint of version {version!r}; this treemean continues version {_VERSION}: use the "
                f"treemean that wrote it, or remove {self.folder} to begin anew",
                path=str(path),
            )
        try:
            files, state = _checked_files(told["files"]), make(told["state"])
        except (ValueError, KeyError) as error:
            raise _Damaged(
                f"the checkpoint is damaged, or of another treemean ({error})", path=str(path)
            ) from error
        if told.get("checksum", self._checksum) != self._checksum:
            raise TreemeanError(
                f"{path} is of another configuration or of other data: give another folder (-o), or remove "
                f"{self.folder} to begin anew"
            )
        run = told.get("run", self._run)
        if run != self._run:
            raise TreemeanError(
                f"{path} is of another run ({run}, not {self._run}): put it back there, or remove "
                f"{self.folder} to begin anew"
            )
        self._lost = [entry for entry in files.values() if not self._is_whole(entry, path)]
        self._files, self._written = files, data
        return state

    def _is_whole(self, entry: Mapping[str, str], description: Path) -> bool:
        """Tell whether a file of tensors is as it was; False if only the spare one is; raise if none is."""
        path = self.folder / entry["name"]
        if _digest(path) == entry["sha256"]:
            return True
        if self._spare is None or _digest(self._spare) != entry["sha256"]:
            what = "damaged or incomplete" if path.exists() else "gone"
            raise _Damaged(f"{path.name}, which the checkpoint needs, is {what}", path=str(description))
        self.notes.append(
            f"{path} is damaged or gone; {self._spare} has the same content and is used instead"
        )
        return False

    def mend(self) -> None:
        """Write damaged files of tensors anew, where `load` found their content elsewhere."""
        for entry in self._lost:
            assert self._spare is not None
            write_tensors(read_tensors(self._spare, entry["sha256"]), self.folder / entry["name"])
        self._lost = []

    def tensors(self, role: str) -> dict[str, Tensor]:
        """Return the tensors of the last checkpoint that have a role, such as `"current"`."""
        try:
            entry = self._files[role]
        except KeyError as error:
            raise self.foreign(error) from error
        try:
            return read_tensors(self.folder / entry["name"], entry["sha256"])
        except FormatError as error:
            raise FormatError(f"{error.message}. {self._advice()}", path=error.path) from error

    def foreign(self, error: Exception) -> FormatError:
        """Return what to raise if the content of a whole checkpoint is not what the run needs."""
        what = str(error).splitlines()[0]
        return FormatError(
            f"a checkpoint of another treemean ({what}): remove {self.folder} to begin anew",
            path=str(self.folder / _CURRENT),
        )

    def _advice(self) -> str:
        return f"Put it back from a copy, if there is one, or remove {self.folder} to begin anew"

    # ---- writing --------------------------------------------------------------------------------

    def save(self, state: Mapping[str, Any], step: int, tensors: Mapping[str, Mapping[str, Tensor]]) -> None:
        """Write a checkpoint; when this returns, it is on the disk.

        Parameters
        ----------
        state : JSON-ready.
        step : part of the names of new files.
        tensors : by role; the same object under two roles is written once. Roles that are not given keep
            the tensors they had.

        Raises `TreemeanError` if the disk is full or the like; the checkpoint before is still there then.
        """
        files = dict(self._files)
        written: dict[int, dict[str, str]] = {}
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            for role, content in tensors.items():
                if id(content) not in written:
                    name = _file_name(role, step)
                    written[id(content)] = {
                        "name": name,
                        "sha256": write_tensors(content, self.folder / name),
                    }
                files[role] = written[id(content)]
            if self._written:  # not what is on the disk, which may be damaged
                write_file(self.folder / _PREVIOUS, self._written)
            whose = {"version": _VERSION, "run": self._run, "checksum": self._checksum}
            description = sealed({**whose, "state": dict(state), "files": files})
            write_file(self.folder / _CURRENT, description)
        except (OSError, TreemeanError) as error:
            raise TreemeanError(
                f"the checkpoint of step {step} cannot be written: {error}. Nothing is lost: the run goes on "
                "from the checkpoint before when the same command is given again"
            ) from error
        self._tidy({entry["name"] for entry in (*files.values(), *self._files.values())})
        self._files, self._written = files, description

    def _tidy(self, needed: set[str]) -> None:
        for path in self._tensor_files():
            if path.name not in needed:
                path.unlink(missing_ok=True)

    def _tensor_files(self) -> list[Path]:
        return sorted(self.folder.glob(_file_name("*")))


def _file_name(role: str, step: int | None = None) -> str:
    return f"{role}.safetensors" if step is None else f"{role}-{step:07d}.safetensors"


def _checked_files(files: Any) -> _Files:
    """Return what a description says about files of tensors; raise `ValueError` if that cannot be."""
    if not isinstance(files, dict):
        raise ValueError(f"files cannot be {files!r}")
    for role, entry in files.items():
        names = entry if isinstance(entry, dict) else {}
        if not all(isinstance(names.get(key), str) for key in ("name", "sha256")) or "/" in names["name"]:
            raise ValueError(f"files.{role} cannot be {entry!r}")
    return files


def _digest(path: Path) -> str:
    """Return the checksum of a file; empty if it cannot be read."""
    try:
        return checksum(path)
    except OSError:
        return ""
