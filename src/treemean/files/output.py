"""Outputs that appear whole or not at all.

They go to a temporary file beside the target, which takes its name only when everything was written, so that
a failed run leaves what was there before.
"""

from __future__ import annotations

import gzip
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from treemean.errors import TreemeanError, reason_of


def write_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file as `open_output` does."""
    with open_output(path) as stream:
        stream.write(data)


@contextmanager
def open_output(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file for writing; it appears under its name only if the block ends without an error.

    A name that ends in `.gz` is compressed (without a time stamp, so that equal content gives equal bytes);
    `-` is standard output.
    """
    target = os.fspath(path)
    if target == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    try:
        with _open_file(target) as stream:
            yield stream
    except BrokenPipeError:  # whoever reads a pipe went away
        raise
    except OSError as error:
        raise TreemeanError(f"{target}: {reason_of(error)}") from error


@contextmanager
def open_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a folder to write files into; it appears under its name only if the block ends without an error.

    A folder of this name must be empty: nothing is written over.
    """
    final = Path(path)
    if final.exists() and (not final.is_dir() or any(final.iterdir())):
        what = "the folder is not empty" if final.is_dir() else "there is a file of this name"
        raise TreemeanError(f"{final}: {what}")
    try:
        temporary = Path(tempfile.mkdtemp(dir=final.parent, prefix=f".{final.name[:200]}.", suffix=".part"))
        try:
            yield temporary
            os.chmod(temporary, 0o777 & ~_umask())
            os.replace(temporary, final)  # takes the place of an empty folder
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise
    except OSError as error:
        raise TreemeanError(f"{final}: {reason_of(error)}") from error


@contextmanager
def _open_file(target: str) -> Iterator[IO[bytes]]:
    final = Path(target)
    if final.exists() and not final.is_file():  # a device or a pipe: there is nothing to rename onto
        with open(target, "wb") as stream:
            yield stream
        return
    handle, temporary = tempfile.mkstemp(dir=final.parent, prefix=f".{final.name[:200]}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as stream:
            if target.endswith(".gz"):
                with gzip.GzipFile(filename="", fileobj=stream, mode="wb", mtime=0) as packed:
                    yield cast(IO[bytes], packed)
            else:
                yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, final)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
