"""Input that can be read only from its beginning, cut into shards while it is read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count, islice
from typing import Any

from treemean.files.checksums import checksum
from treemean.formats import read_batches
from treemean.formats.problems import Problems
from treemean.formats.reading import BATCH
from treemean.scaling.shards import Made, SetAside, Work, existing_shard, fingerprint, shard_name, write_shard
from treemean.scaling.sums import Sums
from treemean.trees import Tree, Treebank

#: What plain text is called among the formats; see `parsing.text`.
TEXT = "text"


@dataclass(frozen=True)
class StreamTask:
    """A treebank to read from its beginning, and the folder for its shards.

    `reading` says how it is read: parameters of `read_batches`, JSON-ready.
    """

    path: str
    folder: str
    size: int
    reading: dict[str, Any] = field(default_factory=dict)


def make_shards(work: Work, task: StreamTask) -> list[Made]:
    """Make all shards of a treebank; those that are there are read past."""
    return list(each_shard(work, task))


def each_shard(work: Work, task: StreamTask) -> Iterator[Made]:
    """Yield the shards of a treebank when they are made."""
    os.makedirs(task.folder, exist_ok=True)
    problems = SetAside(Sums()) if work.skip_bad else None
    stream = Stream(read_any(task.path, task.reading, problems))
    told, source = fingerprint(work), checksum(task.path)
    for number in count():
        sums = Sums()
        if problems is not None:
            problems.sums = sums
        if number and stream.ended:
            return
        file = shard_name(number, told, [source, task.reading, task.size, number])
        batches = stream.next(task.size)
        if found := existing_shard(task.folder, file):
            for _ in batches:
                pass
            if problems is not None:
                problems.take()
            yield found
        else:
            trees = _to_the_end(work.trees(([batch] for batch in batches), number * task.size, sums), batches)
            yield write_shard(trees, sums, task.folder, file, problems)


def _to_the_end(trees: Iterator[Treebank], batches: Iterator[Treebank]) -> Iterator[Treebank]:
    """Yield trees, and then read what the work did not want to see: bad records belong to their shard."""
    yield from trees
    for _ in batches:
        pass


def read_any(path: str, reading: Mapping[str, Any], problems: Problems | None = None) -> Iterator[Treebank]:
    """Read a treebank, or with the format `text` plain text as trees of nothing but a root."""
    if reading.get("format") != TEXT:
        yield from read_batches(path, **reading, problems=problems)
        return
    from treemean.parsing.text import read_sentences

    sentences = read_sentences(path, format=TEXT, encoding=reading.get("encoding", "utf-8"))
    while some := list(islice(sentences, BATCH)):
        yield Treebank.from_trees(Tree(one.words, [(range(len(one.words)), "")]) for one in some)


class Stream:
    """Batches, of which so many sentences at a time can be taken."""

    def __init__(self, batches: Iterator[Treebank]) -> None:
        self._batches = batches
        self._begun = Treebank.empty()

    @property
    def ended(self) -> bool:
        """Whether no sentence is left."""
        while not len(self._begun):
            following = next(self._batches, None)
            if following is None:
                return True
            self._begun = following
        return False

    def next(self, size: int) -> Iterator[Treebank]:
        """Yield the batches of the next `size` sentences; all must be taken.

        It looks for the sentence after them: bad records before that one, or at the end, are met here.
        """
        while not self.ended and size:
            batch, self._begun = self._begun[:size], self._begun[size:]
            size -= len(batch)
            yield batch
