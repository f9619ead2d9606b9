from __future__ import annotations

import builtins
import gzip
import io
import json
import math
import random

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from format_helpers import FULL, WAKE, WILD, assert_same, dressed_trees, trees_but_one, trees_in, written
from fuzzing import check_reader
from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from strategies import treebanks
from treemean.errors import FormatError, InvalidTree, MissingDependency
from treemean.files.source import Source
from treemean.formats import Problems, Unwritable, get_format
from treemean.formats.arrowtables import check_batch, table_of
from treemean.formats.parquet import ROWS_PER_BATCH, ROWS_PER_GROUP
from treemean.trees import Constituent, Tree, Treebank

FORMAT = get_format("parquet")

LONG = Tree.with_root([f"w{i}" for i in range(130)], [(range(3, 129, 2), "X"), (range(60, 70, 2), "Y")])
EMPTY = Tree([], [])


def file_of(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


def test_layout() -> None:
    table = pq.read_table(io.BytesIO(written(FORMAT, [FULL, LONG])))
    texts = pa.list_(pa.field("element", pa.string()))
    assert {field.name: field.type for field in table.schema} == {
        "id": pa.string(),
        "words": texts,
        "tags": texts,
        "word_functions": texts,
        "labels": texts,
        "functions": texts,
        "bits": pa.list_(pa.field("element", pa.uint64())),
        "metadata": pa.string(),
        "sentence.score": pa.float64(),
        "sentence.loss": pa.float64(),
        "constituent.support": pa.list_(pa.field("element", pa.float64())),
    }
    assert table.schema.metadata[b"treemean.layout"] == b"1"
    first, second = table.to_pylist()
    assert first["bits"] == [0b111, 0b101]
    assert second["bits"][:3] == [2**64 - 1, 2**64 - 1, 3]
    assert first["constituent.support"] == [1.0, 0.25]
    assert json.loads(first["metadata"]) == FULL.metadata
    assert second["metadata"] == ""


def test_everything_survives() -> None:
    read = trees_in(FORMAT, written(FORMAT, [FULL, LONG, EMPTY, WAKE]))
    assert_same(read, [FULL, LONG, EMPTY, WAKE])
    assert dict(read[0].metadata) == dict(FULL.metadata)
    assert dict(read[0].values) == {"score": 2, "loss": -0.5}
    assert [c.values["support"] for c in read[0]] == [1.0, 0.25]
    assert math.isnan(read[1].values["score"])


@given(st.lists(dressed_trees(WILD, min_words=0), max_size=4))
def test_round_trip(trees: list[Tree]) -> None:
    assert_same(trees_in(FORMAT, written(FORMAT, trees)), trees)


@given(treebanks(max_words=70))
@examples(30)
def test_slices_are_written_as_they_are(bank: Treebank) -> None:
    stream = io.BytesIO()
    writer = FORMAT.writer(stream, Unwritable())
    for start in range(0, len(bank), 2):
        writer.write(bank[start : start + 2])
    writer.close()
    assert_same(trees_in(FORMAT, stream.getvalue()), list(bank))


def test_columns_that_appear_later() -> None:
    stream = io.BytesIO()
    writer = FORMAT.writer(stream, Unwritable())
    plain = Treebank.from_trees([WAKE] * (ROWS_PER_GROUP + 10))
    writer.write(plain)
    writer.write(Treebank.from_trees([FULL]))
    writer.write(plain)
    writer.close()
    file = pq.ParquetFile(io.BytesIO(stream.getvalue()))
    assert file.metadata.num_rows == 2 * len(plain) + 1
    assert max(file.metadata.row_group(g).num_rows for g in range(file.num_row_groups)) <= ROWS_PER_GROUP
    source = Source(io.BytesIO(stream.getvalue()), "test")
    read = Treebank.concatenate(list(FORMAT.read(source, Problems(), encoding="")))
    assert read == Treebank.concatenate([plain, Treebank.from_trees([FULL]), plain])
    assert np.flatnonzero(~np.isnan(read.sentence_values["score"])).tolist() == [len(plain)]
    assert np.nansum(read.constituent_values["support"]) == 1.25


def test_batches_are_small() -> None:
    data = written(FORMAT, [WAKE] * 5000)
    sizes = [len(batch) for batch in FORMAT.read(Source(io.BytesIO(data), "test"), Problems(), encoding="")]
    assert max(sizes) <= ROWS_PER_BATCH
    assert sum(sizes) == 5000


def test_an_unfinished_writer_leaves_nothing() -> None:
    stream = io.BytesIO()
    writer = FORMAT.writer(stream, Unwritable())
    writer.write(Treebank.from_trees([WAKE] * (ROWS_PER_GROUP + 1)))
    del writer
    assert stream.getvalue() == b""


def test_no_sentences() -> None:
    assert trees_in(FORMAT, written(FORMAT, [])) == []


def test_gzip_and_pipes() -> None:
    assert trees_in(FORMAT, gzip.compress(written(FORMAT, [FULL]))) == [FULL]

    class Pipe(io.RawIOBase):
        """A stream that can neither seek nor tell."""

        def __init__(self) -> None:
            self.parts: list[bytes] = []

        def writable(self) -> bool:
            return True

        def write(self, data: bytes) -> int:
            self.parts.append(bytes(data))
            return len(data)

    pipe = Pipe()
    writer = FORMAT.writer(pipe, Unwritable())
    writer.write(Treebank.from_trees([FULL]))
    writer.close()
    assert trees_in(FORMAT, b"".join(pipe.parts)) == [FULL]


def test_files_of_others() -> None:
    """Only the words, the labels and the sets are needed; texts may be of several types."""
    words = pa.array([["a", "b"], ["a"]], pa.large_list(pa.dictionary(pa.int8(), pa.string())))
    table = pa.table(
        {
            "note": ["not ours", "not ours"],
            "words": words,
            "labels": pa.array([["S"], ["S"]], pa.list_(pa.large_string())),
            "bits": pa.array([[3], [1]], pa.list_(pa.uint64())),
            "sentence.score": pa.array([1, None], pa.int32()),
            "id": pa.array([None, "x"]),
        }
    )
    first, second = trees_in(FORMAT, file_of(table))
    assert first == Tree(["a", "b"], [({0, 1}, "S")])
    assert (first.id, second.id) == ("", "x")
    assert first.values["score"] == 1.0
    assert math.isnan(second.values["score"])


def good_rows() -> dict[str, list[object]]:
    return table_of(Treebank.from_trees([WAKE, FULL, WAKE])).to_pydict()


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("tags", ["V", ""], "column 'tags' has 2 entries; 3 words and 2 constituents need 3"),
        ("word_functions", [], "column 'word_functions' has 0 entries"),
        ("functions", [""], "column 'functions' has 1 entries; 3 words and 2 constituents need 2"),
        ("constituent.support", [1.0], "column 'constituent.support' has 1 entries"),
        ("bits", [7], "column 'bits' has 1 entries; 3 words and 2 constituents need 2"),
        ("bits", [7, None], "column 'bits' has an entry that is null"),
        ("words", None, "column 'words' is null"),
        ("words", ["a", None, "b"], "column 'words' has an entry that is null"),
        ("words", ["a", "b", "c", "d"], "column 'tags' has 3 entries; 4 words"),
        ("bits", [3, 1], "the first constituent does not span the whole sentence"),
        ("bits", [1, 7], "the first constituent does not span the whole sentence"),
        ("bits", [15, 5], "constituent 0 goes beyond the last word"),
        ("bits", [7, 0], "constituent 1 has no words"),
        ("labels", [], "column 'functions' has 2 entries; 3 words and 0 constituents need 0"),
        ("metadata", "[1]", "column 'metadata': the line is no JSON object"),
        ("metadata", '{"a": 1}', "column 'metadata' has a value that is no text"),
        ("metadata", '{"a": "\\ud800"}', "column 'metadata': a text has half of a surrogate pair"),
    ],
)
def test_bad_rows(column: str, value: object, message: str, tmp_path) -> None:
    rows = good_rows()
    rows[column][1] = value
    schema = table_of(Treebank.from_trees([FULL])).schema
    data = file_of(pa.table({name: pa.array(rows[name], schema.field(name).type) for name in schema.names}))
    with pytest.raises(FormatError, match=rf"^test: sentence 2 \(é 1\): {message}"):
        trees_in(FORMAT, data)
    aside = tmp_path / "bad.jsonl"
    with Problems(skip=True, aside=aside) as problems:
        assert trees_in(FORMAT, data, problems) == [WAKE, WAKE]
    assert problems.count == 1
    assert json.loads(aside.read_text(encoding="utf-8"))["id"] == "é 1"


def test_several_bad_rows_are_all_named() -> None:
    trees = [Tree([str(i), "b"], [({0, 1}, "S"), ({0}, "X")], id=str(i)) for i in range(6)]
    bank = Treebank.from_trees(trees)
    bits = bank.bits.copy()
    bits[[3, 7, 8]] = 4, 0, 1  # sentences 1, 3 and 4
    problems = Problems(skip=True)
    read = trees_in(FORMAT, written(FORMAT, bank.with_columns(bits=bits)), problems)
    assert [tree.id for tree in read] == ["0", "2", "5"]
    assert [error.sentence for error in problems.errors] == ["2 (1)", "4 (3)", "5 (4)"]


@given(st.integers(0, 2**32 - 1))
@examples(300)
def test_the_check_of_the_core_is_that_of_trees(seed: int) -> None:
    rng = random.Random(seed)
    n = rng.choice([0, 1, 2, 3, 4, 64, 65])
    everything = (1 << n) - 1
    masks = [everything] if n and rng.random() < 0.9 else []
    for _ in range(rng.randint(0, 4)):
        start = rng.randint(0, n)
        masks.append(
            rng.choice([rng.getrandbits(n) if n else 0, (1 << rng.randint(start, n)) - (1 << start), 1 << n])
        )
    if rng.random() < 0.7:
        masks.sort(key=lambda mask: ((mask & -mask).bit_length(), -mask.bit_count()))
    width = (n + 63) // 64
    masks = [mask for mask in masks if mask >> 64 * width == 0] if n else []
    words = Treebank.from_trees([Tree.with_root(["w"] * n, [])])
    bank = words.with_columns(
        constituent_offsets=np.array([0, len(masks)]),
        labels=words.labels.take(np.zeros(len(masks), dtype=int)),
        functions=words.functions.take(np.zeros(len(masks), dtype=int)),
        bits=np.frombuffer(b"".join(mask.to_bytes(8 * width, "little") for mask in masks), dtype=np.uint64),
    )
    constituents = [Constituent(mask) for mask in masks]
    try:
        valid = list(Tree(["w"] * n, constituents)) == constituents
    except InvalidTree:
        valid = False
    assert (check_batch(bank) is None) == valid


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda t: t.drop_columns("bits"),
            "there is no column 'bits'; a treebank has at least words, labels, bits",
        ),
        (lambda t: t.set_column(1, "words", pa.array(["a"])), "column 'words' cannot have the type string"),
        (
            lambda t: t.set_column(6, "bits", pa.array([[1]])),
            "column 'bits' cannot have the type list<element: int64>",
        ),
        (lambda t: t.set_column(0, "id", pa.array([7])), "column 'id' cannot have the type int64"),
        (
            lambda t: t.append_column("sentence.x", pa.array(["a"])),
            "column 'sentence.x' cannot have the type string",
        ),
        (
            lambda t: t.append_column("constituent.x", pa.array([1.0])),
            "column 'constituent.x' cannot have the type",
        ),
        (lambda t: t.append_column("id", pa.array(["a"])), "there are several columns 'id'"),
        (
            lambda t: t.replace_schema_metadata({"treemean.layout": "2"}),
            "its layout is '2', and this version",
        ),
    ],
)
def test_other_layouts(change, message: str) -> None:
    data = file_of(change(table_of(Treebank.from_trees([WAKE]))))
    with pytest.raises(FormatError, match=f"^test: {message}"):
        trees_in(FORMAT, data)


def test_texts_that_are_not_utf_8() -> None:
    buffers = [None, pa.py_buffer(np.array([0, 1, 2], dtype=np.int32)), pa.py_buffer(b"a\xff")]
    words = pa.ListArray.from_arrays([0, 2], pa.Array.from_buffers(pa.string(), 2, buffers))
    table = table_of(Treebank.from_trees([Tree(["a", "b"], [({0, 1}, "S")])]))
    with pytest.raises(FormatError, match=r"^test: not valid Parquet: .*UTF8"):
        trees_in(FORMAT, file_of(table.set_column(1, "words", words)))


def test_without_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *args: object, **kwargs: object) -> object:
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingDependency, match="need PyArrow"):
        written(FORMAT, [WAKE])
    with pytest.raises(MissingDependency, match="need PyArrow"):
        trees_in(FORMAT, b"PAR1")


@pytest.mark.parametrize("data", [b"", b"PAR1", b"PAR1" + b"\0" * 100 + b"PAR1", b"(S (X a))"])
def test_other_files(data: bytes) -> None:
    assert trees_but_one(FORMAT, data, r"^test: not valid Parquet: ") == []


def test_sniff() -> None:
    assert FORMAT.sniff(written(FORMAT, [FULL])[:4096])
    assert not FORMAT.sniff(b"(S (X PAR1))")


def test_broken_input() -> None:
    check_reader(FORMAT, written(FORMAT, [WAKE, FULL, EMPTY, LONG]), runs=600)


def test_few_long_sentences_make_a_group() -> None:
    """A group is held in memory, so that its size is bounded in words times constituents too."""
    n = 3000
    long = Treebank.from_trees([Tree(["w"] * n, [(range(i, n), "X") for i in range(n - 1)])])
    stream = io.BytesIO()
    writer = FORMAT.writer(stream, Unwritable())
    for _ in range(20):
        writer.write(long)
    writer.close()
    assert pq.ParquetFile(stream).num_row_groups > 1
