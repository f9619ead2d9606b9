"""Weights by agreement, against the definition in words, one constituent after the other."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from strategies import parallel_treebanks
from treemean import sample
from treemean.averaging import average
from treemean.fitting import fit
from treemean.fitting.candidates import find_candidates
from treemean.fitting.candidates.votes import VoteTable, has_one_word_gaps
from treemean.fitting.models import agreement
from treemean.fitting.models.calibration import calibration_without_gold
from treemean.fitting.procedure import fit_batches
from treemean.fitting.procedure.options import Options
from treemean.fitting.procedure.weights import UNSUPERVISED
from treemean.trees import Tree, Treebank


def gaps_of(positions: set[int]) -> list[int]:
    ordered = sorted(positions)
    return [b - a - 1 for a, b in pairwise(ordered) if b - a > 1]


def proposals(run: Treebank) -> set[tuple[int, frozenset[int]]]:
    return {
        (number, frozenset(c.positions))
        for number, tree in enumerate(run)
        for c in tree
        if 1 < len(c.positions) < len(tree.words)
    }


def kind_of(positions: frozenset[int]) -> str:
    gaps = gaps_of(set(positions))
    return "continuous" if not gaps else "one word" if set(gaps) == {1} else "longer"


def agreement_of(runs: list[Treebank], k: int, kind: str) -> float:
    """Of what a run proposes of some kind: the mean share of the other runs that propose the same."""
    others = [proposals(run) for j, run in enumerate(runs) if j != k]
    own = [c for c in proposals(runs[k]) if kind_of(c[1]) == kind]
    shares = [sum(c in other for other in others) / len(others) for c in own]
    return sum(shares) / len(shares) if shares else 0.0


@given(st.integers(3, 5).flatmap(lambda count: parallel_treebanks(count)))
@examples(30)
def test_weights_are_those_of_the_definition(runs: list[Treebank]) -> None:
    limit, agreement.LEAST_PROPOSALS = agreement.LEAST_PROPOSALS, 1
    try:
        model = agreement.train(find_candidates(runs))
    finally:
        agreement.LEAST_PROPOSALS = limit
    for kind, weights in (("continuous", model.continuous), ("longer", model.discontinuous)):
        expected = np.array([agreement_of(runs, k, kind) for k in range(len(runs))])
        if expected.mean() > 0:
            np.testing.assert_allclose(weights, expected / expected.mean(), rtol=1e-12)
        else:
            np.testing.assert_array_equal(weights, 1.0)
    assert 0 <= model.one_word <= 1


def test_gaps_of_one_word_that_runs_agree_on_for_bad_reasons_count_less() -> None:
    """All runs wrap the same word; on longer gaps, two of three agree."""
    words = "a b c d e".split()

    def run(longer: set[int]) -> Treebank:
        return Treebank.from_trees(
            [
                Tree(words, [(set(range(5)), ""), ({0, 2}, "")]),
                Tree(words, [(set(range(5)), ""), (longer, "")]),
            ]
            * 60
        )

    runs = [run({0, 3}), run({0, 3}), run({1, 4})]
    model = agreement.train(find_candidates(runs))
    # Every one-word gap has both others behind it; of longer ones two thirds have one of two.
    assert model.one_word == pytest.approx(1 / 3)
    assert model.discontinuous.tolist() == pytest.approx([1.5, 1.5, 0.0])
    assert model.continuous.tolist() == [1.0, 1.0, 1.0]


def test_runs_with_independent_errors_are_averaged_as_with_equal_weights() -> None:
    gold = sample.generate(150, seed=3)
    runs = sample.noisy_parses(gold, runs=5, seed=2)
    model = fit(runs, None, "agreement")
    assert model.values.one_word > 0.8
    assert np.ptp(model.values.continuous) < 0.2


@pytest.mark.parametrize("count", [1, 2])
def test_few_runs_count_plainly(count: int) -> None:
    runs = sample.noisy_parses(sample.generate(20, seed=1), runs=count, seed=1)
    assert fit(runs, None, "agreement").average(runs) == average(runs)


@given(st.integers(2, 5).flatmap(lambda count: parallel_treebanks(count)), st.integers(1, 5))
@examples(40)
def test_votes_that_are_added_up_give_the_same_model(runs: list[Treebank], size: int) -> None:
    """Part by part as at once; and a table of single candidates, of which none is put together, as well."""
    parts = [[run[start : start + size] for run in runs] for start in range(0, len(runs[0]), size)]
    found = find_candidates(runs)
    one_by_one = VoteTable(
        found.votes, found.discontinuous, has_one_word_gaps(found), np.ones(len(found), dtype=np.int64)
    )
    for name, train in UNSUPERVISED.items():
        whole = fit(runs, None, name)
        added = fit_batches(parts, name, Options(), len(runs))
        assert added.to_dict() == whole.to_dict()
        for a, b in zip(train(one_by_one).to_dict().values(), whole.values.to_dict().values(), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9)
        by_candidates = calibration_without_gold(one_by_one, train)
        assert whole.calibration is not None
        assert by_candidates is not None
        expected = by_candidates(whole.values.probabilities(found), found.discontinuous)
        p = whole.calibration(whole.values.probabilities(found), found.discontinuous)
        np.testing.assert_allclose(p, expected, rtol=1e-9)
