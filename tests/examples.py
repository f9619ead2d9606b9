"""How many examples the tests of properties draw."""

from __future__ import annotations

from hypothesis import settings

USUAL = 60


def examples(count: int) -> settings:
    """Draw so many examples where others draw `USUAL`, and with a profile that draws more, more."""
    return settings(max_examples=count * settings().max_examples // USUAL)
