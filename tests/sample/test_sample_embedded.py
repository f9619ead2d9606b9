"""The files of the sample are those that the generator makes now."""

from importlib.resources import files

import pytest

from commands import python
from treemean import sample
from treemean.sample.embedded import make_sample
from treemean.trees.transforms import drop_functions

NAMES = ["gold.discbracket", *(f"run{i}.discbracket" for i in range(1, 6))]


def test_files_are_what_the_generator_makes(tmp_path):
    sample.write_sample(tmp_path / "new")
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == NAMES
    for name in NAMES:
        shipped = files("treemean.sample").joinpath("data", name).read_bytes()
        assert (tmp_path / "new" / name).read_bytes() == shipped, f"{name}: run python -m treemean.sample"


def test_the_command_writes_the_files(tmp_path):
    python("-m", "treemean.sample", tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == NAMES


def test_files_hold_everything_but_functions():
    gold, runs = make_sample()
    assert sample.gold() == drop_functions(gold)
    assert len(sample.runs()) == len(runs)
    assert all(one == other for one, other in zip(sample.runs(), runs, strict=True))


def test_ids_and_counts():
    ids = sample.gold().ids.tolist()
    assert len(ids) == len(set(ids)) == 360
    assert [ids[0], ids[199], ids[200], ids[299], ids[300], ids[359]] == [
        "nl-0001",
        "nl-0200",
        "de-0001",
        "de-0100",
        "en-0001",
        "en-0060",
    ]


def test_sentences_differ():
    words = [tree.words for tree in sample.gold()]
    assert len(set(words)) == len(words)


@pytest.mark.parametrize("name", NAMES)
def test_files_are_plain_lines(name):
    text = files("treemean.sample").joinpath("data", name).read_text(encoding="utf-8")
    lines = text.split("\n")
    assert lines.pop() == ""
    assert len(lines) == 360
    assert all(line.startswith("(") and line.count("(") == line.count(")") for line in lines)


def test_the_sample_shows_what_it_should():
    trees = list(sample.gold())
    assert any(tree.fan_out == 3 for tree in trees)
    assert any(not tree.is_well_nested for tree in trees)
    assert any(len(c) == 1 for tree in trees for c in tree)
    assert all(tree.tags[-1] == "punct" for tree in trees)
