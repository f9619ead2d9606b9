"""UTF-16 and byte order marks in every text format; folders, patterns, and one file for each sentence."""

from __future__ import annotations

import codecs
import zipfile

import pytest
from format_helpers import WAKE, written

import treemean
from treemean.errors import FormatError, TreemeanError
from treemean.formats import Notes, get_format
from treemean.trees import Tree, Treebank, transforms

TEXTS = ["conllu", "discbracket", "export", "export4", "jsonl", "ptb"]
FLAT = Tree(["é", "猫"], [({0, 1}, "S")], tags=["X", "Y"], word_functions=["hd", "x"], id="1")


@pytest.mark.parametrize("name", TEXTS)
def test_byte_order_marks_and_utf_16(tmp_path, name):
    text = written(get_format(name), [FLAT] * 3).decode()
    path = tmp_path / "file"  # neither the name nor an option tells anything
    marked = {"utf-8-sig", "utf-16", "utf-32"}
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-32"):
        path.write_bytes(text.encode(encoding))
        assert [tree.words for tree in treemean.read(path)] == [FLAT.words] * 3
        if encoding in marked:  # a mark is stronger than what was said
            assert treemean.read(path, encoding="latin-1")[0].words == FLAT.words
    path.write_bytes(codecs.BOM_UTF16_BE + text.encode("utf-16-be"))
    assert treemean.read(path)[2].words == FLAT.words
    path.write_bytes(text.encode("utf-16-le"))
    assert treemean.read(path, encoding="utf-16-le")[2].words == FLAT.words
    with pytest.raises(FormatError, match=r"UTF-16-LE without a byte order mark; .*--encoding utf-16-le"):
        treemean.read(path, format=name)
    path.write_bytes(text.encode("utf-16")[:-1])
    with pytest.raises(FormatError, match=r"file:\d+: not valid utf-16: truncated"):
        treemean.read(path)


@pytest.mark.parametrize("name", ["alpino", "tiger"])
def test_xml_tells_its_own_encoding(tmp_path, name):
    text = written(get_format(name), [FLAT]).decode().replace('encoding="UTF-8"', 'encoding="UTF-16"')
    path = tmp_path / "file"
    path.write_bytes(text.encode("utf-16"))
    assert treemean.read(path)[0].words == FLAT.words


def test_errors_name_encodings(tmp_path):
    path = tmp_path / "a.ptb"
    path.write_bytes("(S (X a))\n(S (X é))\n".encode("latin-1"))
    with pytest.raises(FormatError, match=r"a.ptb:2: sentence 2: not valid UTF-8.*--encoding latin-1"):
        treemean.read(path)
    assert treemean.read(path, encoding="latin-1")[1].words == ("é",)
    with pytest.raises(TreemeanError, match=r"no encoding 'utf-99'; some are utf-8, latin-1"):
        treemean.read(path, encoding="utf-99")


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "bank"
    (place / "sub").mkdir(parents=True)
    for number in (1, 2, 10):
        (place / f"part{number}.mrg").write_text(f"(S (X word{number}) (Y b))\n")
    (place / "sub" / "more.dbr").write_text("(S (X 0=deep))\n")
    (place / "README").write_text("A treebank.\n")
    (place / "notes.txt").write_text("(CNN) -- not a tree\n")
    return place


def first_words(path, **options):
    return [tree.words[0] for tree in treemean.read(path, **options)]


def test_folders_skip_what_is_no_treebank_and_take_patterns(folder, tmp_path, caplog):
    notes = Notes()
    assert first_words(folder, notes=notes) == ["word1", "word2", "word10", "deep"]
    assert [name.rpartition("/")[2] for name in notes.no_treebanks] == ["README", "notes.txt"]
    assert first_words(folder) == ["word1", "word2", "word10", "deep"]
    assert "2 files are no treebanks, skipped: " in caplog.text
    assert first_words(folder / "*.mrg") == ["word1", "word2", "word10"]
    assert first_words(f"{folder}/**/*.dbr") == ["deep"]
    assert first_words(folder, glob="*1*.mrg") == ["word1", "word10"]
    assert first_words(folder, glob="sub/*") == ["deep"]
    archive = tmp_path / "bank.zip"
    with zipfile.ZipFile(archive, "w") as target:
        for path in folder.rglob("*.*"):
            target.write(path, path.relative_to(folder))
    assert first_words(archive, glob="*.mrg") == ["word1", "word2", "word10"]
    for path, options in [(folder / "*.x", {}), (folder, {"glob": "*.x"}), (archive, {"glob": "*.x"})]:
        with pytest.raises(FormatError, match=r"no file matches .*\*\.x"):
            treemean.read(path, **options)
    with pytest.raises(FormatError, match=r"there is no treebank among its files \(.*README"):
        treemean.read(folder, glob="README")


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(tmp_path):
    (tmp_path / "a[1].ptb").write_text("(S (X a))\n")
    assert first_words(tmp_path / "a[1].ptb") == ["a"]


def test_alpino_is_written_one_file_a_sentence(tmp_path):
    ids = ["WR-P-P.1", "page 1/2", "page 1:2", "PAGE_1_2", "", "..", "é" * 300]
    trees = [WAKE.replace(id=id) for id in ids]
    target = tmp_path / "folder"
    treemean.write(trees, f"{target}/", format="alpino")
    names = sorted(path.name for path in target.iterdir())
    expected = ["5.xml", "6.xml", "PAGE_1_2_3.xml", "WR-P-P.1.xml", "page_1_2.xml", "page_1_2_2.xml"]
    assert names == [*expected, f"{'é' * 100}.xml"]
    assert (target / "5.xml").read_text().startswith('<?xml version="1.0" encoding="UTF-8"?>\n<alpino_ds ')
    bank = treemean.read(target)
    assert sorted(bank.ids.tolist()) == sorted(
        id or "5" for id in ids
    )  # a sentence without id takes the name
    assert list(transforms.drop_functions(bank)) == list(
        transforms.drop_functions(Treebank.from_trees([WAKE] * len(ids)))
    )


def test_a_folder_is_written_whole_or_not_at_all(tmp_path):
    target = tmp_path / "folder"
    with pytest.raises(TreemeanError, match="cannot be written as Alpino XML"):
        treemean.write([WAKE, WAKE.replace(words=["", "b", "c", "d"])], f"{target}/", format="alpino")
    assert not list(tmp_path.iterdir())
    with pytest.raises(TreemeanError, match=r"only alpino is written to a folder"):
        treemean.write([WAKE], f"{target}/", format="export")
    target.mkdir()
    treemean.write([WAKE], target, format="alpino")  # an empty one is as good as none
    with pytest.raises(TreemeanError, match="the folder is not empty"):
        treemean.write([WAKE], target, format="alpino")
    assert [path.name for path in target.iterdir()] == ["1.xml"]
    (tmp_path / "file").touch()
    with pytest.raises(TreemeanError, match="there is a file of this name"):
        treemean.write([WAKE], f"{tmp_path / 'file'}/", format="alpino")
