"""Folders for what a job without an output folder has finished, so that the same command goes on.

Such a folder has a name that follows from the command, and is gone when the command is done.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from treemean.errors import TreemeanError, reason_of
from treemean.files.parts import remove_leftovers
from treemean.scaling.folders import STAGED, locked

_DIGITS = 16


@contextmanager
def scratch_folder(job: str, told: str, parent: str | os.PathLike[str] | None) -> Iterator[Path]:
    """Give a folder of our own, as a killed process left it; at the end it is removed.

    After an error what is finished stays in it, but for copies of inputs.

    Parameters
    ----------
    job : what the job is called.
    told : a checksum of the command.
    parent : where the folder is made; among temporary files if not given.
    """
    path = Path(parent or tempfile.gettempdir()) / f"treemean-{job}-{told[:_DIGITS]}"
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        _check_ours(path)
        try:
            with locked(path):
                remove_leftovers(path, again=True)
                try:
                    yield path
                finally:
                    shutil.rmtree(path / STAGED, ignore_errors=True)
                    remove_leftovers(path, again=True)
                for file in path.glob("[!.]*"):
                    file.unlink()
        finally:
            with suppress(OSError):  # unless something is kept, or somebody else has come
                path.rmdir()
    except OSError as error:
        raise TreemeanError(f"{error.filename or path}: {reason_of(error)}") from error


def _check_ours(path: Path) -> None:
    """Raise `TreemeanError` for a folder that somebody else may write to."""
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or (hasattr(os, "getuid") and found.st_uid != os.getuid()):
        raise TreemeanError(f"{path} is not a folder of this user: remove it, or name another place")
