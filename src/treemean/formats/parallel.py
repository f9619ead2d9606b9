"""Reading several treebanks of the same sentences side by side, in memory that stays flat."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

from treemean.errors import FormatError, MismatchError
from treemean.trees import Treebank


def read_parallel(
    paths: Sequence[str | os.PathLike[str]],
    spans: Sequence[str | os.PathLike[str]] = (),
    **options: Any,
) -> Iterator[list[Treebank]]:
    """Yield lists of equally long batches, one of each file; raise `MismatchError` if one ends early.

    Raises `FormatError` if there are no sentences at all. The options are those of `read_batches`; bad
    sentences are always errors, as leaving one out would shift a file against the others. No more than a
    batch of each file is held. After those of treebanks come the columns of tables of `spans`.
    """
    from treemean.formats import read_batches
    from treemean.formats.spans import read_span_batches

    streams = [read_batches(path, **options) for path in paths]
    streams += [(table.columns for table in read_span_batches(path)) for path in spans]
    names = [os.fspath(path) for path in (*paths, *spans)]
    some = False
    for batch in side_by_side(streams, names):
        some = True
        yield batch
    if names and not some:
        raise no_sentences(*names)


def no_sentences(*names: str) -> FormatError:
    """Return the error about files without sentences.

    >>> print(no_sentences("a.dbr", "b.dbr"))
    a.dbr, b.dbr: there are no sentences
    """
    return FormatError("there are no sentences", path=", ".join(dict.fromkeys(names)))


def side_by_side(
    streams: Sequence[Iterator[Treebank]], names: Sequence[str], seen: int = 0
) -> Iterator[list[Treebank]]:
    """Yield lists of equally long batches, one of each stream; raise `MismatchError` if one ends early.

    `seen` is how many sentences came before, for messages.
    """
    waiting = [Treebank.empty() for _ in streams]
    while True:
        for index, stream in enumerate(streams):
            if not len(waiting[index]):
                waiting[index] = next((batch for batch in stream if len(batch)), Treebank.empty())
        ready = min(map(len, waiting), default=0)
        if ready == 0:
            _check_all_ended(names, waiting, seen)
            return
        yield [batch[:ready] for batch in waiting]
        waiting = [batch[ready:] for batch in waiting]
        seen += ready


def _check_all_ended(names: Sequence[str], waiting: Sequence[Treebank], seen: int) -> None:
    ended = [name for name, batch in zip(names, waiting, strict=True) if not len(batch)]
    if len(ended) < len(names):
        longer = next(name for name, batch in zip(names, waiting, strict=True) if len(batch))
        raise MismatchError(f"{ended[0]} ends after {seen} sentence{'s' * (seen != 1)}, but {longer} goes on")
