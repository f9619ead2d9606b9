"""What a report is about: trees of the same sentences, side by side, and what is known about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from treemean.agreement.results import by_dispute
from treemean.agreement.streaming import PairAgreement
from treemean.agreement.units import Floats
from treemean.evaluation import Evaluation, Protocol
from treemean.evaluation.results import SentenceCounts
from treemean.evaluation.scores import Flags
from treemean.trees import Treebank
from treemean.trees.bitsets import Ints

#: Values of constituents that tell whether they count under the protocol, and whether gold has them.
SCORED, RIGHT = "scored", "right"

Kind = Literal["gold", "average", "run"]


@dataclass(frozen=True, eq=False)
class Side:
    """One tree of every sentence that can be explored.

    Parameters
    ----------
    trees : without punctuation; their constituents have the values `scored` and `right`, perhaps
        `probability`.
    weight : of a run in the average; 0 if it has no say.
    evaluation : its scores, of all sentences; None for gold, and where there is no gold.
    scores : the counts of each sentence that can be explored, likewise.
    """

    name: str
    kind: Kind
    trees: Treebank
    weight: float = 0.0
    evaluation: Evaluation | None = None
    scores: SentenceCounts | None = None


@dataclass(frozen=True, eq=False)
class Subject:
    """Everything that a report tells.

    Parameters
    ----------
    title : of the report.
    protocol : what counts.
    sides : gold first, where there is any, then the average, then the runs.
    whole : the sentences that can be explored with their punctuation, and tags where there are any.
    removed : bool[N], which words of `whole` are punctuation.
    sentences : int64[S], the places of these sentences in the treebanks that were given.
    dispute : float64[S], how much runs disagree about each of them.
    count, words : how many sentences there are in all, and words without punctuation.
    agreement : of the runs, on all sentences; None for a single run.
    dropped : by reason, the sentences left out.
    summary : sentences that open the report, written by who knows what the numbers mean.
    rows : further scores for the table (baselines, the binary average), by name.
    stars : by metric, marks behind the scores of the average.
    curves : by run, what was measured after every epoch of its training.
    confidence : what `fit` reports about its probabilities.
    facts : where all this comes from, by what it is.
    """

    title: str
    protocol: Protocol
    sides: tuple[Side, ...]
    whole: Treebank
    removed: Flags
    sentences: Ints
    dispute: Floats
    count: int
    words: int
    agreement: PairAgreement | None
    dropped: Mapping[str, tuple[str, ...]]
    summary: Sequence[str] = ()
    rows: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    stars: Mapping[str, str] = field(default_factory=dict)
    curves: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    confidence: Mapping[str, Any] | None = None
    facts: Mapping[str, str] = field(default_factory=dict)

    @property
    def order(self) -> Ints:
        """int64[S]: the sentences in order of dispute."""
        return by_dispute(self.dispute)

    @property
    def gold(self) -> Side | None:
        """The gold trees."""
        return next((side for side in self.sides if side.kind == "gold"), None)

    @property
    def average(self) -> Side | None:
        """The average; None for a single run."""
        return next((side for side in self.sides if side.kind == "average"), None)

    @property
    def runs(self) -> list[Side]:
        """The runs."""
        return [side for side in self.sides if side.kind == "run"]

    @property
    def main(self) -> Side:
        """What the report is mostly about: the average, or the only run."""
        return self.average or self.runs[0]
