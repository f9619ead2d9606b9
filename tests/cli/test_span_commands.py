"""`--span-posteriors` of `treemean parse`, and `--spans` of `treemean average` and `treemean fit`."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest
import torch

import treemean
from commands import run
from parser_instances import SENTENCES
from treemean.cli.several import one_by_one
from treemean.grammars import GrammarConfig, build_grammar
from treemean.parsing import Model, Vocabulary

RUNS, TABLES = ["a.jsonl", "b.jsonl"], ["a.parquet", "b.parquet"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two small models, and what they found in some sentences."""
    place = tmp_path_factory.mktemp("spans")
    (place / "text.txt").write_text("\n".join(SENTENCES * 4) + "\n")
    vocabulary = Vocabulary(["de", "kat", "slaapt", "N"])
    config = GrammarConfig("tn-lcfrs", 4, 5, 3, ranks=(4, 2, 4, 2), embedding=8)
    for seed, name in enumerate("ab"):
        torch.manual_seed(seed)
        Model(build_grammar(config, len(vocabulary)), vocabulary).save(place / name)
        run(
            "parse",
            name,
            "text.txt",
            "-o",
            f"{name}.jsonl",
            "--span-posteriors",
            f"{name}.parquet",
            cwd=place,
        )
    return place


def refused(*words: str, cwd: Path, code: int = 1) -> str:
    """Return what a command says when it ends with an exit code, in one line."""
    return " ".join(run(*words, cwd=cwd, code=code, columns=300).stderr.replace("│", " ").split())


def individuals(folder: Path) -> tuple[list[treemean.Treebank], list[treemean.SpanTable]]:
    banks = [treemean.read(folder / name) for name in RUNS]
    return banks, [treemean.read_spans(folder / name) for name in TABLES]


def test_files_behind_the_option() -> None:
    assert one_by_one(["--spans", "a", "b", "-", "--jobs", "2", "c"]) == [
        *("--spans", "a", "--spans", "b", "--spans", "-", "--jobs", "2", "c")
    ]
    assert one_by_one(["a", "--spans", "b", "--spans", "c"]) == ["a", "--spans", "b", "--spans", "c"]
    assert one_by_one(["a", "--spans"]) == ["a", "--spans"]
    assert one_by_one(["--spans=a", "b", "-o", "c"]) == ["--spans", "a", "--spans", "b", "-o", "c"]


def test_parse_and_average(folder: Path) -> None:
    banks, tables = (
        [treemean.read(folder / n) for n in RUNS],
        [treemean.read_spans(folder / n) for n in TABLES],
    )
    assert [len(table) for table in tables] == [len(bank) for bank in banks]
    assert min(p for table in tables for p in table.posteriors) > 0.02
    run("average", *RUNS, "--spans", *TABLES, "-o", "mean.jsonl", "--stats", "s.json", cwd=folder)
    assert treemean.read(folder / "mean.jsonl") == treemean.average([*banks, *tables])
    assert json.loads((folder / "s.json").read_text())["parameters"]["spans"] == TABLES
    run("average", "--spans", *TABLES, "-o", "alone.jsonl", "--weights", "1,3", cwd=folder)
    assert treemean.read(folder / "alone.jsonl") == treemean.average(tables, [1, 3])
    run(
        "average",
        *RUNS,
        "--match",
        "position",
        "--binary",
        "--spans",
        TABLES[0],
        "-o",
        "b.ptb.jsonl",
        cwd=folder,
    )
    assert all(tree.is_binary for tree in treemean.read(folder / "b.ptb.jsonl"))


def test_several_processes_write_the_same_table(folder: Path) -> None:
    run("parse", "a", "text.txt", "-o", "jobs.jsonl", "--span-posteriors", "jobs.parquet",
        "--jobs", "2", cwd=folder)  # fmt: skip
    assert (folder / "jobs.jsonl").read_bytes() == (folder / "a.jsonl").read_bytes()
    together, alone = (treemean.read_spans(folder / name) for name in ("jobs.parquet", "a.parquet"))
    assert together.columns == alone.columns


def test_fewer_spans_above_a_higher_threshold(folder: Path) -> None:
    run("parse", "a", "text.txt", "-o", "high.jsonl", "--span-posteriors", "high.parquet",
        "--span-threshold", "0.5", cwd=folder)  # fmt: skip
    high, low = (treemean.read_spans(folder / name) for name in ("high.parquet", "a.parquet"))
    assert 0 < len(high.posteriors) < len(low.posteriors)
    assert high.posteriors.min() > 0.5
    assert high.expected.tolist() == low.expected.tolist()


def test_tables_from_a_pipe(folder: Path) -> None:
    run("average", *RUNS, "--spans", TABLES[0], "-o", "file.jsonl", cwd=folder)
    os.mkfifo(folder / "pipe")
    feeder = threading.Thread(target=lambda: (folder / "pipe").write_bytes((folder / TABLES[0]).read_bytes()))
    feeder.start()
    run("average", *RUNS, "--spans", "pipe", "-o", "piped.jsonl", cwd=folder)
    feeder.join()
    assert treemean.read(folder / "piped.jsonl") == treemean.read(folder / "file.jsonl")


@pytest.mark.parametrize(
    ("files", "which"),
    [((*RUNS[::-1], "--spans", *TABLES), "runs"), ((*RUNS, "--spans", *TABLES[::-1]), "tables of spans")],
)
def test_another_order_than_when_hits_were_fitted(files: tuple[str, ...], which: str, folder: Path) -> None:
    run("fit", *RUNS, "--spans", *TABLES, "--gold", "a.jsonl", "-o", "order.json", cwd=folder)
    told = refused("average", *files, "--hits", "order.json", "-o", "no.jsonl", cwd=folder)
    assert f"order.json is fitted to the {which}" in told
    assert "in another order: give them as a, b" in told


def test_fit_and_average_by_hits(folder: Path) -> None:
    shown = run("fit", *RUNS, "--spans", *TABLES, "--gold", "a.jsonl", "-o", "hits.json", cwd=folder)
    assert "2 of 2 runs asked, and 2 tables of spans" in " ".join(shown.stdout.split())
    model = treemean.fitting.load(folder / "hits.json")
    assert model.runs == ("a", "b", "a", "b")
    run(
        "average",
        *RUNS,
        "--spans",
        *TABLES,
        "--hits",
        "hits.json",
        "--probability",
        "-o",
        "m.jsonl",
        cwd=folder,
    )
    individuals = [
        *map(treemean.read, (folder / n for n in RUNS)),
        *(treemean.read_spans(folder / n) for n in TABLES),
    ]
    assert treemean.read(folder / "m.jsonl") == model.average(individuals, probability=True)
    told = refused("average", *RUNS, "--hits", "hits.json", "-o", "no.jsonl", cwd=folder)
    assert "hits.json is fitted to 2 tables of spans (--spans) (a, b), and 0 are given" in told
    assert not (folder / "no.jsonl").exists()
    told = refused("report", *RUNS, "--hits", "hits.json", "-o", "no.html", cwd=folder)
    assert "fitted to tables of spans, too, and a report reads trees only: make the average with" in told
    run("report", *RUNS, "--average", "m.jsonl", "-o", "r.html", cwd=folder)
    assert (folder / "r.html").exists()
    assert not (folder / "no.html").exists()


AVERAGE = ("average", "a.jsonl", "-o", "x.jsonl", "--spans")
PARSE = ("parse", "a", "text.txt", "-o", "x.jsonl")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((*AVERAGE, "b.jsonl"), "b.jsonl: this is no table of spans (not valid Parquet: "),
        ((*AVERAGE, "no.parquet"), "no.parquet: No such file"),
        (
            ("average", "a.parquet", "-o", "x.jsonl"),
            "a.parquet: this is a table of spans, which has no trees",
        ),
        ((*AVERAGE, "a.parquet", "--labelled"), "have no labels"),
        ((*AVERAGE, "a.parquet", "--method", "cyk"), "the method cyk takes no tables of spans"),
        ((*AVERAGE, "a.parquet", "--probability"), "needs --hits"),
    ],
)
def test_what_cannot_be_done(words: tuple[str, ...], message: str, folder: Path) -> None:
    assert message in refused(*words, cwd=folder)
    assert not list(folder.glob("x*"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("average", "-o", "x.jsonl"), "RUN... is missing. Treebanks of the same sentences, or --spans."),
        (("average", "a.jsonl", "-o", "a.parquet", "--spans", "a.parquet"), "a.parquet is also an input"),
        (("average", "a.jsonl", "-o", "x/", "--spans", "a.parquet"), "when shards are written"),
        (("fit", "a.jsonl", "--spans", "a.parquet", "-o", "x.json", "--model", "equal"), "need --gold"),
        ((*PARSE, "--span-threshold", "0.1"), "only with --span-posteriors"),
        ((*PARSE[:-1], "x/", "--span-posteriors", "x.parquet"), "when shards are written"),
        ((*PARSE, "--span-posteriors", "text.txt"), "text.txt is also an input"),
        ((*PARSE, "--span-posteriors", "-"), "a table is no text: name a file"),
    ],
)
def test_what_is_wrong_about_the_options(words: tuple[str, ...], message: str, folder: Path) -> None:
    assert message in refused(*words, cwd=folder, code=2)
    assert not list(folder.glob("x*"))


def test_a_table_of_other_sentences(folder: Path) -> None:
    (folder / "other.txt").write_text("\n".join([*SENTENCES * 3, "Een ander woord", *SENTENCES[1:]]) + "\n")
    run("parse", "a", "other.txt", "-o", "other.jsonl", "--span-posteriors", "other.parquet", cwd=folder)
    told = refused("average", *RUNS, "--spans", "other.parquet", "-o", "y.jsonl", cwd=folder)
    assert "sentence 37: word 1 is 'Een' in other.parquet and 'De' in a.jsonl" in told
