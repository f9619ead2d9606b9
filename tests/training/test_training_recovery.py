"""The watch over the loss: what it lets pass, what it leaves out, and when it sends training back."""

from __future__ import annotations

import json
import math
from dataclasses import asdict

import numpy as np
import pytest

from treemean.files.records import record
from treemean.training.divergence import Watch
from treemean.training.sections import RecoveryConfig

CONFIG = RecoveryConfig()


class Course:
    """Losses such as those of a grammar of published size: they fall, and are high for short sentences."""

    def __init__(self, seed: int = 0) -> None:
        self._draw = np.random.default_rng(seed)
        self.watch, self.skips, self.step = Watch(), 0, 0

    def go(self, steps: int, *, above: float = 0.0, slope: float = 0.0) -> str:
        """Make some steps, with losses higher than usual; return the trouble there was, if any."""
        for number in range(steps):
            n = int(np.clip(self._draw.gamma(3.0, 5.0), 2, 40))
            sentences = 20 if self._draw.random() < 0.98 else int(self._draw.integers(1, 20))
            usual = 5.3 + 4.0 * math.exp(-self.step / 400) + 9.0 / n
            noise = self._draw.normal() * 9.0 / math.sqrt(n * sentences)
            objective = usual + noise + above + slope * number
            applied = objective <= self.watch.limit(n, sentences, CONFIG)
            self.watch.add(objective, n, sentences, applied, CONFIG)
            self.skips += not applied
            self.step += 1
            if trouble := self.watch.trouble(CONFIG):
                return trouble
        return ""


@pytest.mark.parametrize("seed", range(4))
def test_nothing_is_left_out_of_a_course_without_trouble(seed: int) -> None:
    course = Course(seed)
    assert course.go(8000) == ""
    assert course.skips == 0


def test_a_jump_is_left_out_and_too_many_send_training_back() -> None:
    course = Course()
    course.go(2000)
    for length in (5, 15, 30):
        assert course.watch.limit(length, 20, CONFIG) < 5.3 + 9.0 / length + 8.0
    assert course.go(5, above=15.0) == ""
    assert course.skips == 5
    assert course.go(100) == ""
    assert course.skips == 5
    assert "20 steps in a row" in course.go(40, above=15.0)


def test_climbing_sends_training_back() -> None:
    course = Course()
    assert course.go(3000) == ""
    assert "rose from" in course.go(2000, slope=0.001)
    assert course.skips == 0
    sudden = Course()
    assert sudden.go(3000) == ""
    assert "rose from" in sudden.go(300, above=0.5)


def test_what_is_no_number_is_never_under_the_limit_and_does_not_count() -> None:
    watch = Watch()
    assert watch.limit(5, 20, CONFIG) == math.inf
    for _ in range(30):
        watch.add(5.0, 5, 20, True, CONFIG)
    assert watch.limit(5, 20, CONFIG) == pytest.approx(7.0)
    assert watch.limit(6, 20, CONFIG) == pytest.approx(7.0)  # never seen: as the next shorter one
    assert watch.limit(4, 20, CONFIG) == math.inf
    for wrong in (math.nan, math.inf):
        assert not wrong <= watch.limit(5, 20, CONFIG)
        watch.add(wrong, 5, 20, False, CONFIG)
    assert watch.mean == pytest.approx(5.0)
    assert watch.skipped == 2
    watch.add(5.0, 5, 20, True, CONFIG)
    assert watch.skipped == 0


def test_small_batches_may_differ_more() -> None:
    course = Course()
    course.go(2000)
    assert course.watch.limit(10, 1, CONFIG) > course.watch.limit(10, 20, CONFIG) + 3.0


def test_it_survives_being_written() -> None:
    course = Course()
    course.go(300)
    assert record(Watch, json.loads(json.dumps(asdict(course.watch)))) == course.watch
