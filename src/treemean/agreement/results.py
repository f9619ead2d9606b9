"""What is found out about the agreement of runs, as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from treemean.agreement.chance import Chance, of_pairs, plain, with_others
from treemean.agreement.units import Flags, Floats, Units
from treemean.evaluation import Protocol
from treemean.trees import Treebank, bitsets
from treemean.trees.bitsets import Ints
from treemean.trees.html import html_table


def by_dispute(dispute: Floats) -> Ints:
    """Return the places of the most disputed sentences first, equally disputed ones as they come."""
    return np.argsort(-dispute, kind="stable")


class DisputedSentence(NamedTuple):
    """How much runs disagree about a sentence.

    Parameters
    ----------
    sentence : its number in the treebanks that were given, from 1; `id` : its id, empty if it has none.
    words : its words without punctuation.
    dispute : 1 − the mean F1 of the average tree with the trees of the runs, from 0 to 1.
    constituents : how many constituents some runs have and others do not.
    """

    sentence: int
    id: str
    words: tuple[str, ...]
    dispute: float
    constituents: int


class Disputed(NamedTuple):
    """A constituent that some runs have and others do not.

    Parameters
    ----------
    sentence, id : where it is, as in `DisputedSentence`; `dispute` : that of the sentence.
    positions : its words, counted from 0 in the sentence with its punctuation; `words` : their texts.
    label : its label; None where labels do not count.
    copy : the how-manieth of equal labels over the same words it is; 1 but for NP over NP.
    share : how many of the runs have it, from 0 to 1; `runs` : their names.
    in_average : whether the average tree has it.
    """

    sentence: int
    id: str
    dispute: float
    positions: tuple[int, ...]
    words: tuple[str, ...]
    label: str | None
    copy: int
    share: float
    runs: tuple[str, ...]
    in_average: bool


@dataclass(frozen=True, eq=False)
class AgreementResult:
    """What can be told about the agreement of K runs on S sentences, however it is held.

    Parameters
    ----------
    runs : their names.
    protocol : what counts.
    f1 : float64[K, K], F1 of each pair in percent, counts pooled over sentences; NaN for 0 of 0.
    chance : what would be reached by chance, and agreement beyond it.
    dispute : float64[S], of every sentence 1 − the mean F1 of the average tree with those of the runs.
    dropped : by reason, the ids (or numbers, as `#12`) of the sentences left out.
    """

    runs: tuple[str, ...]
    protocol: Protocol
    f1: Floats
    chance: Chance
    dispute: Floats
    dropped: Mapping[str, tuple[str, ...]]

    @property
    def unproven(self) -> int:
        """How many averages are not proven to be the best."""
        raise NotImplementedError

    def disputed_sentences(self) -> Iterator[DisputedSentence]:
        """Yield all sentences in order of dispute."""
        raise NotImplementedError

    def disputed(self) -> Iterator[Disputed]:
        """Yield the constituents that some runs have and others do not, sentences in order of dispute."""
        raise NotImplementedError

    @property
    def means(self) -> Floats:
        """float64[K]: the mean F1 of each run with the others."""
        return with_others(self.f1)

    @property
    def order(self) -> Ints:
        """int64[S]: the sentences in order of dispute."""
        return by_dispute(self.dispute)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but single constituents (see `disputed`) as JSON-ready data; 0 of 0 is None."""
        return {**self.summary(), "disputed_sentences": [*self.sentence_entries()]}

    def summary(self) -> dict[str, Any]:
        """Return all that does not grow with the number of sentences, but for the names of those left out."""
        return {
            "runs": list(self.runs),
            "f1": plain(self.f1),
            "mean_f1": plain(self.means),
            "overall_f1": plain(np.array([of_pairs(self.f1)]))[0],
            "chance": self.chance.to_dict(),
            "protocol": {"name": self.protocol.name, "labelled": self.protocol.labelled},
            "sentences": len(self.dispute),
            "dropped": {
                why: {"count": len(names), "sentences": list(names)} for why, names in self.dropped.items()
            },
        }

    def sentence_entries(self) -> Iterator[dict[str, Any]]:
        """Yield what is told of sentences, in order of dispute, JSON-ready."""
        for found in self.disputed_sentences():
            yield {**found._asdict(), "words": list(found.words)}


@dataclass(frozen=True, eq=False)
class Agreement(AgreementResult):
    """How much K runs agree with each other on S sentences, and where they do not.

    Parameters
    ----------
    runs, protocol, f1, chance, dispute, dropped : as in `AgreementResult`.
    average : the average trees, without punctuation.
    sentences : int64[S], the places of the sentences in the treebanks that were given.
    units : what the runs have; `in_average` : bool[U], whether the average has it.
    positions : int64[N], where the words of `average` stand in the sentences as given.
    """

    average: Treebank
    sentences: Ints
    units: Units
    in_average: Flags
    positions: Ints

    @property
    def unproven(self) -> int:
        """How many averages are not proven to be the best."""
        return int((self.average.sentence_values["optimal"] == 0).sum())

    def __repr__(self) -> str:
        mean = float(np.nanmean(self.means)) if len(self.means) else 0.0
        return f"<Agreement: {len(self.runs)} runs, {len(self.dispute)} sentences, mean F1 {mean:.2f}>"

    def _repr_html_(self) -> str:
        """Return the table that notebooks show: F1 of each pair."""
        rows = [
            [name, *(None if np.isnan(score) else score for score in [*row, mean])]
            for name, row, mean in zip(self.runs, self.f1.tolist(), self.means.tolist(), strict=True)
        ]
        return html_table(["F1", *self.runs, "mean"], rows, notes=[f"{len(self.dispute):,} sentences"])

    def disputed_sentences(self) -> Iterator[DisputedSentence]:
        """Yield all sentences in order of dispute."""
        amounts = self.units.per_sentence(self._is_disputed)
        for s in self.order.tolist():
            start, stop = self.average.word_offsets[s : s + 2].tolist()
            yield DisputedSentence(
                int(self.sentences[s]) + 1,
                self.average.ids[s],
                self.average.words.decode(start, stop),
                float(self.dispute[s]),
                int(amounts[s]),
            )

    def disputed(self) -> Iterator[Disputed]:
        """Yield the constituents that some runs have and others do not, sentences in order of dispute."""
        place = np.empty(len(self.dispute), dtype=np.int64)
        place[self.order] = np.arange(len(place))
        units = np.flatnonzero(self._is_disputed)
        words, given = self.average.words.tolist(), self.positions.tolist()
        for unit in units[np.argsort(place[self.units.sentence[units]], kind="stable")].tolist():
            s = int(self.units.sentence[unit])
            start = int(self.average.word_offsets[s])
            mask = int.from_bytes(self.units.bits[unit].astype("<u8").tobytes(), "little")
            tokens = [start + position for position in bitsets.positions_of(mask)]
            has = self.units.has[unit].tolist()
            yield Disputed(
                int(self.sentences[s]) + 1,
                self.average.ids[s],
                float(self.dispute[s]),
                tuple(given[token] for token in tokens),
                tuple(words[token] for token in tokens),
                self.units.labels[unit] if self.protocol.labelled else None,
                int(self.units.copy[unit]),
                sum(has) / len(has),
                tuple(name for name, there in zip(self.runs, has, strict=True) if there),
                bool(self.in_average[unit]),
            )

    @property
    def _is_disputed(self) -> Flags:
        return np.asarray(~self.units.has.all(axis=1))
