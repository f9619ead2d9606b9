"""The sentences of a report that can be explored: the most disputed ones, however many there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from treemean.agreement.results import by_dispute
from treemean.agreement.units import Floats
from treemean.evaluation.results import SentenceCounts
from treemean.evaluation.scores import Flags
from treemean.trees import Treebank
from treemean.trees.bitsets import Ints
from treemean.trees.treebank import gather


@dataclass(frozen=True, eq=False)
class Held:
    """Some sentences, in their order, with all that is known of each.

    Parameters
    ----------
    sentences, whole, removed : as in `Subject`.
    dispute : float64[S], how much runs disagree; 0 for a single run.
    trees : of every side.
    scores : of every side; None for gold, and where there is no gold.
    """

    sentences: Ints
    whole: Treebank
    removed: Flags
    dispute: Floats
    trees: tuple[Treebank, ...]
    scores: tuple[SentenceCounts | None, ...]

    def take(self, chosen: Ints) -> Held:
        """Return some of the sentences."""
        return Held(
            self.sentences[chosen],
            _taken(self.whole, chosen),
            self.removed[gather(self.whole.word_offsets, chosen)],
            self.dispute[chosen],
            tuple(_taken(bank, chosen) for bank in self.trees),
            tuple(None if one is None else one.take(chosen) for one in self.scores),
        )

    @staticmethod
    def joined(parts: Sequence[Held]) -> Held:
        """Return the sentences of all parts."""
        if len(parts) == 1:
            return parts[0]
        return Held(
            np.concatenate([part.sentences for part in parts]),
            Treebank.concatenate([part.whole for part in parts]),
            np.concatenate([part.removed for part in parts]),
            np.concatenate([part.dispute for part in parts]),
            tuple(Treebank.concatenate(banks) for banks in zip(*(part.trees for part in parts))),
            tuple(_joined(columns) for columns in zip(*(part.scores for part in parts))),
        )


class MostDisputed:
    """Takes sentences part by part, and holds so many of the most disputed ones, the first of equal ones."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._parts: list[Held] = []
        self._count = 0

    def add(self, part: Held) -> None:
        """Take the part that follows; memory never holds more than twice what will be left, and a part."""
        self._parts.append(part)
        self._count += len(part.sentences)
        if self._count > 2 * self._most:
            self._parts = [self.result()]
            self._count = len(self._parts[0].sentences)

    def result(self) -> Held:
        """Return the most disputed sentences so far, in their order."""
        joined = Held.joined(self._parts)
        if len(joined.sentences) <= self._most:
            return joined
        return joined.take(np.sort(by_dispute(joined.dispute)[: self._most]))


def _taken(bank: Treebank, chosen: Ints) -> Treebank:
    """Return some sentences, and only their words: vocabularies would hold those of all the others."""
    taken = bank.take(chosen)
    names = ("words", "tags", "word_functions", "labels", "functions")
    return taken.with_columns(**{name: getattr(taken, name).compact() for name in names})


def _joined(parts: Sequence[SentenceCounts | None]) -> SentenceCounts | None:
    known = [part for part in parts if part is not None]
    columns = ((part.matched, part.predicted, part.gold) for part in known)
    return SentenceCounts(*map(np.concatenate, zip(*columns))) if known else None
