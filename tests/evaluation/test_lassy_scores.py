"""The published predictions for LASSY score as reported; skipped where the data are absent."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from naive_scores import naive_sentence

from treemean.evaluation import PROTOCOLS, compare, evaluate
from treemean.evaluation.results import METRICS
from treemean.trees import Treebank

Lassy = Callable[[str, str], Treebank]

TEST_F1 = {
    "run01": (47.67, 51.68, 7.68),
    "run03": (48.23, 52.36, 5.82),
    "run05": (48.00, 52.05, 8.62),
    "run06": (43.41, 48.19, 3.91),
    "run08": (46.23, 50.28, 5.15),
}
DEVELOPMENT_DISCONTINUOUS_F1 = {"run01": 5.95, "run08": 5.82, "run05": 5.94, "run03": 5.52, "run06": 1.38}


@pytest.mark.parametrize("run", TEST_F1)
def test_reference_values(lassy: Lassy, run: str) -> None:
    evaluation = evaluate(lassy("test", run), lassy("test", "gold"), "paper")
    assert tuple(evaluation.counts(m).f1 for m in METRICS) == pytest.approx(TEST_F1[run], abs=0.0051)


@pytest.mark.parametrize("run", DEVELOPMENT_DISCONTINUOUS_F1)
def test_development_scores(lassy: Lassy, run: str) -> None:
    evaluation = evaluate(lassy("dev", run), lassy("dev", "gold"), "paper")
    expected = DEVELOPMENT_DISCONTINUOUS_F1[run]
    assert evaluation.discontinuous.f1 == pytest.approx(expected, abs=0.0051)


def test_best_five_by_development_score(lassy: Lassy) -> None:
    gold = lassy("dev", "gold")
    score = {
        f"run{i:02}": evaluate(lassy("dev", f"run{i:02}"), gold, "paper").overall.f1 for i in range(1, 11)
    }
    assert sorted(score, key=score.__getitem__, reverse=True)[:5] == [
        "run01",
        "run08",
        "run05",
        "run03",
        "run06",
    ]


def test_every_protocol_equals_naive_on_real_trees(lassy: Lassy) -> None:
    predicted, gold = lassy("test", "run05")[:200], lassy("test", "gold")[:200]
    for protocol in PROTOCOLS:
        counts = evaluate(predicted, gold, protocol).per_sentence["overall"]
        expected = [
            naive_sentence(guess, truth, [False] * len(truth), protocol).overall.as_tuple()
            for guess, truth in zip(predicted, gold)
        ]
        assert list(zip(counts.matched, counts.predicted, counts.gold)) == expected


def test_ten_runs_take_well_under_a_second(lassy: Lassy) -> None:
    gold = lassy("test", "gold")
    runs = [lassy("test", f"run{i:02}") for i in range(1, 11)]
    begin = time.process_time()
    for run in runs:
        evaluate(run, gold)
    assert time.process_time() - begin < 1.0


def test_significance_on_real_trees(lassy: Lassy) -> None:
    gold = lassy("test", "gold")
    a, b = (evaluate(lassy("test", run), gold) for run in ("run03", "run06"))
    for test in ("ins", "bootstrap"):
        assert compare(a, b, test=test, samples=1000).p_value < 0.01
        assert compare(b, a, test=test, samples=1000).p_value > 0.99
