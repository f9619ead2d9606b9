"""Noticing when training goes wrong: losses that jump or climb; NaN is for `grammars/nan_policy.py`.

Short sentences have a far higher objective per word than long ones, and differ more among themselves. A batch
is therefore compared with earlier batches of its length only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from treemean.training.sections import RecoveryConfig

#: How many batches of a length must have been seen before a jump can be told from a beginning.
_ENOUGH = 20
#: By how many standard deviations a batch may be above the mean, beside what the configuration allows.
_DEVIATIONS = 6.0


@dataclass
class Level:
    """The objective per word of batches of one length.

    Attributes
    ----------
    count : batches seen.
    mean : over about the last ones.
    variance : of a sentence; that of the mean of a batch is smaller by the size of the batch.
    """

    count: int = 0
    mean: float = 0.0
    variance: float = 0.0

    def limit(self, sentences: int, spike: float) -> float:
        """Return the highest objective per word of a batch that can be believed."""
        return self.mean + spike + _DEVIATIONS * math.sqrt(self.variance / sentences)

    def add(self, objective: float, sentences: int, window: float) -> None:
        """Take note of a batch; about the last `window` ones count."""
        self.count += 1
        off = objective - self.mean
        if self.count > 1:  # the first one says nothing about how much they differ
            self.variance += (off**2 * sentences - self.variance) / min(self.count - 1, max(window, _ENOUGH))
        self.mean += off / min(self.count, max(window, 1.0))


@dataclass
class Watch:
    """Running means of the objective per word by length, and what follows from them.

    Attributes
    ----------
    levels : by the number of words of a sentence.
    count : steps made.
    mean : of the levels, each as often as its length was seen; it follows a change within about
        `recovery.window` steps, whatever lengths come first.
    lowest : the lowest that mean has been since it was steady; None before.
    skipped : steps left out in a row.

    >>> watch = Watch()
    >>> for _ in range(30):
    ...     watch.add(5.0, 10, 20, True, RecoveryConfig())
    ...     watch.add(9.0, 2, 20, True, RecoveryConfig())
    >>> watch.limit(10, 20, RecoveryConfig()), watch.limit(2, 20, RecoveryConfig()), watch.mean
    (7.0, 11.0, 7.0)
    """

    levels: dict[int, Level] = field(default_factory=dict)
    count: int = 0
    mean: float = 0.0
    lowest: float | None = None
    skipped: int = 0

    def limit(self, length: int, sentences: int, config: RecoveryConfig) -> float:
        """Return the highest objective per word of a batch that can be believed.

        While there were too few batches of a length, that is the limit of the next shorter one: shorter
        sentences cost more per word.

        Parameters
        ----------
        length : words of a sentence; of sentences of several lengths, their mean.
        sentences : the size of the batch.
        """
        known = [n for n, level in self.levels.items() if n <= length and level.count >= _ENOUGH]
        return self.levels[max(known)].limit(sentences, config.spike) if known else math.inf

    def add(
        self, objective: float, length: int, sentences: int, applied: bool, config: RecoveryConfig
    ) -> None:
        """Take note of a step: its objective per word, and whether it was made."""
        if not applied:
            self.skipped += 1
            return
        self.skipped = 0
        self.count += 1
        level = self.levels.setdefault(length, Level())
        share = (level.count + 1) / self.count
        level.add(objective, sentences, config.window * share)
        self.mean = sum(level.count * level.mean for level in self.levels.values()) / self.count
        if self.count >= config.window:
            self.lowest = self.mean if self.lowest is None else min(self.lowest, self.mean)

    def trouble(self, config: RecoveryConfig) -> str:
        """Return why training should go back to an earlier state; empty if it should not."""
        if self.skipped >= config.skips:
            return f"{self.skipped} steps in a row were left out"
        if self.lowest is not None and self.mean > self.lowest + config.drift:
            return f"the objective per word rose from {self.lowest:.3f} to {self.mean:.3f}"
        return ""
