"""Checking that individuals speak of the same sentences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from treemean.errors import MismatchError, TreemeanError
from treemean.trees import Treebank
from treemean.trees.strings import CodedStrings


def check_aligned(runs: Sequence[Treebank]) -> None:
    """Raise `MismatchError` unless all treebanks have the same words in the same sentences."""
    if not runs:
        raise TreemeanError("there is nothing to average: give at least one treebank")
    first = runs[0]
    for number, run in enumerate(runs[1:], 2):
        if len(run) != len(first):
            raise MismatchError(
                f"individual {number} has {len(run)} sentences, the first one has {len(first)}"
            )
        if (run.lengths != first.lengths).any():
            s = int(np.argmax(run.lengths != first.lengths))
            raise MismatchError(
                f"sentence {s + 1}{_named(first, s)}: individual {number} has {run.lengths[s]} words, "
                f"the first one has {first.lengths[s]}"
            )
        both = CodedStrings.concatenate([first.words, run.words])
        different = both.codes[: len(first.words)] != both.codes[len(first.words) :]
        if different.any():
            at = int(np.argmax(different))
            s = int(np.searchsorted(first.word_offsets, at, side="right")) - 1
            raise MismatchError(
                f"sentence {s + 1}{_named(first, s)}: word {at - first.word_offsets[s] + 1} is "
                f"{run.words[at]!r} in individual {number} and {first.words[at]!r} in the first one"
            )


def check_weights(weights: Sequence[float] | None, count: int) -> list[float]:
    """Return one weight per individual, scaled so that they add up to `count`; equal ones if None."""
    if weights is None:
        return [1.0] * count
    given = [float(w) for w in weights]
    if len(given) != count:
        raise TreemeanError(f"{len(given)} weights for {count} individuals")
    for number, weight in enumerate(given, 1):
        if not np.isfinite(weight) or weight < 0:
            raise TreemeanError(f"weight {number} is {weight}; weights must be finite and not negative")
    total = sum(given)
    if total == 0:
        raise TreemeanError("all weights are zero: nobody would have a say")
    return [w * count / total for w in given]


def _named(treebank: Treebank, s: int) -> str:
    return f" ({treebank.ids[s]})" if treebank.ids[s] else ""
