"""`treemean fit` and `treemean average --hits`, run as a user runs them."""

from __future__ import annotations

import json

import pytest

import treemean
from commands import run
from treemean import fitting, sample


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fit")
    for k, parses in enumerate(sample.runs()[:3], 1):
        treemean.write(parses[:60], folder / f"run{k}.discbracket")
    treemean.write(sample.gold()[:60], folder / "gold.discbracket")
    return folder


RUNS = [f"run{k}.discbracket" for k in (1, 2, 3)]


def test_fit_and_average(folder) -> None:
    shown = run("fit", *RUNS, "--gold", "gold.discbracket", "--pareto", "-o", "hits.json", cwd=folder)
    assert "Cross-validated" in shown.stdout
    assert "schemes compared" in shown.stdout
    assert "Trade-off" in shown.stdout
    assert (folder / "hits.pareto.svg").read_text().startswith("<?xml")
    hits = json.loads((folder / "hits.json").read_text())
    assert hits["model"] == "logistic"  # 60 sentences are few
    assert hits["runs"] == ["run1", "run2", "run3"]
    assert hits["provenance"]["runs"][0]["sentences"] == 60
    run("average", *RUNS, "--hits", "hits.json", "-o", "mean.discbracket", cwd=folder)
    mean = treemean.read(folder / "mean.discbracket")
    expected = fitting.load(folder / "hits.json").average([treemean.read(folder / name) for name in RUNS])
    assert [set(t.masks) for t in mean] == [set(t.masks) for t in expected]


def test_no_gold_and_named_figures(folder) -> None:
    shown = run("fit", *RUNS, "--model", "em", "-o", "em.json", cwd=folder)
    assert "no gold trees" in " ".join(shown.stdout.split())
    run("fit", "--pareto", "front.png", *RUNS, "--gold", "gold.discbracket", "--model", "equal",
        "--beta", "auto", "--select", "top", "-o", "e.json", cwd=folder)  # fmt: skip
    assert (folder / "front.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads((folder / "e.json").read_text())["report"]["schemes"] > 5


def test_mistakes_are_told(folder) -> None:
    run("fit", *RUNS, "--gold", "gold.discbracket", "--model", "typed", "-o", "t.json", cwd=folder)
    fewer = run("average", *RUNS[:2], "--hits", "t.json", "-o", "x.discbracket", cwd=folder, code=1)
    assert "3 runs" in fewer.stderr
    order = run("average", *RUNS[::-1], "--hits", "t.json", "-o", "x.discbracket", cwd=folder, code=1)
    assert "another order" in order.stderr
    both = run(
        "average", *RUNS, "--hits", "t.json", "--weights", "1,2,3", "-o", "x.discbracket", cwd=folder, code=2
    )
    assert "--weights" in both.stderr
    broken = run("average", *RUNS, "--hits", "run1.discbracket", "-o", "x.discbracket", cwd=folder, code=1)
    assert "no JSON" in broken.stderr
    absent = run("fit", *RUNS, "-o", "x.json", cwd=folder, code=1)
    assert "gold" in absent.stderr
    beta = run("fit", *RUNS, "--model", "equal", "--beta", "soft", "-o", "x.json", cwd=folder, code=2)
    assert "auto" in beta.stderr
    figure = run(
        "fit",
        *RUNS,
        "--gold",
        "gold.discbracket",
        "--pareto",
        "none/a.svg",
        "-o",
        "x.json",
        cwd=folder,
        code=1,
    )
    assert "none/a.svg: the folder none does not exist" in figure.stderr
    own = run("fit", *RUNS, "--model", "equal", "-o", RUNS[0], cwd=folder, code=2)
    assert "is also an input" in own.stderr
    assert not (folder / "x.json").exists()
    assert not (folder / "x.discbracket").exists()


def test_values_that_constituents_carry(folder) -> None:
    banks = [treemean.read(folder / name)[:10] for name in RUNS]
    for k, bank in enumerate(banks):
        valued = bank.with_columns(constituent_values={"sure": 0.5 + (bank.sizes % 3) * (k + 1) / 4})
        treemean.write(valued, folder / f"valued{k}.jsonl")
    names = [f"valued{k}.jsonl" for k in range(3)]
    run("average", *names, "--hits", "column:sure", "-o", "valued.jsonl", cwd=folder)
    expected = treemean.average([treemean.read(folder / name) for name in names], hits="sure")
    assert treemean.read(folder / "valued.jsonl") == expected
