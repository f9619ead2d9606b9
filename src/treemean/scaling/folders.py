"""The folder that a job writes: one job at a time, nothing left over, and a manifest last."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from treemean.errors import FormatError, TreemeanError, reason_of
from treemean.files.locks import try_lock
from treemean.files.output import write_file
from treemean.files.parts import remove_leftovers
from treemean.files.sealed import sealed
from treemean.formats.sharded import MANIFEST, UNFINISHED, Manifest, Shard, check_shard, load_manifest
from treemean.scaling.shards import Made, bad_name, shard_files, sums_of, sync_folder
from treemean.scaling.sums import Sums

_LOCK = ".lock"
#: Copies of inputs in other formats or orders, as shards; gone when the job is done.
STAGED = ".staged"


@contextmanager
def working_in(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """Make a folder, and keep other jobs away from it; what killed processes left there is removed.

    If nothing comes of it, a folder that was not there before is gone again.
    """
    path = Path(folder)
    ours = not path.exists()
    try:
        path.mkdir(parents=True, exist_ok=True)
        _check_ours(path)
        with locked(path):
            _clear(path)
            try:
                yield path
            finally:
                _clear(path)
    except OSError as error:
        raise TreemeanError(f"{error.filename or path}: {reason_of(error)}") from error
    finally:
        if ours:
            with suppress(OSError):  # something is in it
                path.rmdir()


def _clear(path: Path) -> None:
    remove_leftovers(path, again=True)
    for staged in (path / STAGED).glob("*"):
        remove_leftovers(staged, again=True)


def _check_ours(path: Path) -> None:
    """Raise `TreemeanError` if a folder holds something that no job wrote."""
    ours = {MANIFEST, UNFINISHED, _LOCK, STAGED, *(file.name for file in shard_files(path))}
    other = sorted(p.name for p in path.iterdir() if p.name not in ours and not p.name.endswith(".part"))
    if other:
        raise TreemeanError(
            f"{path} holds something else than a sharded treebank ({other[0]}): give a new or empty folder"
        )


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep other processes away from a folder."""
    file = _open_lock(path / _LOCK)
    try:
        yield
    finally:
        (path / _LOCK).unlink(missing_ok=True)  # as long as it is locked
        file.close()


def _open_lock(path: Path) -> IO[bytes]:
    while True:
        file = open(path, "ab")  # noqa: SIM115 (it stays open)
        if not try_lock(file):
            file.close()
            raise TreemeanError(f"another process is writing to {path.parent}")
        try:
            if os.fstat(file.fileno()).st_ino == os.stat(path).st_ino:
                return file
        except FileNotFoundError:
            pass  # its owner removed it before we locked it
        file.close()


def finished(path: Path, told: str) -> Manifest | None:
    """Return the manifest if a job with this fingerprint is done, and all its files are there and whole.

    A file of this job that is damaged is removed: otherwise it would be taken over, by its name. So is what
    others left: the job may have been killed after the manifest was written.
    """
    if not (path / MANIFEST).is_file():
        return None
    try:
        manifest = load_manifest(path)
    except FormatError:  # damaged: it is made again
        return None
    if manifest.provenance.get("fingerprint") != told:
        return None
    whole = True
    for shard in manifest.shards:
        try:
            check_shard(path, shard)
        except FormatError:
            (path / shard.file).unlink(missing_ok=True)
            whole = False
    if not whole:
        return None
    clear_leftovers(path, manifest)
    return manifest


def begin(path: Path, provenance: Mapping[str, Any]) -> None:
    """Say what the folder will hold."""
    write_file(path / UNFINISHED, sealed(provenance, ensure_ascii=False))
    sync_folder(path)


class Collected:
    """Shards as they are made, in any order; what was counted is added up in their order, so in one way only.

    Attributes
    ----------
    sums : of the shards before the first that is missing.
    new : how many of all were made now.
    """

    def __init__(self) -> None:
        self.sums = Sums()
        self.new = 0
        self._shards: dict[int, Shard] = {}
        self._waiting: dict[int, Sums] = {}
        self._added = 0

    def add(self, number: int, made: Made) -> None:
        """Take a shard."""
        self._shards[number] = made.shard
        self._waiting[number] = made.sums
        self.new += made.new
        while self._added in self._waiting:
            self.sums.add(self._waiting.pop(self._added))
            self._added += 1

    @property
    def shards(self) -> list[Shard]:
        """All shards, in their order."""
        return [self._shards[number] for number in sorted(self._shards)]


def finish(path: Path, made: Collected, provenance: Mapping[str, Any]) -> Manifest:
    """Write the manifest, and then remove everything that does not belong to it.

    Raises `TreemeanError` if a shard that was made is not there any more: the manifest would tell of nothing.
    """
    for shard in made.shards:
        file = path / shard.file
        if not file.is_file() or file.stat().st_size != shard.bytes:
            raise TreemeanError(
                f"{file}: somebody removed or changed it while the job was running: give the command again"
            )
    manifest = Manifest(tuple(made.shards), provenance, made.sums.to_dict())
    manifest.save(path)
    sync_folder(path)
    clear_leftovers(path, manifest)
    return manifest


def notes_of(folder: str | os.PathLike[str], manifest: Manifest, kind: str) -> Iterator[Any]:
    """Yield all notes of a kind, shard by shard; the manifest has only the first of them."""
    if not manifest.sums["counts"].get(kind):
        return
    for shard in manifest.shards:
        yield from sums_of(os.path.join(folder, shard.file)).notes.get(kind, [])


def clear_leftovers(path: Path, manifest: Manifest) -> None:
    """Remove what unfinished or earlier jobs left, but for the files of the manifest."""
    (path / UNFINISHED).unlink(missing_ok=True)
    shutil.rmtree(path / STAGED, ignore_errors=True)
    files = {name for shard in manifest.shards for name in (shard.file, bad_name(shard.file))}
    for file in shard_files(path):
        if file.name not in files:
            file.unlink(missing_ok=True)
