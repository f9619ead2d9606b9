"""Making shards: each is one task, whose file has a name that its input and its work decide.

The file is written beside its place, synced and renamed; so what stands under the name is whole, whoever
wrote it and however often. What was counted stands in the file itself. Going on after a fault means to list
the names that are there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from treemean._version import __version__
from treemean.errors import FormatError
from treemean.files.checksums import content_checksum
from treemean.files.filenames import name_as_text
from treemean.files.output import open_output
from treemean.formats.problems import Problems
from treemean.formats.sharded import Shard, described
from treemean.scaling.inputs import Contents, Cut, contents_of_shards
from treemean.scaling.sums import Sums
from treemean.trees import Treebank
from treemean.trees.arrow import LAYOUT

#: Where the sums of a shard stand in its Parquet file.
SUMS_KEY = "treemean.sums"
_DIGITS = 16


class Work:
    """What is done with the sentences of a shard; the same input and work give the same trees.

    Attributes
    ----------
    name : what the job is called.
    skip_bad : whether bad records are set aside instead of ending the job.
    gpu : whether it wants a GPU.
    """

    name: ClassVar[str]
    skip_bad: bool = False
    gpu: bool = False

    def describe(self) -> dict[str, Any]:
        """Return all that decides about the trees, JSON-ready."""
        raise NotImplementedError

    def trees(self, batches: Iterator[list[Treebank]], first: int, sums: Sums) -> Iterator[Treebank]:
        """Yield trees for batches of aligned runs; `first` is how many sentences come before them.

        `sums` takes what is counted on the way; the trees themselves are counted elsewhere.
        """
        raise NotImplementedError

    def check(self, sums: Sums) -> None:
        """Raise `TreemeanError` if something is wrong with the whole, before it is called finished."""


@dataclass(frozen=True)
class AsItIs(Work):
    """Copies a treebank."""

    name = "copy"

    def describe(self) -> dict[str, Any]:
        """Return nothing: there is nothing to choose."""
        return {}

    def trees(self, batches: Iterator[list[Treebank]], first: int, sums: Sums) -> Iterator[Treebank]:
        """Yield the trees of the only run."""
        for (batch,) in batches:
            yield batch


@dataclass(frozen=True)
class ShardTask:
    """A shard to make: its number, what is read for it, the folder and the name of the file."""

    number: int
    cut: Cut
    folder: str
    file: str


@dataclass(frozen=True)
class Made:
    """A shard that is there; `new` unless it was there before."""

    shard: Shard
    sums: Sums
    new: bool = True


def contents_of_made(name: str, folder: Path, made: Sequence[Made]) -> Contents:
    """Return the contents of shards that are there, with the sums of all."""
    sums = Sums()
    for one in made:
        sums.add(one.sums)
    return contents_of_shards(name, folder, (one.shard for one in made), sums.to_dict())


def fingerprint(work: Work) -> str:
    """Return what tells this work from any other."""
    told = {"work": work.name, "layout": LAYOUT, "treemean": __version__, **work.describe()}
    return content_checksum(told)


def shard_name(number: int, work: str, identity: Any) -> str:
    """Return the name of a shard's file: a function of the fingerprint of the work, and of what is read."""
    return f"part-{number:05d}-{content_checksum([work, identity])[:_DIGITS]}.parquet"


def bad_name(file: str) -> str:
    """Return the name of the file with the bad records of a shard; readers of folders pass over it.

    >>> bad_name("part-00000-3f2a9c1b7d804e65.parquet")
    '_bad-00000-3f2a9c1b7d804e65.jsonl'
    """
    return "_bad-" + file.removeprefix("part-").removesuffix(".parquet") + ".jsonl"


def make_shard(work: Work, task: ShardTask) -> Made:
    """Read, work and write, unless the shard is there; it appears under its name when it is whole."""
    if found := existing_shard(task.folder, task.file):
        return found
    sums = Sums()
    problems = SetAside(sums) if work.skip_bad else None
    trees = work.trees(task.cut.batches(problems), task.cut.first, sums)
    return write_shard(trees, sums, task.folder, task.file, problems)


def write_shard(
    trees: Iterator[Treebank], sums: Sums, folder: str, file: str, problems: SetAside | None = None
) -> Made:
    """Write the trees of a shard, and beside it the bad records, if there are any."""
    from treemean.formats.parquet import ParquetWriter

    path = os.path.join(folder, file)
    with open_output(path) as stream:
        writer = ParquetWriter(stream, Treebank.empty())
        for batch in trees:
            sums.add_trees(batch)
            writer.write(batch)
        if problems is not None:
            problems.save(os.path.join(folder, bad_name(file)))  # first: the shard says that it is there
        writer.describe({SUMS_KEY: sums.to_json()})
        writer.close()
    sync_folder(folder)
    return Made(described(path, sums.sentences, sums.words, sums.constituents), sums)


def sync_folder(folder: str | os.PathLike[str]) -> None:
    """See to it that names in a folder outlive a failure of power."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def existing_shard(folder: str, file: str) -> Made | None:
    """Return a shard that was made before, None if it is not there or not whole.

    All of it is read, as pages have checksums: what is damaged would else be called right by the manifest.
    """
    from treemean.formats.parquet import read_rows

    path = os.path.join(folder, file)
    if not os.path.isfile(path):
        return None
    try:
        sums = sums_of(path)
        for _ in read_rows(path, 0, sums.sentences, sums.sentences):
            pass
    except FormatError:
        return None
    return Made(described(path, sums.sentences, sums.words, sums.constituents), sums, new=False)


def sums_of(path: str) -> Sums:
    """Return what was counted of a shard; raise `FormatError` if the file does not tell."""
    from treemean.formats.parquet import describe

    _, texts = describe(path)
    if SUMS_KEY not in texts:
        raise FormatError("not a shard of ours: it has no sums", path=path)
    return Sums.from_json(texts[SUMS_KEY])


class SetAside(Problems):
    """Keeps bad records with their reason and source; `save` writes them as JSON Lines, if there are any."""

    def __init__(self, sums: Sums) -> None:
        super().__init__(skip=True)
        self.sums = sums
        self._records: list[dict[str, Any]] = []

    def report(self, error: FormatError, raw: bytes = b"") -> None:
        """Keep a record that cannot be read."""
        super().report(error, raw)
        entry = {
            "source": None if error.path is None else name_as_text(error.path),
            "line": error.line,
            "sentence": error.sentence,
            "reason": error.message,
        }
        self.sums.note("bad", entry)
        self._records.append({**entry, "record": raw.decode("utf-8", "backslashreplace")})

    def take(self) -> list[dict[str, Any]]:
        """Return the records kept so far, and forget them."""
        found, self._records = self._records, []
        return found

    def save(self, path: str) -> None:
        """Write the records kept so far, and forget them."""
        if records := self.take():
            with open_output(path) as stream:
                for record in records:
                    stream.write(json.dumps(record, ensure_ascii=False, sort_keys=True).encode() + b"\n")


def shard_files(folder: str | os.PathLike[str]) -> list[Path]:
    """Return the files in a folder that jobs write: shards and bad records."""
    return [*Path(folder).glob("part-*-*.parquet"), *Path(folder).glob("_bad-*-*.jsonl")]


def tasks_for(work: Work, cuts: Sequence[Cut], folder: str) -> list[ShardTask]:
    """Return the tasks of a job."""
    told = fingerprint(work)
    return [
        ShardTask(number, piece, folder, shard_name(number, told, [piece.first, piece.identity()]))
        for number, piece in enumerate(cuts)
    ]
