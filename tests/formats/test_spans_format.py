"""Files of tables of spans: they come back as they were, and what is damaged is refused with its place."""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fuzzing import MUTATIONS
from hypothesis import given

import treemean
from examples import examples
from span_instances import random_spans, rows_of, span_rows
from treemean import FormatError, Problems, SpanTable, Tree, Treebank, read_spans, write_spans
from treemean.errors import TreemeanError, WrongType
from treemean.formats.parquet import ROWS_PER_BATCH
from treemean.formats.spans import SpanWriter, read_span_batches
from treemean.trees import CodedStrings, SpanRow
from treemean.trees.arrow import SPANS_LAYOUT, table_of

HELP = (
    "`treemean parse --span-posteriors` writes such tables, and the option --spans of `treemean average` "
    "and `treemean fit` reads all files up to the next option as such"
)
SMALL = SpanRow("a b c".split(), "s1", [(0b011, 0.7), (0b101, 0.3)], 1.0)
NOTHING = SpanRow([], "nothing", [], 0.0)
ALONE = SpanRow(["x"], "alone", [], 0.0)
LONG = SpanRow([f"w{i}" for i in range(130)], "é 1", random_spans(130, 30, random.Random(1)), 87.25)


def same(a: SpanTable, b: SpanTable) -> bool:
    """Tell whether two tables say the same; the names of their values included."""
    return (
        rows_of(a) == rows_of(b)
        and a.columns.labels.tolist() == b.columns.labels.tolist()
        and a.columns.sentence_values.keys() == b.columns.sentence_values.keys() == {"expected"}
        and a.columns.constituent_values.keys() == b.columns.constituent_values.keys() == {"posterior"}
    )


# ---- there and back ---------------------------------------------------------------------------------


@given(rows=span_rows())
def test_round_trip(rows: list[SpanRow], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("spans") / "x.parquet"
    table = SpanTable.from_rows(rows, label="X")
    write_spans(table, path)
    assert same(read_spans(path), table)
    assert same(read_spans(str(path)), table)


def test_layout(tmp_path: Path) -> None:
    write_spans(SpanTable.from_rows([SMALL, NOTHING]), tmp_path / "x")
    table = pq.read_table(tmp_path / "x")
    assert table.schema.metadata[b"treemean.layout"] == b"spans 1"
    assert table.schema.field("sentence.expected").type == pa.float64()
    assert table.schema.field("constituent.posterior").type == pa.list_(pa.field("element", pa.float64()))
    assert table.column("bits").to_pylist() == [[0b111, 0b011, 0b101], []]
    assert table.column("constituent.posterior").to_pylist() == [[1.0, 0.7, 0.3], []]


@pytest.mark.parametrize("rows", [[], [NOTHING, NOTHING], [ALONE], [NOTHING, LONG, ALONE]])
def test_what_is_empty_or_long(rows: list[SpanRow], tmp_path: Path) -> None:
    write_spans(SpanTable.from_rows(rows), tmp_path / "x")
    assert same(read_spans(tmp_path / "x"), SpanTable.from_rows(rows))


def test_several_batches(tmp_path: Path) -> None:
    table = SpanTable.from_rows([SMALL, NOTHING, LONG, ALONE])
    many = table.take([i * 7 % 4 for i in range(2 * ROWS_PER_BATCH + 100)])
    with SpanWriter(tmp_path / "x") as writer:
        for start in range(0, len(many), 1000):
            writer.write(many[start : start + 1000])
    batches = list(read_span_batches(tmp_path / "x"))
    assert len(batches) > 2
    assert max(map(len, batches)) <= ROWS_PER_BATCH
    assert same(SpanTable.concatenate(batches), many)
    assert same(read_spans(tmp_path / "x"), many)


# ---- the writer -------------------------------------------------------------------------------------


def test_compressed_files(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet.gz"
    write_spans(SpanTable.from_rows([SMALL, ALONE]), path)
    assert path.read_bytes().startswith(b"\x1f\x8b")
    assert rows_of(read_spans(path)) == [SMALL, ALONE]


def test_a_file_appears_only_when_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    with SpanWriter(path) as writer:
        writer.write(SpanTable.from_rows([SMALL]))
        assert not path.exists()
    old = path.read_bytes()
    with pytest.raises(RuntimeError, match="enough"), SpanWriter(path) as writer:
        writer.write(SpanTable.from_rows([LONG]))
        raise RuntimeError("enough")
    assert path.read_bytes() == old
    assert os.listdir(tmp_path) == ["x.parquet"]


def test_an_error_while_the_file_is_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.parquet"
    write_spans(SpanTable.from_rows([SMALL]), path)
    old = path.read_bytes()

    def fail(self: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("treemean.formats.parquet.ParquetWriter.close", fail)
    with pytest.raises(TreemeanError, match=rf"^{re.escape(str(path))}: No space left on device$"):
        write_spans(SpanTable.from_rows([LONG]), path)
    assert path.read_bytes() == old
    assert os.listdir(tmp_path) == ["x.parquet"]


def test_a_treebank_is_not_written_as_a_table(tmp_path: Path) -> None:
    bank = Treebank.from_trees([Tree(["a", "b"], [({0, 1}, "S")])])
    with pytest.raises(WrongType, match="what is written must be a SpanTable, not a Treebank"):
        write_spans(bank, tmp_path / "x")  # type: ignore[arg-type]
    assert os.listdir(tmp_path) == []


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(TreemeanError, match=r"the folder .*gone does not exist"):
        write_spans(SpanTable.from_rows([SMALL]), tmp_path / "gone" / "x")


# ---- other files ------------------------------------------------------------------------------------


def check_refused(path: Path, message: str) -> None:
    """Check that a file is refused with its name and a message, sentence included if it has one."""
    with pytest.raises(FormatError, match=rf"^{re.escape(str(path))}: {message}"):
        read_spans(path)
    with pytest.raises(FormatError):
        list(read_span_batches(path))


def test_readers_of_treebanks_refuse_tables_of_spans(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    write_spans(SpanTable.from_rows([SMALL]), path)
    message = re.escape(f"this is a table of spans, which has no trees; {HELP}")
    for read in (treemean.read, lambda path: list(treemean.read_batches(path))):
        with pytest.raises(FormatError, match=rf"^{re.escape(str(path))}: {message}$"):
            read(path)
    with pytest.raises(FormatError, match=rf"^{message}$"):
        treemean.from_arrow(pq.read_table(path))
    problems = Problems(skip=True)
    assert len(treemean.read(path, problems=problems)) == 0
    assert (problems.count, problems.missing) == (1, 1)


def test_treebanks_are_no_tables_of_spans(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    bank = Treebank.from_trees([Tree(["a", "b"], [({0, 1}, "S")])])
    treemean.write(bank, path)
    message = re.escape(f"this is no table of spans; {HELP}") + "$"
    check_refused(path, message)
    # Not even with all columns.
    pq.write_table(table_of(SpanTable.from_rows([SMALL]).columns), path)
    check_refused(path, message)


def test_files_of_nobody(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    check_refused(path, "No such file or directory")
    check_refused(tmp_path, "Is a directory")
    path.write_text("(S a b)")
    check_refused(path, r"this is no table of spans \(not valid Parquet")
    path.write_bytes(b"")
    check_refused(path, r"this is no table of spans \(not valid Parquet")


def test_truncated_files(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    write_spans(SpanTable.from_rows([SMALL, LONG]), path)
    data = path.read_bytes()
    for length in (4, len(data) // 2, len(data) - 9, len(data) - 1):
        path.write_bytes(data[:length])
        check_refused(path, r"this is no table of spans \(not valid Parquet")


def test_another_layout(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    table = table_of(SpanTable.from_rows([SMALL]).columns, "spans 2")
    pq.write_table(table, path)
    check_refused(path, "its layout is 'spans 2', and this version .* reads layout spans 1")


Change = Callable[[pa.Table], pa.Table]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda t: t.drop_columns("constituent.posterior"),
            "there is no column 'constituent.posterior'; a",
        ),
        (lambda t: t.drop_columns("sentence.expected"), "there is no column 'sentence.expected'; a table"),
        (lambda t: t.drop_columns("words"), "there is no column 'words'"),
        (lambda t: t.drop_columns("bits"), "there is no column 'bits'"),
        (lambda t: t.append_column("id", pa.array(["a", "b"])), "there are several columns 'id'"),
        (
            lambda t: t.set_column(
                t.schema.get_field_index("sentence.expected"), "sentence.expected", pa.array(["a", "b"])
            ),
            "column 'sentence.expected' cannot have the type string",
        ),
        (
            lambda t: t.set_column(
                t.schema.get_field_index("constituent.posterior"),
                "constituent.posterior",
                pa.array([0.5, 0.5]),
            ),
            "column 'constituent.posterior' cannot have the type double",
        ),
    ],
)
def test_columns_that_are_missing_or_wrong(change: Change, message: str, tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    table = table_of(SpanTable.from_rows([NOTHING, SMALL]).columns, SPANS_LAYOUT)
    pq.write_table(change(table), path)
    check_refused(path, message)


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("constituent.posterior", [1.0, 0.5], "column 'constituent.posterior' has 2 entries"),
        ("constituent.posterior", None, "column 'constituent.posterior' is null"),
        ("constituent.posterior", [1.0, None, 0.5], "a posterior is not between 0 and 1"),
        ("sentence.expected", None, "the number of expected constituents is no number"),
        ("bits", [7, 3], "column 'bits' has 2 entries; 3 words and 3 constituents need 3"),
        ("bits", [7, 3, None], "column 'bits' has an entry that is null"),
        ("words", ["a", None, "c"], "column 'words' has an entry that is null"),
        ("metadata", "[1]", "column 'metadata': the line is no JSON object"),
    ],
)
def test_rows_whose_lists_do_not_fit_together(
    column: str, value: object, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "x.parquet"
    table = table_of(SpanTable.from_rows([NOTHING, SMALL, ALONE]).columns, SPANS_LAYOUT)
    rows = table.to_pydict()
    rows[column][1] = value
    pq.write_table(pa.table(rows, table.schema), path)
    check_refused(path, rf"sentence 2 \(s1\): {message}")


# ---- spans that are no spans ------------------------------------------------------------------------


def columns_with(n: int, masks: list[int], posteriors: list[float], expected: float) -> Treebank:
    """Return the columns of a table of one sentence, whatever it says."""
    width = (n + 63) // 64
    count = len(masks)
    return SpanTable.from_rows([SpanRow(["w"] * n, "", [], 0.0)]).columns.with_columns(
        constituent_offsets=np.array([0, count]),
        labels=CodedStrings.constant("", count),
        functions=CodedStrings.constant("", count),
        bits=np.array([mask >> 64 * k & 2**64 - 1 for mask in masks for k in range(width)], dtype=np.uint64),
        constituent_values={"posterior": np.array(posteriors, dtype=np.float64)},
        sentence_values={"expected": np.array([expected])},
    )


def all_of(n: int) -> int:
    return (1 << n) - 1


NO_ROOT = "there is no span of all words, or no word"
BEYOND = "a span has words beyond the last one"
FIRST = "the first span does not have all words"
SIZE = "a span has fewer than two words, or all of them"
POSTERIOR = "a posterior is not between 0 and 1"
EXPECTED = "the number of expected constituents is no number"
TWICE = "a span occurs twice"


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (columns_with(3, [], [], 1), NO_ROOT),
        (columns_with(0, [0], [1.0], 1), NO_ROOT),
        (columns_with(3, [7, 8], [1, 0.5], 1), BEYOND),
        (columns_with(3, [15, 3], [1, 0.5], 1), BEYOND),
        (columns_with(1, [3], [1], 0), BEYOND),
        (columns_with(63, [all_of(63), 1 << 63 | 1], [1, 0.5], 1), BEYOND),
        (columns_with(65, [all_of(65), 1 << 65 | 1], [1, 0.5], 1), BEYOND),
        (columns_with(130, [all_of(130), 1 << 191 | 1], [1, 0.5], 1), BEYOND),
        (columns_with(3, [3, 7], [0.5, 1], 1), FIRST),
        (columns_with(3, [0], [1], 1), FIRST),
        (columns_with(65, [all_of(64)], [1], 1), FIRST),
        (columns_with(3, [7, 0], [1, 0.5], 1), SIZE),
        (columns_with(3, [7, 4], [1, 0.5], 1), SIZE),
        (columns_with(3, [7, 3, 7], [1, 0.5, 1], 1), SIZE),
        (columns_with(1, [1, 1], [1, 1], 1), SIZE),
        (columns_with(65, [all_of(65), 1 << 64], [1, 0.5], 1), SIZE),
        (columns_with(3, [7, 3], [1, 1.5], 1), POSTERIOR),
        (columns_with(3, [7, 3], [0.25, 0.5], 1), "the posterior of the first span is not 1"),
        (columns_with(3, [7, 3], [1, -0.5], 1), POSTERIOR),
        (columns_with(3, [7, 3], [1, np.nan], 1), POSTERIOR),
        (columns_with(3, [7, 3], [np.inf, 0.5], 1), POSTERIOR),
        (columns_with(3, [7, 3], [1, 0.5], -1), EXPECTED),
        (columns_with(3, [7, 3], [1, 0.5], np.inf), EXPECTED),
        (columns_with(3, [7, 3], [1, 0.5], np.nan), EXPECTED),
        (columns_with(0, [], [], np.nan), EXPECTED),
        (columns_with(3, [7, 3, 5, 3], [1, 0.5, 0.5, 0.5], 1), TWICE),
        (columns_with(65, [all_of(65), 1 << 64 | 1, 3, 1 << 64 | 1], [1, 0.5, 0.5, 0.5], 1), TWICE),
    ],
)
def test_unsound_spans(columns: Treebank, message: str, tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    # The same spans in other sentences, of the same and other lengths, do no harm.
    before, after = (SpanTable.from_rows(rows).columns for rows in ([SMALL, LONG], [NOTHING, SMALL, LONG]))
    around = Treebank.concatenate([before, columns, after])
    pq.write_table(table_of(around, SPANS_LAYOUT), path)
    check_refused(path, rf"sentence 3( \(s\d+\))?: {message}$")
    pq.write_table(table_of(Treebank.concatenate([before, after]), SPANS_LAYOUT), path)
    assert len(read_spans(path)) == 5


def test_the_number_of_a_sentence_in_a_later_batch(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    many = SpanTable.from_rows([SMALL]).take([0] * 9000).columns
    posteriors = many.constituent_values["posterior"].copy()
    posteriors[3 * 8500 + 1] = 2
    pq.write_table(
        table_of(many.with_columns(constituent_values={"posterior": posteriors}), SPANS_LAYOUT), path
    )
    check_refused(path, rf"sentence 8501 \(s1\): {POSTERIOR}")
    batches = read_span_batches(path)
    assert len(next(batches)) == ROWS_PER_BATCH  # all before it can be read


@given(rows=span_rows(max_sentences=3, max_words=5))
@examples(100)
def test_broken_files(rows: list[SpanRow], tmp_path_factory: pytest.TempPathFactory) -> None:
    """Whatever is in a file, only `FormatError` comes out, or a table whose rows are sound."""
    path = tmp_path_factory.mktemp("spans") / "x.parquet"
    write_spans(SpanTable.from_rows([SMALL, *rows]), path)
    data = path.read_bytes()
    refused = []
    for seed, mutate in enumerate(MUTATIONS):
        path.write_bytes(mutate(data, random.Random(seed)))
        try:
            table = read_spans(path)
        except FormatError as error:
            refused.append(str(error))
        else:
            SpanTable.from_rows(rows_of(table))
    assert refused
    assert all(message.startswith(f"{path}: ") for message in refused)
