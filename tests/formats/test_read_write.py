"""`read` and `write`: formats by name and content, gzip, folders, archives, outputs never lost."""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys
import zipfile

import pytest

import treemean
from treemean.errors import FormatError, TreemeanError, UnwritableTree
from treemean.files.output import open_output
from treemean.files.source import Source
from treemean.formats import all_formats
from treemean.formats.registry import format_of_content, format_of_name
from treemean.trees import Tree, Treebank

WAKE = Tree(
    ["Wake", "your", "friend", "up"],
    [(range(4), "S"), ({0, 3}, "VP"), ({1, 2}, "NP")],
    tags=["V", "D", "N", "P"],
)
FLAT = Tree(["a", "b"], [({0, 1}, "S")], tags=["X", "Y"])
BANK = Treebank.from_trees([WAKE, FLAT])


@pytest.mark.parametrize("name", sorted(all_formats()))
@pytest.mark.parametrize("packed", ["", ".gz"])
def test_every_format_by_name_and_by_content(name, packed, tmp_path):
    format = all_formats()[name]
    trees = [FLAT.replace(word_functions=["head", "obj"], id="1")]
    path = tmp_path / f"trees{format.suffixes[0]}{packed}"
    treemean.write(trees, path)
    by_name = treemean.read(path)
    assert by_name[0].same_structure(FLAT)
    nameless = tmp_path / "nameless"
    nameless.write_bytes(path.read_bytes())
    assert treemean.read(nameless) == by_name
    assert (path.read_bytes()[:2] == b"\x1f\x8b") == bool(packed)
    again = tmp_path / f"again{format.suffixes[0]}{packed}"
    treemean.write(by_name, again)
    assert treemean.read(again) == by_name


def test_names():
    assert format_of_name("a/b.EXPORT.gz").name == "export"
    assert format_of_name("a.alpino.xml").name == "alpino"
    assert format_of_name("a.xyz") is None
    with pytest.raises(TreemeanError, match="no format 'klingon'; known are alpino, conllu"):
        treemean.read("x", format="klingon")
    with pytest.raises(TreemeanError, match="no encoding 'klingon'"):
        treemean.read("x", encoding="klingon")
    with pytest.raises(TreemeanError, match="the name does not say which format"):
        treemean.write([FLAT], "x.xyz")
    with pytest.raises(FormatError, match="not known from the name or the content"):
        format_of_content(Source(io.BytesIO(b"hello"), "x"))


@pytest.mark.parametrize("name", ["hex", "zlib", "rot13", "undefined"])
def test_codecs_that_are_no_encodings(name, tmp_path):
    with pytest.raises(TreemeanError, match=f"no encoding '{name}'"):
        treemean.read("x", encoding=name)
    path = tmp_path / "x.alpino"
    path.write_text(f'<?xml version="1.0" encoding="{name}"?>')
    with pytest.raises(FormatError, match=f"the encoding '{name}' is not known"):
        treemean.read(path)


def test_text_in_another_encoding_than_was_said(tmp_path):
    for name in ("x.dbr", "x.conllu"):
        (tmp_path / name).write_text("(S (X 0=a))\n")
        for encoding in ("utf-16", "punycode"):
            with pytest.raises(FormatError):
                treemean.read(tmp_path / name, encoding=encoding)


def test_files_that_cannot_be_opened(tmp_path):
    with pytest.raises(FormatError, match=r"absent.dbr: No such file"):
        treemean.read(tmp_path / "absent.dbr")
    broken = tmp_path / "broken.dbr.gz"
    broken.write_bytes(gzip.compress(b"(S (X 0=a))\n" * 10000)[:-30])
    with pytest.raises(FormatError, match=r"broken\.dbr\.gz"):
        treemean.read(broken)
    no_gzip = open(tmp_path / "no.gz", "w+b")  # noqa: SIM115 (Source closes it)
    no_gzip.write(b"\x1f\x8bnothing")
    no_gzip.seek(0)
    with pytest.raises(FormatError, match=r"^no\.gz: "):
        Source(no_gzip, "no.gz")
    assert no_gzip.closed
    (tmp_path / "folder").mkdir()
    with pytest.raises(FormatError, match="holds no files"):
        treemean.read(tmp_path / "folder")
    empty = tmp_path / "empty.dbr"
    empty.write_bytes(b"")
    assert len(treemean.read(empty)) == 0


def test_a_byte_order_mark_is_no_word(tmp_path):
    path = tmp_path / "bom.dbr"
    path.write_bytes(b"\xef\xbb\xbf(S (X 0=a))\n")
    assert treemean.read(path)[0].words == ("a",)


def test_folders_and_archives_in_natural_order(tmp_path):
    folder = tmp_path / "lassy"
    (folder / "deep").mkdir(parents=True)
    names = ["2.xml", "10.xml", "deep/1.xml"]
    for name in names:
        tree = FLAT.replace(words=[name, "x"])
        treemean.write([tree], folder / name, format="alpino")
    (folder / ".hidden").write_text("no tree")
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text("no tree")
    bank = treemean.read(folder)
    assert [tree.words[0] for tree in bank] == names
    assert bank.ids.tolist() == ["2", "10", "1"]
    archive = tmp_path / "lassy.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for name in names[::-1]:
            packed.write(folder / name, name)
        packed.writestr(".git/config", "no tree")
        packed.writestr("9" * 5000 + "/", "")  # a number that is too long for int
    assert treemean.read(archive) == bank


def test_batches_are_flat(tmp_path):
    path = tmp_path / "many.dbr"
    path.write_text("(S (X 0=a) (Y 1=b))\n" * 150_000)
    sizes = [len(batch) for batch in treemean.read_batches(path)]
    assert sum(sizes) == 150_000
    assert max(sizes) < 100_000


def test_batches_of_long_sentences_are_small(tmp_path):
    path = tmp_path / "long.dbr"
    n = 3000  # a right-branching tree takes about a megabyte
    words = " ".join(f"(X {i}=w" for i in range(n)) + ")" * n
    path.write_text(f"(S {words})\n" * 60)
    batches = list(treemean.read_batches(path))
    assert sum(len(batch) for batch in batches) == 60
    assert max(batch.bits.nbytes for batch in batches) < 40_000_000


def test_a_failed_write_leaves_what_was_there(tmp_path):
    path = tmp_path / "out.ptb"
    treemean.write([FLAT], path)
    before = path.read_bytes()
    with pytest.raises(
        UnwritableTree, match=r"sentence 1 cannot be written as PTB brackets: .*discontinuous"
    ):
        treemean.write(BANK, path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["out.ptb"]
    with pytest.raises(TreemeanError, match="absent does not exist"):
        treemean.write([FLAT], tmp_path / "absent" / "out.ptb")
    with pytest.raises(KeyboardInterrupt), open_output(path) as stream:
        stream.write(b"half")
        raise KeyboardInterrupt
    assert path.read_bytes() == before


def test_outputs_that_cannot_be_opened_or_written(tmp_path):
    with pytest.raises(TreemeanError, match="written to a folder"):
        treemean.write([FLAT], tmp_path, format="ptb")
    with pytest.raises(TreemeanError, match="File name too long"):
        treemean.write([FLAT], tmp_path / ("a" * 300), format="ptb")
    treemean.write([FLAT], tmp_path / ("a" * 250), format="ptb")
    if os.path.exists("/dev/full"):
        with pytest.raises(TreemeanError, match="/dev/full: No space left"):
            treemean.write([FLAT], "/dev/full", format="ptb")


def test_trees_that_cannot_be_expressed(tmp_path):
    path = tmp_path / "out.ptb"
    policy = treemean.Unwritable("skip")
    treemean.write(BANK, path, unwritable=policy)
    assert list(treemean.read(path)) == [FLAT]
    assert (policy.skipped, policy.changed) == (1, 0)
    assert "sentence 1" in policy.reasons[0]
    policy = treemean.Unwritable("make-continuous")
    treemean.write(BANK, path, unwritable=policy)
    assert [tree.fan_out for tree in treemean.read(path)] == [1, 1]
    assert (policy.skipped, policy.changed) == (0, 1)
    with pytest.raises(UnwritableTree, match=r"sentence 1 \(odd\)"):
        treemean.write([Tree(["a b"], [({0}, "S")], id="odd")], path, unwritable="make-continuous")


def test_unknown_ways_to_treat_trees():
    with pytest.raises(TreemeanError, match="not by 'skp'"):
        treemean.Unwritable("skp")


def test_records_are_set_aside_or_it_is_an_error(tmp_path):
    (tmp_path / "bad.dbr").write_text("oops\n")
    with pytest.raises(TreemeanError, match="only skipped sentences are set aside"):
        treemean.Problems(aside=tmp_path / "aside")
    problems = treemean.Problems(skip=True, aside=tmp_path / "aside")
    with pytest.raises(TreemeanError, match="in a `with` statement"):
        treemean.read(tmp_path / "bad.dbr", problems=problems)


def test_standard_input_and_output():
    code = "import treemean; treemean.write(treemean.read('-'), '-', format='jsonl')"
    result = subprocess.run(
        [sys.executable, "-c", code], input=b"(S (X 0=a) (Y 1=b))\n", capture_output=True, check=True
    )
    assert b'"words"' in result.stdout


def test_devices_are_written_to_directly():
    treemean.write([FLAT], os.devnull, format="ptb")


def test_equal_content_gives_equal_bytes(tmp_path):
    treemean.write(BANK, tmp_path / "a.dbr.gz")
    treemean.write(BANK, tmp_path / "b.dbr.gz")
    assert (tmp_path / "a.dbr.gz").read_bytes() == (tmp_path / "b.dbr.gz").read_bytes()
