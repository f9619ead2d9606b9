"""`make test` draws the same examples every time, `make test-nightly` others, and ten times as many."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from examples import USUAL, examples


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
    factor = settings().max_examples // USUAL
    assert factor in (1, 10)
    assert examples(25).max_examples == 25 * factor
    assert examples(25).deadline is None
