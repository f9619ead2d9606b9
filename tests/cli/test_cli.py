"""The command line, run as a user runs it."""

from __future__ import annotations

import json
import random
import subprocess
import sys

import pytest

import treemean
import treemean.averaging
from commands import run, run_in_process
from instances import independent_trees
from treemean.trees import Tree, Treebank

WAKE = Tree(
    ["Wake", "your", "friend", "up"],
    [(range(4), "S"), ({0, 3}, "VP"), ({1, 2}, "NP")],
    tags=["V", "D", "N", "P"],
    id="one",
)
STOP = Tree(["Stop", "it", "!"], [(range(3), "S"), ({0, 1}, "VP")], tags=["V", "N", "punct"], id="two")
FLAT = Tree(["Wake", "your", "friend", "up"], [(range(4), "S"), ({1, 2}, "NP")], tags=["V", "D", "N", "P"])


@pytest.fixture
def folder(tmp_path):
    treemean.write([WAKE, STOP], tmp_path / "gold.discbracket")
    treemean.write([WAKE, STOP], tmp_path / "gold.jsonl")
    treemean.write([FLAT, STOP.replace(constituents=[(range(3), "S")])], tmp_path / "pred.discbracket")
    return tmp_path


def test_help_and_version_explain_themselves():
    text = run("--help").stdout
    for command in ("average", "convert", "evaluate", "compare", "stats", "draw", "sample", "demo"):
        assert command in text
        help_text = run(command, "--help").stdout
        assert "Example" in help_text
        assert f"treemean {command}" in help_text
    assert run("--version").stdout == f"treemean {treemean.__version__}\n"


def test_evaluate_as_json(folder):
    result = json.loads(run("evaluate", "pred.discbracket", "gold.discbracket", "--json", cwd=folder).stdout)
    assert result["overall"] == {
        "f1": pytest.approx(200 / 3),
        "precision": 100.0,
        "recall": 50.0,
        "matched": 1,
        "predicted": 1,
        "gold": 2,
    }
    assert result["continuous"]["f1"] == 100.0
    assert result["discontinuous"]["matched"] == 0
    assert result["protocol"]["name"] == "standard"


def test_evaluate_as_tables(folder):
    files = ("pred.discbracket", "gold.discbracket", "gold.discbracket")
    text = run("evaluate", *files, "--by-label", "--by-length", cwd=folder).stdout
    assert "66.67" in text
    assert "Protocol standard" in text
    assert "Recall by label" in text
    assert "F1 by sentence length" in text
    markdown = run("evaluate", *files[:2], "--format", "markdown", cwd=folder).stdout
    assert "| overall | 66.67 | 100.00 | 50.00 | 1 | 1 | 2 |" in markdown
    csv = run("evaluate", *files[:2], "--format", "csv", cwd=folder).stdout
    assert "pred,standard,false,all,,,continuous,f1,100.0" in csv


def test_evaluate_one_file_twice(folder):
    twice = ("evaluate", "pred.discbracket", "pred.discbracket", "gold.discbracket")
    assert len(json.loads(run(*twice, "--json", cwd=folder).stdout)) == 2
    assert "pred.discbracket (2)" in run(*twice, cwd=folder).stdout


def test_evaluate_by_id(folder):
    treemean.write([STOP, WAKE], folder / "turned.jsonl")
    arguments = ("evaluate", "turned.jsonl", "gold.jsonl")
    assert "sentence 1" in run(*arguments, cwd=folder, code=1).stderr
    result = json.loads(run(*arguments, "--match", "id", "--json", cwd=folder).stdout)
    assert result["overall"]["f1"] == 100.0


def test_compare(folder):
    arguments = ("compare", "gold.discbracket", "pred.discbracket", "gold.discbracket")
    for test in ("ins", "sign", "bootstrap"):
        result = json.loads(run(*arguments, "--test", test, "--json", cwd=folder).stdout)
        assert result["wins"] == 1
        assert 0 <= result["p_value"] <= 1
    assert result["protocol"]["name"] == "standard"
    text = run(*arguments, cwd=folder).stdout
    assert "p-value" in text
    assert "Protocol standard" in text
    assert "2 sentences scored" in text


def test_average(folder):
    files = ("gold.discbracket", "gold.discbracket", "pred.discbracket")
    said = run("average", *files, "-o", "mean.dbr", "--stats", "stats.json", cwd=folder).stderr
    assert "2 sentences averaged, 2 proven optimal" in said
    assert treemean.read(folder / "mean.dbr")[0].same_structure(WAKE)
    stats = json.loads((folder / "stats.json").read_text())
    assert stats["summary"]["optimal"] == 2
    assert stats["parameters"]["runs"] == list(files)
    first = stats["sentences"][0]
    assert first.keys() >= {"objective", "bound", "optimal", "candidates", "seconds"}
    assert first["objective"] == first["bound"]
    assert first["optimal"] is True
    for method in treemean.averaging.METHODS:
        run("average", *files, "-o", f"{method}.dbr", "--method", method, cwd=folder)
        assert len(treemean.read(folder / f"{method}.dbr")) == 2
    run("average", *files, "-o", "weighted.dbr", "--weights", "0,0,1", cwd=folder)
    assert treemean.read(folder / "weighted.dbr")[0].same_structure(FLAT)
    run("average", *files, "-o", "binary.dbr", "--binary", "--direction", "left", "--beta", "2", cwd=folder)
    assert all(tree.is_binary for tree in treemean.read(folder / "binary.dbr"))


def test_average_of_sentences_without_words(folder):
    treemean.write([Tree([], [], id="empty")], folder / "empty.jsonl")
    for method in treemean.averaging.METHODS:
        arguments = ("empty.jsonl", "empty.jsonl", "-o", "mean.jsonl", "--stats", "stats.json")
        run("average", *arguments, "--method", method, cwd=folder)
        [sentence] = json.loads((folder / "stats.json").read_text())["sentences"]
        assert (sentence["objective"], sentence["optimal"]) == (1.0, True)


def test_average_by_id(folder):
    treemean.write([STOP, WAKE], folder / "turned.jsonl")
    files = ("gold.jsonl", "turned.jsonl")
    said = run("average", *files, "-o", "mean.dbr", cwd=folder, code=1).stderr
    assert "sentence 1 (one): turned.jsonl has 3 words, gold.jsonl has 4" in said
    assert not (folder / "mean.dbr").exists()
    run("average", *files, "-o", "mean.jsonl", "--match", "id", cwd=folder)
    assert treemean.read(folder / "mean.jsonl").ids.tolist() == ["one", "two"]
    treemean.write([WAKE], folder / "short.jsonl")
    files = ("gold.jsonl", "short.jsonl")
    said = run("average", *files, "-o", "x.dbr", "--match", "id", cwd=folder, code=1).stderr
    assert "short.jsonl has other sentences than gold.jsonl: it lacks 'two'" in said
    treemean.write([WAKE, STOP.replace(id="")], folder / "nameless.jsonl")
    files = ("gold.jsonl", "nameless.jsonl")
    said = run("average", *files, "-o", "x.dbr", "--match", "id", cwd=folder, code=1).stderr
    assert "sentence 2 of nameless.jsonl has no id" in said
    treemean.write([WAKE.replace(words=["Wake", "my", "friend", "up"]), STOP], folder / "other.jsonl")
    said = run(
        "average", "gold.jsonl", "other.jsonl", "-o", "x.dbr", "--match", "id", cwd=folder, code=1
    ).stderr
    assert "word 2 is 'my' in other.jsonl and 'your' in gold.jsonl" in said
    files = ("gold.jsonl", "short.jsonl")
    assert "ends after 1 sentence" in run("average", *files[::-1], "-o", "x.dbr", cwd=folder, code=1).stderr


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--weights", "1,x"), 2, "not a list of numbers"),
        (("--weights", "1"), 1, "1 weights for 2 individuals"),
        (("--weights", "0,0"), 1, "all weights are zero"),
        (("--weights=-1,1",), 1, "weight 1 is -1.0"),
        (("--weights", "nan,1"), 1, "weight 1 is nan"),
        (("--method", "guess"), 1, "no method 'guess'"),
        (("--stats", "./out.dbr"), 2, "is also an input"),
        (("--direction", "left"), 2, "it works only with --binary"),
        (("--unaries", "none"), 2, "it works only with --labelled"),
        (("--method", "cyk", "--labelled"), 1, "the method cyk does not average labels"),
        (("--method", "cyk", "--time-limit", "1"), 1, "the method cyk takes no time_limit"),
        (("--max-fan-out", "2"), 1, "the method exact takes no max_fan_out"),
        (("--max-fan-out", "0", "--method", "dynamic-programming"), 2, "--max-fan-out"),
    ],
)
def test_average_refuses(folder, options, code, message):
    arguments = ("average", "gold.discbracket", "pred.discbracket", "-o", "out.dbr", *options)
    assert message in run(*arguments, cwd=folder, code=code).stderr
    assert not (folder / "out.dbr").exists()


def test_average_of_labelled_trees(folder):
    files = ["gold.discbracket", "pred.discbracket", "gold.discbracket"]
    for options in ((), ("--unaries", "none"), ("--binary",), ("--weights", "1,2,1")):
        said = run("average", *files, "-o", "mean.dbr", "--labelled", *options, cwd=folder).stderr
        assert "2 proven optimal" in said
    run("average", *files[:1], "-o", "mean.dbr", "--labelled", cwd=folder)
    assert treemean.read(folder / "mean.dbr") == treemean.read(folder / files[0])


def test_average_decides_ties(tmp_path):
    def bank(*sets):
        tree = treemean.Tree(list("abc"), [({0, 1, 2}, "S"), *((s, "X") for s in sets)])
        return treemean.Treebank.from_trees([tree, tree])

    treemean.write(bank({0, 1}), tmp_path / "left.dbr")
    treemean.write(bank({1, 2}), tmp_path / "right.dbr")
    (tmp_path / "values.jsonl").write_text('[[[1, 2], 0.5]]\n[[[0, 1], "X", 1], [[1, 2], 0]]\n')
    arguments = ("average", "left.dbr", "right.dbr", "-o", "mean.dbr", "--ties")

    def mean_sets():
        return [[c.positions for c in tree][1] for tree in treemean.read(tmp_path / "mean.dbr")]

    for ties, expected in (("canonical", [(0, 1)] * 2), ("left", [(0, 1)] * 2), ("right", [(1, 2)] * 2)):
        run(*arguments, ties, cwd=tmp_path)
        assert mean_sets() == expected
    run(*arguments, "values.jsonl", "--labelled", cwd=tmp_path)
    assert mean_sets() == [(1, 2), (0, 1)]
    refused = run(*arguments, "nothing.jsonl", cwd=tmp_path, code=2).stderr
    assert "'nothing.jsonl' is neither canonical, right, left nor a file" in refused
    for text, message in (
        ("[]\n", "values.jsonl ends after 1 sentence"),
        ("[]\n[]\n[]\n", "goes on after the last of 2"),
        ('[[["a"], 1]]\n[]\n', "values.jsonl:1"),
        ('[]\n[[[1], "x"]]\n', "values.jsonl:2"),
        ("[]\nno\n", "values.jsonl:2"),
    ):
        (tmp_path / "values.jsonl").write_text(text)
        said = " ".join(run(*arguments, "values.jsonl", cwd=tmp_path, code=1).stderr.split())
        assert message in said, said


def test_average_skips_what_is_beyond_a_method(folder):
    long = independent_trees(40, 2, random.Random(1), 0.0)
    for index, tree in enumerate(long):
        treemean.write([WAKE, tree.replace(id="long"), STOP], folder / f"run{index}.jsonl")
    arguments = ("average", "run0.jsonl", "run1.jsonl", "-o", "mean.jsonl", "--method", "dynamic-programming")
    said = run(*arguments, cwd=folder, code=1).stderr
    assert "error: sentence 2 (long): dynamic programming over 40 words" in said
    assert not (folder / "mean.jsonl").exists()
    said = run(*arguments, "--skip-unsolved", "--stats", "stats.json", cwd=folder).stderr
    assert "skipped: sentence 2 (long): dynamic programming over 40 words" in said
    assert "1 sentences skipped that are beyond the reach of dynamic-programming" in said
    assert treemean.read(folder / "mean.jsonl").ids.tolist() == ["one", "two"]
    stats = json.loads((folder / "stats.json").read_text())
    assert len(stats["sentences"]) == stats["summary"]["sentences"] == 2
    assert [(entry["sentence"], entry["id"]) for entry in stats["skipped"]] == [(2, "long")]
    run(*arguments, "--max-fan-out", "1", cwd=folder)
    trees = list(treemean.read(folder / "mean.jsonl"))
    assert len(trees) == 3
    assert all(c.is_continuous for c in trees[1])


def test_convert(folder):
    run("convert", "gold.discbracket", "out.jsonl", "--remove-punctuation", "--collapse-unaries", cwd=folder)
    assert [tree.words for tree in treemean.read(folder / "out.jsonl")] == [WAKE.words, ("Stop", "it")]
    piped = run("convert", "-", "-", "--to", "jsonl", text="(S (X 0=a) (Y 1=b))\n").stdout
    assert json.loads(piped)["words"] == ["a", "b"]
    run("convert", "gold.discbracket", "binary.dbr", "--binarise", "left", "--lower-case", cwd=folder)
    trees = list(treemean.read(folder / "binary.dbr"))
    assert all(tree.is_binary for tree in trees)
    assert trees[0].words[0] == "wake"
    run("convert", "gold.discbracket", "right.dbr", "--branching", "right", cwd=folder)
    assert treemean.read(folder / "right.dbr")[0].constituents[1].positions == (1, 2, 3)


def test_random_trees_do_not_depend_on_batches(folder):
    bank = Treebank.from_trees([FLAT] * 2500)
    treemean.write(bank, folder / "many.dbr")
    treemean.write(bank, folder / "many.jsonl")
    expected = treemean.transforms.branching(bank, "random", seed=3)
    for name in ("many.dbr", "many.jsonl"):
        run("convert", name, "random.jsonl", "--branching", "random", "--seed", 3, cwd=folder)
        assert (treemean.read(folder / "random.jsonl").bits == expected.bits).all()


def test_convert_what_a_format_cannot_express(folder):
    error = run("convert", "gold.jsonl", "out.ptb", cwd=folder, code=1).stderr
    assert "sentence 1 (one) cannot be written as PTB brackets" in error
    assert not (folder / "out.ptb").exists()
    assert (
        "1 trees skipped" in run("convert", "gold.jsonl", "out.ptb", "--skip-unwritable", cwd=folder).stderr
    )
    assert len(treemean.read(folder / "out.ptb")) == 1
    said = run("convert", "gold.jsonl", "out.ptb", "--make-continuous", cwd=folder).stderr
    assert "1 discontinuous trees made continuous" in said
    assert len(treemean.read(folder / "out.ptb")) == 2


def test_convert_bad_input(folder):
    (folder / "bad.dbr").write_text("(S (X 0=a))\n(S (X 0=a\n(S (X 0=b))\n")
    error = run("convert", "bad.dbr", "out.dbr", cwd=folder, code=1).stderr
    assert "bad.dbr:2: sentence 2: the tree is not closed" in error
    said = run("convert", "bad.dbr", "out.dbr", "--skip-bad", "--bad-file", "aside", cwd=folder).stderr
    assert "1 bad sentence skipped; they are in aside" in said
    for other in ("./bad.dbr", "out.dbr"):
        arguments = ("convert", "bad.dbr", "out.dbr", "--skip-bad", "--bad-file", other)
        assert "is also an input" in run(*arguments, cwd=folder, code=2).stderr
    assert (folder / "aside").read_text() == "(S (X 0=a\n"
    assert len(treemean.read(folder / "out.dbr")) == 2


def test_stats(folder):
    assert "discontinuous" in run("stats", "gold.discbracket", cwd=folder).stdout
    numbers = json.loads(
        run("stats", "gold.discbracket", "--remove-punctuation", "--json", cwd=folder).stdout
    )
    assert (numbers["sentences"], numbers["words"], numbers["discontinuous"]) == (2, 6, 1)


def test_punctuation_is_told_in_one_way_from_beginning_to_end(folder):
    tagged = Tree(["Ja", "."], [(range(2), "S")], tags=["adv", "punct"])
    symbol = Tree(["a", "&", "b"], [(range(3), "S")], tags=["noun", "conj", "noun"])
    treemean.write([tagged] * 1000 + [symbol] * 1000, folder / "long.jsonl")
    run("convert", "long.jsonl", "out.jsonl", "--remove-punctuation", cwd=folder)
    assert len(treemean.read(folder / "out.jsonl").words) == 4000
    numbers = run("stats", "long.jsonl", "--remove-punctuation", "--json", cwd=folder).stdout
    assert json.loads(numbers)["words"] == 4000


def test_draw(folder):
    text = run("draw", "pred.discbracket", "--gold", "gold.discbracket", cwd=folder).stdout
    assert "friend" in text
    assert "VP" in text  # missed, and so listed
    run("draw", "gold.jsonl", "--id", "two", "-o", "tree.svg", cwd=folder)
    assert "<svg" in (folder / "tree.svg").read_text()
    assert "no sentence 9; it has 2" in run("draw", "gold.jsonl", "-s", "9", cwd=folder, code=1).stderr
    assert "no sentence has the id 'x'" in run("draw", "gold.jsonl", "--id", "x", cwd=folder, code=1).stderr


def test_sample(folder):
    run("sample", cwd=folder)
    gold = treemean.read(folder / "treemean-sample" / "gold.discbracket")
    assert len(gold) == len(treemean.sample.gold())
    run("sample", "new.jsonl", "--generate", "20", "--seed", "5", "--language", "de", cwd=folder)
    assert len(treemean.read(folder / "new.jsonl")) == 20


def test_draw_a_prediction_without_punctuation(folder):
    run("convert", "pred.discbracket", "plain.dbr", "--remove-punctuation", cwd=folder)
    text = run("draw", "plain.dbr", "--sentence", 2, "--gold", "gold.discbracket", cwd=folder).stdout
    assert "Stop" in text
    assert "!" not in text


def test_errors_are_one_clear_line_and_exit_code_1(folder):
    assert run("stats", "absent.dbr", cwd=folder, code=1).stderr.startswith("error: absent.dbr: No such file")
    assert "PRED... GOLD" in run("evaluate", "gold.jsonl", cwd=folder, code=2).stderr
    assert run("evaluate", "a", "b", "--protocol", "mine", code=2)
    for command in (("sample", "gold.jsonl"), ("demo", "-o", "gold.jsonl")):
        assert run(*command, cwd=folder, code=1).stderr == "error: gold.jsonl: File exists\n"
    assert "no format 'klingon'" in run("stats", "x", "--from", "klingon", code=1).stderr


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("evaluate", "pred.discbracket", "gold.discbracket", "--by-label"), 0),
        (("agree", "pred.discbracket", "gold.discbracket", "-o", "heat.svg"), 0),
        (("convert", "gold.jsonl", "out.ptb"), 1),
        (("average", "gold.jsonl", "-o", "mean.dbr", "--direction", "left"), 2),
    ],
)
def test_a_process_of_its_own_says_and_writes_the_same(folder, arguments, code):
    here = run(*arguments, cwd=folder, code=code)
    drawn = [path.read_bytes() for path in folder.glob("*.svg")]
    there = run_in_process(*arguments, cwd=folder, code=code)
    assert here.stdout == there.stdout
    assert here.stderr == there.stderr.replace("python -m treemean", "treemean")
    assert drawn == [path.read_bytes() for path in folder.glob("*.svg")]


def test_a_reader_that_goes_away_is_no_error(folder):
    treemean.write(Treebank.from_trees([WAKE] * 20_000), folder / "many.dbr")
    command = f"{sys.executable} -m treemean convert many.dbr - --to jsonl | head -1"
    result = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True, check=False)
    assert "Traceback" not in result.stderr
    assert json.loads(result.stdout)["words"][0] == "Wake"
