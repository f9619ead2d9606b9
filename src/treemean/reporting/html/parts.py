"""Treebanks of the same sentences, read side by side and brought together part by part."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from treemean.agreement.together import Whole, bring_together
from treemean.averaging import Frequencies, count_labels
from treemean.evaluation import Protocol
from treemean.evaluation.alignment import align
from treemean.evaluation.deletion import removed_words
from treemean.evaluation.scores import Flags, sentence_names
from treemean.evaluation.streaming import Scoring
from treemean.names import Match
from treemean.trees import Treebank
from treemean.trees.bitsets import Ints
from treemean.trees.treebank import gather

#: How the average is called.
AVERAGE = "average"


@dataclass(frozen=True)
class ParallelTreebanks:
    """Treebanks that are read side by side.

    Parameters
    ----------
    read : begins at the beginning: lists of equally long batches, of the runs, then of an average of theirs
        and of the gold trees, where there are any.
    runs : their names.
    average, gold : whether there are such.
    called : what errors call runs, `average` and `gold`, by these names.
    """

    read: Callable[[], Iterable[Sequence[Treebank]]]
    runs: tuple[str, ...]
    average: bool = False
    gold: bool = False
    called: Mapping[str, str] = field(default_factory=dict)

    @staticmethod
    def of(
        runs: Mapping[str, Treebank], average: Treebank | None, gold: Treebank | None
    ) -> ParallelTreebanks:
        """Make it of whole treebanks."""
        banks = [*runs.values(), *(bank for bank in (average, gold) if bank is not None)]
        return ParallelTreebanks(lambda: [banks], tuple(runs), average is not None, gold is not None)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all but gold."""
        return (*self.runs, AVERAGE) if self.average else self.runs

    def batches(self) -> Iterator[tuple[dict[str, Treebank], Treebank | None]]:
        """Yield treebanks by name, and gold; at least once."""
        empty = True
        for batch in self.read():
            empty = False
            yield self._named(batch)
        if empty:
            yield self._named([Treebank.empty()] * (len(self.names) + self.gold))

    def _named(self, batch: Sequence[Treebank]) -> tuple[dict[str, Treebank], Treebank | None]:
        return dict(zip(self.names, batch)), batch[-1] if self.gold else None


@dataclass(frozen=True, eq=False)
class Part:
    """Some sentences of all treebanks, over the same words.

    Parameters
    ----------
    banks : runs, and perhaps the average, by name; `gold` : the gold trees. All are without punctuation.
    whole : the sentences with their punctuation; `removed` : bool[N], which of their words are that.
    sentences : int64[S], their places in the treebanks that were given.
    dropped : by reason, the names of sentences left out.
    first : how many sentences were given before these.
    """

    banks: dict[str, Treebank]
    gold: Treebank | None
    whole: Treebank
    removed: Flags
    sentences: Ints
    dropped: Mapping[str, tuple[str, ...]]
    first: int


class Parts:
    """All parts, to be gone through again and again; a single one is kept.

    Attributes
    ----------
    single : whether one part is all.
    """

    def __init__(
        self,
        given: ParallelTreebanks,
        protocol: Protocol,
        *,
        match: Match,
        punctuation: str | Collection[str],
        ignore_case: bool,
    ) -> None:
        self._given, self._protocol = given, protocol
        self._options: dict[str, Any] = {"match": match, "ignore_case": ignore_case}
        begun = list(islice(given.batches(), 2))
        self.single = len(begun) < 2
        batches = begun if self.single else given.batches()
        self._whole: Whole | None = None
        if given.gold:
            self._rule = _rule_of((gold for _, gold in batches if gold is not None), protocol, punctuation)
        else:
            self._whole = Whole.of((self._called(banks) for banks, _ in batches), punctuation)
        self._kept = list(self._aligned(begun)) if self.single else []

    def __iter__(self) -> Iterator[Part]:
        return iter(self._kept) if self.single else self._aligned(self._given.batches())

    @cached_property
    def runs(self) -> Runs:
        """The runs alone."""
        return Runs(self, self._given.runs)

    def _aligned(self, batches: Iterable[tuple[dict[str, Treebank], Treebank | None]]) -> Iterator[Part]:
        first = 0
        for banks, gold in batches:
            yield self._alone(banks, first) if gold is None else self._with_gold(banks, gold, first)
            first += len(next(iter(banks.values())) if gold is None else gold)

    def _with_gold(self, banks: Mapping[str, Treebank], gold: Treebank, first: int) -> Part:
        """Align all with gold, which tells what is punctuation."""
        options = {**self._options, "punctuation": self._rule, "first": first}
        called = {name: name for name in banks} | {"gold": "the gold"} | dict(self._given.called)
        pairs = {
            name: align(bank, gold, self._protocol, names=(called[name], called["gold"]), **options)
            for name, bank in banks.items()
        }
        pair = next(iter(pairs.values()))
        _, removed = removed_words(gold, self._protocol, self._rule)
        return Part(
            {name: one.predicted.with_columns(words=pair.gold.words) for name, one in pairs.items()},
            pair.gold,
            gold.take(pair.sentences),
            removed[gather(gold.word_offsets, pair.sentences)],
            pair.sentences + first,
            {why: sentence_names(gold, places, first) for why, places in pair.dropped.items()},
            first,
        )

    def _called(self, banks: Mapping[str, Treebank]) -> dict[str, Treebank]:
        """Return treebanks by what errors call them."""
        return {self._given.called.get(name, name): bank for name, bank in banks.items()}

    def _alone(self, banks: Mapping[str, Treebank], first: int) -> Part:
        """Align runs with each other, where there is no gold."""
        assert self._whole is not None
        found = bring_together(
            self._called(banks), self._protocol, whole=self._whole, first=first, **self._options
        )
        whole = found.whole.take(found.sentences)
        kept = np.zeros(len(whole.words), dtype=bool)
        kept[np.repeat(whole.word_offsets[:-1], found.runs[0].lengths) + found.positions] = True
        return Part(
            dict(zip(banks, found.runs, strict=True)),
            None,
            whole,
            ~kept,
            found.sentences + first,
            {why: sentence_names(found.whole, places, first) for why, places in found.dropped.items()},
            first,
        )


class Runs:
    """The runs of all parts, without punctuation, to be gone through again and again."""

    def __init__(self, parts: Parts, names: Sequence[str]) -> None:
        self._parts, self._names = parts, names
        self.single = parts.single

    def __iter__(self) -> Iterator[list[Treebank]]:
        for part in self._parts:
            yield [part.banks[name] for name in self._names]

    @cached_property
    def frequencies(self) -> Sequence[Frequencies] | None:
        """How often labels occur, which decides ties; None where one part is all, and counted by itself."""
        return None if self.single else count_labels(self)


def _rule_of(
    golds: Iterable[Treebank], protocol: Protocol, punctuation: str | Collection[str]
) -> str | Collection[str]:
    """Return how gold trees tell punctuation: by tag if any of them has such tags, else by word."""
    asked = Scoring(protocol, punctuation=punctuation)
    rule = punctuation
    for gold in golds:
        rule = asked.settled(gold).punctuation
        if rule in (punctuation, "tag"):
            break
    return rule
