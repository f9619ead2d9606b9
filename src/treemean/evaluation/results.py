"""What an evaluation finds, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from treemean.errors import TreemeanError, no_such
from treemean.evaluation.branching import Branching, BranchingCounts
from treemean.evaluation.protocols import Level, Protocol
from treemean.names import Metric
from treemean.trees.bitsets import Ints
from treemean.trees.html import Cell, html_table

METRICS: tuple[Metric, ...] = get_args(Metric)
Floats = NDArray[np.float64]


class Means(NamedTuple):
    """Means over sentences, in percent."""

    precision: float
    recall: float
    f1: float


class Shown(NamedTuple):
    """Scores in percent; None where there is nothing to score."""

    f1: float | None
    precision: float | None
    recall: float | None


@dataclass(frozen=True)
class Counts:
    """Matched, predicted and gold constituents, and the scores that follow, in percent.

    `means` holds means over sentences where a protocol asks for them; they then take the place of the scores
    of the pooled counts. Of pooled counts a score whose denominator is 0 is 0 as a number, as in the programs
    that report such scores; `shown` and `to_dict` tell it as None, and tables as –.

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

    @property
    def shown(self) -> Shown:
        """F1, precision and recall; None for 0 of 0, which is no score."""
        if self.means:
            return Shown(self.f1, self.precision, self.recall)
        return Shown(
            self.f1 if self.predicted + self.gold else None,
            self.precision if self.predicted else None,
            self.recall if self.gold else None,
        )

    def to_dict(self) -> dict[str, float | int | None]:
        """Return scores and counts by name; 0 of 0 is None."""
        return {
            **self.shown._asdict(),
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

    def __getitem__(self, index: slice | NDArray[Any]) -> SentenceCounts:
        return SentenceCounts(self.matched[index], self.predicted[index], self.gold[index])

    def take(self, chosen: NDArray[Any]) -> SentenceCounts:
        """Return the counts of some sentences."""
        return self[chosen]

    def total(self, level: Level) -> Counts:
        """Return the pooled counts, with means over sentences if the level is `"sentence"`."""
        means = None
        if level == "sentence":
            columns = (self.precision, self.recall, self.f1)
            means = Means(*(float(column.mean()) if len(self) else 0.0 for column in columns))
        return Counts(int(self.matched.sum()), int(self.predicted.sum()), int(self.gold.sum()), means)


@dataclass(frozen=True)
class LabelScore:
    """How constituents with a label were found.

    Parameters
    ----------
    matched : of the gold constituents with the label, those found: with labels, those predicted with that
        label; without, those whose set of words was predicted.
    gold : gold constituents with the label.
    predicted : predicted ones; None where labels are not compared, so that there are no F1 and precision.
    """

    matched: int
    gold: int
    predicted: int | None = None

    @property
    def recall(self) -> float:
        """Share of the gold ones that were found, in percent."""
        return _percent(self.matched, self.gold)

    @property
    def precision(self) -> float | None:
        """Share of the predicted ones that are in the gold, in percent."""
        return None if self.predicted is None else _percent(self.matched, self.predicted)

    @property
    def f1(self) -> float | None:
        """Harmonic mean of precision and recall."""
        return None if self.predicted is None else _percent(2 * self.matched, self.predicted + self.gold)

    def to_dict(self) -> dict[str, float | int | None]:
        """Return scores and counts by name; a share of nothing is None."""
        if self.predicted is None:
            return {"recall": self.recall, "matched": self.matched, "gold": self.gold}
        return Counts(self.matched, self.predicted, self.gold).to_dict()


@dataclass(frozen=True)
class Confusion:
    """How often a gold label was predicted as another one over the same words."""

    gold: str
    predicted: str
    count: int

    def to_dict(self) -> dict[str, str | int]:
        """Return all fields by name."""
        return {"gold": self.gold, "predicted": self.predicted, "count": self.count}


@dataclass(frozen=True)
class TagCounts:
    """How many words there are, and how many of them have the gold part-of-speech tag.

    `predicted_told` and `gold_told` say whether a side has any tags.
    """

    matched: int
    words: int
    predicted_told: bool = True
    gold_told: bool = True

    def __add__(self, other: TagCounts) -> TagCounts:
        return TagCounts(
            self.matched + other.matched,
            self.words + other.words,
            self.predicted_told or other.predicted_told,
            self.gold_told or other.gold_told,
        )

    @property
    def told(self) -> bool:
        """Whether both sides have tags."""
        return self.predicted_told and self.gold_told

    @property
    def accuracy(self) -> float:
        """Share of the words with the gold tag, in percent."""
        return _percent(self.matched, self.words)

    def to_dict(self) -> dict[str, float | int | None]:
        """Return accuracy and counts by name."""
        accuracy = self.accuracy if self.words else None
        return {"accuracy": accuracy, "matched": self.matched, "words": self.words}


@dataclass(frozen=True)
class LengthBin:
    """The scores of the sentences of `shortest` to `longest` words (None: no end).

    `exact_of` is the number of sentences that `exact_matches` are counted among.
    """

    shortest: int
    longest: int | None
    sentences: int
    overall: Counts
    continuous: Counts
    discontinuous: Counts
    exact_matches: int
    exact_of: int
    tags: TagCounts | None

    @property
    def exact_match(self) -> float:
        """Share of the sentences that are exact matches, in percent."""
        return _percent(self.exact_matches, self.exact_of)

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
            "exact_match": self.exact_match if self.exact_of else None,
            "exact_matches": self.exact_matches,
            "tags": None if self.tags is None else self.tags.to_dict(),
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
    sentences : int64[S], the places of these sentences in the gold treebank; `ids` : their ids, empty where
        they have none; `lengths` : int64[S], their words without punctuation.
    exact : bool[S], whether exactly the gold constituents were predicted, as the protocol counts them.
    scored, exact_matches : how many sentences were scored, and how many of them are exact matches. Where an
        evaluation was added up of many parts, only this is known of single sentences, and columns are empty.
    exact_of : how many sentences `exact_match` is a share of.
    gold_digest : a fingerprint of the gold words and constituents that were scored.
    dropped : by reason, the ids (or numbers, as `#12`) of the gold sentences left out.
    tags : how many words have the gold part-of-speech tag; None where a side has no tags.
    gold_fan_out_above_2 : gold constituents with more than one gap.
    by_label, by_label_discontinuous : scores by label, frequent gold labels first. With labels F1; without,
        recall by gold label: a constituent is found if its set of words was predicted, however many
        constituents share it.
    confusions : which labels were taken for which over the same words; nothing without labels.
    by_length : scores by sentence length, without punctuation.
    cutoff : scores of the sentences up to the length that a parameter file tells, measured as it says.
    branching_counts : how the predicted trees branch.
    """

    protocol: Protocol
    overall: Counts
    continuous: Counts
    discontinuous: Counts
    per_sentence: Mapping[Metric, SentenceCounts]
    sentences: Ints
    ids: tuple[str, ...]
    lengths: Ints
    exact: NDArray[np.bool_]
    scored: int
    exact_matches: int
    exact_of: int
    gold_digest: str
    dropped: Mapping[str, tuple[str, ...]]
    tags: TagCounts | None
    gold_fan_out_above_2: int
    by_label: Mapping[str, LabelScore]
    by_label_discontinuous: Mapping[str, LabelScore]
    confusions: tuple[Confusion, ...]
    by_length: tuple[LengthBin, ...]
    cutoff: LengthBin | None
    branching_counts: BranchingCounts

    @property
    def branching(self) -> Branching:
        """Statistics of the predicted trees."""
        return self.branching_counts.statistics

    @property
    def exact_match(self) -> float:
        """Share of the sentences that are exact matches, in percent."""
        return _percent(self.exact_matches, self.exact_of)

    @property
    def tag_accuracy(self) -> float | None:
        """Share of the words with the gold part-of-speech tag, in percent; None where there are no tags."""
        return self.tags.accuracy if self.tags is not None and self.tags.words else None

    @property
    def sentence_f1(self) -> Floats:
        """float64[S]: the overall F1 of every sentence, in percent."""
        return self.per_sentence["overall"].f1

    def counts(self, metric: Metric) -> Counts:
        """Return the counts and scores of a metric by its name."""
        if metric not in METRICS:
            raise TreemeanError(no_such("metric", metric, METRICS))
        found: Counts = getattr(self, metric)
        return found

    def __repr__(self) -> str:
        scores = ", ".join(f"{metric} {_brief(self.counts(metric).shown.f1)}" for metric in METRICS)
        kind = ", labelled" if self.protocol.labelled else ""
        count = len(self.sentences)
        sentences = f"{count} sentence{'s' * (count != 1)}"
        return f"<Evaluation: F1 {scores}; {sentences}, {self.protocol.name}{kind}>"

    def _repr_html_(self) -> str:
        """Return the table that notebooks show."""
        rows: list[list[Cell]] = []
        for metric in METRICS:
            c = self.counts(metric)
            rows.append([metric, *(map(_brief, c.shown)), c.matched, c.predicted, c.gold])
        rows.append(["exact match", _brief(self.exact_match if self.exact_of else None), *[None] * 5])
        if self.tags is not None:
            rows.append(["tag accuracy", _brief(self.tag_accuracy), *[None] * 5])
        dropped = "".join(f"; {len(names):,} dropped ({why})" for why, names in self.dropped.items())
        kind = ", labelled" if self.protocol.labelled else ""
        return html_table(
            ["", "F1", "precision", "recall", "matched", "predicted", "gold"],
            rows,
            notes=[f"{len(self.sentences):,} sentences, protocol {self.protocol.name}{kind}{dropped}"],
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the counts of single sentences as JSON-ready data."""
        limit = self.protocol.max_gold_fan_out
        return {
            **{metric: self.counts(metric).to_dict() for metric in METRICS},
            "protocol": {
                "name": self.protocol.name,
                "labelled": self.protocol.labelled,
                "used_by": self.protocol.used_by,
                "conventions": self.protocol.conventions(),
            },
            "sentences": self.scored,
            "dropped": {
                why: {"count": len(names), "sentences": list(names)} for why, names in self.dropped.items()
            },
            "gold_fan_out_above_2": self.gold_fan_out_above_2,
            "gold_fan_out_above_2_left_out": limit is not None and limit <= 2,
            "exact_match": self.exact_match if self.exact_of else None,
            "exact_matches": self.exact_matches,
            "tags": None if self.tags is None else self.tags.to_dict(),
            "by_label": {label: score.to_dict() for label, score in self.by_label.items()},
            "by_label_discontinuous": {
                label: score.to_dict() for label, score in self.by_label_discontinuous.items()
            },
            "confusions": [confusion.to_dict() for confusion in self.confusions],
            "by_length": [part.to_dict() for part in self.by_length],
            "cutoff": None if self.cutoff is None else self.cutoff.to_dict(),
            "branching": self.branching.to_dict(),
        }


def _brief(score: float | None) -> str:
    return "–" if score is None else f"{score:.2f}"


def _percent(part: int, whole: int) -> float:
    return 100 * (part / whole) if whole else 0.0


def _percents(part: Ints, whole: Ints, where_nothing: Floats) -> Floats:
    return np.where(whole > 0, 100 * (part / np.maximum(whole, 1)), where_nothing)
