"""`treemean agree`: tables, data, heat maps, and what it says about bad input."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

import treemean
from commands import run
from treemean import Tree

WORDS, TAGS = "Wake your friend up !".split(), ["v", "d", "n", "p", "punct"]
MORE = "Ring my old mother".split()
SETS = {
    "ann": ([({0, 3}, "V"), ({1, 2}, "NP")], [({1, 2, 3}, "NP")]),
    "bob": ([({1, 2, 3}, "VP"), ({1, 2}, "NP")], [({1, 2, 3}, "NP"), ({2, 3}, "NP")]),
    "cem": ([({0, 3}, "V"), ({1, 2}, "PP")], [({1, 2, 3}, "NP")]),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, (first, second) in SETS.items():
        wake = Tree(WORDS, [(range(5), "S"), *first], tags=TAGS, id="one")
        ring = Tree(MORE, [(range(4), "S"), *second], tags=TAGS[:4], id="two")
        treemean.write([wake, ring], tmp_path / f"{name}.jsonl")
    return tmp_path


RUNS = ("ann.jsonl", "bob.jsonl", "cem.jsonl")


def test_tables_fit_into_80_columns(folder: Path) -> None:
    text = run("agree", *RUNS, cwd=folder, columns=80).stdout
    assert "1 ann    100   57.1    100" in text
    for part in ("Mean of each run with the others", "beyond chance", "1 (one): Wake your friend up"):
        assert part in text
    many = [name for name in RUNS for _ in range(5)]
    for line in run("agree", *many, cwd=folder, columns=80).stdout.splitlines():
        assert len(line) <= 80
        assert not line.strip().startswith("…")
    assert run("agree", *many, cwd=folder, columns=80).stdout.count("F1 of each pair") > 1


def test_json(folder: Path) -> None:
    found = json.loads(run("agree", *RUNS, "--json", cwd=folder).stdout)
    assert found["runs"] == ["ann", "bob", "cem"]
    assert found["f1"][0] == [100.0, pytest.approx(400 / 7), 100.0]
    assert found["mean_f1"][1] == pytest.approx(400 / 7)
    assert found["chance"]["sentences"] == 2
    assert found["protocol"] == {"name": "standard", "labelled": False}
    assert [sentence["id"] for sentence in found["disputed_sentences"]] == ["one", "two"]
    labelled = json.loads(run("agree", *RUNS, "--labelled", "--format", "json", cwd=folder).stdout)
    assert labelled["f1"][0][2] == pytest.approx(200 / 3)
    assert treemean.agree([treemean.read(folder / name) for name in RUNS]).to_dict()["f1"] == found["f1"]


def test_csv_has_a_row_for_each_fact(folder: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(run("agree", *RUNS, "--format", "csv", cwd=folder).stdout)))
    data = json.loads(run("agree", *RUNS, "--json", cwd=folder).stdout)

    def value_of(**wanted: str) -> float:
        [row] = [row for row in rows if all(row[key] == value for key, value in wanted.items())]
        return float(row["value"])

    assert value_of(part="pair", run="ann", other="bob", measure="f1") == data["f1"][0][1]
    assert (
        value_of(part="pair", run="bob", other="cem", measure="corrected")
        == data["chance"]["corrected"][1][2]
    )
    assert value_of(part="run", run="cem", measure="mean_f1") == data["mean_f1"][2]
    assert value_of(part="all", measure="mean_f1") == data["overall_f1"]
    assert value_of(part="sentence", id="one", measure="dispute") == data["disputed_sentences"][0]["dispute"]
    keys = [tuple(value for key, value in row.items() if key != "value") for row in rows]
    assert len(set(keys)) == len(keys)
    assert "| 1 ann | 100 | 57.1 | 100 |" in run("agree", *RUNS, "--format", "markdown", cwd=folder).stdout


def test_who_has_what(folder: Path) -> None:
    said = run("agree", *RUNS, "--disputed", "d.csv", cwd=folder).stderr
    assert "3 disputed constituents written to d.csv" in said
    assert (folder / "d.csv").read_text().splitlines()[:2] == [
        "sentence,id,dispute,words,positions,share,runs,in_average",
        f"1,one,{1 - 5 / 6},Wake up,0 3,{2 / 3},ann|cem,true",
    ]
    run("agree", *RUNS, "--labelled", "--disputed", "d.jsonl", cwd=folder)
    rows = [json.loads(line) for line in (folder / "d.jsonl").read_text().splitlines()]
    told = {(row["id"], tuple(row["positions"]), row["label"]): row["runs"] for row in rows}
    assert told["one", (1, 2), "NP"] == ["ann", "bob"]
    assert told["one", (1, 2), "PP"] == ["cem"]
    assert told["two", (2, 3), "NP"] == ["bob"]
    assert rows[0]["words"] == "Wake up"


@pytest.mark.parametrize(("name", "begins"), [("h.svg", b"<?xml"), ("h.png", b"\x89PNG"), ("h.pdf", b"%PDF")])
def test_heat_map(folder: Path, name: str, begins: bytes) -> None:
    (folder / "ann.jsonl").rename(folder / "a$n$.jsonl")  # no formula
    arguments = ("agree", "a$n$.jsonl", *RUNS[1:], "-o", name)
    run(*arguments, cwd=folder)
    drawn = (folder / name).read_bytes()
    assert drawn.startswith(begins)
    run(*arguments, cwd=folder)
    assert (folder / name).read_bytes() == drawn


def test_nothing_to_compare_is_a_dash(folder: Path) -> None:
    treemean.write([Tree(["Stop"], [({0}, "S")])], folder / "stop.jsonl")
    arguments = ("agree", "stop.jsonl", "stop.jsonl", "-o", "h.svg", "--disputed", "d.csv", "--format")
    text = run(*arguments, "markdown", cwd=folder).stdout
    assert "| 1 stop.jsonl | – | – |" in text
    assert "| all pairs | – | – | – |" in text
    assert len((folder / "d.csv").read_text().splitlines()) == 1
    assert json.loads(run(*arguments, "json", cwd=folder).stdout)["f1"] == [[None, None], [None, None]]


def test_bad_input(folder: Path) -> None:
    assert "two runs or more" in run("agree", "ann.jsonl", cwd=folder, code=2).stderr
    assert "figures are svg, png, pdf" in run("agree", *RUNS, "-o", "h.txt", cwd=folder, code=1).stderr
    assert ".csv or .jsonl" in run("agree", *RUNS, "--disputed", "d.txt", cwd=folder, code=1).stderr
    same = run("agree", *RUNS, "--disputed", "ann.jsonl", cwd=folder, code=2).stderr
    assert "is also an input" in same
    (folder / "empty.jsonl").write_text("")
    said = run("agree", "ann.jsonl", "empty.jsonl", "-o", "h.svg", cwd=folder, code=1).stderr
    assert "empty.jsonl: there are no sentences" in said
    assert not (folder / "h.svg").exists()
    other = Tree([w.upper() for w in MORE], [(range(4), "S")])
    treemean.write([treemean.read(folder / "ann.jsonl")[0], other], folder / "loud.jsonl")
    said = run("agree", "ann.jsonl", "loud.jsonl", cwd=folder, code=1).stderr
    assert "sentence 2 (id 'two'): word 1 is 'RING' in loud.jsonl and 'Ring' in ann.jsonl" in said
    run("agree", "ann.jsonl", "loud.jsonl", "--ignore-case", cwd=folder)


def test_sentences_by_id(folder: Path) -> None:
    bank = treemean.read(folder / "bob.jsonl")
    treemean.write(bank.take([1, 0]), folder / "turned.jsonl")
    run("agree", "ann.jsonl", "turned.jsonl", cwd=folder, code=1)
    found, expected = (
        json.loads(run("agree", "ann.jsonl", name, "--match", "id", "--json", cwd=folder).stdout)
        for name in ("turned.jsonl", "bob.jsonl")
    )
    assert found["f1"] == expected["f1"]
