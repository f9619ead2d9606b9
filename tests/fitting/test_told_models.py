"""Models of few numbers: weights that are told or scored, votes by reliability, signed votes."""

from __future__ import annotations

import numpy as np
import pytest
from fitting_instances import bank

from treemean.averaging import average
from treemean.errors import InvalidOption, TreemeanError
from treemean.evaluation import evaluate
from treemean.fitting import fit
from treemean.fitting.candidates import Candidates
from treemean.fitting.models import em


def test_scalar_weights_follow_the_papers_rule(runs, gold) -> None:
    scores = [evaluate(run, gold, "paper").discontinuous.f1 for run in runs]
    assert fit(runs, gold, "scalar").average(runs) == average(runs, scores)


def test_given_scores(runs, gold) -> None:
    given_scores = [3, 0, 1, 0, 2]
    assert fit(runs, gold, "scalar", scores=given_scores).average(runs) == average(runs, given_scores)
    with pytest.raises(InvalidOption, match="2 scores for 5 runs"):
        fit(runs, gold, "scalar", scores=[1, 2])
    with pytest.raises(TreemeanError, match="not negative"):
        fit(runs, gold, "scalar", scores=[1, 1, 1, 1, -1])


def test_typed_weights_are_scores_of_either_kind(runs, gold) -> None:
    found = [evaluate(run, gold, "paper") for run in runs]
    weights = {}
    for kind in ("continuous", "discontinuous"):
        scores = np.array([e.counts(kind).f1 for e in found])
        weights[kind] = (scores / scores.mean()).tolist()
    assert fit(runs, gold, "typed").average(runs) == average(runs, weights)


def test_em_recovers_how_reliable_runs_are() -> None:
    rng = np.random.default_rng(0)
    right, wrong = np.array([0.9, 0.7, 0.6, 0.8]), np.array([0.1, 0.2, 0.15, 0.3])
    truth = rng.random(20_000) < 0.4
    votes = rng.random((20_000, 4)) < np.where(truth[:, None], right, wrong)
    votes = votes[votes.any(axis=1)]  # nobody sees what nobody proposes: a quarter of them all
    count, none = len(votes), np.zeros(0, dtype=np.int64)
    assert count < 16_000
    candidates = Candidates(
        np.array([4]), np.zeros(count, dtype=np.int64), np.full((count, 1), 3, dtype=np.uint64), votes,
        (none,) * 4, (none,) * 4, np.zeros(4, dtype=np.int64), np.zeros((count, 0)),
    )  # fmt: skip
    model = em.train(candidates)
    assert model.prior == pytest.approx(0.4, abs=0.03)
    np.testing.assert_allclose(model.right, right, atol=0.03)
    np.testing.assert_allclose(model.wrong, wrong, atol=0.03)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_em_of_few_runs_counts_plain_votes(count, runs) -> None:
    few = runs[:count]
    assert fit(few, None, "em").average(few) == average(few)


def test_some_models_need_no_gold(runs, gold) -> None:
    for name in ("agreement", "em", "equal"):
        fitted = fit(runs, None, name)
        assert "cross_validated" not in fitted.report
        assert fitted.average(runs) == fit(runs, gold, name).average(runs)


def test_signed_weights_can_be_negative() -> None:
    """Two runs agree on what is wrong, and a vote of theirs counts against a candidate."""
    rng = np.random.default_rng(1)
    gold_shapes, good, bad = [], [], []
    for _ in range(80):
        shapes = [[{0, 1}], [{1, 2}], [{2, 3}]]
        rng.shuffle(shapes)
        gold_shapes.append(shapes[0])
        good.append(shapes[0] if rng.random() < 0.8 else shapes[1])
        bad.append(shapes[1])
    truth, individual, systematic = bank(*gold_shapes), bank(*good), bank(*bad)
    fitted = fit([individual, systematic, systematic], truth, "signed")
    assert fitted.values.continuous[0] > 0.5
    assert fitted.values.continuous[1:].max() < 0
    assert evaluate(fitted.average([individual, systematic, systematic]), truth).overall.f1 > 70
