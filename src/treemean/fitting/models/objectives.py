"""What is maximised once the probabilities of candidates are known; each sentence is solved exactly.

- `SentenceObjective`: the weighted mean of F_β of the paper, with K times the probability as hits.
- `ExpectedObjective`: for each sentence 2 Σ p / (|T| + g), the expected matches over the size of the tree and
  the expected size g of the gold tree; by Dinkelbach's iteration.
- `CorpusObjective`: F1_overall + η F1_discontinuous of the whole corpus. Adding a candidate of probability p
  changes it in first order by (2p − O) / (P + G), and by η (2p − D) / (P_d + G_d) more if it is
  discontinuous, where O, D are the scores, P, P_d the predicted and G, G_d the gold counts. The trees that
  maximise the sum of these values have other scores, from which the next round starts; the best is kept.

Binary trees of a sentence all have the same number of constituents, so what a constituent costs by being
there (O, or the λ of Dinkelbach's iteration) is the same for all trees and left out: a proposed one is then
worth more than one that nobody proposed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from treemean.averaging import average
from treemean.errors import FormatError
from treemean.files import stored
from treemean.fitting.candidates import Candidates, Flags, Floats
from treemean.trees import Individual, Treebank
from treemean.trees.bitsets import Ints

#: How often scores and trees are computed from each other.
ROUNDS = 12


@dataclass(frozen=True)
class SentenceObjective:
    """The paper's objective with β."""

    beta: float = 1.0

    def arguments(
        self,
        runs: Sequence[Individual],
        candidates: Candidates,
        probabilities: Floats,
        jobs: int | None,
        binary: bool = False,
    ) -> dict[str, Any]:
        """Return what `treemean.average` needs beside the runs."""
        return {"hits": candidates.spread(len(candidates.places) * probabilities), "beta": self.beta}

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready data."""
        return {"kind": "sentence", **asdict(self)}


@dataclass(frozen=True)
class ExpectedObjective:
    """Expected F1 of each sentence; `gold` is the expected number of gold constituents per word."""

    gold: float

    def arguments(
        self,
        runs: Sequence[Individual],
        candidates: Candidates,
        probabilities: Floats,
        jobs: int | None,
        binary: bool = False,
    ) -> dict[str, Any]:
        """Return what `treemean.average` needs beside the runs."""
        values = 2 * probabilities if binary else self.values(runs, candidates, probabilities, jobs)
        return {"hits": candidates.spread(values), "additive": not binary}

    def values(
        self, runs: Sequence[Individual], candidates: Candidates, probabilities: Floats, jobs: int | None
    ) -> Floats:
        """Return 2p − λ for the best λ that each sentence can reach.

        λ never falls, and stays the same once it is reached; sentences are counted out until none changes.
        """
        sentences = len(candidates.lengths)
        expected = self.gold * candidates.lengths
        reached = np.zeros(sentences)
        while True:
            values = 2 * probabilities - reached[candidates.sentence]
            chosen = solve(runs, candidates, values, jobs)
            chosen = chosen[candidates.inner[chosen]]
            matched = np.bincount(
                candidates.sentence[chosen], weights=probabilities[chosen], minlength=sentences
            )
            size = np.bincount(candidates.sentence[chosen], minlength=sentences) + expected
            now = np.where(size > 0, 2 * matched / np.where(size > 0, size, 1.0), 0.0)
            if (now <= reached + 1e-9).all():  # hits have nine decimals
                return values
            reached = np.maximum(now, reached)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready data."""
        return {"kind": "expected", **asdict(self)}


@dataclass(frozen=True)
class TreeCounts:
    """What a corpus objective must know of trees: sums, which can be added up over parts of the corpus.

    Parameters
    ----------
    matched, matched_gapped : expected number of right constituents, of all and of the discontinuous ones.
    predicted, predicted_gapped : how many there are.
    words : of the sentences.
    """

    matched: float = 0.0
    predicted: int = 0
    matched_gapped: float = 0.0
    predicted_gapped: int = 0
    words: int = 0

    @staticmethod
    def of(candidates: Candidates, probabilities: Floats, chosen: Ints) -> TreeCounts:
        """Count trees with the chosen candidates; labels of words and whole sentences do not count."""
        chosen = chosen[candidates.inner[chosen]]
        gapped = chosen[candidates.discontinuous[chosen]]
        return TreeCounts(
            float(probabilities[chosen].sum()),
            len(chosen),
            float(probabilities[gapped].sum()),
            len(gapped),
            candidates.words,
        )

    def __add__(self, other: TreeCounts) -> TreeCounts:
        return TreeCounts(
            self.matched + other.matched,
            self.predicted + other.predicted,
            self.matched_gapped + other.matched_gapped,
            self.predicted_gapped + other.predicted_gapped,
            self.words + other.words,
        )


@dataclass(frozen=True)
class CorpusObjective:
    """F1_overall + η F1_discontinuous around given scores.

    Parameters
    ----------
    eta : η.
    gold, gold_discontinuous : expected gold constituents per word.
    overall, discontinuous : the scores O and D, from 0 to 1.
    predicted, predicted_discontinuous : predicted constituents per word.
    """

    eta: float
    gold: float
    gold_discontinuous: float
    overall: float = 0.5
    discontinuous: float = 0.0
    predicted: float = 0.0
    predicted_discontinuous: float = 0.0

    def arguments(
        self,
        runs: Sequence[Individual],
        candidates: Candidates,
        probabilities: Floats,
        jobs: int | None,
        binary: bool = False,
    ) -> dict[str, Any]:
        """Return what `treemean.average` needs beside the runs."""
        values = self.values(probabilities, candidates.discontinuous) + (self.overall if binary else 0.0)
        return {"hits": candidates.spread(values), "additive": not binary}

    def values(self, probabilities: Floats, discontinuous: Flags) -> Floats:
        """Return what candidates add, times P + G, so that a continuous one adds 2p − O.

        Where no discontinuous constituent is expected or predicted, these count like the others.
        """
        gapped_size = self.predicted_discontinuous + self.gold_discontinuous
        factor = self.eta * (self.predicted + self.gold) / gapped_size if gapped_size > 0 else 0.0
        values = 2 * probabilities - self.overall
        return np.where(discontinuous, values + factor * (2 * probabilities - self.discontinuous), values)

    def with_counts(self, found: TreeCounts) -> CorpusObjective:
        """Return the objective around the expected scores of trees of which this was counted."""
        words = max(1, found.words)
        counts = [
            (found.matched / words, found.predicted / words, self.gold),
            (found.matched_gapped / words, found.predicted_gapped / words, self.gold_discontinuous),
        ]
        scores = [2 * m / (p + g) if p + g > 0 else 0.0 for m, p, g in counts]
        return replace(
            self,
            overall=scores[0],
            discontinuous=scores[1],
            predicted=counts[0][1],
            predicted_discontinuous=counts[1][1],
        )

    @property
    def score(self) -> float:
        """O + η D."""
        return self.overall + self.eta * self.discontinuous

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready data."""
        return {"kind": "corpus", **asdict(self)}


Objective = SentenceObjective | ExpectedObjective | CorpusObjective


def settle(
    objective: CorpusObjective,
    runs: Sequence[Individual],
    candidates: Candidates,
    probabilities: Floats,
    jobs: int | None = None,
    rounds: int = ROUNDS,
) -> CorpusObjective:
    """Compute scores and trees of a corpus from each other, and return the objective whose trees are best.

    Trees are judged by their expected score: gold enters by its expected counts only.
    """

    def count(objective: CorpusObjective) -> TreeCounts:
        chosen = solve(runs, candidates, objective.values(probabilities, candidates.discontinuous), jobs)
        return TreeCounts.of(candidates, probabilities, chosen)

    return settle_by(objective, count, rounds)


def settle_by(
    objective: CorpusObjective, count: Callable[[CorpusObjective], TreeCounts], rounds: int = ROUNDS
) -> CorpusObjective:
    """Settle an objective, given what counts the trees that are best under one."""
    best, best_score = objective, -np.inf
    seen = {objective}
    for _ in range(rounds):
        reached = objective.with_counts(count(objective))
        if reached.score > best_score:
            best, best_score = objective, reached.score
        if reached in seen:  # from here on everything repeats
            break
        seen.add(reached)
        objective = reached
    return best


def solve(
    runs: Sequence[Individual], candidates: Candidates, values: Floats, jobs: int | None = None
) -> Ints:
    """Return the candidates of the trees with the largest sums of values, ascending."""
    labelled = candidates.labelling is not None
    trees = average(list(runs), hits=candidates.spread(values), additive=True, labelled=labelled, jobs=jobs)
    return locate(candidates, trees)


def locate(candidates: Candidates, trees: Treebank) -> Ints:
    """Return which candidates trees have, ascending; constituents of the trees that are none are left out."""
    place = candidates.find(trees)
    return np.unique(place[place >= 0])


#: The objectives by name.
OBJECTIVES: Mapping[str, type[Objective]] = {
    "sentence": SentenceObjective,
    "expected": ExpectedObjective,
    "corpus": CorpusObjective,
}


def objective_from(data: Mapping[str, Any]) -> Objective:
    """Make an objective from what `to_dict` gave."""
    if not isinstance(data, Mapping):
        raise FormatError("the objective is damaged")
    numbers = {name: stored.real(data, name) for name in data if name != "kind"}
    if min(numbers.values(), default=0.0) < 0:
        raise FormatError("the numbers of an objective are not negative")
    return OBJECTIVES[data["kind"]](**numbers)
