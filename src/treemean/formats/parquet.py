"""Parquet: the columns of a treebank, one row per sentence; `arrowtables` tells which."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import ModuleType
from typing import IO

from treemean.errors import FormatError, reason_of
from treemean.files.source import Source
from treemean.formats.arrowtables import (
    Arrow,
    columns_to_read,
    load_pyarrow,
    missing_values,
    table_of,
    treebank_of,
)
from treemean.formats.parquetfooter import largest_column
from treemean.formats.problems import Problems
from treemean.formats.reading import BATCH_CELLS
from treemean.formats.writing import BatchWriter, Unwritable
from treemean.trees import Treebank
from treemean.trees.arrow import CONSTITUENT_TEXTS, SENTENCE_TEXTS, TREES_LAYOUT, WORD_TEXTS

NOT_VALID = "not valid Parquet"
#: Rows that are compressed together: a file is read in pieces no larger than this.
ROWS_PER_GROUP = 8192
ROWS_PER_BATCH = 4096
#: How many values of one column a group of rows may have: all of them may be in one row.
GROUP_VALUES = 1 << 25


def _load_parquet() -> ModuleType:
    load_pyarrow()
    import pyarrow.parquet

    return pyarrow.parquet  # type: ignore[no-any-return]


# ---- reading ----------------------------------------------------------------------------------------


def read(source: Source, problems: Problems, *, encoding: str) -> Iterator[Treebank]:
    """Read Parquet, some rows at a time; bad rows are set aside as JSON."""
    with copied(source) as file:
        yield from _treebanks(file, source.name, problems)


@contextmanager
def copied(source: Source) -> Iterator[IO[bytes]]:
    """Copy a stream to a temporary file, for a Parquet file is read from its end."""
    with tempfile.TemporaryFile() as file:
        while block := source.read():
            file.write(block)
        file.seek(0)
        yield file


def read_rows(
    path: str | os.PathLike[str], start: int, stop: int, rows: int, problems: Problems | None = None
) -> Iterator[Treebank]:
    """Read the rows from `start` to `stop` - 1 of a Parquet file, some at a time, and unpack no others.

    Bad rows go to `problems`; without it the first one raises `FormatError`. So does a file that has not as
    many rows as are said to be in it.
    """
    name = os.fspath(path)
    try:
        with open(path, "rb") as file:
            yield from _treebanks(file, name, problems or Problems(), start, stop, rows)
    except OSError as error:
        raise FormatError(reason_of(error), path=name) from error


def describe(path: str | os.PathLike[str]) -> tuple[int, dict[str, str]]:
    """Return how many rows a Parquet file has, and the texts that were written beside them, by name."""
    name = os.fspath(path)
    try:
        with open(path, "rb") as file:  # PyArrow cannot open names that are not UTF-8
            found = _load_parquet().read_metadata(file)
    except (load_pyarrow().ArrowException, OSError, ValueError) as error:
        raise FormatError(f"{NOT_VALID}: {reason_of(error)}", path=name) from error
    texts = {key.decode(): value.decode() for key, value in (found.metadata or {}).items()}
    return found.num_rows, texts


def _treebanks(
    file: IO[bytes],
    name: str,
    problems: Problems,
    start: int = 0,
    stop: int | None = None,
    rows: int | None = None,
) -> Iterator[Treebank]:
    """Yield the treebanks of rows; what is wrong with one of them is reported with its number in the file."""
    for before, batch in record_batches(file, name, problems, start=start, stop=stop, expected=rows):

        def report(row: int, reason: str, batch: Arrow = batch, before: int = before) -> None:
            sentence = name_of_row(batch, row, before)
            raw = b""
            if problems.aside is not None:  # it may be large
                data = batch.slice(row, 1).to_pylist()[0]
                raw = json.dumps(data, ensure_ascii=False, default=str).encode("utf-8", "backslashreplace")
            problems.report(FormatError(reason, path=name, sentence=sentence), raw)

        treebank = treebank_of(batch, report)
        if len(treebank):
            yield treebank


def name_of_row(batch: Arrow, row: int, before: int) -> str:
    """Return the number of a sentence and its id, if it has one, for messages."""
    id = batch.column("id")[row].as_py() if "id" in batch.schema.names else None
    return str(before + row + 1) + (f" ({id[:80]})" if id else "")


def record_batches(
    file: IO[bytes],
    name: str,
    problems: Problems,
    layout: str = TREES_LAYOUT,
    *,
    start: int = 0,
    stop: int | None = None,
    expected: int | None = None,
) -> Iterator[tuple[int, Arrow]]:
    """Yield some rows of a file, each time with the number of rows before them.

    A file that is broken, or has another number of rows than expected, goes to `problems`, and nothing after
    it can be read.
    """
    arrow, parquet = load_pyarrow(), _load_parquet()
    left = 0
    try:
        _check_values(file)
        metadata = parquet.read_metadata(file)
        left = metadata.num_rows
        if expected not in (None, left):
            raise FormatError(f"{left} sentences are in the file, and {expected} should be", path=name)
        names = columns_to_read(metadata.schema.to_arrow_schema(), layout)
        reader = parquet.ParquetFile(
            file,
            metadata=metadata,
            read_dictionary=_text_columns(metadata),
            buffer_size=1 << 20,
            page_checksum_verification=True,
        )
        before = 0
        for group in range(reader.num_row_groups):  # one by one: groups of long sentences are short
            end = before + metadata.row_group(group).num_rows
            if end > start and (stop is None or before < stop):
                rows = reader.iter_batches(
                    ROWS_PER_BATCH, row_groups=[group], columns=names, use_threads=False
                )
                for batch in rows:
                    batch.validate(full=True)
                    left -= len(batch)
                    first = max(start - before, 0)
                    last = len(batch) if stop is None else min(len(batch), stop - before)
                    if first < last:
                        yield before + first, batch.slice(first, last - first)
                    before += len(batch)
            before = end
    except FormatError as error:
        problems.report(FormatError(error.message, path=name))
        problems.missing += left
    except MemoryError:  # of Arrow, too, which calls it an error of its own
        raise
    except (arrow.ArrowException, OSError, ValueError, OverflowError) as error:
        problems.report(FormatError(f"{NOT_VALID}: {error}", path=name))
        problems.missing += left


def _text_columns(metadata: Arrow) -> list[str]:
    """Return the columns of texts, to be read as codes: a small file may say a long text very often."""
    columns = (metadata.schema.column(index) for index in range(metadata.num_columns))
    known = {*SENTENCE_TEXTS, *WORD_TEXTS, *CONSTITUENT_TEXTS}
    return [c.path for c in columns if c.physical_type == "BYTE_ARRAY" and c.path.split(".")[0] in known]


def _check_values(file: IO[bytes]) -> None:
    """Raise `FormatError` if a group of rows takes more memory than it may, whatever is in it."""
    try:
        values = largest_column(file)
    except ValueError as error:
        raise FormatError(f"{NOT_VALID}: {error}") from error
    if values > GROUP_VALUES:
        raise FormatError(
            f"{values} values of a column in one group of rows; at most {GROUP_VALUES} are read"
        )
    file.seek(0)


# ---- writing ----------------------------------------------------------------------------------------


class ParquetWriter:
    """Collects rows into groups in a temporary file, which is copied to the stream at the end.

    All rows of a Parquet file have the same columns. Where a later batch brings a new column of numbers, a
    new temporary file begins, and at the end all are joined into one with the columns of all.
    """

    def __init__(self, stream: IO[bytes], empty: Treebank, layout: str = TREES_LAYOUT) -> None:
        self._stream, self._layout = stream, layout
        self._parts = [_Part(table_of(empty, layout).schema)]
        self._texts: dict[str, str] = {}
        self._waiting: list[Treebank] = []
        self._rows = self._cells = 0

    def write(self, batch: Treebank) -> None:
        """Write a batch."""
        self._waiting.append(batch)
        self._rows += len(batch)
        self._cells += 64 * len(batch.bits)
        if self._rows >= ROWS_PER_GROUP or self._cells >= BATCH_CELLS:
            self._flush()

    def describe(self, texts: Mapping[str, str]) -> None:
        """Write texts beside the rows, which `describe` returns without reading these."""
        self._texts.update(texts)

    def _flush(self) -> None:
        rows = Treebank.concatenate(self._waiting)
        self._waiting, self._rows, self._cells = [], 0, 0
        for start in range(0, len(rows), ROWS_PER_GROUP):
            table = table_of(rows[start : start + ROWS_PER_GROUP], self._layout)
            if not self._parts[-1].schema.equals(table.schema):
                self._parts.append(_Part(table.schema))
            self._parts[-1].write(table)

    def close(self) -> None:
        """Write the file; the stream stays open."""
        self._flush()
        filled = [part for part in self._parts if part.rows] or self._parts
        whole = filled[0] if len(filled) == 1 else _join(filled)
        shutil.copyfileobj(whole.finish(self._texts), self._stream)
        for part in [whole, *self._parts]:
            part.discard()


class _Part:
    """A Parquet file of its own, without a name."""

    def __init__(self, schema: Arrow) -> None:
        self.schema = schema
        self.rows = 0
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 (discard closes it)
        self._writer = _load_parquet().ParquetWriter(
            self._file, schema, compression="zstd", write_page_checksum=True
        )
        self.discard = weakref.finalize(self, _discard, self._writer, self._file)

    def write(self, table: Arrow) -> None:
        self._writer.write_table(table, row_group_size=ROWS_PER_GROUP)
        self.rows += len(table)

    def finish(self, texts: Mapping[str, str] | None = None) -> IO[bytes]:
        if texts:
            self._writer.add_key_value_metadata(dict(texts))
        self._writer.close()
        self._file.seek(0)
        return self._file


def _discard(writer: Arrow, file: IO[bytes]) -> None:
    with suppress(OSError):  # a full disk; nobody will read the file
        writer.close()
    with suppress(OSError):
        file.close()


def _join(parts: Sequence[_Part]) -> _Part:
    whole = _Part(load_pyarrow().unify_schemas([part.schema for part in parts]))
    for part in parts:
        reader = _load_parquet().ParquetFile(part.finish())
        for group in range(reader.num_row_groups):
            table = reader.read_row_group(group)
            for field in whole.schema:
                if field.name not in table.column_names:
                    table = table.append_column(field, missing_values(table, field.name))
            whole.write(table.select(whole.schema.names).cast(whole.schema))
    return whole


def writer(stream: IO[bytes], unwritable: Unwritable) -> BatchWriter:
    """Open a writer; there is no tree that it could not write."""
    return ParquetWriter(stream, Treebank.empty())
