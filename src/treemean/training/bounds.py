"""What sections of configurations share: bounds of settings, and marks of those that name files.

Needs no PyTorch, so that experiments with trees that exist do not need it either.
"""

from __future__ import annotations

from typing import Any

from treemean.errors import InvalidOption

#: Marks a setting that names files.
PATH = {"path": True}
#: No more runs: far beyond all use, and within what can be computed with.
MOST_RUNS = 10_000


def check_within(section: str, config: Any, least: float, most: float, *names: str) -> None:
    """Raise `InvalidOption` if a setting is not within bounds; what is no number is not."""
    for name in names:
        value = getattr(config, name)
        if not least <= value <= most:
            raise InvalidOption(f"{section}.{name} must be from {least} to {most}, not {value}")
