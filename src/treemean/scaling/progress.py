"""Who is told how far a job is."""

from __future__ import annotations

from collections.abc import Callable

#: Is told how many sentences are done, and how many there are (None where nobody knows yet).
Progress = Callable[[int, int | None], None]


def quiet(done: int, total: int | None) -> None:
    """Show no progress."""
