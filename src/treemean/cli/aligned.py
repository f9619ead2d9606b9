"""Reading treebanks of the same sentences side by side."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from treemean.files.source import Spooled
    from treemean.trees import Individual, Treebank


def aligned_batches(
    runs: Sequence[str | Spooled], match: str, reading: dict[str, Any], spans: Sequence[str | Spooled] = ()
) -> Iterator[list[Individual]]:
    """Yield aligned batches, tables of spans last.

    Matching by id needs whole files, matching by position does not.
    """
    from treemean.averaging.alignment import align_by_id, check_aligned
    from treemean.formats.parallel import read_parallel

    names = [os.fspath(run) for run in (*runs, *spans)]
    if match == "id":
        aligned = align_by_id(read_whole(runs, spans, reading), names)
        check_aligned(aligned, names)
        yield with_tables(aligned, len(spans))
        return
    seen = 0
    for batch in read_parallel(runs, spans, **reading):
        check_aligned(batch, names, seen)  # here, where files and numbers of sentences are known
        seen += len(batch[0])
        yield with_tables(batch, len(spans))


def read_whole(
    runs: Sequence[str | Spooled], spans: Sequence[str | Spooled], reading: dict[str, Any]
) -> list[Treebank]:
    """Return treebanks, and after them the columns of tables of spans."""
    from treemean.cli.output import read_all
    from treemean.formats.spans import read_spans

    return [*(read_all(path, **reading) for path in runs), *(read_spans(path).columns for path in spans)]


def with_tables(banks: Sequence[Treebank], tables: int) -> list[Individual]:
    """Return treebanks, the last of which are the columns of tables of spans, as what they are."""
    from treemean.trees import SpanTable

    trees = len(banks) - tables
    return [*banks[:trees], *map(SpanTable, banks[trees:])]


class Repeated:
    """Batches that are read again whenever they are asked for; a single one is kept."""

    def __init__(self, read: Callable[[], Iterator[list[Individual]]]) -> None:
        first = list(islice(read(), 2))
        self._read = read
        self.single = len(first) < 2
        self._kept = first if self.single else []

    def __iter__(self) -> Iterator[list[Individual]]:
        return iter(self._kept) if self.single else self._read()
