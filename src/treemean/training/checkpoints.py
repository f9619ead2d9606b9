"""The state of a run on disk. A run can be ended at any moment; what was complete before stays.

A checkpoint is `checkpoint.json`, which names files of tensors and their checksums. Files of tensors are
never changed. New ones are written first, then the description takes its name in one step, and only then
files are removed that neither it nor the description before it (`previous.json`) names.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from treemean.errors import FormatError, TreemeanError
from treemean.parsing.tensors import read_tensors, write_tensors

_VERSION = 1
_CURRENT, _PREVIOUS = "checkpoint.json", "previous.json"


class Checkpoints:
    """The checkpoints of one run.

    Parameters
    ----------
    folder : where they are; made when the first one is written.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self._files: dict[str, dict[str, str]] = {}

    def load(self) -> dict[str, Any] | None:
        """Return the state of the last checkpoint, None if there is none.

        Raises `FormatError`, which says how to go on, if it is damaged or of another version.
        """
        path = self.folder / _CURRENT
        if not path.exists():
            return None
        try:
            told = json.loads(path.read_bytes())
            version, state, files = told["version"], told["state"], told["files"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise FormatError(
                f"the checkpoint is damaged ({error}). {self._advice()}", path=str(path)
            ) from error
        if version != _VERSION:
            raise FormatError(
                f"a checkpoint of version {version!r}; this treemean continues version {_VERSION}",
                path=str(path),
            )
        self._files = files
        found: dict[str, Any] = state
        return found

    def tensors(self, role: str) -> dict[str, Tensor]:
        """Return the tensors of the last checkpoint that have a role, such as `"current"`."""
        entry = self._files[role]
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
        from treemean.formats.source import open_output

        files = dict(self._files)
        written: dict[int, dict[str, str]] = {}
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            for role, content in tensors.items():
                if id(content) not in written:
                    name = f"{role}-{step:07d}.safetensors"
                    written[id(content)] = {
                        "name": name,
                        "sha256": write_tensors(content, self.folder / name),
                    }
                files[role] = written[id(content)]
            path = self.folder / _CURRENT
            if path.exists():
                with open_output(self.folder / _PREVIOUS) as stream:
                    stream.write(path.read_bytes())
            with open_output(path) as stream:
                told = {"version": _VERSION, "state": dict(state), "files": files}
                stream.write(json.dumps(told, indent=1).encode() + b"\n")
        except (OSError, TreemeanError) as error:
            raise TreemeanError(
                f"the checkpoint of step {step} cannot be written: {error}. Nothing is lost: the run goes on "
                "from the checkpoint before when the same command is given again"
            ) from error
        self._files = files
        self._tidy()

    def _tidy(self) -> None:
        needed = {entry["name"] for entry in self._files.values()} | self._previous_names()
        for path in self.folder.glob("*.safetensors"):
            if path.name not in needed:
                path.unlink(missing_ok=True)
        for path in self.folder.glob(".*.part"):  # left by a process that was killed while it wrote
            path.unlink(missing_ok=True)

    def _previous_names(self) -> set[str]:
        try:
            told = json.loads((self.folder / _PREVIOUS).read_bytes())
            return {entry["name"] for entry in told["files"].values()}
        except FileNotFoundError:
            return set()

    def _advice(self) -> str:
        if (self.folder / _PREVIOUS).exists():
            return (
                f"The checkpoint before it is still there: rename {self.folder / _PREVIOUS} to {_CURRENT} to "
                f"go on from it, or remove {self.folder} to begin anew"
            )
        return f"Remove {self.folder} to begin anew"
