"""Treebanks in other orders than the first one's, brought into its order by way of an index of ids on disk.

Where the ids stand in the same order in all treebanks, which a look at the column of ids tells, nothing is
moved. Otherwise a database of ids on disk tells every sentence its place, and copies of the treebanks that
differ are written in the order of the first: sentences go to a file for each shard they belong to, and are
sorted there. Memory holds one shard at a time.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from treemean.errors import MismatchError, TreemeanError
from treemean.formats.arrowtables import load_pyarrow
from treemean.scaling.folders import STAGED
from treemean.scaling.inputs import SHARD_SIZE, Contents, read_all_rows
from treemean.scaling.shards import Made, contents_of_made, write_shard
from treemean.scaling.sums import Sums
from treemean.trees import Treebank

#: So many files are open at a time, one for each shard that sentences go to.
_OPEN = 200
#: The index.
_IDS = "ids.sqlite"


class NoUniqueIds(Exception):
    """Some treebank has a sentence without id, or two with the same."""


def aligned_by_id(
    runs: Sequence[Contents],
    folder: Path,
    size: int | None,
    say: Callable[[str], None],
    *,
    or_by_position: bool = True,
) -> list[Contents]:
    """Return treebanks whose sentences stand in the order of the first one, by their ids.

    Without unique ids they stay as they are, and it is said: sentences are then matched by position, and must
    have the same words. Raises `MismatchError` if treebanks have different sentences, or, without
    `or_by_position`, no unique ids.
    """
    first = runs[0]
    other = [run for run in runs[1:] if not _same_order(first, run)]
    if not other:
        return list(runs)
    place = folder / STAGED
    place.mkdir(parents=True, exist_ok=True)
    try:
        with closing(_Index(place / _IDS, first)) as index:
            found = [
                _reordered(run, index, place / f"ordered-{number}", size or SHARD_SIZE)
                if run in other
                else run
                for number, run in enumerate(runs)
            ]
    except NoUniqueIds as error:
        if not or_by_position:
            raise MismatchError(f"{error}, and sentences are to be matched by them") from error
        say(f"{error}: sentences are matched by position")
        return list(runs)
    except sqlite3.Error as error:  # such as a full disk
        raise TreemeanError(f"{place / _IDS}: {error}") from error
    say(f"{len(other)} of {len(runs)} treebanks were brought into the order of {first.name}")
    return found


def ids_of(run: Contents) -> Iterator[list[str]]:
    """Yield the ids of a treebank, some at a time; nothing else is read."""
    load_pyarrow()
    import pyarrow.parquet

    for file in run.files:
        reader = pyarrow.parquet.ParquetFile(file.path)
        if "id" not in reader.schema_arrow.names:
            yield [""] * file.rows
            continue
        for batch in reader.iter_batches(SHARD_SIZE, columns=["id"], use_threads=False):
            yield batch.column("id").fill_null("").to_pylist()


def _same_order(first: Contents, other: Contents) -> bool:
    if first.sentences != other.sentences:
        return False
    ours = (id for ids in ids_of(first) for id in ids)
    theirs = (id for ids in ids_of(other) for id in ids)
    return all(a == b and a for a, b in zip(ours, theirs, strict=True))


class _Index:
    """The place of every id in the first treebank, in a database on disk."""

    def __init__(self, path: Path, first: Contents) -> None:
        path.unlink(missing_ok=True)
        self.name, self.sentences = first.name, first.sentences
        self._database = sqlite3.connect(path)
        self._database.execute("PRAGMA journal_mode = OFF")
        self._database.execute("PRAGMA synchronous = OFF")  # it is made anew if anything fails
        self._database.execute("CREATE TABLE places (id TEXT PRIMARY KEY, place INTEGER) WITHOUT ROWID")
        place = 0
        for ids in ids_of(first):
            rows = [(id, place + offset) for offset, id in enumerate(ids)]
            if "" in ids:
                raise NoUniqueIds(f"{first.name} has sentences without an id")
            try:
                self._database.executemany("INSERT INTO places VALUES (?, ?)", rows)
            except sqlite3.IntegrityError:
                raise NoUniqueIds(f"{first.name} has ids that occur more than once") from None
            place += len(ids)

    def places(self, ids: Sequence[str], name: str) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Return the places of ids; `name` is the treebank that has them."""
        if "" in ids:
            raise NoUniqueIds(f"{name} has sentences without an id")
        found = np.empty(len(ids), dtype=np.int64)
        for number, id in enumerate(ids):
            row = self._database.execute("SELECT place FROM places WHERE id = ?", (id,)).fetchone()
            if row is None:
                raise MismatchError(f"{name} has other sentences than {self.name}: it has {id!r}")
            found[number] = row[0]
        return found

    def close(self) -> None:
        """Close the database."""
        self._database.close()


def _reordered(run: Contents, index: _Index, folder: Path, size: int) -> Contents:
    """Return a copy of a treebank in the order of the index."""
    if run.sentences != index.sentences:
        raise MismatchError(f"{run.name} has {run.sentences} sentences, {index.name} has {index.sentences}")
    folder.mkdir(exist_ok=True)
    shards = -(-run.sentences // size)
    made: list[Made] = []
    for begin in range(0, shards, _OPEN):  # one pass for so many shards
        made += _some_shards(run, index, folder, size, range(begin, min(shards, begin + _OPEN)))
    return contents_of_made(run.name, folder, made)


def _some_shards(run: Contents, index: _Index, folder: Path, size: int, wanted: range) -> Iterator[Made]:
    """Sort the sentences of some shards into files, and yield these shards in the order of the index."""
    import pyarrow

    from treemean.formats.arrowtables import table_of, treebank_of

    def refuse(row: int, reason: str) -> None:
        raise MismatchError(f"{run.name}: {reason}")

    streams: dict[int, Any] = {}
    places: dict[int, list[np.ndarray[Any, np.dtype[np.int64]]]] = {shard: [] for shard in wanted}
    try:
        for batch in read_all_rows(run.rows(0, run.sentences)):
            found = index.places(batch.ids.tolist(), run.name)
            for shard in np.unique(found // size).tolist():
                if shard not in wanted:
                    continue
                rows = np.flatnonzero(found // size == shard)
                table = table_of(batch.take(rows))
                if shard not in streams:
                    streams[shard] = pyarrow.ipc.new_file(str(folder / f"{shard}.arrow"), table.schema)
                streams[shard].write_table(table)
                places[shard].append(found[rows])
    finally:
        for stream in streams.values():
            stream.close()
    for shard in wanted:
        if shard not in streams:  # its ids are not there, so others are there twice
            raise NoUniqueIds(f"{run.name} has ids that occur more than once")
        with pyarrow.memory_map(str(folder / f"{shard}.arrow")) as source:
            reader = pyarrow.ipc.open_file(source)
            parts = [
                treebank_of(reader.get_batch(number), refuse) for number in range(reader.num_record_batches)
            ]
        order = np.concatenate(places[shard])
        if len(np.unique(order)) != len(order) or len(order) != min(size, run.sentences - shard * size):
            raise NoUniqueIds(f"{run.name} has ids that occur more than once")
        trees = Treebank.concatenate(parts).take(np.argsort(order))
        yield write_shard(iter([trees]), Sums(), str(folder), f"part-{shard:05d}-ordered.parquet")
        (folder / f"{shard}.arrow").unlink()
