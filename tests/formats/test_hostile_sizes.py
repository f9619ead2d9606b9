"""Small files that ask for much: every reader refuses them with a message, in little memory and time."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

import treemean
from treemean import _core
from treemean.errors import FormatError, UnwritableTree
from treemean.files import source
from treemean.files.source import Source
from treemean.formats import (
    Problems,
    TreebankWriter,
    Unwritable,
    blocks,
    conllu,
    export,
    get_format,
    jsonl,
    limits,
    plain,
    reading,
    tiger,
    xmlstream,
)
from treemean.formats.parquetfooter import largest_column
from treemean.parsing.text import read_sentences
from treemean.trees import Constituent, Tree, Treebank

DEEP = limits.MAX_DEPTH + 1
LONG = limits.MAX_WORDS + 1


class Endless(io.RawIOBase):
    """A beginning, and then the same again and again, until somebody has had enough."""

    def __init__(self, beginning: bytes, rest: bytes, megabytes: int = 8) -> None:
        self._pieces = self._made(beginning, rest * (1 + (1 << 20) // len(rest)), megabytes)

    def _made(self, beginning: bytes, rest: bytes, megabytes: int) -> Iterator[bytes]:
        yield beginning
        for _ in range(megabytes):
            yield rest
        raise AssertionError("nobody had enough")

    def read(self, count: int = -1) -> bytes:
        return next(self._pieces)


ENDLESS = {
    "discbracket": (b"", b"("),
    "ptb": (b"", b"("),
    "ptb words": (b"(S ", b"a "),
    "ptb nodes": (b"(S (X ", b"(Y a)"),
    "ptb constituents": (b"(S (X ", b"(Y a a)"),
    "alpino": (b"<alpino><alpino_ds>", b"<node>"),
    "jsonl": (b'{"words": [', b"[],"),
    "export": (b"#BOS 1 0 0 0\n", b"\n"),
    "export words": (b"#BOS 1 0 0 0\n", b"x\n"),
    "conllu": (b"", b"1\n"),
    "tiger": (b"<corpus><body><s><graph><terminals>", b"<t/>"),
    "tiger attributes": (b"<corpus><body><s><graph><terminals><t ", b'a="" '),
    "tiger deep": (b"<corpus><body><s>", b"<a>"),
}


@pytest.fixture
def _small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the readers in Python, so that tests are quick; the core keeps its own."""
    for module in (limits, reading, jsonl, xmlstream, blocks, plain, tiger, source):
        for name, value in (("MAX_RECORD", 1 << 21), ("MAX_PIECES", 1 << 16), ("MAX_DEPTH", 100)):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(limits, "MAX_WORDS", 1000)


@pytest.fixture
def _without_core(monkeypatch: pytest.MonkeyPatch) -> None:
    """All sentences are read in Python, also where the core reads plain ones."""
    for module in (export, conllu, tiger, jsonl):
        monkeypatch.setattr(module, "core_function", lambda name: None)


@pytest.mark.usefixtures("_small_limits")
@pytest.mark.parametrize("name", ENDLESS)
def test_input_without_end(name: str) -> None:
    """Readers have enough of it soon, and keep no more than they have read."""
    check_enough(name)


@pytest.mark.usefixtures("_small_limits", "_without_core")
@pytest.mark.parametrize("name", [name for name in ENDLESS if name.startswith(("j", "e", "c", "t"))])
def test_input_without_end_in_python(name: str) -> None:
    check_enough(name)


def check_enough(name: str) -> None:
    format = get_format(name.split()[0])
    stream = Source(Endless(*ENDLESS[name]), "endless")  # type: ignore[arg-type]
    with pytest.raises(FormatError, match="endless"):
        list(format.read(stream, Problems(), encoding="utf-8"))


def chain(words: int, nodes: int) -> str:
    return "(X " * nodes + "a " * words + ")" * nodes


def export_chain(nodes: int) -> str:
    lines = [f"#{500 + i}\tX\t--\t--\t{501 + i if i + 1 < nodes else 0}" for i in range(nodes)]
    return "\n".join(["#FORMAT 3", "#BOS 1 0 0 0", "a\tX\t--\t--\t500", *lines, "#EOS 1", ""])


def tiger_chain(nodes: int) -> str:
    rows = [f'<nt id="n{i}" cat="X"><edge idref="{f"n{i - 1}" if i else "t"}"/></nt>' for i in range(nodes)]
    words = '<terminals><t id="t" word="a"/></terminals>'
    return f"<corpus><s><graph>{words}<nonterminals>{''.join(rows)}</nonterminals></graph></s></corpus>"


def json_chain(nodes: int) -> str:
    return json.dumps({"words": ["a"], "constituents": [{"spans": [[0, 1]]}] * nodes}) + "\n"


def parquet_of(words: list[str], labels: list[str], **more: object) -> bytes:
    stream = io.BytesIO()
    bits = [1] * len(labels)
    table = pyarrow.table(
        {"words": [words], "labels": [labels], "bits": pyarrow.array([bits], _BITS), **more}
    )
    pyarrow.parquet.write_table(table, stream)
    return stream.getvalue()


_BITS = pyarrow.list_(pyarrow.uint64())
WORDS, NESTED = f"more than {limits.MAX_WORDS} words", f"in more than {limits.MAX_DEPTH} others"
TOO_LARGE = {
    "export nested": (export_chain(DEEP).encode(), NESTED),
    "export words": (
        b"#BOS 1 0 0 0\n" + b"a\tX\t--\t--\t500\n" * LONG + b"#500\tX\t--\t--\t0\n#EOS 1\n",
        WORDS,
    ),
    "export lines": (
        b"#BOS 1 0 0 0\n" + b"\n" * limits.MAX_PIECES + b"a\tX\t--\t--\t0\n#EOS 1\n",
        f"more than {limits.MAX_PIECES} lines",
    ),
    "tiger nested": (tiger_chain(DEEP).encode(), NESTED),
    "jsonl nested": (json_chain(DEEP).encode(), NESTED),
    "jsonl words": (json.dumps({"words": ["a"] * LONG}).encode(), WORDS),
    "jsonl cells": (
        json.dumps({"words": ["a"] * 20_000, "constituents": [{"spans": [[0, 20_000]]}] * 20_000}).encode(),
        "their product may be",
    ),
    "jsonl pieces": (
        b'{"words": [' + b'"",' * limits.MAX_PIECES + b'""]}',
        f"more than {limits.MAX_PIECES} pieces",
    ),
    "conllu words": (
        "".join(f"{i + 1}\ta\t_\t_\t_\t_\t{i and 1}\t_\t_\t_\n" for i in range(LONG)).encode(),
        WORDS,
    ),
    "conllu nested": (
        "".join(f"{i + 1}\ta\t_\t_\t_\t_\t{i}\t_\t_\t_\n" for i in range(DEEP + 1)).encode(),
        "their product may be",
    ),
    "ptb words": (chain(LONG, 1).encode(), WORDS),
    "ptb nested": (chain(1, DEEP + 3).encode(), NESTED),
    "ptb cells": (("(S " + "(X a " * 17_000 + ")" * 17_001).encode(), "their product may be"),
    "discbracket nested": (chain(1, DEEP + 3).replace("a", "0=a").encode(), NESTED),
    "alpino nested": (
        b"<alpino_ds>"
        + b'<node cat="X">' * (DEEP + 3)
        + b'<node begin="0" word="a"/>'
        + b"</node>" * (DEEP + 3)
        + b"</alpino_ds>",
        NESTED,
    ),
    "parquet words": (parquet_of(["a"] * LONG, ["S"]), WORDS),
    "parquet nested": (parquet_of(["a"], ["S"] * DEEP), NESTED),
    "parquet texts": (parquet_of(["a" * (1 << 20)] * 65, ["S"]), "texts of more than"),
    "parquet id": (
        parquet_of(["a"], ["S"], id=["x" * (limits.MAX_NOTE + 1)]),
        "'id' has a text of more than",
    ),
}


@pytest.mark.parametrize("name", TOO_LARGE)
def test_a_sentence_that_is_too_large(name: str) -> None:
    check_refused(name, *TOO_LARGE[name])


def check_refused(name: str, data: bytes, message: str) -> None:
    format = get_format(name.split()[0])
    with pytest.raises(FormatError, match=message):
        list(format.read(Source(io.BytesIO(data), "large"), Problems(), encoding="utf-8"))
    problems = Problems(skip=True)
    assert not sum(map(len, format.read(Source(io.BytesIO(data), "large"), problems, encoding="utf-8")))
    assert problems.count == 1


#: With the limits of `_small_limits`.
TOO_LARGE_IN_PYTHON = {
    "export nested": (export_chain(101).encode(), "in more than 100 others"),
    "tiger nested": (tiger_chain(101).encode(), "in more than 100 others"),
    "jsonl nested": (json_chain(101).encode(), "in more than 100 others"),
    "jsonl words": (json.dumps({"words": ["a"] * 1001}).encode(), "more than 1000 words"),
    "jsonl brackets": (b'{"words": ' + b"[" * 50_000 + b"}", "too deeply nested"),
    "conllu words": (
        "".join(f"{i + 1}\ta\t_\t_\t_\t_\t{i}\t_\t_\t_\n" for i in range(1001)).encode(),
        "more than 1000 words",
    ),
}


@pytest.mark.usefixtures("_small_limits", "_without_core")
@pytest.mark.parametrize("name", TOO_LARGE_IN_PYTHON)
def test_a_sentence_that_is_too_large_in_python(name: str) -> None:
    check_refused(name, *TOO_LARGE_IN_PYTHON[name])


def test_what_is_just_within_the_limits_is_read_and_written(tmp_path: Path) -> None:
    tree = Tree(["a"], [Constituent(1, "X")] * limits.MAX_DEPTH)
    for ending in ("dbr", "ptb", "jsonl", "export", "alpino", "parquet"):
        treemean.write([tree], tmp_path / f"x.{ending}")
        assert len(treemean.read(tmp_path / f"x.{ending}")[0].constituents) == limits.MAX_DEPTH, ending


def test_the_core_has_the_same_limits() -> None:
    names = ("WORDS", "CONSTITUENTS", "DEPTH", "CELLS", "PIECES")
    assert tuple(getattr(limits, f"MAX_{name}") for name in names) == _core.LIMITS


def test_the_bomb_of_brackets(tmp_path: Path) -> None:
    """Eight megabytes of brackets in eight kilobytes."""
    path = tmp_path / "bomb.ptb.gz"
    path.write_bytes(gzip.compress(b"(" * (8 << 20)))
    with pytest.raises(FormatError, match=r"bomb\.ptb\.gz:1: sentence 1: the sentence is too large"):
        treemean.read(path)
    problems = Problems(skip=True)
    assert len(treemean.read(path, problems=problems)) == 0
    assert problems.count == 1


def test_large_sets_come_in_several_batches() -> None:
    """A megabyte of text holds a dozen trees whose sets take 32 MB each; no batch holds them all."""
    tree = ("(S " + "(X a " * 4000 + ")" * 4001).encode()  # 2 MB of sets
    sizes = []
    at = 0
    text = tree * 60
    while at < len(text):
        (columns, consumed, *_), *_ = _core.read_brackets(text[at:], False, True, False)
        sizes.append(columns["bits"].nbytes)
        at += consumed
    assert len(sizes) > 1
    assert max(sizes) <= (64 << 20) + (4 << 20)


def test_too_large_trees_are_not_written(tmp_path: Path) -> None:
    small, large = (
        Tree(["a"], [Constituent(1, "X")]),
        Tree(["a"] * LONG, [Constituent((1 << LONG) - 1)], id="l"),
    )
    bank = Treebank.from_trees([small, large, small])
    for ending in ("dbr", "jsonl", "parquet"):
        with pytest.raises(UnwritableTree, match=r"^sentence 2 \(l\) cannot be written as .*" + WORDS):
            treemean.write(bank, tmp_path / f"x.{ending}")
        policy = Unwritable("skip")
        with TreebankWriter(tmp_path / f"x.{ending}", unwritable=policy) as writer:
            writer.write(bank)
        assert policy.skipped == 1
        assert len(treemean.read(tmp_path / f"x.{ending}")) == 2


def test_text_of_too_many_words(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("a b\n" + "a " * LONG + "\nc\n")
    with pytest.raises(FormatError, match=rf"x\.txt:2: the sentence is too large: {WORDS}"):
        list(read_sentences(path))
    bad: list[FormatError] = []
    assert len(list(read_sentences(path, on_bad_line=bad.append))) == 2
    assert len(bad) == 1


# ---- Parquet ----------------------------------------------------------------------------------------


def test_values_of_a_parquet_file_are_counted_before_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    data = parquet_of(["a"] * 5000, ["S"])
    assert largest_column(io.BytesIO(data)) == 5000
    monkeypatch.setattr("treemean.formats.parquet.GROUP_VALUES", 4999)
    with pytest.raises(FormatError, match="5000 values"):
        list(get_format("parquet").read(Source(io.BytesIO(data), "x"), Problems(), encoding="utf-8"))


@pytest.mark.parametrize("end", [0, 5, 8, 40])
def test_footers_that_cannot_be(end: int) -> None:
    data = parquet_of(["a"], ["S"])
    with pytest.raises(ValueError, match="footer"):
        largest_column(io.BytesIO(data[:-end] if end else b"\xff" * 60 + b"\x3c\0\0\0PAR1"))


def test_texts_that_a_file_says_twice_are_one(tmp_path: Path) -> None:
    texts = pyarrow.DictionaryArray.from_arrays(np.array([0, 1, 2], dtype=np.int32), ["a", "b", "a"])
    words = pyarrow.LargeListArray.from_arrays([0, 3], texts)
    table = pyarrow.table({"words": words, "labels": [["S"]], "bits": pyarrow.array([[7]], _BITS)})
    pyarrow.parquet.write_table(table, tmp_path / "x.parquet")
    bank = treemean.read(tmp_path / "x.parquet")
    assert bank[0].words == ("a", "b", "a")
    assert len(set(bank.words.codes.tolist())) == 2


# ---- what is missing --------------------------------------------------------------------------------


def test_sentences_after_a_fatal_error_are_counted(tmp_path: Path) -> None:
    bank = treemean.sample.gold()[:10]
    for ending, sentence in (("tiger.xml", b"<s "), ("alpino.xml", b"<alpino_ds")):
        path = tmp_path / f"x.{ending}"
        treemean.write(bank, path)
        data = path.read_bytes()
        places = [i for i in range(len(data)) if data.startswith(sentence, i)]
        path.write_bytes(data[: places[4]] + b"&nonsense;" + data[places[4] :])
        problems = Problems(skip=True)
        assert len(treemean.read(path, problems=problems)) == 4, ending
        assert (problems.count, problems.missing) == (1, 6), ending


def test_rows_after_a_broken_one_are_counted() -> None:
    stream = io.BytesIO()
    writer = get_format("parquet").writer(stream, Unwritable())
    writer.write(Treebank.concatenate([treemean.sample.gold()] * 30))
    writer.close()
    data = bytearray(stream.getvalue())
    middle = len(data) * 9 // 10 if largest_column(io.BytesIO(data)) else 0
    data[middle : middle + 400] = bytes(400)
    problems = Problems(skip=True)
    read = sum(
        map(len, get_format("parquet").read(Source(io.BytesIO(data), "x"), problems, encoding="utf-8"))
    )
    assert problems.count >= 1
    assert read + problems.missing + problems.count - 1 == 30 * 360


def test_hidden_entries_of_an_archive_are_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("a.dbr", ".DS_Store", "b/._c.dbr"):
            archive.writestr(name, "(S (N 0=a))\n")
    assert len(treemean.read(path)) == 1
    assert caplog.messages == [f"{path}: 2 entries skipped, as hidden files are: .DS_Store, b/._c.dbr"]


def test_words_without_constituents_take_no_memory() -> None:
    """Found by fuzzing: they were made room for before they were refused."""
    nothing = np.array([], dtype=np.uint64)
    found = _core.find_invalid(np.array([0, 1 << 42]), np.array([0, 0]), nothing)
    assert found == (0, "no constituent spans the whole sentence")
