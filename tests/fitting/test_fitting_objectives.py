"""What is maximised when values of constituents are known, against all trees."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from strategies import parallel_treebanks
from treemean.averaging import average
from treemean.errors import InvalidOption
from treemean.evaluation import evaluate
from treemean.fitting import CorpusObjective, ExpectedObjective, SentenceObjective, find_candidates, fit
from treemean.fitting.candidates import Candidates
from treemean.fitting.models.objectives import TreeCounts, settle, solve
from treemean.trees import Treebank
from treemean.trees.bitsets import compatible


def trees_of(candidates: Candidates) -> list[tuple[int, ...]]:
    """Return all compatible sets of candidates of a single sentence."""
    masks = [int(row[0]) for row in candidates.bits]
    return [
        chosen
        for size in range(len(masks) + 1)
        for chosen in itertools.combinations(range(len(masks)), size)
        if all(compatible(masks[a], masks[b]) for a, b in itertools.combinations(chosen, 2))
    ]


values_of_any_sign = st.lists(st.integers(-4, 4), min_size=12, max_size=12)


@examples(40)
@given(
    parallel_treebanks(runs=3, min_sentences=1, max_sentences=1, min_words=2, max_words=5, unaries=False),
    values_of_any_sign,
)
def test_solve_finds_the_best_sum(banks: list[Treebank], numbers: list[int]) -> None:
    candidates = find_candidates(banks)
    values = np.resize(np.array(numbers, dtype=np.float64), len(candidates))
    best = max(sum(values[c] for c in chosen) for chosen in trees_of(candidates))
    chosen = tuple(solve(banks, candidates, values).tolist())
    assert chosen in trees_of(candidates)
    assert values[list(chosen)].sum() == pytest.approx(best)
    assert (values[list(chosen)] > 0).all() or not chosen


@examples(40)
@given(
    parallel_treebanks(runs=3, min_sentences=1, max_sentences=1, min_words=2, max_words=5, unaries=False),
    values_of_any_sign,
    st.sampled_from([0.0, 0.2, 1.0]),
)
def test_expected_f1_is_the_best_ratio(banks: list[Treebank], numbers: list[int], rate: float) -> None:
    candidates = find_candidates(banks)
    p = np.resize(np.abs(np.array(numbers)) / 4, len(candidates))
    size = rate * candidates.words

    def expected(chosen: tuple[int, ...]) -> float:
        whole = len(chosen) + size
        return 2 * p[list(chosen)].sum() / whole if whole else 0.0

    objective = ExpectedObjective(rate)
    result = average(banks, **objective.arguments(banks, candidates, p, 1))
    best = max(map(expected, trees_of(candidates)))
    masks = {int(row[0]): place for place, row in enumerate(candidates.bits)}
    found = tuple(masks[c.mask] for c in result[0] if c.mask in masks)
    # With λ at its best, adding what is worth λ/2 changes nothing, and such constituents are left out.
    values = 2 * p - best
    assert values[list(found)].sum() - best * size == pytest.approx(0.0, abs=1e-6) or best == 0


def test_values_of_the_corpus_objective() -> None:
    objective = CorpusObjective(0.5, 0.6, 0.05, 0.5, 0.1, 0.4, 0.05)
    p = np.array([0.1, 0.7, 0.1, 0.7])
    gapped = np.array([False, False, True, True])
    per_word, per_word_gapped = 0.4 + 0.6, 0.05 + 0.05
    expected = (2 * p - 0.5) / per_word + gapped * 0.5 * (2 * p - 0.1) / per_word_gapped
    np.testing.assert_allclose(objective.values(p, gapped), expected * per_word)
    nothing = CorpusObjective(0.5, 0.6, 0.0)
    np.testing.assert_allclose(nothing.values(p, gapped), 2 * p - 0.5)


def test_settling_improves_the_expected_score(runs) -> None:
    candidates = find_candidates(runs)
    p = candidates.counts / candidates.runs
    start = CorpusObjective(0.5, 0.4, 0.05)

    def reached(objective: CorpusObjective) -> float:
        chosen = solve(runs, candidates, objective.values(p, candidates.discontinuous))
        return objective.with_counts(TreeCounts.of(candidates, p, chosen)).score

    settled = settle(start, runs, candidates, p)
    assert reached(settled) >= reached(start)
    assert reached(settled) >= max(reached(settle(start, runs, candidates, p, rounds=r)) for r in (1, 3))


def test_the_sentence_objective_with_votes_is_the_plain_average(runs) -> None:
    candidates = find_candidates(runs)
    votes = candidates.counts / candidates.runs
    arguments = SentenceObjective(1.0).arguments(runs, candidates, votes, 1)
    assert average(runs, **arguments) == average(runs)


def test_objectives_and_targets_are_told_apart(runs, gold) -> None:
    overall, disc = (fit(runs, gold, "logistic", target=target) for target in ("overall", "disc"))
    assert overall.report["eta"] == 0 < disc.report["eta"]
    predicted = [evaluate(m.average(runs), gold).discontinuous.predicted for m in (overall, disc)]
    assert predicted[0] < predicted[1]
    for objective in ("sentence", "expected", "corpus"):
        fitted = fit(runs, gold, "signed", objective=objective)
        assert fitted.objective.to_dict()["kind"] == objective
    with pytest.raises(InvalidOption, match="sentence"):
        fit(runs, gold, "typed", objective="corpus")


def test_a_small_corpus_uses_the_scores_of_the_development_data(runs, gold) -> None:
    fitted = fit(runs, gold, "logistic")
    whole = fitted.average([run[:60] for run in runs])
    parts = [fitted.average([run[a:b] for run in runs]) for a, b in ((0, 20), (20, 60))]
    assert Treebank.concatenate(parts) == whole
