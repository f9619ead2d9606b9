"""Reading sentences, what words become, and what is told about bad input."""

from __future__ import annotations

import gzip
import io
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import trees
from treemean import Tree, Treebank, write
from treemean.errors import FormatError, InvalidOption
from treemean.parsing import (
    UNKNOWN,
    Normalisation,
    ReadCounts,
    Vocabulary,
    read_columns,
    read_sentences,
    write_columns,
)
from treemean.parsing.text import format_of


def words_of(path, **options):
    return [sentence.words for sentence in read_sentences(path, **options)]


def test_plain_text_with_empty_lines_and_odd_blanks(tmp_path):
    path = tmp_path / "text.txt"
    path.write_bytes("\ufeffDe  kat\tslaapt .\r\n\n   \n« ... »\nJa".encode())
    counts = ReadCounts()
    found = list(read_sentences(path, counts=counts))
    assert [s.words for s in found] == [("De", "kat", "slaapt", "."), ("«", "...", "»"), ("Ja",)]
    assert [s.kept for s in found] == [(0, 1, 2), (), (0,)]
    assert (counts.sentences, counts.empty_lines, counts.punctuation_only) == (3, 2, 1)
    assert counts.describe() == ["2 empty lines left out", "1 sentence of nothing but punctuation"]


def test_text_may_be_compressed_and_may_come_from_standard_input(tmp_path, monkeypatch):
    (tmp_path / "text.txt.gz").write_bytes(gzip.compress("één twee\n".encode()))
    assert words_of(tmp_path / "text.txt.gz") == [("één", "twee")]

    class Input:
        buffer = io.BytesIO(b"a b\n")

    monkeypatch.setattr(sys, "stdin", Input())
    assert words_of("-") == [("a", "b")]


def test_text_that_is_not_utf8_names_file_and_line(tmp_path):
    path = tmp_path / "text.txt"
    path.write_bytes("goed\nslecht caf\u00e9\n".encode("latin-1"))
    with pytest.raises(FormatError, match=r"text.txt:2: not valid UTF-8: .*\(byte 11 of the line\)"):
        words_of(path)


def test_a_cut_off_file_is_noticed(tmp_path):
    path = tmp_path / "text.txt.gz"
    path.write_bytes(gzip.compress(b"a b c\n" * 1000)[:-12])
    with pytest.raises(FormatError, match=r"text\.txt\.gz"):
        words_of(path)
    with pytest.raises(FormatError, match=r"absent\.txt"):
        words_of(tmp_path / "absent.txt")


def test_punctuation_is_found_by_tag_in_treebanks_that_have_tags(tmp_path):
    tagged = Tree(["a", "&", ",", "b"], [(range(4), "S")], tags=["N", "CC", "$,", "N"])
    path = tmp_path / "bank.export"
    write([tagged], path)
    (sentence,) = read_sentences(path)
    assert sentence.kept == (0, 1, 3)
    (sentence,) = read_sentences(path, Normalisation(punctuation="word"))
    assert sentence.kept == (0, 3)
    (sentence,) = read_sentences(path, Normalisation(punctuation="keep"))
    assert sentence.kept == (0, 1, 2, 3)


def test_the_beginning_tells_a_format_that_the_name_does_not(tmp_path):
    bank = [Tree(["a", "b"], [({0, 1}, "S")], tags=["N", "N"])]
    write(bank, tmp_path / "bank.xml", format="tiger")
    (tmp_path / "folder").mkdir()
    write(bank, tmp_path / "folder" / "1.xml", format="alpino")
    (tmp_path / "unknown").write_text("a b\n")
    for name, format in (("bank.xml", "tiger"), ("folder", "alpino"), ("unknown", "text")):
        assert format_of(tmp_path / name) == format
        assert words_of(tmp_path / name) == [("a", "b")]


def test_punctuation_by_tag_needs_tags(tmp_path):
    (tmp_path / "text.txt").write_text("a b\n")
    with pytest.raises(InvalidOption, match="plain text"):
        words_of(tmp_path / "text.txt", normalisation=Normalisation(punctuation="tag"))
    with pytest.raises(InvalidOption, match="not by 'guess'"):
        Normalisation(punctuation="guess")


def test_normalisation_can_be_recorded_and_turned_off():
    chosen = Normalisation(lower_case=False, number="", punctuation="keep")
    assert chosen.word("3.5e Ja") == "3.5e Ja"
    assert Normalisation.from_dict(chosen.to_dict()) == chosen


def test_the_vocabulary_does_not_depend_on_the_order():
    words = "b a b c a d".split()
    vocabulary = Vocabulary.most_frequent(words, 3)
    assert vocabulary.words == ("a", "b", "c")
    assert vocabulary == Vocabulary.most_frequent(reversed(words), 3)
    assert Vocabulary.most_frequent([UNKNOWN, "a"], 5).numbers([UNKNOWN, "a"]) == [0, 1]
    with pytest.raises(InvalidOption):
        Vocabulary(["a", "a"])


@given(trees())
def test_columns_come_back_as_they_were(tmp_path_factory, tree):
    path = tmp_path_factory.mktemp("columns") / "bank.npz"
    bank = Treebank.from_trees([tree, tree])[1:]
    write_columns(bank, path)
    assert read_columns(path) == bank
    assert [s.words for s in read_sentences(path)] == [tree.words]


def test_damaged_columns_are_refused(tmp_path):
    path = tmp_path / "bank.npz"
    bank = Treebank.from_trees([Tree(["a", "b"], [({0, 1}, "S")])])
    write_columns(bank, path)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(FormatError, match=r"bank.npz"):
        read_columns(path)
    np.savez(path, version=1, ids=np.array(["x"], dtype=object))  # could only be read by unpickling
    with pytest.raises(FormatError, match=r"bank.npz"):
        read_columns(path)
    write_columns(bank.with_columns(bits=np.array([3, 3], dtype=np.uint64)), path)
    with pytest.raises(FormatError, match="do not fit together"):
        read_columns(path)
    path.write_text("(S 0=a 1=b)\n")
    with pytest.raises(FormatError, match="not a file of treebank columns") as told:
        read_columns(path)
    assert "pickle" not in str(told.value)
    with pytest.raises(FormatError, match=r"absent\.npz"):
        read_columns(tmp_path / "absent.npz")


def test_plain_text_in_another_encoding(tmp_path):
    path = tmp_path / "text.txt"
    path.write_bytes("Der Bär\nschläft\n".encode("latin-1"))
    assert words_of(path, encoding="latin-1") == [("Der", "Bär"), ("schläft",)]
    with pytest.raises(FormatError, match=r"text\.txt:1: not valid UTF-8"):
        words_of(path)
    with pytest.raises(FormatError, match=r"text\.txt:1: not valid ASCII"):
        words_of(path, encoding="ascii")
    with pytest.raises(InvalidOption, match="there is no encoding 'latin-0'"):
        words_of(path, encoding="latin-0")
    with pytest.raises(InvalidOption, match="cannot be read in utf-16"):
        words_of(path, encoding="utf-16")


def some_columns(path):
    """Write a file of two sentences, with a gap and umlauts, and return its arrays."""
    first = Tree(["Ä", "b", "c"], [({0, 1, 2}, "S"), ({0, 2}, "VP")], id="1", metadata={"source": "ü"})
    bank = Treebank.from_trees([first, Tree(["b", "d"], [({0, 1}, "S")])])
    write_columns(bank, path)
    with np.load(path) as file:
        return {name: file[name] for name in file.files}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"words.codes": None}, "there is no column words.codes"),
        ({"version": np.array([1, 2])}, "not a file of treebank columns, or a damaged one"),
        ({"version": np.array(7)}, "columns of version 7"),
        ({"bits": np.array([[7, 5, 3]], dtype=np.uint64)}, "bits is not a column of uint64"),
        ({"bits": np.array(["a", "b", "c"])}, "bits is not a column of uint64"),
        ({"words.codes": np.array([0.5] * 5)}, "words.codes is not a column of int32"),
        ({"words.codes": np.array([0, 1, 2, 3, 99], dtype=np.int32)}, "do not fit together"),
        ({"words.codes": np.array([0, 1, 2, 3, -1], dtype=np.int32)}, "do not fit together"),
        ({"word_offsets": np.array([0, 5])}, "do not fit together"),
        ({"word_offsets": np.array([], dtype=np.int64)}, "do not fit together"),
        ({"word_offsets": np.array([0, 9, 5])}, "do not fit together"),
        ({"constituent_offsets": np.array([0, -(2**63), 3])}, "do not fit together"),
        ({"ids.offsets": np.array([0, 1, 7])}, "ids.offsets does not fit to ids.data"),
        ({"words.data": np.full(5, 255, dtype=np.uint8)}, "words is not valid UTF-8"),
        (
            {"metadata.data": np.full(len('{"source": "ü"}') + 1, 65, dtype=np.uint8)},
            "sentence 1: not a file",
        ),
        ({"bits": np.array([7, 5, 1], dtype=np.uint64)}, "sentence 2: .*root"),
        ({"bits": np.array([7, 0, 3], dtype=np.uint64)}, "sentence 1: .*has no words"),
        ({"bits": np.array([7, 8, 3], dtype=np.uint64)}, "sentence 1: .*the sentence ends with word 2"),
        ({"bits": np.array([5, 7, 3], dtype=np.uint64)}, "sentence 1: .*not in order"),
    ],
)
def test_columns_that_do_not_fit_together_are_refused(tmp_path, changes, message):
    path = tmp_path / "bank.npz"
    arrays = {name: array for name, array in (some_columns(path) | changes).items() if array is not None}
    np.savez(path, **arrays)
    with pytest.raises(FormatError, match=rf"^{path}: .*{message}"):
        read_columns(path)


@given(st.data())
def test_whatever_happens_to_a_file_is_one_kind_of_error(tmp_path_factory, data):
    """Bytes of the archive are changed, whose checksums notice it, or numbers in it, or kinds of numbers."""
    path = tmp_path_factory.mktemp("columns") / "bank.npz"
    arrays = some_columns(path)
    name = data.draw(st.sampled_from(sorted(arrays)))
    if data.draw(st.booleans()):
        column = arrays[name].copy()
        if column.size:
            largest = np.iinfo(column.dtype)
            column.flat[data.draw(st.integers(0, column.size - 1))] = data.draw(
                st.sampled_from([0, 1, 2, largest.max, largest.min]) | st.integers(largest.min, largest.max)
            )
        arrays[name] = column
    else:
        arrays[name] = arrays[data.draw(st.sampled_from(sorted(arrays)))]
    np.savez(path, **arrays)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(0, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    told = ""
    try:
        bank = read_columns(path)
    except FormatError as error:
        told = str(error)
    if told:
        assert told.startswith(f"{path}: ")
    else:
        assert [tree.words for tree in bank] == [sentence.words for sentence in read_sentences(path)]
