"""Sharded treebanks: a folder of Parquet files, and a manifest that tells which, how many and how whole.

    mean/
      _manifest.json                         written last: without it the treebank is not finished
      part-00000-3f2a9c1b7d804e65.parquet    some thousand sentences each, in order
      part-00001-b19e0f5577aa0c31.parquet

The name begins with an underscore so that readers of folders (pandas, PyArrow, Spark) pass over the manifest.
Nothing else of a folder counts: a Parquet file that the manifest does not list is no part of the treebank.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from treemean._version import __version__
from treemean.errors import FormatError, reason_of
from treemean.files.checksums import checksum
from treemean.files.filenames import can_be_name
from treemean.files.output import write_file
from treemean.files.records import record
from treemean.files.sealed import sealed, unsealed
from treemean.formats.problems import Problems
from treemean.trees import Treebank

MANIFEST = "_manifest.json"
#: What a job writes first, and removes last: what the folder will hold.
UNFINISHED = "_unfinished.json"
#: Raised by one when older versions could not read the new layout of folders.
SCHEMA = 1
_KIND = "treemean sharded treebank"
#: What is told of every file, and of all together.
_TOTALS = ("sentences", "words", "constituents", "bytes")


@dataclass(frozen=True)
class Shard:
    """One file of a sharded treebank: its name in the folder, what is in it, and its SHA-256."""

    file: str
    sentences: int
    words: int
    constituents: int
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """What a sharded treebank consists of.

    Parameters
    ----------
    shards : in the order of the sentences.
    provenance : JSON-ready; the job that wrote the treebank, its options and its inputs, its fingerprint.
    sums : JSON-ready; what was counted over all sentences, such as how often labels occur.
    """

    shards: tuple[Shard, ...]
    provenance: Mapping[str, Any] = field(default_factory=dict)
    sums: Mapping[str, Any] = field(default_factory=dict)

    @property
    def sentences(self) -> int:
        """How many sentences all shards have."""
        return sum(shard.sentences for shard in self.shards)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the manifest into a folder; from then on the folder is a treebank."""
        shards = [asdict(shard) for shard in self.shards]
        content = {
            "kind": _KIND,
            "schema": SCHEMA,
            "treemean": __version__,
            **{name: sum(shard[name] for shard in shards) for name in _TOTALS},
            "provenance": self.provenance,
            "sums": self.sums,
            "shards": shards,
        }
        write_file(Path(folder, MANIFEST), sealed(content, ensure_ascii=False))


def is_sharded(path: str | os.PathLike[str]) -> bool:
    """Tell whether a path is a folder that holds a sharded treebank, finished or not."""
    return any(os.path.isfile(os.path.join(path, name)) for name in (MANIFEST, UNFINISHED))


def load_manifest(folder: str | os.PathLike[str]) -> Manifest:
    """Read the manifest of a folder; raise `FormatError` if there is none, or if it is damaged."""
    path = os.path.join(folder, MANIFEST)
    try:
        content = unsealed(Path(path).read_bytes())
    except FileNotFoundError as error:
        raise FormatError(
            "the treebank is not finished: give the command again that was writing it",
            path=os.fspath(folder),
        ) from error
    except OSError as error:
        raise FormatError(reason_of(error), path=path) from error
    except ValueError as error:
        raise FormatError(f"a damaged manifest: {error}", path=path) from error
    if content.get("kind") != _KIND:
        raise FormatError("this is no manifest of a sharded treebank", path=path)
    if content.get("schema") != SCHEMA:
        raise FormatError(
            f"its schema is {content.get('schema')!r}, and treemean {__version__} reads schema {SCHEMA}",
            path=path,
        )
    try:
        shards = tuple(record(Shard, entry) for entry in content["shards"])
        for name in (shard.file for shard in shards):
            if not can_be_name(name) or os.path.basename(name) != name or name in ("", ".", ".."):
                raise ValueError(f"no file of the folder can have the name {name!r}")
        for name in _TOTALS:
            if content[name] != sum(getattr(shard, name) for shard in shards):
                raise ValueError(f"its number of {name} is not that of its files")
        return Manifest(shards, dict(content["provenance"]), dict(content["sums"]))
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(f"a damaged manifest: {error}", path=path) from error


def check_shard(folder: str | os.PathLike[str], shard: Shard) -> str:
    """Return the path of a shard; raise `FormatError` unless its bytes are those that the manifest tells."""
    path = os.path.join(folder, shard.file)
    try:
        fits = os.path.getsize(path) == shard.bytes and checksum(path) == shard.sha256
    except OSError as error:
        raise FormatError(reason_of(error), path=path) from error
    if not fits:
        raise FormatError("the file is not the one that the manifest describes", path=path)
    return path


def read_shards(folder: str | os.PathLike[str], problems: Problems) -> Iterator[Treebank]:
    """Read a sharded treebank, some sentences at a time, and check every file against the manifest."""
    from treemean.formats.parquet import read_rows

    for shard in load_manifest(folder).shards:
        try:
            path = check_shard(folder, shard)
        except FormatError as error:
            problems.report(error)
            continue
        yield from read_rows(path, 0, shard.sentences, shard.sentences, problems)


def described(path: str | os.PathLike[str], sentences: int, words: int, constituents: int) -> Shard:
    """Return the entry of a shard that is there."""
    return Shard(
        os.path.basename(path), sentences, words, constituents, os.path.getsize(path), checksum(path)
    )
