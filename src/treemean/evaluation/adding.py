"""Evaluations of the parts of a treebank, added up: whole numbers, so the same as if it had been one.

What grows with the number of sentences is not kept, so that memory stays flat: neither counts of single
sentences nor their ids. Only the names of sentences that were dropped are.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping

import numpy as np

from treemean.evaluation.branching import BranchingCounts
from treemean.evaluation.protocols import Protocol
from treemean.evaluation.results import (
    METRICS,
    Confusion,
    Counts,
    Evaluation,
    LabelScore,
    LengthBin,
    Means,
    TagCounts,
)


class EvaluationSum:
    """Adds up evaluations by `evaluate_part`, in the order of the sentences."""

    def __init__(self, protocol: Protocol) -> None:
        self.protocol = protocol
        self._counts = {metric: Counts(0, 0, 0) for metric in METRICS}
        self._digest = hashlib.blake2b(digest_size=16)
        self._dropped: dict[str, tuple[str, ...]] = {}
        self._tags = TagCounts(0, 0, False, False)
        self._labels: tuple[dict[str, LabelScore], dict[str, LabelScore]] = ({}, {})
        self._confused: Counter[tuple[str, str]] = Counter()
        self._bins: dict[int, LengthBin] = {}
        self._cutoff: LengthBin | None = None
        self._branching = BranchingCounts()
        self.scored = self._exact = self._exact_of = self._gapped = 0

    def add(self, part: Evaluation) -> None:
        """Add the part that follows."""
        for metric in METRICS:
            self._counts[metric] = _added_counts(
                self._counts[metric], self.scored, part.counts(metric), part.scored
            )
        self.scored += part.scored
        self._exact += part.exact_matches
        self._exact_of += part.exact_of
        self._gapped += part.gold_fan_out_above_2
        self._digest.update(part.gold_digest.encode())
        for why, names in part.dropped.items():
            self._dropped[why] = self._dropped.get(why, ()) + names
        self._tags += part.tags or TagCounts(0, 0, False, False)
        for total, more in zip(self._labels, (part.by_label, part.by_label_discontinuous), strict=True):
            _add_labels(total, more)
        for confusion in part.confusions:
            self._confused[confusion.gold, confusion.predicted] += confusion.count
        for bin in part.by_length:
            self._bins[bin.shortest] = _added_bins(self._bins.get(bin.shortest), bin)
        if part.cutoff is not None:
            self._cutoff = _added_bins(self._cutoff, part.cutoff)
        self._branching += part.branching_counts

    def result(self) -> Evaluation:
        """Return the evaluation of all parts; it has no columns of single sentences."""
        nothing = np.empty(0, dtype=np.int64)
        confusions = [Confusion(*pair, count) for pair, count in self._confused.items()]
        return Evaluation(
            protocol=self.protocol,
            overall=self._counts["overall"],
            continuous=self._counts["continuous"],
            discontinuous=self._counts["discontinuous"],
            per_sentence={},
            sentences=nothing,
            ids=(),
            lengths=nothing,
            exact=np.empty(0, dtype=bool),
            scored=self.scored,
            exact_matches=self._exact,
            exact_of=self._exact_of,
            gold_digest=self._digest.hexdigest(),
            dropped=self._dropped,
            tags=self._tags,
            gold_fan_out_above_2=self._gapped,
            by_label=_sorted_labels(self._labels[0]),
            by_label_discontinuous=_sorted_labels(self._labels[1]),
            confusions=tuple(sorted(confusions, key=lambda c: (-c.count, c.gold, c.predicted))),
            by_length=tuple(self._bins[shortest] for shortest in sorted(self._bins)),
            cutoff=self._cutoff,
            branching_counts=self._branching,
        )


def _added_counts(a: Counts, of_a: int, b: Counts, of_b: int) -> Counts:
    """Add counts of so many sentences each; means are weighed by these."""
    means = a.means or b.means
    if a.means is not None and b.means is not None and of_a + of_b:
        means = Means(*((x * of_a + y * of_b) / (of_a + of_b) for x, y in zip(a.means, b.means, strict=True)))
    return Counts(a.matched + b.matched, a.predicted + b.predicted, a.gold + b.gold, means)


def _add_labels(total: dict[str, LabelScore], more: Mapping[str, LabelScore]) -> None:
    for label, score in more.items():
        before = total.get(label, LabelScore(0, 0, None if score.predicted is None else 0))
        predicted = None if score.predicted is None else (before.predicted or 0) + score.predicted
        total[label] = LabelScore(before.matched + score.matched, before.gold + score.gold, predicted)


def _sorted_labels(scores: Mapping[str, LabelScore]) -> dict[str, LabelScore]:
    return dict(sorted(scores.items(), key=lambda item: (-item[1].gold, item[0])))


def _added_bins(a: LengthBin | None, b: LengthBin) -> LengthBin:
    if a is None:
        return b
    return LengthBin(
        shortest=b.shortest,
        longest=b.longest,
        sentences=a.sentences + b.sentences,
        overall=_added_counts(a.overall, a.sentences, b.overall, b.sentences),
        continuous=_added_counts(a.continuous, a.sentences, b.continuous, b.sentences),
        discontinuous=_added_counts(a.discontinuous, a.sentences, b.discontinuous, b.sentences),
        exact_matches=a.exact_matches + b.exact_matches,
        exact_of=a.exact_of + b.exact_of,
        tags=(a.tags or TagCounts(0, 0, False, False)) + (b.tags or TagCounts(0, 0, False, False)),
    )
