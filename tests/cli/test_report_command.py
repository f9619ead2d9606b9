"""`treemean report`: of runs, of folders, of ensembles; with probabilities; bad input."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import treemean
from report_instances import nasty, small
from treemean.cli import app
from treemean.errors import TreemeanError
from treemean.experiments.report import report_of_ensemble, report_of_runs
from treemean.fitting import fit
from treemean.reporting.html import make_page


def invoke(*arguments: object, code: int = 0) -> str:
    """Run the command in this process; return everything that it says."""
    result = CliRunner().invoke(app, ["report", *map(str, arguments)])
    if isinstance(result.exception, TreemeanError):
        assert code == 1
        return str(result.exception)
    assert result.exit_code == code, result.output
    return re.sub(r"[│╭╰─╮╯\s]+", " ", result.output)


def data_of(path: Path) -> Any:
    text = path.read_text()
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text)[1])  # type: ignore[index]


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of trees, in halves for development and test."""
    folder = tmp_path_factory.mktemp("trees")
    runs, gold = small(120)
    for part, start in (("dev", 0), ("test", 1)):
        (folder / part).mkdir()
        treemean.write(gold[start::2], folder / part / "gold.discbracket")
        for name, run in runs.items():
            treemean.write(run[start::2], folder / part / f"{name}.discbracket")
    return folder


@pytest.fixture(scope="module")
def ensemble(trees: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from treemean.experiments.ensemble import ensemble_of_trees

    folder = tmp_path_factory.mktemp("out")
    ensemble_of_trees(trees / "test", trees / "dev", folder / "plain", keep=3)
    ensemble_of_trees(trees / "test", trees / "dev", folder / "fitted", model="typed")
    return folder


def test_of_runs_with_gold(trees: Path, tmp_path: Path) -> None:
    runs = sorted((trees / "test").glob("run*"))
    said = invoke(
        *runs, "--gold", trees / "test" / "gold.discbracket", "-o", tmp_path / "r.html", "--title", "A & B"
    )
    assert f"open it: {(tmp_path / 'r.html').as_uri()}" in said
    assert "60 sentences" in said
    data = data_of(tmp_path / "r.html")
    assert [tree["name"] for tree in data["about"]["trees"]] == [
        "gold",
        "average",
        *(f"run{k}" for k in range(1, 6)),
    ]
    assert data["about"]["protocol"] == {"name": "standard", "labelled": False}
    assert "<h1>A &amp; B</h1>" in (tmp_path / "r.html").read_text()


def test_of_a_folder_of_trees_and_other_protocols(trees: Path, tmp_path: Path) -> None:
    invoke(trees / "test", "--protocol", "paper", "--labelled", "-o", tmp_path / "r.html")
    data = data_of(tmp_path / "r.html")
    assert data["about"]["protocol"] == {"name": "paper", "labelled": True}
    assert data["about"]["trees"][0]["name"] == "gold"


def test_without_gold_and_with_probabilities(trees: Path, tmp_path: Path) -> None:
    runs = sorted((trees / "test").glob("run*"))
    invoke(*runs, "--probability", "-o", tmp_path / "r.html")
    data = data_of(tmp_path / "r.html")
    assert [tree["kind"] for tree in data["about"]["trees"]] == ["average"] + ["run"] * 5
    found = data["sentences"]["branches"]["probability"]
    assert min(found) >= 0
    assert max(found) == 1000
    assert len(set(found)) > 3


def test_of_an_ensemble(ensemble: Path, tmp_path: Path) -> None:
    invoke(ensemble / "plain", "-o", tmp_path / "r.html")
    data, html = data_of(tmp_path / "r.html"), (tmp_path / "r.html").read_text()
    recorded = json.loads((ensemble / "plain" / "results.json").read_text())["results"]
    assert data["about"]["protocol"]["name"] == "paper"
    weights = {tree["name"]: tree["weight"] for tree in data["about"]["trees"] if tree["weight"]}
    assert weights == dict(
        zip(recorded["selection"]["chosen"], recorded["selection"]["weights"], strict=True)
    )
    assert f"{recorded['ensembles']['non-binary ensemble']['overall']['f1']:.2f}" in html
    for text in ("binary average", "right branching", "3 of 5 individuals chosen"):
        assert text in html
    assert "probability" not in data["sentences"]["branches"]


def test_a_fitted_ensemble_shows_calibrated_probabilities(ensemble: Path) -> None:
    subject = report_of_ensemble(ensemble / "fitted")
    html = make_page(subject).html
    for text in ("Calibration, continuous", "Risk and coverage", "fitted hits"):
        assert text in html
    assert subject.average is not None
    values = subject.average.trees.constituent_values["probability"]
    assert ((values >= 0) & (values <= 1)).all()
    assert subject.gold is not None
    proposed = set().union(*(side.trees[0].masks for side in subject.runs))
    for constituent in subject.gold.trees[0]:
        assert (constituent.values["probability"] > 0) == (constituent.mask in proposed)
    assert subject.confidence is not None
    assert subject.confidence["continuous"]["candidates"] > 300


def test_hits_and_given_averages(trees: Path, tmp_path: Path) -> None:
    runs = [treemean.read(path) for path in sorted((trees / "dev").glob("run*"))]
    gold = treemean.read(trees / "dev" / "gold.discbracket")
    model = fit(runs, gold, "typed", names=[f"run{k}" for k in range(1, 6)])
    model.save(tmp_path / "hits.json")
    files = sorted((trees / "test").glob("run*"))
    gold_file = trees / "test" / "gold.discbracket"
    invoke(*files, "--gold", gold_file, "--hits", tmp_path / "hits.json", "-o", tmp_path / "r.html")
    told = data_of(tmp_path / "r.html")
    assert "probability" in told["sentences"]["branches"]

    asked = [treemean.read(path) for path in files]
    mean = model.average(asked, probability=True)
    treemean.write(mean, tmp_path / "mean.jsonl")
    invoke(*files, "--gold", gold_file, "--average", tmp_path / "mean.jsonl", "-o", tmp_path / "s.html")
    again = data_of(tmp_path / "s.html")
    assert again["sentences"]["branches"]["has"] == told["sentences"]["branches"]["has"]
    assert max(again["sentences"]["branches"]["probability"]) == 1000


def test_learning_curves_of_trained_runs(ensemble: Path, tmp_path: Path) -> None:
    import shutil

    out = tmp_path / "out"
    shutil.copytree(ensemble / "plain", out)
    for run in ("run01", "run02"):
        (out / "runs" / run).mkdir(parents=True)
        lines = [
            {"event": "step", "epoch": 1, "loss": 3.0},
            *(
                {
                    "event": "epoch",
                    "epoch": e,
                    "selected": e < 3,
                    "development": {"f1": 10.0 * e, "perplexity": 90.0},
                }
                for e in (1, 2, 3)
            ),
        ]
        (out / "runs" / run / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    subject = report_of_ensemble(out)
    assert [epoch["f1"] for epoch in subject.curves["run02"]] == [10.0, 20.0, 30.0]
    html = make_page(subject).html
    assert "development F1 by epoch" in html
    assert "run01: 20.00" in html  # the epoch that was kept


def test_too_much_is_left_out_loudly(tmp_path: Path) -> None:
    runs, _ = small(360)
    for name in ("run1", "run2"):
        bank = treemean.Treebank.concatenate([runs[name]] * 4)
        treemean.write(bank, tmp_path / f"{name}.discbracket")
    files = [tmp_path / f"run{number}.discbracket" for number in (1, 2)]
    said = invoke(*files, "-o", tmp_path / "r.html", "--limit", "0.2")
    assert "LEFT OUT:" in said
    assert "of 1,440 sentences" in said
    assert (tmp_path / "r.html").stat().st_size <= 200_000
    assert "sentences are not in this file" in (tmp_path / "r.html").read_text()


def test_more_than_can_be_explored_is_left_out_loudly(trees: Path, tmp_path: Path) -> None:
    said = invoke(trees / "test", "-o", tmp_path / "r.html", "--most", 7)
    assert "LEFT OUT: 53 of 60 sentences, which would make more than 7 (--most)" in said
    assert "--most 60 takes all" in said
    assert len(data_of(tmp_path / "r.html")["sentences"]["number"]) == 7
    assert "53 of 60 sentences are not in this file" in (tmp_path / "r.html").read_text()


def test_a_run_without_what_is_not_scored(tmp_path: Path) -> None:
    """A sentence of nothing but punctuation is not scored, and may be absent: whole files are read then."""
    (tmp_path / "gold.txt").write_text("(S (A 0=a) (B 1=b))\n(S (punct 0=.))\n(S (A 0=c) (B 1=d))\n")
    (tmp_path / "run1.txt").write_text("(S (A 0=a) (B 1=b))\n(S (A 0=c) (B 1=d))\n")
    for name in ("gold", "run1"):
        (tmp_path / f"{name}.txt").rename(tmp_path / f"{name}.discbracket")
    invoke(tmp_path / "run1.discbracket", "--gold", tmp_path / "gold.discbracket", "-o", tmp_path / "r.html")
    assert data_of(tmp_path / "r.html")["sentences"]["number"] == [1, 3]


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["test", "--gold", "test/gold.discbracket"], 2, "the folder has its own files"),
        (["test/run1.discbracket", "-o", "test/run1.discbracket"], 2, "is also an input"),
        (["test/run1.discbracket", "--probability"], 1, "need two runs or more"),
        (["test/run1.discbracket", "dev/run2.discbracket"], 1, "run2"),
        (["."], 1, "there is no file gold.* with gold trees"),
        (["test/run1.discbracket", "absent.dbr"], 1, "absent.dbr"),
    ],
)
def test_bad_input(
    trees: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], code: int, message: str
) -> None:
    monkeypatch.chdir(trees)
    target = [] if "-o" in options else ["-o", tmp_path / "r.html"]
    assert message in invoke(*options, *target, code=code)
    assert not (tmp_path / "r.html").exists()


def test_an_ensemble_that_is_damaged(ensemble: Path, tmp_path: Path) -> None:
    import shutil

    out = tmp_path / "out"
    shutil.copytree(ensemble / "plain", out)
    assert "recorded how it averages" in invoke(out, "--protocol", "standard", "--labelled", code=2)
    (out / "parses" / "test" / "run1.discbracket").unlink()
    assert "are gone" in invoke(out, "-o", tmp_path / "r.html", code=1)
    found = json.loads((out / "results.json").read_text())
    del found["results"]["selection"]["weights"]
    for text in (json.dumps(found), "{}", "7", "{"):
        (out / "results.json").write_text(text)
        assert "no results of an ensemble" in invoke(out, "-o", tmp_path / "r.html", code=1)


@pytest.mark.parametrize("line", ['{"event": "epo', '{"event": "epoch"}', "7"])
def test_curves_that_are_damaged(ensemble: Path, tmp_path: Path, line: str) -> None:
    """Such as a last line that was cut off."""
    import shutil

    out = tmp_path / "out"
    shutil.copytree(ensemble / "plain", out)
    (out / "runs" / "run1").mkdir(parents=True)
    (out / "runs" / "run1" / "metrics.jsonl").write_text(f'{{"event": "begin"}}\n{line}')
    assert "metrics.jsonl:2: not what training writes" in invoke(out, "-o", tmp_path / "r.html", code=1)


def test_a_run_called_average(tmp_path: Path) -> None:
    runs, gold = nasty()
    with pytest.raises(treemean.InvalidOption, match="rename its file"):
        report_of_runs({"average": runs["ann"], "bob": runs["bob"]}, gold)


#: As the page exports it; `tests/browser/test_report_decisions.py` makes such files in Chromium.
DECISIONS = (
    '{"words":["Wake","your","friend","up","!"],"id":"one","tags":["v","d","n","p","punct"],'
    '"constituents":[{"spans":[[0,5]],"label":"S"},{"spans":[[0,1],[3,4]],"label":"V"},'
    '{"spans":[[1,3]],"label":"NP","function":"obj"}],'
    '"metadata":{"adjudicated":"constituents","sentence":"1","note":"sure"}}\n'
)


def test_exported_decisions_are_a_treebank(tmp_path: Path) -> None:
    (tmp_path / "decisions.jsonl").write_text(DECISIONS)
    result = CliRunner().invoke(
        app, ["convert", str(tmp_path / "decisions.jsonl"), str(tmp_path / "decided.export")]
    )
    assert result.exit_code == 0, result.output
    [tree] = treemean.read(tmp_path / "decided.export")
    assert [(c.positions, c.label) for c in tree][1:] == [((0, 3), "V"), ((1, 2), "NP")]
    assert treemean.read(tmp_path / "decisions.jsonl")[0].metadata["note"] == "sure"
