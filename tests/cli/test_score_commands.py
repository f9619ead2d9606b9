"""`evaluate`, `compare` and `draw` agree about labels, protocols and parameter files."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import treemean
from commands import run
from strategies import parallel_treebanks
from treemean import Tree, Treebank
from treemean.evaluation import compare_trees, evaluate
from treemean.trees.drawing.comparison import compare_sets

WORDS, TAGS = "Wake your friend up !".split(), ["v", "d", "n", "p", "punct"]
GOLD = Tree(WORDS, [(range(5), "S"), ({0, 3}, "V"), ({1, 2}, "NP")], tags=TAGS, id="one")
GUESS = Tree(WORDS, [(range(5), "S"), ({1, 2, 3}, "VP"), ({1, 2}, "PP")], tags=[*TAGS[:3], "x", "punct"])
STOP = Tree(["Stop", "."], [(range(2), "S")], tags=["v", "punct"], id="two")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    treemean.write([GOLD, STOP], tmp_path / "gold.jsonl")
    treemean.write([GUESS, STOP], tmp_path / "guess.jsonl")
    return tmp_path


def test_labelled_scores(folder: Path) -> None:
    found = json.loads(
        run("evaluate", "guess.jsonl", "gold.jsonl", "--labelled", "--json", cwd=folder).stdout
    )
    assert found["protocol"]["name"] == "standard"
    assert found["protocol"]["labelled"] is True
    assert found["overall"]["f1"] == 0.0
    assert found["confusions"] == [{"gold": "NP", "predicted": "PP", "count": 1}]
    assert found["tags"] == {"accuracy": 80.0, "matched": 4, "words": 5}
    text = run("evaluate", "guess.jsonl", "gold.jsonl", "--labelled", "--by-label", cwd=folder).stdout
    for part in ("guess, labelled", "F1 by label", "Confused labels", "Protocol standard (labelled)"):
        assert part in text
    plain = json.loads(run("evaluate", "guess.jsonl", "gold.jsonl", "--json", cwd=folder).stdout)
    assert (plain["overall"]["f1"], plain["confusions"]) == (50.0, [])


def test_nothing_to_score_is_shown_as_a_dash(folder: Path) -> None:
    treemean.write([STOP], folder / "stop.jsonl")
    text = run("evaluate", "stop.jsonl", "stop.jsonl", "--format", "markdown", cwd=folder).stdout
    assert "| overall | – | – | – | 0 | 0 | 0 |" in text
    found = json.loads(run("evaluate", "stop.jsonl", "stop.jsonl", "--json", cwd=folder).stdout)
    assert found["overall"]["f1"] is None

    arguments = ("compare", "stop.jsonl", "stop.jsonl", "stop.jsonl", "--format")
    assert "| difference | – |" in run(*arguments, "markdown", cwd=folder).stdout
    assert json.loads(run(*arguments, "json", cwd=folder).stdout)["score_a"] is None
    assert ",difference,\n" in run(*arguments, "csv", cwd=folder).stdout


def test_files_with_fewer_sentences_are_named(folder: Path) -> None:
    treemean.write([GUESS], folder / "one.jsonl")
    said = run("evaluate", "one.jsonl", "gold.jsonl", cwd=folder, code=1).stderr
    assert "one.jsonl has 1 sentence and gold.jsonl has 2; the first agrees" in said
    assert "only gold.jsonl has sentence 2 (id 'two')" in said
    said = run("compare", "guess.jsonl", "one.jsonl", "gold.jsonl", cwd=folder, code=1).stderr
    assert "one.jsonl has 1 sentence and gold.jsonl has 2" in said


@pytest.mark.parametrize(
    "arguments",
    [
        ["average", "a", "b", "-o", "x.jsonl"],
        ["average", "a", "b", "-o", "x.jsonl", "--match", "id"],
        ["evaluate", "a", "b", "--per-sentence", "x.csv"],
        ["compare", "a", "b", "b"],
        ["agree", "a", "b"],
        ["report", "a", "b", "-o", "x.html"],
        ["fit", "a", "b", "--gold", "b", "-o", "x.json"],
        ["fit", "a", "b", "--model", "em", "-o", "x.json"],
    ],
    ids=" ".join,
)
def test_without_sentences_there_is_nothing_to_do(tmp_path: Path, arguments: list[str]) -> None:
    for name in "ab":
        (tmp_path / f"{name}.dbr").write_text("")
    named = [f"{part}.dbr" if part in ("a", "b") else part for part in arguments]
    said = run(*named, cwd=tmp_path, code=1).stderr
    assert re.fullmatch(r"error: a\.dbr(, b\.dbr)?: there are no sentences\n", said)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.dbr", "b.dbr"]


def test_an_empty_treebank_can_be_converted_and_counted(tmp_path: Path) -> None:
    (tmp_path / "a.dbr").write_text("")
    said = run("convert", "a.dbr", "b.jsonl", cwd=tmp_path).stderr
    assert "a.dbr: there are no sentences; the output is empty" in said
    assert len(treemean.read(tmp_path / "b.jsonl")) == 0
    assert json.loads(run("stats", "a.dbr", "--json", cwd=tmp_path).stdout)["sentences"] == 0


def test_other_words_and_missing_sentences(folder: Path) -> None:
    treemean.write([GUESS, Tree(["Ga", "."], [(range(2), "S")])], folder / "other.jsonl")
    said = run("evaluate", "other.jsonl", "gold.jsonl", cwd=folder, code=1).stderr
    assert "sentence 2 (id 'two'): word 1 is 'Ga' in other.jsonl and 'Stop' in gold.jsonl" in said
    said = run("draw", "other.jsonl", "-s", "2", "--gold", "gold.jsonl", cwd=folder, code=1).stderr
    assert "sentence 2 of other.jsonl and gold.jsonl: word 1 is 'Ga'" in said
    # Where sentences are missing, words in another case are not the first difference if case does not matter.
    treemean.write([Tree([w.upper() for w in WORDS], GUESS.constituents)], folder / "loud.jsonl")
    said = run("evaluate", "loud.jsonl", "gold.jsonl", cwd=folder, code=1).stderr
    assert "the first difference is at sentence 1" in said
    said = run("evaluate", "loud.jsonl", "gold.jsonl", "--ignore-case", cwd=folder, code=1).stderr
    assert "the first agrees, and only gold.jsonl has sentence 2" in said


def test_csv_is_tidy(folder: Path) -> None:
    arguments = ("evaluate", "guess.jsonl", "gold.jsonl", "gold.jsonl", "--labelled", "--by-label")
    rows = list(
        csv.DictReader(io.StringIO(run(*arguments, "--by-length", "--format", "csv", cwd=folder).stdout))
    )
    keys = [tuple(value for name, value in row.items() if name != "value") for row in rows]
    assert len(set(keys)) == len(keys)  # one row for each fact
    value = {key: row["value"] for key, row in zip(keys, rows, strict=True)}
    assert value["guess", "standard", "true", "all", "", "", "overall", "predicted"] == "2"
    assert value["gold", "standard", "true", "label", "NP", "", "overall", "f1"] == "100.0"
    assert value["guess", "standard", "true", "confusion", "NP", "PP", "overall", "count"] == "1"
    assert value["guess", "standard", "true", "length", "1-10", "", "", "sentences"] == "2"
    compared = run("compare", "gold.jsonl", "guess.jsonl", "gold.jsonl", "--format", "csv", cwd=folder).stdout
    measures = {row["measure"]: row["value"] for row in csv.DictReader(io.StringIO(compared))}
    assert (measures["f1_a"], measures["f1_b"], measures["wins"]) == ("100.0", "50.0", "1")


@pytest.mark.parametrize("name", ["scores.csv", "scores.jsonl"])
def test_per_sentence(folder: Path, name: str) -> None:
    run("evaluate", "guess.jsonl", "gold.jsonl", "--per-sentence", name, cwd=folder)
    with open(folder / name, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file)) if name.endswith("csv") else [json.loads(line) for line in file]
    assert [row["id"] for row in rows] == ["one", "two"]
    first, second = ({key: str(value) for key, value in row.items()} for row in rows)
    assert (first["length"], first["matched"], first["predicted"], first["gold"]) == ("4", "1", "2", "2")
    assert (first["precision"], first["recall"], first["f1"]) == ("50.0", "50.0", "50.0")
    assert (first["exact"].lower(), second["exact"].lower()) == ("false", "true")
    assert second["f1"] in ("", "None")  # 0 of 0
    assert not list(folder.glob(".*part"))


def test_per_sentence_refuses(folder: Path) -> None:
    arguments = ("evaluate", "guess.jsonl", "gold.jsonl", "--per-sentence")
    assert (
        "scores.txt: the name of this file must end in .csv or .jsonl"
        in run(*arguments, "scores.txt", cwd=folder, code=1).stderr
    )
    before = (folder / "gold.jsonl").read_bytes()
    run(*arguments, "gold.jsonl", cwd=folder, code=2)
    assert (folder / "gold.jsonl").read_bytes() == before
    assert not (folder / "scores.txt").exists()
    said = run(*arguments, "absent/scores.csv", cwd=folder, code=1).stderr
    assert "absent/scores.csv: the folder absent does not exist" in said


def test_parameter_files(folder: Path) -> None:
    (folder / "my.prm").write_text("DELETE_LABEL punct\nCUTOFF_LEN 3\n")
    text = run("evaluate", "guess.jsonl", "gold.jsonl", "--prm", "my.prm", cwd=folder).stdout
    assert "Sentences of at most 3 words" in text
    assert "Protocol my.prm (labelled) (EVALB with this parameter file)" in text
    (folder / "bad.prm").write_text("DELETE_LABEL punct\nCUT_LEN 3\n")
    said = run("evaluate", "guess.jsonl", "gold.jsonl", "--prm", "bad.prm", cwd=folder, code=1).stderr
    assert "bad.prm:2: CUT_LEN is not supported" in said
    both = ("evaluate", "guess.jsonl", "gold.jsonl", "--prm", "my.prm", "--protocol", "paper")
    assert "give either a parameter file or --protocol" in run(*both, cwd=folder, code=2).stderr


def test_functions_in_labels_of_discbracket_files(folder: Path) -> None:
    """For disco-dop, they are part of labels in discbracket files and no others."""
    (folder / "my.prm").write_text("DISC_ONLY 0\n")
    for name, text in {
        "gold.dbr": "(S (NP-SBJ 0=a 1=b) 2=c)\n",
        "guess.dbr": "(S (NP 0=a 1=b) 2=c)\n",
        "gold.ptb": "(S (NP-SBJ (X a) (X b)) (X c))\n",
        "guess.ptb": "(S (NP (X a) (X b)) (X c))\n",
    }.items():
        (folder / name).write_text(text)
    (folder / "gold.txt").write_bytes((folder / "gold.dbr").read_bytes())

    def matched(*arguments: str) -> int:
        found = run("evaluate", *arguments, "--prm", "my.prm", "--json", cwd=folder).stdout
        return int(json.loads(found)["overall"]["matched"])

    assert matched("guess.dbr", "gold.dbr") == matched("guess.dbr", "gold.txt") == 1
    assert matched("guess.ptb", "gold.ptb") == matched("guess.dbr", "gold.ptb") == 2


def test_brackets_around_trees_count_as_in_evalb_and_nowhere_else(folder: Path) -> None:
    (folder / "my.prm").write_text("DELETE_LABEL TOP\n")
    (folder / "gold.ptb").write_text("( (S (NP (N a) (N b)) (V c)))\n")
    (folder / "top.ptb").write_text("(TOP (S (NP (N a) (N b)) (V c)))\n")

    def f1(*arguments: str) -> float:
        return float(json.loads(run(*arguments, "--json", cwd=folder).stdout)["overall"]["f1"])

    evaluated = ("evaluate", "top.ptb", "gold.ptb")
    assert f1(*evaluated, "--prm", "my.prm") == 80.0  # 2 of 2 and 3
    assert f1("evaluate", "gold.ptb", "gold.ptb", "--prm", "my.prm") == 100.0
    assert f1(*evaluated) == f1(*evaluated, "--protocol", "discodop") == 100.0
    compared = run("compare", "gold.ptb", *evaluated[1:], "--prm", "my.prm", "--json", cwd=folder).stdout
    assert json.loads(compared)["score_b"] == 80.0
    drawn = run(
        "draw", *evaluated[1:2], "--gold", "gold.ptb", "--prm", "my.prm", "--no-color", cwd=folder
    ).stdout
    assert drawn.count("✓") == 2
    assert "a b c" in drawn.split("missed:")[1]


@pytest.mark.parametrize("labelled", [0, 1])
def test_tables_where_predictions_lack_other_sentences(folder: Path, labelled: int) -> None:
    """EVALB leaves out sentences in which a prediction has other punctuation; here others for each."""
    (folder / "my.prm").write_text(f"DELETE_LABEL punct\nLABELED {labelled}\n")
    short = "(S (NP (N de) (N kat)) (V eet) (punct .))\n"
    long = "(S (N Hij) (XP (V eet) (N vis))" + " (A a)" * 9 + " (punct .))\n"
    (folder / "gold.ptb").write_text(short + long)
    (folder / "a.ptb").write_text(short + long.replace("(A a)", "(punct a)"))
    (folder / "b.ptb").write_text(short.replace("V eet", "punct eet") + long)
    files = ("a.ptb", "b.ptb", "gold.ptb", "--prm", "my.prm")
    text = run("evaluate", *files, "--by-label", "--by-length", "--format", "markdown", cwd=folder).stdout
    other = "– | " if labelled else ""  # of F1 of discontinuous ones
    assert f"| NP | 1 | 100.00 | {other}– | " in text
    assert f"| XP | 1 | – | {other}100.00 | " in text
    assert "| 1-10 | 1 | 100.00 | – | – | – |" in text
    assert "| 11-20 | 1 | – | – | 100.00 | – |" in text
    assert "b: 1 sentence scored; 1 dropped (other words are left" in text
    assert "only one of them has sentence 1" in run("compare", *files, cwd=folder, code=1).stderr


def test_ignore_case(folder: Path) -> None:
    treemean.write([Tree([w.upper() for w in WORDS], GUESS.constituents), STOP], folder / "loud.jsonl")
    arguments = ("evaluate", "loud.jsonl", "gold.jsonl", "--json")
    assert "word 1 is 'WAKE'" in run(*arguments, cwd=folder, code=1).stderr
    assert json.loads(run(*arguments, "--ignore-case", cwd=folder).stdout)["overall"]["f1"] == 50.0
    compared = ("compare", "loud.jsonl", "guess.jsonl", "gold.jsonl", "--ignore-case", "--json")
    assert json.loads(run(*compared, cwd=folder).stdout)["difference"] == 0.0


def test_drawings_agree_with_scores(folder: Path) -> None:
    draw = ("draw", "guess.jsonl", "--gold", "gold.jsonl", "--no-color")
    plain = run(*draw, cwd=folder).stdout
    assert (plain.count("✓"), plain.count("✗")) == (1, 1)
    assert "PP ✓" in plain
    assert "S ✓" not in plain
    labelled = run(*draw, "--labelled", cwd=folder).stdout
    assert (labelled.count("✓"), labelled.count("✗")) == (0, 2)
    assert "NP  your friend" in labelled.split("missed:")[1]
    discodop = run(*draw, "--protocol", "discodop", cwd=folder).stdout
    assert "S ✓" in discodop


def test_the_whole_gold_file_tells_punctuation(folder: Path) -> None:
    """Where tags tell punctuation, a sign with another tag is a word, in every sentence."""
    words, tags = ["5", "%", "ja"], ["n", "n", "n"]
    gold = Tree(words, [(range(3), "S"), ({0, 1}, "NP")], tags=tags)
    treemean.write([gold, STOP], folder / "signs.jsonl")
    drawn = run("draw", "signs.jsonl", "--gold", "signs.jsonl", "--no-color", cwd=folder).stdout
    assert "NP ✓" in drawn
    scored = json.loads(run("evaluate", "signs.jsonl", "signs.jsonl", "--json", cwd=folder).stdout)
    assert scored["overall"]["matched"] == 1


@given(
    parallel_treebanks(punctuation=True, labels=("S", "NP")),
    st.sampled_from(["standard", "paper", "discodop", "sentence"]),
    st.booleans(),
)
def test_what_is_marked_is_what_is_counted(banks: list[Treebank], protocol: str, labelled: bool) -> None:
    for guess, truth in zip(*banks, strict=True):
        told = compare_trees(guess, truth, protocol, labelled=labelled)
        counts = evaluate(*(Treebank.from_trees([t]) for t in (guess, truth)), protocol, labelled=labelled)
        marked = {(c.mask if not labelled else i) for i, c in enumerate(guess) if told.right[i]}
        if labelled:
            assert len(marked) == counts.overall.matched
            assert sum(right is not None for right in told.right) == counts.overall.predicted
            missed = sum(len(m.labels) for m in told.missed)
            assert missed == counts.overall.gold - counts.overall.matched
        assert bool(marked) == (counts.overall.matched > 0)


@given(parallel_treebanks())
def test_plain_drawings_are_those_of_standard(banks: list[Treebank]) -> None:
    for guess, truth in zip(*banks, strict=True):
        assert compare_sets(guess, truth) == compare_trees(guess, truth, punctuation=())
