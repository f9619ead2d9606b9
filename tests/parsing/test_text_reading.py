"""Reading sentences, what words become, and what is told about bad input."""

from __future__ import annotations

import gzip
import io
import sys

import pytest

from treemean import Tree, write
from treemean.errors import FormatError, InvalidOption
from treemean.parsing import UNKNOWN, Normalisation, ReadCounts, Vocabulary, read_sentences
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
    for encoding in ("utf-16", "utf-16-le", "utf-32"):  # the first and the last with a byte order mark
        path.write_bytes("Der Bär\nschläft\n".encode(encoding))
        assert words_of(path, encoding=encoding) == [("Der", "Bär"), ("schläft",)]
        if encoding != "utf-16-le":
            assert words_of(path) == [("Der", "Bär"), ("schläft",)]


def test_files_of_columns_are_refused_in_words_that_say_what_to_do(tmp_path):
    (tmp_path / "dev.npz").write_bytes(b"PK")
    with pytest.raises(FormatError, match=r"dev\.npz: columns .* \(treemean convert GOLD GOLD\.jsonl\)"):
        words_of(tmp_path / "dev.npz")
