"""Reading several files side by side."""

from __future__ import annotations

import pytest

import treemean
from treemean.errors import FormatError, MismatchError
from treemean.formats.parallel import read_parallel
from treemean.trees import Tree, Treebank


def write(path, count, words=2):
    trees = [Tree([f"w{i}", *["x"] * (words - 1)], [(range(words), "S")]) for i in range(count)]
    treemean.write(trees, path)
    return path


def test_batches_of_different_formats_line_up(tmp_path):
    a = write(tmp_path / "a.dbr", 2500)
    b = write(tmp_path / "b.jsonl", 2500, words=120)
    parts = list(read_parallel([a, b]))
    assert len(parts) > 1
    for first, second in parts:
        assert [t.words[0] for t in first] == [t.words[0] for t in second]
    assert Treebank.concatenate([first for first, _ in parts]) == treemean.read(a)


def test_a_file_that_ends_early_is_named(tmp_path):
    a, b = write(tmp_path / "a.dbr", 3), write(tmp_path / "b.dbr", 2)
    with pytest.raises(MismatchError, match=r"b\.dbr ends after 2 sentences, but .*a\.dbr goes on"):
        list(read_parallel([a, b]))


def test_nothing_to_read(tmp_path):
    assert list(read_parallel([])) == []
    a, b = write(tmp_path / "a.dbr", 0), write(tmp_path / "b.dbr", 0)
    with pytest.raises(FormatError, match=r"a\.dbr, .*b\.dbr: there are no sentences"):
        list(read_parallel([a, b]))
