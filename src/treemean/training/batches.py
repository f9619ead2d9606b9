"""Which sentences are learnt from together, and in which order: a function of seeds and epoch alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from treemean.training.sections import TrainingConfig

Ints = NDArray[np.int64]

#: How many batches of mixed lengths are sorted by length together, so that little is padded.
_BUCKET = 32
#: Tell apart what is drawn from one seed: the order of lengths, and which sentences meet.
_LENGTHS, _SENTENCES = 0, 1


class BatchOrder:
    """The batches of every epoch of a run.

    Parameters
    ----------
    lengths : int64[S], the length of every sentence, all of 2 or more.
    config : sizes, curriculum and seeds.
    run : the number of the run, from 1. Runs differ in nothing but this.

    With `run.shared_lengths` and batches of equal lengths, all runs meet the lengths in the same order, and
    only the sentences in them differ, so that several runs can take each step together.
    """

    def __init__(self, lengths: Ints, config: TrainingConfig, run: int) -> None:
        self.lengths, self.run = lengths, run
        self._batches, self._seeds = config.batches, config.run
        self._longest = config.data.max_length

    def limit(self, epoch: int) -> int:
        """Return the length up to which sentences are used in an epoch (from 1): the curriculum."""
        return min(self._longest, self._batches.first_limit + self._batches.limit_step * (epoch - 1))

    def of_epoch(self, epoch: int) -> list[Ints]:
        """Return the batches of an epoch as places of sentences; all within the limit are in one."""
        usable = np.flatnonzero(self.lengths <= self.limit(epoch))
        shuffled = self._random(_SENTENCES, epoch).permutation(usable)
        equal = self._batches.lengths == "equal"
        batches = list(self._equal(shuffled) if equal else self._mixed(shuffled))
        shared = self._seeds.shared_lengths and equal
        order = self._random(_LENGTHS, epoch, run=0 if shared else self.run).permutation(len(batches))
        return [batches[place] for place in order.tolist()]

    def count(self, epoch: int) -> int:
        """Return the number of batches of an epoch."""
        lengths = self.lengths[self.lengths <= self.limit(epoch)]
        sizes = np.bincount(lengths) if self._batches.lengths == "equal" else np.array([len(lengths)])
        return int(np.sum(-(-sizes // self._batches.size)))

    def count_from(self, epoch: int, last: int) -> int:
        """Return the number of batches of the epochs from one to the last."""
        return self._total(self.count, epoch, last)

    def words(self, epoch: int) -> int:
        """Return the number of words of an epoch."""
        return int(self.lengths[self.lengths <= self.limit(epoch)].sum())

    def words_from(self, epoch: int, last: int) -> int:
        """Return the number of words of the epochs from one to the last."""
        return self._total(self.words, epoch, last)

    def _total(self, of: Callable[[int], int], epoch: int, last: int) -> int:
        """Sum over epochs; once the curriculum is at its end, all are alike, however many they are."""
        growing = -(-(self._longest - self._batches.first_limit) // self._batches.limit_step)
        alike = min(max(epoch, growing + 1), last)
        return sum(of(each) for each in range(epoch, alike)) + (last - alike + 1) * of(alike)

    def _random(self, what: int, epoch: int, run: int | None = None) -> np.random.Generator:
        return np.random.default_rng([self._seeds.order_seed, self.run if run is None else run, epoch, what])

    def _equal(self, shuffled: Ints) -> Iterator[Ints]:
        by_length = shuffled[np.argsort(self.lengths[shuffled], kind="stable")]
        starts = np.flatnonzero(np.diff(self.lengths[by_length])) + 1
        for same in np.split(by_length, starts):
            yield from self._cut(same)

    def _mixed(self, shuffled: Ints) -> Iterator[Ints]:
        bucket = _BUCKET * self._batches.size
        for start in range(0, len(shuffled), bucket):
            part = shuffled[start : start + bucket]
            yield from self._cut(part[np.argsort(self.lengths[part], kind="stable")])

    def _cut(self, places: Ints) -> Iterator[Ints]:
        for start in range(0, len(places), self._batches.size):
            yield places[start : start + self._batches.size]
