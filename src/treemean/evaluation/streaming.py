"""Scoring and comparing treebanks that are read side by side, batch by batch, in memory that stays flat."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from treemean.errors import MismatchError
from treemean.evaluation.adding import EvaluationSum
from treemean.evaluation.alignment import ROLES, Names
from treemean.evaluation.protocols import Protocol
from treemean.evaluation.results import Evaluation, Floats
from treemean.evaluation.scores import evaluate_part, without_absent_tags
from treemean.evaluation.significance import Comparison, Sentences, compare_sentences, sentences_of
from treemean.names import Metric, SignificanceTest
from treemean.trees import Treebank
from treemean.trees.punctuation import settle_punctuation

#: Reads predictions and gold, the latter last, from the beginning: lists of equally long batches.
Reading = Callable[[], Iterable[list[Treebank]]]


class PunctuationLater(Exception):
    """Punctuation tags come up after it was concluded that there are none."""


@dataclass(frozen=True)
class Scoring:
    """How predictions are scored; the parameters are those of `evaluate`."""

    protocol: Protocol
    max_length: int | None = None
    punctuation: str | Collection[str] = "auto"
    ignore_case: bool = False

    def settled(self, gold: Treebank) -> Scoring:
        """Return the scoring with what the first gold sentences decide: how punctuation is told."""
        own_list = self.protocol.parameters is not None or bool(self.protocol.punctuation_words)
        if self.punctuation != "auto" or own_list:
            return self
        return replace(self, punctuation=settle_punctuation(gold, "auto"))

    def check(self, given: Scoring, gold: Treebank) -> None:
        """Raise `PunctuationLater` if gold sentences show that something else was to be settled."""
        if given.punctuation == "auto" and self.punctuation == "word" and given.settled(gold) != self:
            raise PunctuationLater

    def part(self, predicted: Treebank, gold: Treebank, first: int, names: Names = ROLES) -> Evaluation:
        """Score a part of a prediction; `first` sentences come before it, and errors have these names."""
        return evaluate_part(
            predicted,
            gold,
            self.protocol,
            max_length=self.max_length,
            punctuation=self.punctuation,
            ignore_case=self.ignore_case,
            first=first,
            names=names,
        )


def score_parts(read: Reading, scoring: Scoring) -> Iterator[tuple[int, Evaluation]]:
    """Yield the number of each prediction, and what is found in a part of it, part after part."""
    settled: Scoring | None = None
    first = 0
    for *predicted, gold in read():
        settled = settled or scoring.settled(gold)
        settled.check(scoring, gold)
        for number, batch in enumerate(predicted):
            yield number, settled.part(batch, gold, first)
        first += len(gold)


def evaluate_batches(read: Reading, scoring: Scoring, predictions: int) -> list[Evaluation]:
    """Score predictions against gold, all in one pass, and return an evaluation of each.

    They are what `evaluate` finds, but for columns of single sentences.
    """
    sums = [EvaluationSum(scoring.protocol) for _ in range(predictions)]
    for number, part in score_parts(read, scoring):
        sums[number].add(part)
    return [without_absent_tags(total.result()) for total in sums]


def compare_batches(
    read: Reading,
    scoring: Scoring,
    *,
    test: SignificanceTest,
    metric: Metric,
    samples: int,
    seed: int,
) -> tuple[Comparison, Evaluation]:
    """Test whether the first of two predictions is better than the second; see `compare`.

    Returns the comparison, and the evaluation of the first. Sign tests count wins and losses; the bootstrap
    keeps 32 bytes of every sentence.
    """
    sums = [EvaluationSum(scoring.protocol) for _ in range(2)]
    kept: list[tuple[Sentences, Sentences]] = []
    wins = losses = ties = 0
    parts = score_parts(read, scoring)
    for _, a in parts:
        _, b = next(parts)
        if not np.array_equal(a.sentences, b.sentences):
            only = int(np.setxor1d(a.sentences, b.sentences)[0]) + 1
            raise MismatchError(
                f"the two evaluations scored different sentences: only one of them has sentence {only}"
            )
        for total, part in zip(sums, (a, b), strict=True):
            total.add(part)
        difference: Floats = a.per_sentence[metric].f1 - b.per_sentence[metric].f1
        wins += int((difference > 0).sum())
        losses += int((difference < 0).sum())
        ties += int((difference == 0).sum())
        if test == "bootstrap":
            kept.append((sentences_of(a, metric), sentences_of(b, metric)))
    whole_a, whole_b = (without_absent_tags(total.result()) for total in sums)
    columns = [np.concatenate(one) for one in zip(*kept)]
    result = compare_sentences(
        whole_a,
        whole_b,
        (wins, losses, ties),
        (columns[0], columns[1]) if columns else None,
        test=test,
        metric=metric,
        samples=samples,
        seed=seed,
    )
    return result, whole_a
