"""What an evaluation finds, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treemean.errors import TreemeanError
from treemean.evaluation.branching import Branching
from treemean.evaluation.protocols import Level, Protocol
from treemean.trees.bitsets import Ints

Metric = Literal["overall", "continuous", "discontinuous"]
METRICS: tuple[Metric, ...] = ("overall", "continuous", "discontinuous")
Floats = NDArray[np.float64]


class Means(NamedTuple):
    """Means over sentences, in percent."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True)
class Counts:
    """Matched, predicted and gold constituents, and the scores that follow, in percent.

    `means` holds means over sentences where a protocol asks for them; they then take the place of the scores
    of the pooled counts. Of pooled counts a score whose denominator is 0 is 0, as in the programs that report
    such scores; `predicted` and `gold` tell whether there was anything to score.

    >>> Counts(matched=1, predicted=2, gold=4)
    Counts(1 matched, 2 predicted, 4 gold: F1 33.33, precision 50.00, recall 25.00)
    """

    matched: int
    predicted: int
    gold: int
    means: Means | None = None

    @property
    def precision(self) -> float:
        """Share of the predicted constituents that are in the gold."""
        return self.means.precision if self.means else _percent(self.matched, self.predicted)

    @property
    def recall(self) -> float:
        """Share of the gold constituents that were predicted."""
        return self.means.recall if self.means else _percent(self.matched, self.gold)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return self.means.f1 if self.means else _percent(2 * self.matched, self.predicted + self.gold)

    @property
    def false_positives(self) -> int:
        """Predicted constituents that are not in the gold."""
        return self.predicted - self.matched

    @property
    def false_negatives(self) -> int:
        """Gold constituents that were not predicted."""
        return self.gold - self.matched

    def to_dict(self) -> dict[str, float | int]:
        """Return scores and counts by name."""
        return {
            "f1": self.f1,
            "precision": self.precision,
            "recall": self.recall,
            "matched": self.matched,
            "predicted": self.predicted,
            "gold": self.gold,
        }

    def __repr__(self) -> str:
        return (
            f"Counts({self.matched} matched, {self.predicted} predicted, {self.gold} gold: F1 {self.f1:.2f}, "
            f"precision {self.precision:.2f}, recall {self.recall:.2f})"
        )


@dataclass(frozen=True, eq=False)
class SentenceCounts:
    """Matched, predicted and gold constituents of each sentence: int64[S] each.

    Scores of a sentence are in percent. Without gold constituents its recall is 100, and its precision is 100
    if nothing was predicted; a prediction of nothing where there is something has precision 0.
    """

    matched: Ints
    predicted: Ints
    gold: Ints

    @property
    def precision(self) -> Floats:
        """float64[S]."""
        return _percents(self.matched, self.predicted, np.where(self.gold == 0, 100.0, 0.0))

    @property
    def recall(self) -> Floats:
        """float64[S]."""
        return _percents(self.matched, self.gold, np.full(len(self.gold), 100.0))

    @property
    def f1(self) -> Floats:
        """float64[S]; one division of whole numbers, so that equal scores are equal floats."""
        return _percents(2 * self.matched, self.predicted + self.gold, np.full(len(self.gold), 100.0))

    def __add__(self, other: SentenceCounts) -> SentenceCounts:
        return SentenceCounts(
            self.matched + other.matched, self.predicted + other.predicted, self.gold + other.gold
        )

    def __len__(self) -> int:
        return len(self.matched)

    def take(self, chosen: NDArray[Any]) -> SentenceCounts:
        """Return the counts of some sentences."""
        return SentenceCounts(self.matched[chosen], self.predicted[chosen], self.gold[chosen])

    def total(self, level: Level) -> Counts:
        """Return the pooled counts, with means over sentences if the level is `"sentence"`."""
        means = None
        if level == "sentence":
            columns = (self.precision, self.recall, self.f1)
            means = Means(*(float(column.mean()) if len(self) else 0.0 for column in columns))
        return Counts(int(self.matched.sum()), int(self.predicted.sum()), int(self.gold.sum()), means)


@dataclass(frozen=True)
class LabelRecall:
    """How many gold constituents with a label there are, and of how many the words were predicted."""

    matched: int
    gold: int

    @property
    def recall(self) -> float:
        """Share of them whose set of words was predicted, in percent."""
        return _percent(self.matched, self.gold)

    def to_dict(self) -> dict[str, float | int]:
        """Return recall and counts by name."""
        return {"recall": self.recall, "matched": self.matched, "gold": self.gold}


@dataclass(frozen=True)
class LengthBin:
    """The scores of the sentences of `shortest` to `longest` words (None: no end), without punctuation."""

    shortest: int
    longest: int | None
    sentences: int
    overall: Counts
    continuous: Counts
    discontinuous: Counts

    @property
    def name(self) -> str:
        """The lengths, as `11-20` or `51+`."""
        return f"{self.shortest}+" if self.longest is None else f"{self.shortest}-{self.longest}"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready data."""
        return {
            "length": self.name,
            "sentences": self.sentences,
            **{metric: getattr(self, metric).to_dict() for metric in METRICS},
        }


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The outcome of comparing a predicted with a gold treebank under a protocol.

    Parameters
    ----------
    protocol : the conventions.
    overall, continuous, discontinuous : counts and scores; a constituent is discontinuous if its words,
        without punctuation, have a gap.
    per_sentence : by metric, the counts of every sentence that was scored.
    sentences : int64[S], the places of these sentences in the gold treebank.
    gold_digest : a fingerprint of the gold words and constituents that were scored.
    dropped : by reason, the ids (or numbers, as `#12`) of the gold sentences left out.
    exact_matches : sentences in which exactly the gold constituents were predicted, as the protocol counts.
    gold_fan_out_above_2 : gold constituents with more than one gap.
    by_label, by_label_discontinuous : recall by gold label, frequent ones first; a gold constituent is found
        if its set of words was predicted, however many constituents share it.
    by_length : scores by sentence length.
    branching : statistics of the predicted trees.
    """

    protocol: Protocol
    overall: Counts
    continuous: Counts
    discontinuous: Counts
    per_sentence: Mapping[Metric, SentenceCounts]
    sentences: Ints
    gold_digest: str
    dropped: Mapping[str, tuple[str, ...]]
    exact_matches: int
    gold_fan_out_above_2: int
    by_label: Mapping[str, LabelRecall]
    by_label_discontinuous: Mapping[str, LabelRecall]
    by_length: tuple[LengthBin, ...]
    branching: Branching

    @property
    def exact_match(self) -> float:
        """Share of the sentences that are exact matches, in percent."""
        return _percent(self.exact_matches, len(self.sentences))

    @property
    def sentence_f1(self) -> Floats:
        """float64[S]: the overall F1 of every sentence, in percent."""
        return self.per_sentence["overall"].f1

    def counts(self, metric: Metric) -> Counts:
        """Return the counts and scores of a metric by its name."""
        if metric not in METRICS:
            raise TreemeanError(f"there is no metric {metric!r}; known ones are {', '.join(METRICS)}")
        found: Counts = getattr(self, metric)
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the counts of single sentences as JSON-ready data."""
        limit = self.protocol.max_gold_fan_out
        return {
            **{metric: self.counts(metric).to_dict() for metric in METRICS},
            "protocol": {
                "name": self.protocol.name,
                "used_by": self.protocol.used_by,
                "conventions": self.protocol.conventions(),
            },
            "sentences": len(self.sentences),
            "dropped": {
                why: {"count": len(names), "sentences": list(names)} for why, names in self.dropped.items()
            },
            "gold_fan_out_above_2": self.gold_fan_out_above_2,
            "gold_fan_out_above_2_left_out": limit is not None and limit <= 2,
            "exact_match": self.exact_match,
            "exact_matches": self.exact_matches,
            "by_label": {label: recall.to_dict() for label, recall in self.by_label.items()},
            "by_label_discontinuous": {
                label: recall.to_dict() for label, recall in self.by_label_discontinuous.items()
            },
            "by_length": [part.to_dict() for part in self.by_length],
            "branching": self.branching.to_dict(),
        }


def _percent(part: int, whole: int) -> float:
    return 100 * (part / whole) if whole else 0.0


def _percents(part: Ints, whole: Ints, where_nothing: Floats) -> Floats:
    return np.where(whole > 0, 100 * (part / np.maximum(whole, 1)), where_nothing)
