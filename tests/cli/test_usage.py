"""Missing and wrong arguments are told in our words: what is wanted, what there is, which one is near."""

from __future__ import annotations

from pathlib import Path

import pytest

import treemean
from commands import run
from treemean import Tree

WORDS = "Wake your friend up".split()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, own in {"a": {0, 3}, "b": {2, 3}}.items():
        treemean.write([Tree(WORDS, [(range(4), "S"), (own, "VP")], id="one")], tmp_path / f"{name}.jsonl")
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("average a.jsonl b.jsonl", "-o, --output FILE is missing. Where to write the average; - prints it."),
        (
            "fit",
            "RUN... is missing. Treebanks of the development sentences. Example: treemean fit dev/",
        ),
        ("fit a.jsonl", "-o, --output FILE is missing. Where to write the hits, as JSON; - prints them."),
        ("experiment", "NAME is missing. A table or figure, or all of them. One of main, positives, "),
        ("experiment mian", "NAME: 'mian' is none of main, positives, "),
        ("experiment mian", "Did you mean main?"),
        (
            "evaluate a.jsonl b.jsonl --protocol papers",
            "--protocol: 'papers' is none of standard, paper, discodop, sentence. Did you mean paper?",
        ),
        ("evaluate a.jsonl b.jsonl --protocol=x", "'x' is none of standard, paper, discodop, sentence"),
        ("average a.jsonl -o - --jobs 0", "--jobs: '0' is not 1 or more"),
        ("average a.jsonl -o - --jobs two", "--jobs: 'two' is not a whole number"),
        ("average a.jsonl -o - --beta=b", "--beta: 'b' is not a number"),
        ("convert a.jsonl - --min-support 2", "--min-support: '2' is not between 0 and 1"),
    ],
)
def test_wrong_usage(folder: Path, arguments: str, said: str) -> None:
    shown = run(*arguments.split(), cwd=folder, code=2, columns=300).stderr
    assert said in " ".join(shown.replace("│", " ").split())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            "average a.jsonl -o - --method exat",
            "there is no method 'exat'; known are exact, .*Did you mean exact",
        ),
        ("average a.jsonl -o - --to json", "there is no format 'json'; known are .*Did you mean jsonl"),
        ("train tn-lcfrs-txt", "there is no configuration .*Did you mean tn-lcfrs-text"),
        ("debug config tn-lcfrs --override data.punctuation=tags", "not 'tags'. Did you mean tag?"),
    ],
)
def test_names_that_do_not_exist(folder: Path, arguments: str, said: str) -> None:
    shown = run(*arguments.split(), cwd=folder, code=1).stderr
    for part in said.split(".*"):
        assert part in shown


@pytest.mark.parametrize(
    "arguments",
    [
        "average a.jsonl b.jsonl -o no/x.jsonl",
        "average a.jsonl b.jsonl -o x.jsonl --stats no/x.json",
        "convert a.jsonl no/x.dbr",
        "convert a.jsonl no/x/ --to alpino",
        "evaluate a.jsonl b.jsonl --per-sentence no/x.csv",
        "agree a.jsonl b.jsonl --disputed no/x.csv",
        "agree a.jsonl b.jsonl -o no/x.svg",
        "draw a.jsonl -o no/x.svg",
        "report a.jsonl b.jsonl -o no/x.html",
        "fit a.jsonl b.jsonl --model em -o no/x.json",
        "sample no/x.dbr --generate 3",
    ],
)
def test_files_are_written_to_folders_that_are_there(folder: Path, arguments: str) -> None:
    said = run(*arguments.split(), cwd=folder, code=1).stderr
    assert said.startswith("error: no/x")
    assert said.endswith(": the folder no does not exist: make it first\n")
    assert sorted(path.name for path in folder.iterdir()) == ["a.jsonl", "b.jsonl"]


def test_what_is_printed_is_not_written_to_a_file(folder: Path) -> None:
    for arguments in ("average a.jsonl b.jsonl -o -", "convert a.jsonl -", "sample - --generate 2"):
        said = run(*arguments.split(), cwd=folder).stderr
        assert ", printed" in said or "sentences printed" in said
        assert "written" not in said


@pytest.mark.parametrize("command", ["agree", "report", "fit --model em -o x.json", "average -o x.jsonl"])
def test_files_with_other_words_are_named(folder: Path, command: str) -> None:
    treemean.write([Tree([*WORDS[:3], "now"], [(range(4), "S")], id="one")], folder / "c.jsonl")
    said = run(*command.split(), "a.jsonl", "c.jsonl", cwd=folder, code=1).stderr
    assert "sentence 1 (" in said
    assert "word 4 is 'now' in c.jsonl and 'up' in a.jsonl" in said
    gold = run("fit", "a.jsonl", "b.jsonl", "--gold", "c.jsonl", "-o", "x.json", cwd=folder, code=1).stderr
    assert "word 4 is 'up' in a.jsonl and 'now' in c.jsonl" in gold
    shown = run("report", "a.jsonl", "b.jsonl", "--gold", "c.jsonl", cwd=folder, code=1).stderr
    assert "word 4 is 'up' in a.jsonl and 'now' in c.jsonl" in shown
