from __future__ import annotations

import json
import random
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from strategies import parallel_treebanks
from treemean.errors import MismatchError, TreemeanError
from treemean.evaluation import Evaluation, bootstrap_interval, compare, evaluate, significance
from treemean.evaluation.results import METRICS, Metric
from treemean.evaluation.significance import binomial_tail
from treemean.trees import Tree, Treebank


@given(st.integers(0, 60), st.integers(-2, 62))
def test_binomial_tail_is_exact(trials: int, successes: int) -> None:
    exact = sum(Fraction(comb(trials, k), 2**trials) for k in range(max(successes, 0), trials + 1))
    assert binomial_tail(successes, trials) == pytest.approx(float(exact), rel=1e-14)


@pytest.mark.parametrize("trials", [999, 10_000, 10_001, 200_000])
@pytest.mark.parametrize("deviations", [-3.0, 0.0, 0.5, 4.0, 12.0])
def test_binomial_tail_of_many_trials(trials: int, deviations: float) -> None:
    successes = round(trials / 2 + deviations * trials**0.5 / 2)
    assert binomial_tail(successes, trials) == pytest.approx(
        stats.binom.sf(successes - 1, trials, 0.5), rel=1e-8
    )


def evaluation_of(predicted: list[set[int]], protocol: str = "paper") -> Evaluation:
    """Score predictions of one two-word constituent each, where the gold is always {0, 1}."""
    words = ["a", "b", "c", "d"]

    def bank(sets: list[set[int]]) -> Treebank:
        return Treebank.from_trees(
            Tree(words, [(range(4), "S"), *([(positions, "X")] if positions else [])]) for positions in sets
        )

    return evaluate(bank(predicted), bank([{0, 1}] * len(predicted)), protocol)


RIGHT, WRONG, NOTHING = {0, 1}, {2, 3}, set()


def test_sign_tests_count_wins_losses_and_ties() -> None:
    a = evaluation_of([RIGHT] * 6 + [WRONG] + [RIGHT] * 3)
    b = evaluation_of([WRONG] * 6 + [RIGHT] + [RIGHT] * 3)
    for test in ("ins", "sign"):
        outcome = compare(a, b, test=test)
        assert (outcome.wins, outcome.losses, outcome.ties) == (6, 1, 3)
        assert outcome.statistic == 6
        assert outcome.p_value == 8 / 128
        assert outcome.p_value_two_sided == 16 / 128
        assert compare(b, a, test=test).p_value == 127 / 128
    assert "conditional" in compare(a, b).note
    assert compare(a, b).difference == pytest.approx(90 - 40)


def test_sentences_where_nothing_is_scored_are_ties() -> None:
    a, b = evaluation_of([RIGHT] * 5), evaluation_of([WRONG] * 5)
    outcome = compare(a, b, metric="discontinuous")
    assert (outcome.wins, outcome.losses, outcome.ties) == (0, 0, 5)
    assert outcome.p_value == outcome.p_value_two_sided == 1.0


@given(parallel_treebanks(runs=3, max_sentences=6, max_words=7), st.sampled_from(METRICS))
def test_sign_test_equals_scipy(banks: list[Treebank], metric: Metric) -> None:
    a, b = evaluate(banks[0], banks[2]), evaluate(banks[1], banks[2])
    outcome = compare(a, b, metric=metric, test="sign")

    def scores(e: Evaluation) -> list[Fraction]:
        counts = e.per_sentence[metric]
        rows = zip(counts.matched.tolist(), (counts.predicted + counts.gold).tolist())
        return [Fraction(2 * m, total) if total else Fraction(1) for m, total in rows]

    pairs = list(zip(scores(a), scores(b)))
    wins, losses = sum(x > y for x, y in pairs), sum(x < y for x, y in pairs)
    assert (outcome.wins, outcome.losses, outcome.ties) == (wins, losses, len(pairs) - wins - losses)
    if wins + losses:
        for alternative, found in (("greater", outcome.p_value), ("two-sided", outcome.p_value_two_sided)):
            expected = stats.binomtest(wins, wins + losses, 0.5, alternative=alternative).pvalue
            assert found == pytest.approx(expected)


def naive_bootstrap(a: Evaluation, b: Evaluation, metric: Metric, samples: int, seed: int) -> list[float]:
    """Draw sentences one by one and score each sample from its counts."""
    rng = random.Random(seed)
    differences = []
    for _ in range(samples):
        drawn = [rng.randrange(len(a.sentences)) for _ in a.sentences]
        scores = []
        for e in (a, b):
            chosen = e.per_sentence[metric].take(np.array(drawn))
            scores.append(chosen.total(e.protocol.level).f1)
        differences.append(scores[0] - scores[1])
    return differences


@pytest.mark.parametrize("protocol", ["paper", "sentence"])
def test_bootstrap_agrees_with_naive(protocol: str) -> None:
    rng = random.Random(1)
    a = evaluation_of(rng.choices([RIGHT, WRONG, NOTHING], [5, 4, 1], k=60), protocol)
    b = evaluation_of(rng.choices([RIGHT, WRONG, NOTHING], [4, 5, 1], k=60), protocol)
    outcome = compare(a, b, test="bootstrap", samples=20_000, seed=3)
    naive = np.array(naive_bootstrap(a, b, "overall", 3000, 5))
    delta = a.overall.f1 - b.overall.f1
    assert outcome.statistic == pytest.approx(delta)
    assert outcome.interval is not None
    assert [outcome.interval.low, outcome.interval.high] == pytest.approx(
        np.quantile(naive, [0.025, 0.975]).tolist(), abs=2.0
    )
    assert outcome.p_value == pytest.approx((naive - delta >= delta - 1e-9).mean(), abs=0.03)
    assert outcome.p_value_two_sided == pytest.approx(
        (np.abs(naive - delta) >= abs(delta) - 1e-9).mean(), abs=0.03
    )


def test_bootstrap_scores_are_those_of_the_drawn_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every sample, computed by a matrix product in small blocks, is scored again from its sentences."""
    monkeypatch.setattr(significance, "_DRAWS", 25)
    rng = random.Random(2)
    e = evaluation_of(rng.choices([RIGHT, WRONG, NOTHING], k=9))
    columns = significance.sentences_of(e, "overall")
    scores = significance._bootstrap_scores(columns, e.protocol, 7, seed=4)
    times = np.concatenate(list(significance._resamples(9, 7, seed=4)))
    assert times.shape == (7, 9)
    assert (times.sum(axis=1) == 9).all()
    expected = [
        e.per_sentence["overall"].take(np.repeat(np.arange(9), row.astype(int))).total("corpus").f1
        for row in times
    ]
    assert scores.tolist() == pytest.approx(expected)


def test_bootstrap_of_equal_predictions() -> None:
    e = evaluation_of([RIGHT, WRONG, RIGHT])
    outcome = compare(e, e, test="bootstrap", samples=100)
    assert outcome.p_value == outcome.p_value_two_sided == 1.0
    assert outcome.interval is not None
    assert (outcome.interval.low, outcome.interval.high) == (0.0, 0.0)


def test_bootstrap_is_reproducible_and_depends_on_the_seed() -> None:
    rng = random.Random(7)
    e = evaluation_of(rng.choices([RIGHT, WRONG], k=40))
    assert bootstrap_interval(e, seed=1, samples=200) == bootstrap_interval(e, seed=1, samples=200)
    assert bootstrap_interval(e, seed=1, samples=200) != bootstrap_interval(e, seed=2, samples=200)


def test_bootstrap_interval_is_about_normal_theory() -> None:
    """With one prediction and one gold constituent each, F1 is the share of hits: a binomial share."""
    rng = random.Random(3)
    e = evaluation_of(rng.choices([RIGHT, WRONG], k=400))
    interval = bootstrap_interval(e)
    share = e.overall.f1 / 100
    half = 1.96 * (share * (1 - share) / 400) ** 0.5
    assert interval.estimate == pytest.approx(100 * share)
    assert interval.low == pytest.approx(100 * (share - half), abs=0.6)
    assert interval.high == pytest.approx(100 * (share + half), abs=0.6)
    wider = bootstrap_interval(e, confidence=0.99)
    assert wider.low < interval.low < interval.high < wider.high


def test_no_sentences() -> None:
    empty = evaluate(Treebank.empty(), Treebank.empty())
    for test in ("ins", "sign", "bootstrap"):
        assert compare(empty, empty, test=test, samples=10).p_value == 1.0


def test_comparisons_are_json() -> None:
    a, b = evaluation_of([RIGHT, WRONG]), evaluation_of([WRONG, WRONG])
    for test in ("ins", "sign", "bootstrap"):
        data = json.loads(json.dumps(compare(a, b, test=test, samples=50).to_dict(), allow_nan=False))
        assert data["test"] == test
        assert data["difference"] == pytest.approx(50.0)
    assert data["interval"]["samples"] == 50


def test_what_cannot_be_compared() -> None:
    a = evaluation_of([RIGHT, WRONG])
    with pytest.raises(MismatchError, match=r"different sentences \(2 and 3\)"):
        compare(a, evaluation_of([RIGHT, WRONG, RIGHT]))
    with pytest.raises(MismatchError, match="different protocols cannot be compared: paper, sentence"):
        compare(a, evaluation_of([RIGHT, WRONG], "sentence"))
    with pytest.raises(TreemeanError, match="no test 't'; known are ins, sign, bootstrap"):
        compare(a, a, test="t")  # type: ignore[arg-type]
    with pytest.raises(TreemeanError, match="no metric 'f1'"):
        compare(a, a, metric="f1")  # type: ignore[arg-type]
    with pytest.raises(TreemeanError, match="at least one sample"):
        compare(a, a, test="bootstrap", samples=0)
    with pytest.raises(TreemeanError, match="between 0 and 1"):
        bootstrap_interval(a, confidence=95)


def test_different_gold_trees_cannot_be_compared() -> None:
    bank = Treebank.from_trees([Tree(["a", "b", "c"], [(range(3), "S"), ({0, 1}, "X")])])
    other = Treebank.from_trees([Tree(["a", "b", "c"], [(range(3), "S"), ({1, 2}, "X")])])
    with pytest.raises(MismatchError, match="different gold trees"):
        compare(evaluate(bank, bank), evaluate(bank, other))
