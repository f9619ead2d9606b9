"""`treemean ensemble` and `treemean demo`, tiny."""

from __future__ import annotations

import json
import re

import pytest

import treemean
from commands import run
from parser_instances import TINY_ENSEMBLE

OVERRIDES = [argument for setting in TINY_ENSEMBLE for argument in ("--override", setting)]


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    return folder, run("demo", "-o", "out", *OVERRIDES, cwd=folder, columns=80)


@pytest.mark.slow
def test_runs_side_by_side_make_the_same_demo(demo, tmp_path):
    folder, result = demo
    parallel = run("demo", "-o", "out", *OVERRIDES, "--override", "run.parallel=2", cwd=tmp_path, columns=80)
    shown, expected = (re.split(r"\n\d+ seconds", text)[0] for text in (parallel.stdout, result.stdout))
    assert shown == expected.replace("1 at a time", "2 at a time")
    assert "non-binary ensemble" in shown
    assert "run 2, epoch 1/1" in parallel.stderr
    for name in ("binary", "non-binary"):
        file = f"out/ensemble/{name}.discbracket"
        assert (tmp_path / file).read_bytes() == (folder / file).read_bytes()


def test_the_demo_shows_scores_and_trees(demo):
    folder, result = demo
    for text in ("2 parsers learn from raw text", "non-binary ensemble", "the average", "run02"):
        assert text in result.stdout
    assert "epoch 1/1" in result.stderr
    assert len(treemean.read(folder / "out" / "ensemble" / "non-binary.discbracket")) == 100
    assert "<svg" in (folder / "out" / "average.svg").read_text()


def test_the_demo_ends_with_a_report_and_how_to_open_it(demo):
    folder, result = demo
    report = folder / "out" / "report.html"
    assert result.stdout.splitlines()[-1].endswith(report.resolve().as_uri())
    page = report.read_text()
    for text in ("2 parsers that learnt from raw text", "development F1 by epoch", "binary average"):
        assert text in page


def test_the_demo_writes_its_sentence_as_it_is(demo):
    """Drawings leave room between words where tags are longer."""
    folder, result = demo
    lines = result.stdout.splitlines()
    title = next(number for number, line in enumerate(lines) if "4. One sentence" in line)
    gold = treemean.transforms.remove_punctuation(treemean.read(folder / "out" / "test.discbracket"))
    assert lines[title + 1] in {" ".join(tree.words) for tree in gold}


def test_the_table_reads_well_in_a_narrow_terminal(demo):
    """Every row is one line of at most 80 characters."""
    lines = demo[1].stdout.splitlines()
    start = next(number for number, line in enumerate(lines) if "weight" in line)
    names = ["left branching", "right branching", "random trees", "random with gaps", "run01", "run02"]
    names += ["mean of 2 chosen", "best overall: run", "best cont.: run", "best disc.: run"]
    names += ["binary ensemble", "non-binary ensemble"]
    rows = lines[start + 2 : start + 2 + len(names)]
    assert all(row.strip().startswith(name) for row, name in zip(rows, names, strict=True)), rows
    assert all(len(line) <= 80 for line in rows)


def test_the_demo_is_an_ensemble_that_one_can_go_on_with(demo):
    folder, _ = demo
    result = run("ensemble", "out/config.toml", "-o", "out", "--json", *OVERRIDES, cwd=folder)
    assert json.loads(result.stdout)["results"]["mean"].keys() == {"overall", "continuous", "discontinuous"}
    assert "epoch 1/1" not in result.stderr  # nothing is trained twice
    again = run("ensemble", "out/config.toml", "-o", "out", "--format", "markdown", *OVERRIDES, cwd=folder)
    assert "| run01 |" in again.stdout


def test_bad_configurations_are_one_clear_line(tmp_path):
    assert "there is no configuration 'x.toml'" in run("ensemble", "x.toml", cwd=tmp_path, code=1).stderr
    (tmp_path / "c.toml").write_text('extends = "tn-lcfrs-small"\n[ensemble]\nkeeep = 3\n')
    assert "Did you mean ensemble.keep?" in run("ensemble", "c.toml", cwd=tmp_path, code=1).stderr
