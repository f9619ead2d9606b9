"""Files that a command reads, which it must not write: one rule for all outputs."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from treemean.errors import TreemeanError

#: Of the whole process, threads included.
_protected: list[str] = []


@contextmanager
def protected(paths: Iterable[str | os.PathLike[str]]) -> Iterator[None]:
    """Let no output be written over these files, or over a file in these folders, inside the block."""
    before = len(_protected)
    _protected.extend(os.fspath(path) for path in paths)
    try:
        yield
    finally:
        del _protected[before:]


def check_no_input(target: str | os.PathLike[str]) -> None:
    """Raise `TreemeanError` if an output would be written over a protected input."""
    for name in _protected:
        if is_same(target, name):
            raise TreemeanError(
                f"{os.fspath(target)}: this would overwrite an input of the command ({name}): give "
                "another name"
            )


def is_same(target: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """Tell whether writing `target` would change the file `other`, or one that is now in the folder `other`.

    However both are spelt, and also by way of symbolic and of hard links; `-` is whatever standard output is
    redirected to. Devices and pipes keep nothing that could be lost.
    """
    if os.fspath(other) == "-":
        return False
    known = _status(target)
    if known is None:  # it is not there yet
        return os.path.realpath(target) == os.path.realpath(other)
    if not stat.S_ISREG(known.st_mode):
        return False
    if not os.path.isdir(other):
        return _is_file(other, known)
    if os.fspath(target) != "-" and Path(os.path.realpath(target)).is_relative_to(os.path.realpath(other)):
        return True
    # A file of one name lies in its folder alone; others may have another name in this one.
    return known.st_nlink > 1 and any(_is_file(path, known) for path in Path(other).rglob("*"))


def _status(target: str | os.PathLike[str]) -> os.stat_result | None:
    try:
        return os.fstat(sys.stdout.fileno()) if os.fspath(target) == "-" else os.stat(target)
    except (OSError, ValueError):
        return None


def _is_file(path: str | os.PathLike[str], known: os.stat_result) -> bool:
    found = _status(path)
    return found is not None and os.path.samestat(found, known)
