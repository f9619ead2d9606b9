"""What is read, and how it is cut: treebanks as lists of Parquet files, shards as rows of these files."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any

from treemean.averaging.alignment import check_aligned
from treemean.errors import FormatError, MismatchError
from treemean.files.checksums import checksum
from treemean.formats.parallel import side_by_side
from treemean.formats.problems import Problems
from treemean.formats.registry import format_of_content, format_of_name
from treemean.formats.sharded import Shard, is_sharded, load_manifest
from treemean.trees import Treebank

#: Sentences of a shard, unless it is told otherwise: two groups of rows of a Parquet file.
SHARD_SIZE = 16_384


@dataclass(frozen=True)
class File:
    """A Parquet file with so many rows, and the checksum of its bytes."""

    path: str
    rows: int
    sha256: str


@dataclass(frozen=True)
class Rows:
    """Some rows of a Parquet file: from `start` to `stop` - 1."""

    file: File
    start: int
    stop: int

    def identity(self) -> list[Any]:
        """Return what tells these rows from any others, wherever the file lies; JSON-ready."""
        return [self.file.sha256, self.start, self.stop]


@dataclass(frozen=True)
class Contents:
    """A treebank that can be read from the middle: its name, its files, what is counted already."""

    name: str
    files: tuple[File, ...]
    sums: Mapping[str, Any] = field(default_factory=dict)
    sharded: bool = False

    @property
    def sentences(self) -> int:
        """How many sentences there are."""
        return sum(file.rows for file in self.files)

    def rows(self, start: int, stop: int) -> tuple[Rows, ...]:
        """Return where the sentences from `start` to `stop` - 1 lie."""
        found = []
        for place in range(bisect_right(self._begins, start) - 1, len(self.files)):
            before, file = self._begins[place], self.files[place]
            if before >= stop:
                break
            first, last = max(start - before, 0), min(stop - before, file.rows)
            if first < last:
                found.append(Rows(file, first, last))
        return tuple(found)

    @cached_property
    def _begins(self) -> list[int]:
        return [0, *accumulate(file.rows for file in self.files)]


@dataclass(frozen=True)
class Cut:
    """The sentences of one shard, in all the runs that are read side by side.

    Parameters
    ----------
    names : of the runs, for messages.
    runs : where the sentences of each lie.
    first : how many sentences come before these.
    """

    names: tuple[str, ...]
    runs: tuple[tuple[Rows, ...], ...]
    first: int

    @property
    def sentences(self) -> int:
        """How many sentences the shard has."""
        return sum(rows.stop - rows.start for rows in self.runs[0])

    def identity(self) -> list[Any]:
        """Return what tells this shard of the input from any other."""
        return [[rows.identity() for rows in run] for run in self.runs]

    def batches(self, problems: Problems | None = None, *, check: bool = True) -> Iterator[list[Treebank]]:
        """Read the runs side by side, some sentences at a time.

        Raises `MismatchError` if words differ, unless nobody wants them to be compared.
        """
        seen = self.first
        streams = [read_all_rows(run, problems) for run in self.runs]
        for batch in side_by_side(streams, self.names, seen):
            if check:
                check_aligned(batch, self.names, seen)
            seen += len(batch[0])
            yield batch


def read_all_rows(run: Sequence[Rows], problems: Problems | None = None) -> Iterator[Treebank]:
    """Read rows of several files one after the other; whole files are compared with their checksums."""
    from treemean.formats.parquet import read_rows

    for rows in run:
        if rows.stop - rows.start == rows.file.rows:
            _check(rows.file)
        yield from read_rows(rows.file.path, rows.start, rows.stop, rows.file.rows, problems)


def _check(file: File) -> None:
    try:
        fits = checksum(file.path) == file.sha256
    except OSError as error:
        raise FormatError(error.strerror or str(error), path=file.path) from error
    if not fits:
        raise FormatError("the file has changed since its checksum was taken", path=file.path)


def contents_of_shards(
    name: str, folder: str | os.PathLike[str], shards: Iterable[Shard], sums: Mapping[str, Any]
) -> Contents:
    """Return the contents of shards in a folder."""
    files = tuple(File(os.path.join(folder, s.file), s.sentences, s.sha256) for s in shards)
    return Contents(name, files, sums, sharded=True)


def contents_of(path: str | os.PathLike[str], format: str | None) -> Contents | None:
    """Return the contents of a sharded treebank, of a Parquet file or of a folder of these.

    None for everything else, which can be read only from its beginning.
    """
    name = os.fspath(path)
    if is_sharded(name):
        manifest = load_manifest(name)
        return contents_of_shards(name, name, manifest.shards, manifest.sums)
    plain = [Path(name)] if os.path.isfile(name) else sorted(Path(name).glob("*.parquet"))
    if not plain or not all(_is_parquet(file, format) for file in plain):
        return None
    return Contents(name, tuple(map(_plain_file, plain)))


def _is_parquet(path: Path, format: str | None) -> bool:
    if format is not None:
        return format == "parquet"
    told = format_of_name(path)
    if told is not None:
        return told.name == "parquet"
    from treemean.files.source import open_sources

    return any(format_of_content(source).name == "parquet" for source in open_sources(path))


def _plain_file(path: Path) -> File:
    from treemean.formats.parquet import describe

    rows, _ = describe(path)
    return File(str(path), rows, checksum(path))


def cut(runs: Sequence[Contents], size: int | None = None) -> list[Cut]:
    """Cut treebanks of the same sentences into shards of `size` sentences, the same in all of them.

    Without a size the shards are those of the first treebank, if it has some.
    """
    total = runs[0].sentences
    for run in runs[1:]:
        if run.sentences != total:
            raise MismatchError(f"{run.name} has {run.sentences} sentences, {runs[0].name} has {total}")
    if size is None and runs[0].sharded:
        sizes = [file.rows for file in runs[0].files if file.rows]
    else:
        step = size or SHARD_SIZE
        sizes = [min(step, total - start) for start in range(0, total, step)]
    names = tuple(run.name for run in runs)
    result = []
    first = 0
    for count in sizes:
        result.append(Cut(names, tuple(run.rows(first, first + count) for run in runs), first))
        first += count
    return result
