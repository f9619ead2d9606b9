"""Outputs that appear whole or not at all.

They go to a temporary file beside the target, which takes its name only when everything was written, so that
a failed run leaves what was there before.
"""

from __future__ import annotations

import gzip
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from treemean.errors import TreemeanError, reason_of
from treemean.files.locks import try_lock

#: How the names of temporary files end.
_PART = ".part"


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
def _open_file(target: str) -> Iterator[IO[bytes]]:
    final = Path(target)
    if final.exists() and not final.is_file():  # a device or a pipe: there is nothing to rename onto
        with open(target, "wb") as stream:
            yield stream
        return
    opened, temporary = _temporary_beside(final)
    try:
        with opened as stream:
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


def _temporary_beside(final: Path) -> tuple[IO[bytes], str]:
    """Open a temporary file that is locked as long as it is open, so that it is seen to be in use."""
    while True:
        handle, name = tempfile.mkstemp(dir=final.parent, prefix=f".{final.name[:200]}.", suffix=_PART)
        stream = os.fdopen(handle, "wb")
        try:
            ours = try_lock(stream)
        except OSError:  # a file system without locks
            return stream, name
        if ours and os.path.exists(name):
            return stream, name
        stream.close()  # whoever clears up was faster than the lock
        Path(name).unlink(missing_ok=True)


def remove_abandoned(folder: str | os.PathLike[str]) -> int:
    """Remove temporary files that processes left in a folder when they were killed; return how many.

    A file that a living process writes is locked by it, and stays.
    """
    removed = 0
    for path in Path(folder).glob(f".*{_PART}"):
        try:
            with open(path, "rb+") as stream:
                if try_lock(stream):
                    path.unlink()
                    removed += 1
        except OSError:  # gone already, or not to be told
            continue
    return removed


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
