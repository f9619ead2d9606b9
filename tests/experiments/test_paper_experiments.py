"""Ensembles and the paper's tables and figures from trees that exist, in whatever formats."""

from __future__ import annotations

import csv
import json
import shutil
from typing import get_args

import pytest

from commands import run
from treemean import average, evaluate, read, sample, write
from treemean.errors import FormatError, InvalidOption, MismatchError
from treemean.evaluation.results import METRICS
from treemean.experiments.ensemble import ensemble_of_trees
from treemean.experiments.main_results import BINARY, NON_BINARY
from treemean.experiments.paper import EXPERIMENTS, run_experiment
from treemean.experiments.paper.efficiency import STAGES
from treemean.experiments.paper.study import Study
from treemean.experiments.predictions import read_folder
from treemean.names import ExperimentName

#: Half of the Dutch sentences of the sample for development, some of the others for testing.
PARTS = {"dev": slice(0, 60), "test": slice(100, 140)}


@pytest.fixture(scope="module")
def trees(tmp_path_factory):
    """Folders with gold and runs; every run in another format, those of both parts in different ones."""
    folder = tmp_path_factory.mktemp("trees")
    for part, endings in (
        ("dev", ["discbracket", "export", "jsonl", "discbracket.gz", "parquet"]),
        ("test", ["export", "discbracket", "parquet", "jsonl", "discbracket"]),
    ):
        (folder / part).mkdir()
        write(sample.gold()[PARTS[part]], folder / part / "gold.jsonl")
        (folder / part / "README").write_text("not a treebank")
        for number, (bank, ending) in enumerate(zip(sample.runs(), endings, strict=True), 8):
            write(bank[PARTS[part]], folder / part / f"run{number}.{ending}")
    return folder


@pytest.fixture(scope="module")
def made(trees, tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    return folder, ensemble_of_trees(trees / "test", trees / "dev", folder, keep=3)


@pytest.fixture(scope="module")
def study(trees):
    return Study.read(trees / "test", trees / "dev", keep=3)


def test_runs_are_named_after_their_files_and_in_the_order_of_their_numbers(trees):
    found = read_folder(trees / "test")
    assert list(found.runs) == ["run8", "run9", "run10", "run11", "run12"]
    assert len(found.gold) == 40


def test_the_results_are_those_of_the_pieces(made, trees):
    folder, outcome = made
    results = json.loads((folder / "results.json").read_text())["results"]
    gold = read(trees / "test" / "gold.jsonl")
    chosen, weights = results["selection"]["chosen"], results["selection"]["weights"]
    assert len(chosen) == 3
    mean = average([outcome.individuals[name] for name in chosen], weights)
    expected = evaluate(mean, gold, protocol="paper")
    for metric in METRICS:
        found = results["ensembles"][NON_BINARY][metric]["f1"]
        assert found == expected.counts(metric).f1
    assert read(outcome.files["average"])[0].masks == mean[0].masks
    assert results["individuals"].keys() == outcome.individuals.keys()


def test_nothing_is_averaged_twice(made, trees):
    told = []
    ensemble_of_trees(trees / "test", trees / "dev", made[0], keep=3, tell=told.append)
    assert told[-1] == "averaging 3 runs: done before"


@pytest.mark.parametrize("model", ["equal", "typed", "logistic", "agreement"])
def test_models_weigh_the_runs(trees, tmp_path, model):
    outcome = ensemble_of_trees(trees / "test", trees / "dev", tmp_path, model=model)
    results = json.loads((tmp_path / "results.json").read_text())
    if model == "equal":
        assert results["results"]["selection"]["weights"] == [1.0] * 5
        assert "hits" not in outcome.files
        return
    assert results["results"]["selection"]["model"] == model
    assert results["fitted"]["sentences"] == 60
    runs = sorted(str(path) for path in (tmp_path / "parses" / "test").glob("run*"))
    runs.sort(key=lambda path: int(path.rpartition("run")[2].partition(".")[0]))
    # The file of hits makes the same averages on the command line, binary ones as well.
    for options, what in (([], "average"), (["--binary"], "binary average")):
        again = tmp_path / "again.discbracket"
        run("average", *runs, "--hits", outcome.files["hits"], "-o", again, *options)
        assert [t.masks for t in read(again)] == [t.masks for t in read(outcome.files[what])]
    binary = read(outcome.files["binary average"])
    assert all(len(tree.masks) == len(tree.words) - 1 for tree in binary)


def test_without_development_trees_all_runs_are_equal(trees, tmp_path):
    outcome = ensemble_of_trees(trees / "test", None, tmp_path)
    assert outcome.results.selection.weights == (1.0,) * 5
    with pytest.raises(InvalidOption, match="fitted to development trees"):
        ensemble_of_trees(trees / "test", None, tmp_path, model="typed")


def test_folders_that_cannot_be_right_are_told(trees, tmp_path):
    shutil.copytree(trees / "dev", tmp_path / "dev")
    (tmp_path / "dev" / "run8.discbracket").rename(tmp_path / "dev" / "run1.discbracket")
    with pytest.raises(
        MismatchError, match="run1: among the runs of the development set, not of the test set"
    ):
        ensemble_of_trees(trees / "test", tmp_path / "dev", tmp_path / "out")
    shutil.copy(tmp_path / "dev" / "run1.discbracket", tmp_path / "dev" / "run1.dbr")
    with pytest.raises(FormatError, match="two files are named run1"):
        read_folder(tmp_path / "dev")
    (tmp_path / "dev" / "gold.jsonl").unlink()
    (tmp_path / "dev" / "run1.dbr").unlink()
    with pytest.raises(FormatError, match="no file gold"):
        read_folder(tmp_path / "dev")
    (tmp_path / "only").mkdir()
    write(sample.gold()[:2], tmp_path / "only" / "gold.jsonl")
    with pytest.raises(FormatError, match=r"no files run\*"):
        read_folder(tmp_path / "only")
    with pytest.raises(FormatError, match="no such folder"):
        read_folder(tmp_path / "nowhere")
    with pytest.raises(InvalidOption, match="keep is 9 of 5 runs"):
        ensemble_of_trees(trees / "test", trees / "dev", tmp_path / "out", keep=9)


def test_every_name_has_an_experiment():
    assert list(EXPERIMENTS) == list(get_args(ExperimentName))


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_experiments_write_tables_and_figures(name, study, tmp_path):
    outcome, files = run_experiment(name, study, tmp_path)
    written = {path.name for path in files}
    assert {path.name for path in tmp_path.iterdir()} == written
    assert {f"{name}.{ending}" for ending in ("md", "csv", "tex", "json")} <= written
    figure = name in ("correlation", "individuals", "pruning", "run-time", "labels", "agreement")
    assert ({f"{name}.svg", f"{name}.pdf"} <= written) == figure
    table = outcome.tables[""]
    assert ("the paper's" in table.title) == (name != "agreement")
    with (tmp_path / f"{name}.csv").open() as stream:
        rows = list(csv.reader(stream))
    assert rows[0] == list(table.columns)
    assert len(rows) == len(table.rows) + 1
    data = json.loads((tmp_path / f"{name}.json").read_text())
    assert data["rows"][0].keys() == set(table.columns)
    assert (tmp_path / f"{name}.tex").read_text().count(r"\\") == len(table.rows) + 1


def test_positives_are_those_of_the_scores(study):
    rows = EXPERIMENTS["positives"](study).tables[""].rows
    scores = study.results.ensembles
    assert rows[0][1:3] == [scores[BINARY].overall.matched, scores[BINARY].overall.false_positives]
    assert rows[1][5:] == [
        scores[NON_BINARY].discontinuous.matched,
        scores[NON_BINARY].discontinuous.false_positives,
    ]
    assert [a - b for a, b in zip(rows[0][1:], rows[1][1:])] == rows[2][1:]


def test_all_individuals_in_any_order_are_the_same_ensemble(study):
    rows = EXPERIMENTS["individuals"](study).tables[""].rows
    for metric in METRICS:
        last = {row[0]: row[3:5] for row in rows if row[1] == 5 and row[2] == metric}
        assert last["random"] == [pytest.approx(last["best to worst"][0]), pytest.approx(0)]
    first = [row[3] for row in rows if row[0] == "best to worst" and row[1] == 1]
    best = study.names[study.best_first()[0]]
    assert first == [study.results.individuals[best].counts(metric).f1 for metric in METRICS]


def test_every_bound_leaves_fewer(study):
    rows = EXPERIMENTS["pruning"](study).tables[""].rows
    for place in {(row[0], row[1]) for row in rows}:
        left = [row[3] for row in rows if (row[0], row[1]) == place]
        assert len(left) == len(STAGES)
        assert left == sorted(left, reverse=True)
    # Of one run there is nothing left to decide: its constituents have all hits.
    assert [row[3] for row in rows if (row[0], row[1], row[2]) == ("individuals", 1, "upper bound")] == [0]


def test_cases_show_gold_individuals_and_ensemble(study):
    outcome = EXPERIMENTS["cases"](study)
    assert list(outcome.drawings) == ["-1", "-2", "-3"]
    for drawing in outcome.drawings.values():
        for name in ("gold", *study.results.chosen, NON_BINARY):
            assert f">{name}<" in drawing


def test_from_an_ensemble_the_same_table_comes_out(made, study, tmp_path):
    again = Study.of_ensemble(made[0], keep=3)
    assert again.results.to_dict() == study.results.to_dict()
    with pytest.raises(FormatError, match="no parses of an ensemble"):
        Study.of_ensemble(tmp_path)


def test_the_commands(trees, tmp_path):
    given = ["--dev", trees / "dev", "--test", trees / "test"]
    done = run("ensemble", *given, "-o", tmp_path / "out", "--keep", "3")
    assert done.returncode == 0, done.stderr
    assert "non-binary ensemble" in done.stdout
    done = run(
        "experiment", "positives", "--from", tmp_path / "out", "-o", tmp_path / "tables", "--keep", "3"
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "tables" / "positives.tex").is_file()
    for arguments, message, code in (
        (["ensemble"], "either CONFIG", 2),
        (["ensemble", "--dev", trees / "dev"], "either CONFIG", 2),
        (["ensemble", *given, "--runs", "3"], "nothing is trained", 2),
        (["experiment", "main", "-o", tmp_path / "x"], "either --test", 2),
        (["experiment", "everything", *given], "everything", 2),
        (["experiment", "main", "--from", tmp_path / "none"], "no parses of an ensemble", 1),
    ):
        assert message in " ".join(run(*arguments, code=code).stderr.replace("│", " ").split())


def test_the_papers_numbers_for_lassy(data_folder, tmp_path):
    """The rows of the paper's Table 2, the counts of its Table 3."""
    folder = data_folder / "lassy-predictions"
    if not folder.is_dir():
        pytest.skip(f"the published predictions are absent: there is no folder {folder}")
    results = ensemble_of_trees(folder / "test", folder / "dev", tmp_path).results
    table = {row[0]: row[2:] for row in results.table().rows}
    assert table["mean of 5 chosen"] == ["46.71 ± 2.00", "50.91 ± 1.72", "6.24 ± 1.91"]
    for name, expected in ((BINARY, (50.88, 54.64, 9.71)), (NON_BINARY, (51.41, 55.00, 10.16))):
        assert [float(cell.rstrip("*")) for cell in table[name]] == pytest.approx(expected, abs=0.02)
    rows = EXPERIMENTS["positives"](Study.of_ensemble(tmp_path)).tables[""].rows
    assert [row[1:] for row in rows] == [
        [6392, 9318, 6290, 7934, 102, 1384],
        [6321, 8858, 6221, 7605, 100, 1253],
        [71, 460, 69, 329, 2, 131],
    ]


def test_what_is_finished_when_all_experiments_are_interrupted_is_told(trees, tmp_path, monkeypatch):
    from treemean.experiments import paper

    def interrupted(name, study, output):
        if name == list(EXPERIMENTS)[stop]:
            raise KeyboardInterrupt
        return run_experiment(name, study, output)

    monkeypatch.setattr(paper, "run_experiment", interrupted)
    words = ["experiment", "all", "--dev", trees / "dev", "--test", trees / "test", "-o", tmp_path / "out"]
    stop = 0
    said = run(*words, code=130).stderr
    assert "files are as before" in said
    stop = 2
    said = run(*words, code=130).stderr
    assert "interrupted; finished are main, positives, in " in said
    assert "as before" not in said
    assert (tmp_path / "out" / "positives.md").exists()
