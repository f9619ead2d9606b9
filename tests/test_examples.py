"""`make test` draws the same examples every time, `make test-nightly` others, and ten times as many."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from examples import EVERY_DAY, USUAL, examples


def drawn(profile: str) -> list[int]:
    """Return what a test of a property that wants seven examples sees."""
    seen = []

    @settings(settings.get_profile(profile), database=None, max_examples=7)
    @given(st.integers())
    def look(number: int) -> None:
        seen.append(number)

    look()
    return seen


def test_the_usual_examples_are_the_same_every_time() -> None:
    assert drawn("treemean") == drawn("treemean")


def test_those_of_the_night_are_new() -> None:
    assert len({tuple(drawn("nightly")) for _ in range(4)}) > 1


def test_numbers_of_examples_grow_with_those_of_the_profile() -> None:
    numbers = [settings.get_profile(name).max_examples for name in ("treemean", "slow", "nightly")]
    assert numbers == [EVERY_DAY, USUAL, 10 * USUAL]
    assert settings().max_examples in numbers
    assert examples(2 * USUAL).max_examples == 2 * settings().max_examples
    assert examples(25).deadline is None
