"""The model `apart`: constituents with gaps from some runs, unless the others have them, too."""

import json
from pathlib import Path

import numpy as np
import pytest

import treemean
from commands import run
from treemean.errors import FormatError, InvalidOption, MismatchError
from treemean.fitting import fit, load
from treemean.fitting.candidates import find_candidates
from treemean.fitting.models.apart import Apart
from treemean.formats import write
from treemean.trees import Tree, Treebank

NAMES = [f"run{number}.discbracket" for number in range(1, 6)]


def bank(*constituents: set[int]) -> Treebank:
    return Treebank.from_trees(
        [Tree("a b c d".split(), [({0, 1, 2, 3}, ""), *((c, "") for c in constituents)])]
    )


def trees(mean: Treebank) -> list[set[tuple[int, ...]]]:
    return [{c.positions for c in tree if 1 < len(c.positions) < len(tree.words)} for tree in mean]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("apart")
    for name, bank in zip(NAMES, treemean.sample.runs()[:5], strict=True):
        write(bank[:120], place / name)
    write(treemean.sample.gold()[:120], place / "gold.discbracket")
    return place


def test_gaps_come_from_the_named_run_alone() -> None:
    pair, gap, other_gap = bank({0, 1}), bank({0, 2}), bank({1, 3})
    banks = [pair, other_gap, gap]
    assert trees(fit(banks, None, "apart", gaps_from=[2]).average(banks)) == [{(0, 2)}]  # 0.9 against 1/2
    assert trees(fit(banks, None, "apart", gaps_from=[2], gap_weight=0.4).average(banks)) == [{(0, 1)}]
    assert trees(fit(banks, None, "apart", gaps_from=[1, 2], gap_weight=0.5).average(banks)) == [{(0, 1)}]


def test_what_other_runs_have_too_does_not_count() -> None:
    pair, gap = bank({0, 1}), bank({0, 2})
    banks = [pair, gap, gap]
    assert trees(fit(banks, None, "apart", gaps_from=[2], gap_weight=100.0).average(banks)) == [{(0, 1)}]


def test_values_are_what_is_defined() -> None:
    banks = [run[:60] for run in treemean.sample.runs()[:5]]
    candidates = find_candidates(banks)
    model = fit(banks, None, "apart", gaps_from=[0, 3], gap_weight=0.7)
    for row, value in enumerate(model.estimates(candidates)):
        named, others = candidates.votes[row, [0, 3]], candidates.votes[row, [1, 2, 4]]
        if candidates.discontinuous[row]:
            expected = 0.0 if others.any() else 0.7 * named.mean()
        else:
            expected = others.mean()
        assert value == pytest.approx(expected)
    assert {0.0, 0.35} <= set(np.round(model.estimates(candidates)[candidates.discontinuous], 9))


def test_on_the_command_line_and_in_parts(folder: Path) -> None:
    given = ["--model", "apart", "--gaps-from", NAMES[1], "--gaps-from", NAMES[4], "--gap-weight", "0.8"]
    run("fit", *NAMES, *given, "-o", "hits.json", cwd=folder)
    run("average", *NAMES, "--hits", "hits.json", "-o", "mean.jsonl", cwd=folder)
    banks = [treemean.read(folder / name) for name in NAMES]
    model = fit(banks, None, "apart", gaps_from=[1, 4], gap_weight=0.8)
    assert treemean.read(folder / "mean.jsonl") == model.average(banks)
    assert load(folder / "hits.json").to_dict()["values"] == model.to_dict()["values"]
    told = run("average", *NAMES, "--hits", "hits.json", "--probability", "-o", "p.jsonl", cwd=folder, code=1)
    assert "gives probabilities only if it was fitted with gold trees" in told.stderr


def test_with_gold_trees_scores_and_probabilities_are_told(folder: Path) -> None:
    banks, gold = [treemean.read(folder / name) for name in NAMES], treemean.read(folder / "gold.discbracket")
    model = fit(banks, gold, "apart", gaps_from=[4])
    assert model.report["cross_validated"]["overall"]["f1"] == pytest.approx(
        treemean.evaluate(model.average(banks), gold, "paper").overall.f1  # as nothing is learnt
    )
    mean = model.average(banks, probability=True)
    assert "probability" in mean.constituent_values
    model.save(folder / "told.json")
    again = load(folder / "told.json")
    assert again.to_dict() == model.to_dict() == fit(banks, gold, "apart", gaps_from=[4], jobs=1).to_dict()
    assert again.average(banks, probability=True) == mean


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "needs to be told which runs"),
        ({"gaps_from": [0, 1, 2]}, "at least one other run"),
        ({"gaps_from": [3]}, "gaps_from has 3, and the 3 runs are 0 to 2"),
        ({"gaps_from": [-1]}, "gaps_from has -1"),
        ({"gaps_from": [0], "gap_weight": float("nan")}, "gap_weight is nan"),
        ({"gaps_from": [0], "gap_weight": -1.0}, "gap_weight is -1"),
    ],
)
def test_what_cannot_be_is_told(given: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidOption, match=message):
        fit([bank({0, 1})] * 3, None, "apart", **given)


def test_options_of_other_models_are_refused(folder: Path) -> None:
    banks = [bank({0, 1})] * 3
    with pytest.raises(InvalidOption, match="gaps_from works only with the model 'apart'"):
        fit(banks, None, "em", gaps_from=[0])
    with pytest.raises(InvalidOption, match="gap_weight works only with the model 'apart'"):
        fit(banks, None, "equal", gap_weight=0.5)
    with pytest.raises(InvalidOption, match="whatever their labels"):
        fit(banks, None, "apart", gaps_from=[0], labelled=True)
    with pytest.raises(InvalidOption, match="uses all runs"):
        fit(banks, bank({0, 1}), "apart", gaps_from=[0], select="forward")
    wrong = run(
        "fit", *NAMES, "--model", "apart", "--gaps-from", "no.dbr", "-o", "h.json", cwd=folder, code=2
    )
    assert "none of the runs" in wrong.stderr


@pytest.mark.parametrize("gapped", [[0, 0, 0], [1, 1, 1], [0, 2, 0], [0, 0.5, 1], "010", []])
def test_damaged_files_are_refused(gapped: object, tmp_path: Path) -> None:
    fit([bank({0, 1})] * 3, None, "apart", gaps_from=[1]).save(tmp_path / "hits.json")
    told = json.loads((tmp_path / "hits.json").read_text())
    told["values"]["gapped"] = gapped
    (tmp_path / "hits.json").write_text(json.dumps(told))
    with pytest.raises(FormatError, match=r"hits\.json"):
        load(tmp_path / "hits.json")


def test_another_number_of_runs_is_refused() -> None:
    with pytest.raises(MismatchError, match="2 runs are told apart, and these are 3"):
        Apart.of_runs(2, (1,)).probabilities(find_candidates([bank({0, 1})] * 3))
