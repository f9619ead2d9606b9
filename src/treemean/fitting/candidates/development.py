"""Development data: candidates of runs beside gold trees, and how sentences are divided into folds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from treemean.averaging.arguments import columns_of
from treemean.errors import MismatchError, TreemeanError
from treemean.evaluation import Evaluation, correct_spans, correctness, evaluate
from treemean.evaluation.protocols import Protocol, get_protocol
from treemean.fitting.candidates import Candidates, Flags, find_candidates
from treemean.fitting.candidates.features import Features, features_of
from treemean.trees import Individual, SpanTable, Treebank
from treemean.trees.bitsets import Ints


@dataclass(frozen=True, eq=False)
class Development:
    """Runs, gold trees of the same sentences, and what follows from comparing them.

    Parameters
    ----------
    runs, gold : treebanks, sentence by sentence; the runs may lack punctuation that the gold has. The last
        runs may be tables of spans.
    protocol : what counts as correct; with labels or without.
    candidates : the candidates of the runs, likewise.
    scored, correct : bool[M], which of them the protocol scores, and which are in the gold. With labels, all
        that it would score if it counted single words and whole sentences.
    gold_counts : int64[S, 2], gold constituents of each sentence, all and discontinuous ones; with
        punctuation if the runs have it.
    folds : int64[S], a fold for each sentence.
    """

    runs: tuple[Individual, ...]
    gold: Treebank
    protocol: Protocol
    candidates: Candidates
    scored: Flags
    correct: Flags
    gold_counts: Ints
    folds: Ints

    @cached_property
    def features(self) -> Features:
        """The features of the candidates."""
        return features_of(self.candidates)

    @property
    def trees(self) -> list[Treebank]:
        """The runs that are trees."""
        return [run for run in self.runs if isinstance(run, Treebank)]

    @property
    def labelled(self) -> bool:
        """Whether candidates are sets with labels, and averages joint ones."""
        return self.protocol.labelled

    @property
    def fold_count(self) -> int:
        """The number of folds."""
        return int(self.folds.max(initial=-1)) + 1

    def evaluate(self, predicted: Treebank, sentences: Flags | None = None) -> Evaluation:
        """Score trees for all development sentences, or for those under a mask."""
        if sentences is None or sentences.all():
            return evaluate(predicted, self.gold, self.protocol)
        return evaluate(predicted, self.gold.take(sentences), self.protocol)

    @property
    def held_out(self) -> list[Flags]:
        """For each fold bool[S], its sentences."""
        return [self.folds == fold for fold in range(self.fold_count)]

    def evaluate_folds(self, parts: Sequence[Treebank]) -> Evaluation:
        """Score all development sentences together, given the trees of each fold."""
        order = np.argsort(np.concatenate([np.flatnonzero(unseen) for unseen in self.held_out]))
        return self.evaluate(Treebank.concatenate(parts).take(order))

    def of_runs(self, chosen: Sequence[int]) -> Development:
        """Return the same sentences with only some of the runs."""
        return _compare([self.runs[k] for k in chosen], self.gold, self.protocol, self.folds)


def make_development(
    runs: Sequence[Individual],
    gold: Treebank,
    *,
    protocol: str | Protocol = "paper",
    labelled: bool = False,
    folds: int = 5,
    seed: int = 0,
) -> Development:
    """Compare runs with gold trees, and deal the sentences into folds at random.

    Sentences are matched by position. With fewer sentences than folds every sentence is a fold.
    """
    if folds < 2:
        raise TreemeanError(f"{folds} folds: cross-validation needs at least 2")
    if not runs:
        raise TreemeanError("there is nothing to fit: give at least one treebank")
    if len(gold) != len(runs[0]):
        raise MismatchError(f"the runs have {len(runs[0])} sentences, and the gold has {len(gold)}")
    if len(gold) < 2:
        raise TreemeanError(f"there are too few gold trees ({len(gold)}): fitting needs at least 2")
    deal = np.random.default_rng(seed).permutation(len(gold)) % min(folds, len(gold))
    return _compare(list(runs), gold, get_protocol(protocol, labelled=labelled), deal)


def _compare(runs: list[Individual], gold: Treebank, protocol: Protocol, folds: Ints) -> Development:
    candidates = find_candidates(runs, labelled=protocol.labelled)
    counting = protocol
    if protocol.labelled:  # labels of single words and whole sentences are chosen, and so learnt, too
        counting = replace(protocol, drop_whole_sentence=False, count_single_words=True)
    scored, correct = (np.zeros(len(candidates), dtype=bool) for _ in range(2))
    for run, nodes, places in zip(runs, candidates.nodes, candidates.places, strict=True):
        if isinstance(run, SpanTable):
            run_scored, run_correct = correct_spans(run, gold, counting)
        else:
            run_scored, run_correct = correctness(run, gold, counting)
        scored[places] |= run_scored[nodes]
        correct[places] |= run_correct[nodes]
    counts = np.zeros((len(gold), 2), dtype=np.int64)
    # Punctuation makes gaps. Where candidates have it, gold is to be counted as they are.
    first = columns_of(runs[0])
    same_words = len(first.words) == len(gold.words)
    found = evaluate(first, gold, protocol, punctuation=() if same_words else "auto")
    counts[found.sentences, 0] = found.per_sentence["overall"].gold
    counts[found.sentences, 1] = found.per_sentence["discontinuous"].gold
    return Development(tuple(runs), gold, protocol, candidates, scored, correct, counts, folds)
