"""Agreement of runs that are read side by side, batch by batch, in memory that hardly grows.

Counts are added up; what there is to tell of single sentences goes to temporary files. Memory holds 16 bytes
of a sentence, and 24 where constituents are told, too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from treemean.agreement.chance import Chance, f1_of
from treemean.agreement.results import Agreement, AgreementResult, Disputed, DisputedSentence
from treemean.agreement.scores import agree_together
from treemean.agreement.spilled import ChanceSums, Spill
from treemean.agreement.together import Together, Whole, bring_together
from treemean.agreement.units import Floats
from treemean.averaging import count_labels
from treemean.evaluation import Protocol, get_protocol
from treemean.trees import Treebank

#: Reads the runs from the beginning: lists of equally long batches.
Reading = Callable[[], Iterable[Sequence[Treebank]]]


@dataclass(frozen=True, eq=False)
class StreamedAgreement(AgreementResult):
    """What `Agreement` tells, but for the trees and columns of single sentences.

    `sentences` and `constituents` hold what is told of these, by place; the latter is None if nobody asked.
    """

    not_proven: int
    sentences: Spill
    constituents: Spill | None

    @property
    def unproven(self) -> int:
        """How many averages are not proven to be the best."""
        return self.not_proven

    def disputed_sentences(self) -> Iterator[DisputedSentence]:
        """Yield all sentences in order of dispute."""
        for s in self.order.tolist():
            sentence, id, words, *told = self.sentences[s]
            yield DisputedSentence(sentence, id, tuple(words), *told)

    def disputed(self) -> Iterator[Disputed]:
        """Yield the constituents that some runs have and others do not, sentences in order of dispute."""
        if self.constituents is None:
            raise ValueError("constituents were not kept")
        for s in self.order.tolist():
            for record in self.constituents[s]:
                told = Disputed(*record)
                yield told._replace(
                    positions=tuple(told.positions), words=tuple(told.words), runs=tuple(told.runs)
                )


def agree_batches(
    read: Reading,
    names: Sequence[str],
    *,
    labelled: bool = False,
    punctuation: str | Collection[str] = "auto",
    ignore_case: bool = False,
    jobs: int | None = None,
    constituents: bool = True,
) -> StreamedAgreement:
    """Return how much runs agree, as `agree` does; they have the same sentences in the same order.

    Everything is read twice, and with labels, whose frequencies decide ties, three times. The parameters are
    those of `agree`; `constituents` says whether disputed ones will be asked for.
    """
    protocol = get_protocol("standard", labelled=labelled)
    whole = Whole.of((dict(zip(names, batch, strict=True)) for batch in read()), punctuation)

    def parts() -> Iterator[tuple[int, Together]]:
        first = 0
        for batch in read():
            named = dict(zip(names, batch, strict=True))
            yield (
                first,
                bring_together(
                    named, protocol, match="position", whole=whole, ignore_case=ignore_case, first=first
                ),
            )
            first += len(batch[0])

    frequencies = count_labels(part.runs for _, part in parts()) if labelled else None
    found = _Sums(names, protocol, constituents)
    for first, part in parts():
        found.add(
            agree_together(tuple(names), protocol, part, jobs=jobs, frequencies=frequencies, first=first)
        )
    pairs = found.pairs.result()
    return StreamedAgreement(
        pairs.runs,
        pairs.protocol,
        pairs.f1,
        pairs.chance,
        np.concatenate(found.dispute) if found.dispute else np.zeros(0),
        found.dropped,
        found.unproven,
        found.sentences,
        found.constituents,
    )


@dataclass(frozen=True, eq=False)
class PairAgreement:
    """How far each pair of runs agrees; the parameters are those of `Agreement`."""

    runs: tuple[str, ...]
    protocol: Protocol
    f1: Floats
    chance: Chance


class PairSums:
    """Adds up how far pairs of runs agree, part by part."""

    def __init__(self, names: Sequence[str], protocol: Protocol) -> None:
        self._names, self._protocol = tuple(names), protocol
        self._shared = np.zeros((len(names), len(names)))
        self._chance = ChanceSums(len(names))

    def add(self, part: Agreement) -> None:
        """Add the part that follows."""
        self._shared += part.units.shared()
        self._chance.add(part.units)

    def result(self) -> PairAgreement:
        """Return the agreement in all parts."""
        f1 = f1_of(self._shared, np.diag(self._shared))
        return PairAgreement(self._names, self._protocol, f1, self._chance.result())


class _Sums:
    """Adds up the agreement of parts."""

    def __init__(self, names: Sequence[str], protocol: Protocol, constituents: bool) -> None:
        self.pairs = PairSums(names, protocol)
        self.dispute: list[Floats] = []
        self.dropped: dict[str, tuple[str, ...]] = {}
        self.unproven = 0
        self.sentences = Spill()
        self.constituents = Spill() if constituents else None

    def add(self, part: Agreement) -> None:
        """Add the part that follows."""
        self.pairs.add(part)
        self.dispute.append(part.dispute)
        self.unproven += part.unproven
        for why, names in part.dropped.items():
            self.dropped[why] = self.dropped.get(why, ()) + names
        for told in sorted(part.disputed_sentences()):  # by number
            self.sentences.add(told)
        if self.constituents is not None:
            by_sentence: dict[int, list[Disputed]] = {}
            for constituent in part.disputed():
                by_sentence.setdefault(constituent.sentence, []).append(constituent)
            for number in part.sentences.tolist():
                self.constituents.add(by_sentence.get(number + 1, []))
