"""Looking at candidates, and drawing what is seen."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from treemean import sample
from treemean.errors import InvalidOption, MissingDependency
from treemean.fitting.analysis import (
    calibration,
    pair_precision,
    precision_by_votes,
    shared_candidates,
    supply,
)
from treemean.fitting.candidates.development import Development, make_development
from treemean.reporting.figures import draw_lines, draw_matrices, draw_trade_off


@pytest.fixture(scope="module")
def development() -> Development:
    return make_development([run[:80] for run in sample.runs()], sample.gold()[:80])


def test_votes_add_up(development) -> None:
    everything = precision_by_votes(development)
    parts = [precision_by_votes(development, fan_out) for fan_out in range(1, 20)]
    np.testing.assert_array_equal(everything.candidates, sum(part.candidates for part in parts))
    np.testing.assert_array_equal(everything.correct, sum(part.correct for part in parts))
    assert everything.candidates.sum() == development.scored.sum()
    assert everything.precision[-1] > everything.precision[0]


def test_calibration_keeps_every_candidate() -> None:
    rng = np.random.default_rng(0)
    p = rng.random(5000) ** 3
    correct = rng.random(5000) < p
    found = calibration(p, correct, 10)
    assert found.candidates.sum() == 5000
    assert found.correct.sum() == correct.sum()
    np.testing.assert_allclose(found.precision, 100 * found.group, atol=6)
    assert len(calibration(np.zeros(0), np.zeros(0, dtype=bool)).group) == 0


def test_what_runs_share(development) -> None:
    for correct in (True, False):
        shared = shared_candidates(development, "continuous", correct=correct)
        np.testing.assert_allclose(shared, shared.T)
        np.testing.assert_allclose(np.diag(shared), 100)
    votes, right = development.candidates.votes, development.correct
    gapped = development.candidates.discontinuous
    both = votes[:, 0] & votes[:, 1] & ~gapped & development.scored
    expected = 100 * right[both].mean()
    assert pair_precision(development, "continuous")[0, 1] == pytest.approx(expected)


def test_supply(development) -> None:
    whole, plain, gapped = (supply(development, kind) for kind in (None, "continuous", "discontinuous"))
    assert (whole.gold, whole.proposed) == (plain.gold + gapped.gold, plain.proposed + gapped.proposed)
    assert 0 < gapped.proposed <= gapped.gold
    assert whole.best_f1 <= 100


def test_figures_are_reproducible(tmp_path) -> None:
    points = [
        {"setting": "η = 0", "overall": 60.0, "discontinuous": 2.0, "front": True},
        {"setting": "η = 1", "overall": 58.0, "discontinuous": 9.0, "front": True},
    ]
    for name in ("a.svg", "b.svg"):
        draw_trade_off(points, tmp_path / name, title="boosted")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    lines = {"one": {"x": ([1, 10], [2, 3])}, "two": {"y": ([1, 10], [4, 5])}}
    draw_lines(lines, tmp_path / "c.png", x="x", y="y", diagonal=True, logarithmic="x")
    draw_matrices({"m": [[100, 3], [3, 100]]}, ["1", "2"], tmp_path / "d.pdf")
    assert (tmp_path / "c.png").stat().st_size > 1000
    assert (tmp_path / "d.pdf").read_bytes().startswith(b"%PDF")


def test_what_figures_need(tmp_path, monkeypatch) -> None:
    with pytest.raises(InvalidOption, match="not txt"):
        draw_trade_off([], tmp_path / "a.txt")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingDependency, match=r"treemean\[plots\]"):
        draw_trade_off([], tmp_path / "a.svg")
    assert not list(tmp_path.iterdir())


def test_powers_of_ten_are_numbers_not_formulas(tmp_path) -> None:
    draw_lines({"": {"a": ([1, 2], [0.001, 10.0])}}, tmp_path / "a.svg", x="x", y="y", logarithmic="y")
    text = (tmp_path / "a.svg").read_text()
    assert "<!-- 0.01 -->" in text
    assert "mathdefault" not in text
