"""Noticing when training goes wrong: losses that are no numbers, that jump, or that climb."""

from __future__ import annotations

import math
from dataclasses import dataclass

from treemean.training.sections import RecoveryConfig

#: How many losses must have been seen before a jump can be told from a beginning.
_ENOUGH = 20


@dataclass
class Watch:
    """A running mean of the objective per word, and what follows from it.

    Attributes
    ----------
    mean : over about the last `recovery.window` steps that were made.
    count : steps seen.
    lowest : the lowest the mean has been since it was steady; None before.
    skipped : steps left out in a row.

    >>> watch = Watch()
    >>> for _ in range(30):
    ...     watch.add(5.0, True, RecoveryConfig())
    >>> watch.limit(RecoveryConfig())
    7.0
    """

    mean: float = 0.0
    count: int = 0
    lowest: float | None = None
    skipped: int = 0

    def limit(self, config: RecoveryConfig) -> float:
        """Return the highest objective per word that can be believed."""
        return self.mean + config.spike if self.count >= _ENOUGH else math.inf

    def add(self, objective: float, applied: bool, config: RecoveryConfig) -> None:
        """Take note of a step: its objective per word, and whether it was made."""
        if not applied:
            self.skipped += 1
            return
        self.skipped = 0
        self.count += 1
        self.mean += (objective - self.mean) / min(self.count, config.window)
        if self.count >= config.window:
            self.lowest = self.mean if self.lowest is None else min(self.lowest, self.mean)

    def trouble(self, config: RecoveryConfig) -> str:
        """Return why training should go back to an earlier state; empty if it should not."""
        if self.skipped >= config.skips:
            return f"{self.skipped} steps in a row were left out"
        if self.lowest is not None and self.mean > self.lowest + config.drift:
            return f"the objective per word rose from {self.lowest:.3f} to {self.mean:.3f}"
        return ""
