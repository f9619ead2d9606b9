"""How many examples the tests of properties draw."""

from __future__ import annotations

from hypothesis import settings

#: In `make test-slow`.
USUAL = 60
#: In `make test`.
EVERY_DAY = 15


def examples(count: int) -> settings:
    """Draw so many examples where others draw `USUAL`, or the share of these that the profile draws."""
    return settings(max_examples=count * settings().max_examples // USUAL)
