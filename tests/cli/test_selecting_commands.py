"""Selecting sentences and constituents with `treemean convert`, and drawing them with `treemean draw`."""

from __future__ import annotations

import inspect
import shutil
from importlib import import_module

import pytest

import treemean
from commands import run
from treemean.trees import Constituent, Tree, Treebank

WAKE = Tree(
    ["Wake", "your", "friend", "up", "!"],
    [(range(5), "S"), ({0, 3}, "VP"), ({1, 2}, "NP")],
    tags=["V", "D", "N", "P", "punct"],
    id="wake",
)
YES = Tree(
    ["Yes", ",", "it", "is"],
    [(range(4), "TOP"), ({0, 2, 3}, "S"), ({2, 3}, "S-SBJ")],
    tags=["I", ",", "N", "V"],
)


def numbered(tree: Tree, id: str, **values: list[float]) -> Tree:
    """Return a tree with an id, whose constituents have numbers."""
    constituents = [
        Constituent(c.mask, c.label, c.function, {name: given[i] for name, given in values.items()})
        for i, c in enumerate(tree)
    ]
    return tree.replace(constituents=constituents, id=id)


@pytest.fixture
def folder(tmp_path):
    trees = [WAKE.replace(id=f"w{i}") if i % 3 else YES.replace(id=f"y{i}") for i in range(1, 10)]
    treemean.write(trees, tmp_path / "in.jsonl")
    treemean.write(trees, tmp_path / "in.dbr")
    mean = [
        numbered(WAKE, "a", support=[1, 0.4, 0.8], probability=[1, 0.9, 0.3]),
        numbered(YES, "b", support=[1, 0.6, 0.8], probability=[1, 0.2, 0.1]),
    ]
    treemean.write(mean, tmp_path / "mean.jsonl")
    return tmp_path


def ids(folder, *options: object, source: str = "in.jsonl") -> list[str]:
    run("convert", source, "out.jsonl", *options, cwd=folder)
    return treemean.read(folder / "out.jsonl").ids.tolist()


def labels(folder, *options: object, source: str = "mean.jsonl") -> list[list[str]]:
    run("convert", source, "out.jsonl", *options, cwd=folder)
    return [[c.label for c in tree] for tree in treemean.read(folder / "out.jsonl")]


# ---- convert ----------------------------------------------------------------------------------------


def test_sentences(folder):
    assert ids(folder, "--sentences", "7-9, 3") == ["y3", "w7", "w8", "y9"]
    (folder / "ids").write_text("w8\r\n\n y3 \nw1\n")
    assert ids(folder, "--ids", "ids") == ["w1", "y3", "w8"]
    assert ids(folder, "--ids", "ids", "--sentences", "2-3") == ["y3"]
    assert ids(folder, "--sentences", "1-3", "--discontinuous", "--remove-punctuation") == ["w1", "w2"]


def test_numbers_count_over_batches(folder):
    treemean.write(
        Treebank.from_trees([WAKE.replace(id=str(i)) for i in range(1, 2501)]), folder / "many.dbr"
    )
    treemean.write(
        Treebank.from_trees([WAKE.replace(id=str(i)) for i in range(1, 2501)]), folder / "many.jsonl"
    )
    assert ids(folder, "--sentences", "5,999-1001,2400", source="many.jsonl") == [
        *("5", "999", "1000", "1001", "2400")
    ]
    said = run("convert", "many.dbr", "out.dbr", "--sentences", "2500-2501", cwd=folder, code=1).stderr
    assert said == "error: many.dbr: there is no sentence 2501; it has 2500\n"


def test_what_comes_after_the_last_sentence_is_not_read(folder):
    (folder / "bad.dbr").write_text("(S (X 0=a))\n" * 3000 + "(S (X 0=a\n")
    assert "1 sentences written" in run("convert", "bad.dbr", "out.dbr", "--sentences", 1, cwd=folder).stderr
    run("convert", "bad.dbr", "out.dbr", cwd=folder, code=1)


def test_constituents(folder):
    assert labels(folder, "--min-support", "0.6") == [["S", "NP"], ["TOP", "S", "S-SBJ"]]
    assert labels(folder, "--min-probability", "0.3") == [["S", "VP", "NP"], ["TOP"]]
    assert labels(folder, "--min-support", "0.6", "--min-probability", "0.2") == [["S", "NP"], ["TOP", "S"]]
    assert labels(folder, "--labels", "NP, S") == [["S", "NP"], ["TOP", "S"]]
    assert labels(folder, "--labels", "S", "--functions", "split") == [["S"], ["TOP", "S", "S"]]
    run("convert", "mean.jsonl", "mean.parquet", cwd=folder)
    assert labels(folder, "--min-probability", "0.3", source="mean.parquet") == [["S", "VP", "NP"], ["TOP"]]
    assert treemean.read(folder / "out.jsonl")[0].constituents[2].values == {
        "support": 0.8,
        "probability": 0.3,
    }


def test_gaps_are_counted_when_punctuation_was_moved_and_constituents_were_selected(folder):
    assert ids(folder, "--discontinuous", source="mean.jsonl") == ["a", "b"]
    assert ids(folder, "--discontinuous", "--move-punctuation", source="mean.jsonl") == ["a"]
    assert ids(folder, "--discontinuous", "--labels", "S", source="mean.jsonl") == ["b"]
    run("convert", "mean.jsonl", "out.jsonl", "--move-punctuation", cwd=folder)
    assert [c.positions for c in treemean.read(folder / "out.jsonl")[1]] == [
        (0, 1, 2, 3),
        (0, 1, 2, 3),
        (2, 3),
    ]


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--sentences", "0"], 2, "there is no sentence 0"),
        (["--sentences", "3,10"], 1, "in.dbr: there is no sentence 10; it has 9"),
        (["--ids", "ids"], 1, "in.dbr: no sentence has any of the ids 'w1', 'x'; its sentences have no ids"),
        (["--ids", "empty"], 1, "empty: there is nothing in this file"),
        (["--ids", "latin"], 1, "latin:2: not valid UTF-8"),
        (["--ids", "in.dbr"], 2, "in.dbr is also an input"),
        (
            ["--min-support", "0.5"],
            1,
            "in.dbr: VP [Wake up] has no support; constituents here have no numbers",
        ),
        (["--labels", "XP"], 1, "in.dbr: no constituent has the label 'XP'; there are NP, S, S-SBJ, TOP, VP"),
        (["--labels", "NP,,VP"], 2, "is not a list of labels"),
        (
            ["--move-punctuation", "--remove-punctuation"],
            2,
            "give either --move-punctuation or --remove-punctuation",
        ),
    ],
)
def test_bad_selections_are_told_and_lose_nothing(folder, options, code, said):
    (folder / "ids").write_text("w1\nx\n")
    (folder / "empty").write_text("\n\n")
    (folder / "latin").write_bytes(b"a\n\xe9\n")
    (folder / "out.dbr").write_text("before")
    told = run("convert", "in.dbr", "out.dbr", *options, cwd=folder, code=code, columns=200).stderr
    assert said in " ".join(told.split())
    assert (folder / "out.dbr").read_text() == "before"


def test_selections_without_a_result_are_told(folder):
    said = run("convert", "in.dbr", "out.dbr", "--labels", "NP,XP", cwd=folder).stderr
    assert "no constituent has the label 'XP'" in said
    assert "12 constituents removed" in said
    said = run("convert", "in.dbr", "out.dbr", "--labels", "NP", "--discontinuous", cwd=folder).stderr
    assert "9 sentences left out (no gaps)" in said
    assert "no sentence is left: the output is empty" in said
    assert len(treemean.read(folder / "out.dbr")) == 0
    (folder / "ids").write_text("w1\n")
    said = run("convert", "in.jsonl", "out.jsonl", "--ids", "ids", "--sentences", 2, cwd=folder).stderr
    assert "no sentence is left" in said


def test_ids_from_standard_input(folder):
    run("convert", "in.jsonl", "out.jsonl", "--ids", "-", cwd=folder, text="w1\n")
    assert treemean.read(folder / "out.jsonl").ids.tolist() == ["w1"]
    said = run("convert", "-", "out.jsonl", "--from", "jsonl", "--ids", "-", cwd=folder, code=2).stderr
    assert "standard input cannot be both" in said


# ---- draw -------------------------------------------------------------------------------------------


def test_draw_ranges(folder):
    text = run("draw", "in.jsonl", "--sentences", "9,1-2", cwd=folder).stdout
    headings = [line for line in text.split("\n") if line.startswith("sentence")]
    assert headings == ["sentence 1 (w1)", "sentence 2 (w2)", "sentence 9 (y9)"]
    assert text.count("friend") == 2
    one = run("draw", "in.jsonl", "--sentence", 3, cwd=folder).stdout
    assert "sentence" not in one
    assert one == run("draw", "in.jsonl", "--id", "y3", cwd=folder).stdout


def test_draw_runs_side_by_side(folder):
    shutil.copy(folder / "in.jsonl", folder / "other.jsonl")
    files = ("in.jsonl", "other.jsonl", "mean.jsonl")
    result = run("draw", *files, "--sentences", 1, "--values", "support", cwd=folder)
    first = result.stdout.split("\n")[0].split()
    assert first == ["in", "other", "mean"]
    assert result.stdout.count("friend") == 3
    assert "VP 0.4" in result.stdout
    assert result.stderr == ""
    said = run("draw", *files, "--sentences", 2, cwd=folder).stderr
    assert said == "sentence 2: the files have different words there\n"
    for ending in ("svg", "tex", "txt"):
        assert "sentence 1 drawn in" in run("draw", *files, "-o", f"runs.{ending}", cwd=folder).stderr
        text = (folder / f"runs.{ending}").read_text()
        assert text.count("friend") >= 3
        assert all(name in text for name in ("in", "other", "mean"))
    for ending, magic in (("png", b"\x89PNG"), ("pdf", b"%PDF-")):
        run("draw", *files, "--gold", "in.jsonl", "-o", f"runs.{ending}", cwd=folder)
        assert (folder / f"runs.{ending}").read_bytes().startswith(magic)


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["-o", "x.jpg"], 1, "error: x.jpg: drawings end in .svg, .png, .pdf, .tex, .txt; not .jpg"),
        (["-o", "tree"], 1, "tree: drawings end in .svg, .png, .pdf, .tex, .txt; this name has no ending"),
        (["-s", "8-12"], 1, "error: in.jsonl: there is no sentence 10; it has 9"),
        (["--sentences", "1", "--id", "w1"], 2, "give either --sentences or --id"),
        (["--id", "x"], 1, "error: in.jsonl: no sentence has the id 'x'"),
        (["mean.jsonl", "-s", "3"], 1, "error: mean.jsonl: there is no sentence 3; it has 2"),
    ],
)
def test_bad_drawings_are_told(folder, options, code, said):
    before = sorted(path.name for path in folder.iterdir())
    told = run("draw", "in.jsonl", *options, cwd=folder, code=code, columns=200).stderr
    assert said in " ".join(told.split())
    assert sorted(path.name for path in folder.iterdir()) == before


def test_a_drawing_does_not_replace_a_treebank(folder):
    shutil.copy(folder / "in.jsonl", folder / "trees.txt")
    said = run("draw", "trees.txt", "--from", "jsonl", "-o", "trees.txt", cwd=folder, code=2).stderr
    assert "trees.txt is also an input" in said


@pytest.mark.parametrize("command", ["convert", "draw"])
def test_help_fits_80_columns(command):
    lines = [line.strip() for line in run(command, "--help", columns=80).stdout.split("\n")]
    assert max(map(len, lines)) <= 80
    told = inspect.getdoc(getattr(import_module(f"treemean.cli.{command}"), command)) or ""
    examples = [line.strip() for line in told.split("\n") if line.startswith("  ")]
    assert len(examples) > 4
    assert set(examples) <= set(lines)  # none is broken
