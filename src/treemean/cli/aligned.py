"""Reading treebanks of the same sentences side by side."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from treemean.files.source import Spooled
    from treemean.trees import Treebank


def aligned_batches(
    runs: Sequence[str | Spooled], match: str, reading: dict[str, Any]
) -> Iterator[list[Treebank]]:
    """Yield aligned batches; matching by id needs whole files, matching by position does not."""
    from treemean.averaging.alignment import align_by_id, check_aligned
    from treemean.cli.output import read_all
    from treemean.formats.parallel import read_parallel

    names = [os.fspath(run) for run in runs]
    if match == "id":
        aligned = align_by_id([read_all(path, **reading) for path in runs], names)
        check_aligned(aligned, names)
        yield aligned
        return
    seen = 0
    for batch in read_parallel(runs, **reading):
        check_aligned(batch, names, seen)  # here, where files and numbers of sentences are known
        seen += len(batch[0])
        yield batch


class Repeated:
    """Batches that are read again whenever they are asked for; a single one is kept."""

    def __init__(self, read: Callable[[], Iterator[list[Treebank]]]) -> None:
        first = list(islice(read(), 2))
        self._read = read
        self.single = len(first) < 2
        self._kept = first if self.single else []

    def __iter__(self) -> Iterator[list[Treebank]]:
        return iter(self._kept) if self.single else self._read()
