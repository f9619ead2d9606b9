"""Temporary files and folders beside outputs, and those that killed processes left behind.

A file is locked as long as its process lives, so that nobody needs to know which process that is: what can be
locked by somebody else is left over. Folders cannot be locked everywhere: each has such a file beside it.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from treemean.files.locks import try_lock

#: How the names of our temporary files end; they begin with a point.
SUFFIX = ".treemean.part"
#: What is added to that for the folder that belongs to a file.
_OF_FOLDERS = ".folder"
#: How many bytes of the name of the output stand in them: names may have 255.
_LONGEST = 100
#: Folders in which this process has looked for leftovers. Once is enough, and folders may be large.
_cleaned: set[str] = set()


@contextmanager
def new_part(final: Path) -> Iterator[tuple[IO[bytes], str]]:
    """Open a temporary file beside an output; at the end it is removed, unless it has another name then."""
    remove_leftovers(final.parent)
    handle, name = _new_locked(final)
    try:
        with handle:
            yield handle, name
    finally:
        with suppress(FileNotFoundError):
            os.unlink(name)


@contextmanager
def new_folder_part(final: Path) -> Iterator[Path]:
    """Make a temporary folder beside an output; at the end it is removed, unless it has another name then."""
    with new_part(final) as (_, name):
        folder = Path(name + _OF_FOLDERS)
        folder.mkdir(0o700)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _new_locked(final: Path) -> tuple[IO[bytes], str]:
    beginning = os.fsencode(final.name)[:_LONGEST].decode("utf-8", "ignore")
    while True:
        number, name = tempfile.mkstemp(dir=final.parent, prefix=f".{beginning}.", suffix=SUFFIX)
        file = os.fdopen(number, "wb")
        # Between these two somebody may have taken the file for a leftover.
        if _locked(file) and os.fstat(number).st_nlink:
            return file, name
        file.close()


def _locked(file: IO[bytes]) -> bool:
    try:
        return try_lock(file)
    except OSError:  # some file systems know no locks; there nobody can take it for a leftover either
        return True


def remove_leftovers(folder: Path, *, again: bool = False) -> None:
    """Remove the temporary files and folders of processes that were killed; those of living ones stay.

    `again` looks once more into a folder that this process has seen before.
    """
    place = os.path.realpath(folder)
    if place in _cleaned and not again:
        return
    _cleaned.add(place)
    with suppress(OSError), os.scandir(place) as entries:
        names = [e.path for e in entries if e.name.startswith(".") and e.name.endswith(SUFFIX)]
        for name in names:
            _remove_if_left_over(name)


def _remove_if_left_over(name: str) -> None:
    with suppress(OSError):  # others may remove it at the same time, or it may not be ours
        number = os.open(name, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(number, "r+b") as file:
            if try_lock(file):
                with suppress(FileNotFoundError):
                    shutil.rmtree(name + _OF_FOLDERS)
                os.unlink(name)
