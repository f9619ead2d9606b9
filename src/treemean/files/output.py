"""Outputs that appear whole or not at all, and never in the place of an input.

They go to a temporary file beside the target, which takes its name only when everything was written, so that
a failed run leaves what was there before.
"""

from __future__ import annotations

import errno
import gzip
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from treemean.errors import TreemeanError, reason_of
from treemean.files.filenames import check_name
from treemean.files.inputs import check_no_input
from treemean.files.parts import new_folder_part, new_part
from treemean.files.shown import ShownStream


def write_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file as `open_output` does."""
    with open_output(path) as stream:
        stream.write(data)


@contextmanager
def open_output(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file for writing; it appears under its name only if the block ends without an error.

    A name that ends in `.gz` is compressed (without a time stamp, so that equal content gives equal bytes);
    `-` is standard output, on a terminal without what terminals obey. A symbolic link is written through, and
    a file that was there keeps its permissions. Raises `TreemeanError` if the file is one that
    `inputs.protected` names.
    """
    target = os.fspath(path)
    if target == "-":
        yield cast(IO[bytes], ShownStream(sys.stdout)) if sys.stdout.isatty() else sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    check_name(target)
    check_no_input(target)
    try:
        with _open_file(target) as stream:
            yield stream
    except BrokenPipeError:  # whoever reads a pipe went away
        raise
    except OSError as error:
        check_folder(target)
        raise TreemeanError(f"{target}: {reason_of(error)}") from error


def check_folder(path: str | os.PathLike[str]) -> None:
    """Raise `TreemeanError` if the folder of a file to write is not there; `-` needs none."""
    folder = os.path.dirname(os.path.realpath(path))
    if os.fspath(path) != "-" and not os.path.isdir(folder):
        called = os.path.dirname(path) or folder  # the latter for a link to nowhere
        what = "is not a folder" if os.path.exists(folder) else "does not exist: make it first"
        raise TreemeanError(f"{os.fspath(path)}: the folder {os.fspath(called)} {what}")


@contextmanager
def open_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a folder to write files into; it appears under its name only if the block ends without an error.

    A folder of this name must be empty: nothing is written over.
    """
    check_name(os.fspath(path))
    final = Path(os.path.realpath(path))
    if final.exists() and (not final.is_dir() or any(final.iterdir())):
        what = "the folder is not empty" if final.is_dir() else "there is a file of this name"
        what += ": give another name"
        raise TreemeanError(f"{os.fspath(path)}: {what}")
    try:
        with new_folder_part(final) as temporary:
            yield temporary
            os.chmod(temporary, 0o777 & ~_umask())
            os.replace(temporary, final)  # takes the place of an empty folder
    except OSError as error:
        check_folder(os.fspath(path).rstrip(os.sep))
        raise TreemeanError(f"{os.fspath(path)}: {reason_of(error)}") from error


@contextmanager
def _open_file(target: str) -> Iterator[IO[bytes]]:
    # A device, a pipe, or a file that is open already, as /dev/stdout: there is nothing to rename onto.
    if (os.path.exists(target) and not os.path.isfile(target)) or _is_open_file(target):
        with open(target, "wb") as stream:
            yield stream
        return
    final = Path(os.path.realpath(target))
    if final.is_symlink():  # in a circle
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    if final.exists() and not os.access(final, os.W_OK):  # renaming does not ask for that
        raise OSError(errno.EACCES, os.strerror(errno.EACCES))
    with new_part(final) as (stream, temporary):
        if target.endswith(".gz"):
            with gzip.GzipFile(filename="", fileobj=stream, mode="wb", mtime=0) as packed:
                yield cast(IO[bytes], packed)
        else:
            yield stream
        stream.flush()
        os.fsync(stream.fileno())
        os.chmod(temporary, stat.S_IMODE(final.stat().st_mode) if final.exists() else 0o666 & ~_umask())
        os.replace(temporary, final)


def _is_open_file(target: str) -> bool:
    """Tell whether a name stands for an open file of some process, as /dev/stdout and /dev/fd/3 do."""
    leads_to = os.readlink(target) if os.path.islink(target) else target
    return os.path.realpath(os.path.dirname(leads_to)).startswith("/proc/")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
