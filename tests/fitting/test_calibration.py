"""Calibration and its measures, against their definitions."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from strategies import parallel_treebanks
from treemean.errors import FormatError
from treemean.fitting.candidates import find_candidates
from treemean.fitting.models import agreement
from treemean.fitting.models.calibration import (
    Calibration,
    MonotoneMap,
    calibration_without_gold,
    fit_map,
    pool_adjacent_violators,
)
from treemean.fitting.procedure import confidence
from treemean.fitting.procedure.confidence import Unseen, brier_score, confidence_report, reliability, risk_at
from treemean.trees import Treebank

tenths = st.integers(0, 10).map(lambda tenth: tenth / 10)
judged = st.lists(st.tuples(tenths, st.booleans()), min_size=1, max_size=40)
orders = st.randoms(use_true_random=False)


def columns(pairs: list[tuple[float, bool]]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([p for p, _ in pairs]), np.array([right for _, right in pairs], dtype=bool)


# ---- isotonic regression ----------------------------------------------------------------------------


def nearest_rising(values: list[int], weights: list[int]) -> list[Fraction]:
    """Try all ways to cut the row into pieces with rising means, and take that of least squares."""
    best = None
    for size in range(len(values)):
        for cuts in itertools.combinations(range(1, len(values)), size):
            ends = [0, *cuts, len(values)]
            fitted: list[Fraction] = []
            for a, b in itertools.pairwise(ends):
                total = sum(v * w for v, w in zip(values[a:b], weights[a:b], strict=True))
                fitted += [Fraction(total, sum(weights[a:b]))] * (b - a)
            squares = sum(w * (v - f) ** 2 for v, w, f in zip(values, weights, fitted, strict=True))
            if all(a <= b for a, b in itertools.pairwise(fitted)) and (best is None or squares < best[0]):
                best = squares, fitted
    assert best is not None
    return best[1]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(1, 3)), min_size=1, max_size=7))
def test_pooling_is_nearest_of_all_that_never_fall(pairs) -> None:
    values, weights = (list(column) for column in zip(*pairs, strict=True))
    sums = np.array(values, dtype=float) * weights
    found = pool_adjacent_violators(sums, np.array(weights, dtype=float))
    np.testing.assert_allclose(found, [float(f) for f in nearest_rising(values, weights)], atol=1e-12)


@given(judged, orders)
def test_maps_rise_inside_0_and_1_whatever_the_order(pairs, order) -> None:
    found = fit_map(*columns(pairs))
    shuffled = pairs.copy()
    order.shuffle(shuffled)
    again = fit_map(*columns(shuffled))
    everywhere = np.linspace(-0.5, 1.5, 41)
    p = found(everywhere)
    np.testing.assert_array_equal(p, again(everywhere))
    assert (np.diff(p) >= 0).all()
    assert p.min() > 0  # few examples promise nothing
    assert p.max() < 1
    assert MonotoneMap.from_dict(json.loads(json.dumps(found.to_dict()))).to_dict() == found.to_dict()


def test_many_examples_speak_for_themselves() -> None:
    rng = np.random.default_rng(0)
    estimates = rng.random(20_000)
    right = rng.random(20_000) < estimates**2
    p = fit_map(estimates, right)(np.linspace(0.1, 0.9, 9))
    np.testing.assert_allclose(p, np.linspace(0.1, 0.9, 9) ** 2, atol=0.06)


def test_one_example_of_a_kind_and_none() -> None:
    one = fit_map(np.array([0.7]), np.array([True]))(np.array([0.0, 0.7, 1.0]))
    assert one.tolist() == pytest.approx([0.8125] * 3)  # three times 1.5 / 2 and once 1, of four
    assert fit_map(np.zeros(0), np.zeros(0, dtype=bool))(np.array([-1.0, 0.3, 2.0])).tolist() == [0, 0.3, 1]


def test_neighbours_that_differ_in_the_last_digit() -> None:
    a = 0.3
    b = float(np.nextafter(a, 1))
    estimates = np.repeat([a, b], [7, 11])
    found = fit_map(estimates, estimates == b)
    assert MonotoneMap.from_dict(found.to_dict()).to_dict() == found.to_dict()


@pytest.mark.parametrize(
    "change",
    [
        {"estimates": [0.0]},
        {"estimates": [1.0, 0.0]},
        {"probabilities": [0.5, 0.4]},
        {"probabilities": [-0.1, 0.4]},
        {"probabilities": [0.1, 1.4]},
        {"estimates": [], "probabilities": []},
        {"probabilities": [0.1, float("nan")]},
    ],
)
def test_maps_that_cannot_be_are_told(change) -> None:
    good = {"estimates": [0.0, 1.0], "probabilities": [0.0, 1.0]}
    with pytest.raises(FormatError):
        Calibration.from_dict({"continuous": good, "discontinuous": {**good, **change}})


# ---- measures ---------------------------------------------------------------------------------------


@given(judged, st.integers(1, 12))
def test_calibration_error_is_its_definition(pairs, bins) -> None:
    """Bins of equal size in order of probability; among equal ones, right ones lie evenly."""
    p, right = columns(pairs)
    found = reliability(p, right, bins)
    share = {value: np.mean([r for q, r in pairs if q == value]) for value, _ in pairs}
    ordered = sorted(value for value, _ in pairs)
    small, larger = divmod(len(ordered), bins)
    error, begin = 0.0, 0
    for number in range(bins):
        part = ordered[begin : begin + small + (number < larger)]
        begin += len(part)
        error += abs(sum(part) - sum(share[value] for value in part))
    assert begin == len(ordered) == found.candidates.sum()
    assert found.calibration_error == pytest.approx(error / len(ordered))
    assert np.ptp(found.candidates) <= 1
    assert brier_score(p, right) == pytest.approx(np.mean([(q - r) ** 2 for q, r in pairs]))


@given(judged, orders)
def test_measures_do_not_depend_on_the_order(pairs, order) -> None:
    shuffled = pairs.copy()
    order.shuffle(shuffled)
    (p, right), (q, also_right) = columns(pairs), columns(shuffled)
    assert reliability(p, right).calibration_error == pytest.approx(
        reliability(q, also_right).calibration_error
    )
    assert risk_at([0.3, 0.5, 1.0], p, right) == pytest.approx(risk_at([0.3, 0.5, 1.0], q, also_right))


@given(st.lists(st.booleans(), min_size=1, max_size=20), st.integers(1, 10))
def test_risk_is_the_share_of_wrong_ones_among_those_kept(right, tenth) -> None:
    confidence = -np.arange(float(len(right)))
    kept = right[: max(1, round(tenth / 10 * len(right)))]
    assert risk_at([tenth / 10], confidence, np.array(right)) == [pytest.approx(1 - np.mean(kept))]


def test_measures_of_nothing() -> None:
    nothing, none = np.zeros(0), np.zeros(0, dtype=bool)
    assert reliability(nothing, none).calibration_error == brier_score(nothing, none) == 0
    assert risk_at([0.5], nothing, none) == []


# ---- without gold -----------------------------------------------------------------------------------


def proposals(run: Treebank) -> set[tuple[int, tuple[int, ...]]]:
    return {
        (s, c.positions) for s, tree in enumerate(run) for c in tree if 1 < len(c.positions) < len(tree.words)
    }


@given(st.integers(2, 4).flatmap(lambda count: parallel_treebanks(count)), st.data())
@examples(30)
def test_candidates_without_a_run_and_of_trees(runs, data) -> None:
    found = find_candidates(runs)
    left_out = data.draw(st.integers(0, len(runs) - 1))
    others = found.without_run(left_out)
    expected = find_candidates([run for k, run in enumerate(runs) if k != left_out])
    np.testing.assert_array_equal(others.votes, expected.votes)
    np.testing.assert_array_equal(others.sentence, expected.sentence)
    for one, two in zip(others.places, expected.places, strict=True):
        np.testing.assert_array_equal(one, two)
    for run, nodes, places in zip(runs, found.nodes, found.places, strict=True):
        at = found.find(run)
        np.testing.assert_array_equal(at[nodes], places)
        elsewhere = (run.sizes < 2) | (run.sizes == run.lengths[run.sentence_of])
        assert (at[elsewhere] == -1).all()


@given(st.integers(2, 5).flatmap(lambda count: parallel_treebanks(count)), orders)
@examples(30)
def test_probabilities_by_runs_alone(runs, order) -> None:
    """Between 0 and 1, and the same for a constituent whatever the order of the runs."""

    def by_constituent(given: list[Treebank]) -> dict:
        found = find_candidates(given)
        calibration = calibration_without_gold(found, agreement.train)
        p = calibration(agreement.train(found).probabilities(found), found.discontinuous)
        keys = zip(found.sentence.tolist(), map(bytes, found.bits), strict=True)
        return dict(zip(keys, p.tolist(), strict=True))

    shuffled = runs.copy()
    order.shuffle(shuffled)
    first, second = by_constituent(runs), by_constituent(shuffled)
    assert all(0 <= p <= 1 for p in first.values())
    assert first.keys() == second.keys()
    assert len(first) == len(set().union(*map(proposals, runs)))
    assert first == pytest.approx(second)


def test_runs_that_agree_on_everything_are_sure_and_one_run_tells_nothing(runs) -> None:
    same = find_candidates([runs[0]] * 4)
    calibration = calibration_without_gold(same, agreement.train)
    p = calibration(agreement.train(same).probabilities(same), same.discontinuous)
    assert p.min() > 0.97
    assert calibration_without_gold(find_candidates(runs[:1]), agreement.train) is None


def test_pooled_candidates_are_worth_the_same(monkeypatch) -> None:
    """Equal ones once; and where there are too many different ones, rounded."""
    rng = np.random.default_rng(3)
    flags = rng.random((3, 900)) < 0.5
    columns = [rng.integers(0, 40, 900) / 40, rng.integers(0, 4, 900) / 4, *flags]
    whole = confidence_report([Unseen(*columns)])
    parts = [Unseen(*(column[start : start + 300] for column in columns)) for start in (0, 300, 600)]
    pooled = parts[0]
    for part in parts[1:]:
        pooled = Unseen.pooled([pooled, part])
    assert len(pooled.right) < 900
    assert flat(confidence_report([pooled])) == pytest.approx(flat(whole))
    monkeypatch.setattr(confidence, "MOST_LEVELS", 0)
    monkeypatch.setattr(confidence, "DIGITS", 1)
    rough = Unseen.pooled(parts)
    assert len(np.unique(rough.probability)) == 11
    assert confidence_report([rough])["continuous"]["candidates"] == whole["continuous"]["candidates"]


def flat(told: object) -> list[float]:
    """Return all numbers of a report, in order."""
    inside = told.values() if isinstance(told, dict) else told if isinstance(told, list) else None
    return [told] if inside is None else [number for one in inside for number in flat(one)]
