"""Tables of spans on disk: Parquet, with the columns of a treebank, one row per sentence."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import ExitStack
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from treemean.errors import FormatError, check_type, reason_of
from treemean.files.output import open_output
from treemean.files.source import Source, Spooled
from treemean.formats.arrowtables import ABOUT_SPANS, consistent_rows
from treemean.formats.parquet import NOT_VALID, ParquetWriter, copied, name_of_row, record_batches
from treemean.formats.problems import Problems
from treemean.trees import Treebank
from treemean.trees.arrow import SPANS_LAYOUT, Arrow, load_pyarrow
from treemean.trees.bitsets import Bits
from treemean.trees.spans import EXPECTED, POSTERIOR, SpanTable


def read_spans(path: str | os.PathLike[str]) -> SpanTable:
    """Read a table of spans.

    Raises `FormatError`, which names the file and the sentence, if it is something else or damaged.
    """
    return SpanTable.concatenate([SpanTable.from_rows([]), *read_span_batches(path)])


def read_span_batches(path: str | os.PathLike[str]) -> Iterator[SpanTable]:
    """Read a table of spans, some sentences at a time."""
    name = os.fspath(path)
    try:
        copy = path.copy if isinstance(path, Spooled) else path
        with Source(open(copy, "rb"), name) as source, copied(source) as file:
            yield from _batches(file, name)
    except OSError as error:
        raise FormatError(reason_of(error), path=name) from error
    except FormatError as error:
        if not error.message.startswith(NOT_VALID):
            raise
        raise FormatError(f"this is no table of spans ({error.message}); {ABOUT_SPANS}", path=name) from error


def _batches(file: IO[bytes], name: str) -> Iterator[SpanTable]:
    for before, batch in record_batches(file, name, Problems(), SPANS_LAYOUT):

        def refuse(row: int, reason: str, batch: Arrow = batch, before: int = before) -> None:
            raise FormatError(reason, path=name, sentence=name_of_row(batch, row, before))

        columns, _ = consistent_rows(batch, refuse)
        for row, reason in _unsound(columns):
            refuse(row, reason)
        yield SpanTable(columns)


def packed(table: SpanTable) -> bytes:
    """Return a table as the bytes of a file, for another process."""
    stream = io.BytesIO()
    writer = _writer(stream)
    writer.write(table.columns)
    writer.close()
    return stream.getvalue()


def unpacked(data: bytes) -> SpanTable:
    """Return the table that another process packed."""
    return SpanTable.concatenate(list(_batches(io.BytesIO(data), "<a worker>")))


def _writer(stream: IO[bytes]) -> ParquetWriter:
    return ParquetWriter(stream, SpanTable.from_rows([]).columns, SPANS_LAYOUT)


def write_spans(table: SpanTable, path: str | os.PathLike[str]) -> None:
    """Write a table of spans as Parquet; the file appears only when it is complete."""
    with SpanWriter(path) as writer:
        writer.write(table)


class SpanWriter:
    """Writes tables of spans to one file, which appears only when the block ends without an error."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path, self._stack = path, ExitStack()

    def __enter__(self) -> SpanWriter:
        load_pyarrow()  # before there is a file
        stream = self._stack.enter_context(open_output(self._path))
        self._writer = _writer(stream)
        return self

    def write(self, table: SpanTable) -> None:
        """Write some sentences."""
        check_type("what is written", table, SpanTable)
        self._writer.write(table.columns)

    def __exit__(self, *details: Any) -> None:
        if details[0] is None:
            with self._stack:  # an error now still leaves the old file alone
                self._writer.close()
        else:
            self._stack.__exit__(*details)


def _unsound(columns: Treebank) -> Iterator[tuple[int, str]]:
    """Yield the sentences whose spans are no spans, and why."""
    posteriors, expected = (
        columns.constituent_values[POSTERIOR],
        columns.sentence_values[EXPECTED],
    )
    lengths, sentence, sizes = columns.lengths, columns.sentence_of, columns.sizes
    first = np.zeros(len(sentence), dtype=bool)
    first[columns.constituent_offsets[:-1][columns.constituent_counts > 0]] = True

    def sentences(spans: NDArray[np.bool_]) -> list[int]:
        found: list[int] = np.unique(sentence[spans]).tolist()
        return found

    for wrong, reason in (
        (
            np.flatnonzero((columns.constituent_counts > 0) != (lengths > 0)),
            "there is no span of all words, or no word",
        ),
        (sentences(_beyond(columns)), "a span has words beyond the last one"),
        (sentences(first & (sizes != lengths[sentence])), "the first span does not have all words"),
        (
            sentences(~first & ((sizes < 2) | (sizes >= lengths[sentence]))),
            "a span has fewer than two words, or all of them",
        ),
        (sentences(~((posteriors >= 0) & (posteriors <= 1))), "a posterior is not between 0 and 1"),
        (sentences(first & (posteriors != 1)), "the posterior of the first span is not 1"),
        (
            np.flatnonzero(~((expected >= 0) & (expected < np.inf))),
            "the number of expected constituents is no number",
        ),
        (sentences(_repeated(columns)), "a span occurs twice"),
    ):
        for row in wrong:
            yield int(row), reason


def _beyond(columns: Treebank) -> NDArray[np.bool_]:
    """Tell which spans have words that their sentence has not."""
    beyond = np.zeros(len(columns.labels), dtype=bool)
    for nodes, rows in columns.rows():
        if not rows.size:
            continue
        left = columns.lengths[columns.sentence_of[nodes]] - 64 * (rows.shape[1] - 1)  # in the last column
        allowed = np.where(
            left == 64, ~np.uint64(0), (np.uint64(1) << (left % 64).astype(np.uint64)) - np.uint64(1)
        )
        beyond[nodes] = (rows[:, -1] & ~allowed) != 0
    return beyond


def _repeated(columns: Treebank) -> NDArray[np.bool_]:
    """Tell which spans stand in their sentence once more."""
    repeated = np.zeros(len(columns.labels), dtype=bool)
    for nodes, rows in columns.rows():
        keys: Bits = np.column_stack([columns.sentence_of[nodes].astype(np.uint64), rows])
        _, number, times = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
        repeated[nodes] = times[number.ravel()] > 1
    return repeated
