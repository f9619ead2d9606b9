"""Scores and averages of the sample treebank, number by number, as LASSY's are guarded where the data are.

The same calls as in `test_lassy_scores.py`, `test_lassy.py`, `test_fitting_lassy.py` and
`test_main_results.py`, on trees that every clone has. A number that changes here needs a reason in
CHANGELOG.md.
"""

from __future__ import annotations

import pytest

from treemean import sample
from treemean.averaging import average
from treemean.evaluation import compare, evaluate
from treemean.evaluation.results import METRICS
from treemean.experiments.main_results import BINARY, NON_BINARY, Ensembles, main_results
from treemean.experiments.selection import select
from treemean.fitting import fit
from treemean.trees import Treebank

GOLD, RUNS = sample.gold(), sample.runs()
#: Of each run overall: constituents that are right, predicted and gold (a doubled gold set counts once where
#: the run has it once); then F1 overall, continuous and discontinuous.
SCORES = [
    ((957, 2396, 1438), (49.92, 53.04, 16.92)),
    ((915, 2396, 1438), (47.73, 50.99, 14.58)),
    ((925, 2396, 1438), (48.25, 51.37, 15.98)),
    ((914, 2396, 1438), (47.68, 50.47, 18.51)),
    ((891, 2396, 1439), (46.47, 49.57, 16.25)),
]
#: Discontinuous F1, as the paper weighs runs.
WEIGHTS = [f1[2] for _, f1 in SCORES]

Numbers = tuple[tuple[int, int, int], tuple[float, ...]]


def numbers(predicted: Treebank, gold: Treebank = GOLD) -> Numbers:
    found = evaluate(predicted, gold, protocol="paper")
    overall = found.overall
    f1 = tuple(round(found.counts(metric).f1, 2) for metric in METRICS)
    return (overall.matched, overall.predicted, overall.gold), f1


def test_runs() -> None:
    assert [numbers(run) for run in RUNS] == SCORES


@pytest.mark.parametrize(
    ("weights", "binary", "expected"),
    [
        (None, False, ((1105, 2258, 1438), (59.79, 63.13, 22.44))),
        (None, True, ((1136, 2396, 1438), (59.26, 62.50, 22.51))),
        (WEIGHTS, False, ((1107, 2267, 1438), (59.76, 63.08, 22.44))),
        (WEIGHTS, True, ((1143, 2396, 1438), (59.62, 62.90, 22.93))),
    ],
    ids=["equal", "equal, binary", "weighted", "weighted, binary"],
)
def test_averages(weights: list[float] | None, binary: bool, expected: Numbers) -> None:
    result = average(RUNS, weights, binary=binary)
    assert result.sentence_values["optimal"].all()
    assert all(tree.is_binary for tree in result) or not binary
    assert numbers(result) == expected


def test_order_does_not_matter() -> None:
    assert average(RUNS[::-1]) == average(RUNS)


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("typed", ((584, 1169, 748), (60.93, 63.76, 27.81))),
        ("em", ((584, 1169, 748), (60.93, 63.76, 27.81))),
        ("logistic", ((524, 987, 749), (60.37, 63.67, 26.92))),
    ],
)
def test_fitted_averages(model: str, expected: Numbers) -> None:
    """Fitted to every other sentence, scored on the rest. Libraries may round hits of some otherwise."""
    development, rest = slice(0, None, 2), slice(1, None, 2)
    fitted = fit([run[development] for run in RUNS], GOLD[development], model)
    counts, f1 = numbers(fitted.average([run[rest] for run in RUNS]), GOLD[rest])
    assert counts == pytest.approx(expected[0], abs=3)
    assert f1 == pytest.approx(expected[1], abs=0.3)


def test_main_table() -> None:
    runs = {f"run {i}": run for i, run in enumerate(RUNS, 1)}
    selection = select([evaluate(run, GOLD, "paper") for run in RUNS], keep=3)
    assert selection.chosen == (0, 2, 1)
    assert [round(weight, 2) for weight in selection.weights] == [16.92, 15.98, 14.58]
    results = main_results(runs, Ensembles.of(RUNS, selection), selection, GOLD)
    rows = {row[0]: row[2:] for row in results.table().rows}
    assert rows["mean of 3 chosen"] == ["48.64 ± 1.14", "51.80 ± 1.09", "15.82 ± 1.18"]
    assert [round(cell, 2) for cell in rows["best overall: run 1"]] == [49.92, 53.04, 16.92]
    assert rows[BINARY][:2] == ["55.87**", "59.03**"]
    assert rows[NON_BINARY][:2] == ["56.07**", "59.39**"]
    assert [cell.rstrip("*") for cell in (rows[BINARY][2], rows[NON_BINARY][2])] == ["20.38", "18.12"]


def test_significance() -> None:
    best, worst = (evaluate(RUNS[k], GOLD, "paper") for k in (0, 4))
    for test in ("ins", "bootstrap"):
        assert compare(best, worst, test=test, samples=1000).p_value < 0.05
        assert compare(worst, best, test=test, samples=1000).p_value > 0.95
