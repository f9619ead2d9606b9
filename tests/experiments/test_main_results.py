"""The paper's main table, from predictions: the rows for LASSY are known."""

from __future__ import annotations

import json

import pytest

from treemean import Tree, Treebank, average, evaluate, sample
from treemean.errors import InvalidOption
from treemean.experiments.main_results import BINARY, NON_BINARY, Ensembles, main_results
from treemean.experiments.selection import all_equal, select
from treemean.fitting import fit


def test_the_papers_table_for_lassy(lassy):
    def banks(part):
        return {f"run {i:02}": lassy(part, f"run{i:02}") for i in range(1, 11)}

    selection = select(
        [evaluate(bank, lassy("dev", "gold"), "paper") for bank in banks("dev").values()], keep=5
    )
    assert [i + 1 for i in selection.chosen] == [1, 8, 5, 3, 6]
    assert list(selection.weights) == [5.95, 5.82, 5.94, 5.52, 1.38]

    runs = banks("test")
    results = main_results(
        runs, Ensembles.of(list(runs.values()), selection), selection, lassy("test", "gold")
    )
    rows = {row[0]: row[2:] for row in results.table().rows}
    # As printed in the paper: 46.7 ± 2.0, 50.9 ± 1.7, 6.2 ± 1.9; 48.2 52.4 5.8 (twice); 48.0 52.1 8.6;
    # 50.9** 54.6** 9.7**; 51.4** 55.0** 10.2*.
    assert rows["mean of 5 chosen"] == ["46.71 ± 2.00", "50.91 ± 1.72", "6.24 ± 1.91"]
    for row in ("best overall: run 03", "best cont.: run 03"):
        assert [round(cell, 2) for cell in rows[row]] == [48.23, 52.36, 5.82]
    assert [round(cell, 2) for cell in rows["best disc.: run 05"]] == [48.00, 52.05, 8.62]
    assert rows[BINARY][:2] == ["50.88**", "54.64**"]
    assert rows[NON_BINARY][:2] == ["51.40**", "54.99**"]  # with the weights as the table shows them
    assert [cell.rstrip("*") for cell in (rows[BINARY][2], rows[NON_BINARY][2])] == ["9.71", "10.16"]


def test_results_of_the_sample_as_json_and_markdown():
    gold, runs = sample.gold(), {f"run {i}": run for i, run in enumerate(sample.runs(), 1)}
    selection = select([evaluate(run, gold, "paper") for run in runs.values()], keep=3, weigh="overall")
    results = main_results(runs, Ensembles.of(list(runs.values()), selection), selection, gold)
    data = json.loads(json.dumps(results.to_dict()))
    assert data["individuals"].keys() == runs.keys()
    assert len(data["selection"]["chosen"]) == 3
    assert {c["metric"] for c in data["comparisons"]} == {"overall", "continuous", "discontinuous"}
    assert results.table("Sample").to_markdown().count("\n| run ") == 5


@pytest.mark.parametrize("kind", ["discontinuous", "overall"])
def test_fitted_scalar_weights_make_the_same_averages(kind):
    gold, runs = sample.gold()[:60], [run[:60] for run in sample.runs()]
    selection = select([evaluate(run, gold, "paper") for run in runs], 3, kind)
    fitted = fit(runs, gold, "scalar", select="top", size=3, score=kind, folds=2)
    assert fitted.chosen == tuple(sorted(selection.chosen))
    assert fitted.average(runs) == average([runs[k] for k in selection.chosen], selection.weights)


def flat(words="a b c"):
    return Treebank.from_trees([Tree(words.split(), [(range(3), "S"), ({0, 1}, "X")])])


def test_equal_weights_where_no_individual_finds_a_gap():
    scores = [evaluate(flat(), flat())] * 2
    selection = select(scores, keep=2)
    assert selection.chosen == (0, 1)
    assert selection.weights == (1.0, 1.0)
    assert "zero for all" in selection.note


def test_all_equal_says_that_there_was_no_gold():
    assert all_equal(3).weights == (1.0,) * 3
    assert "no gold" in all_equal(3).note


@pytest.mark.parametrize(("keep", "rule"), [(0, "equal"), (3, "equal"), (1, "length")])
def test_impossible_choices(keep, rule):
    with pytest.raises(InvalidOption):
        select([evaluate(flat(), flat())] * 2, keep, rule)
