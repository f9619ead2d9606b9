"""Scoring a predicted against a gold treebank, in columns: no loop over trees."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treemean.evaluation.alignment import Alignment, Match, align
from treemean.evaluation.branching import branching_statistics
from treemean.evaluation.matching import DistinctSets, distinct_sets, find_sets
from treemean.evaluation.protocols import Protocol, get_protocol
from treemean.evaluation.results import (
    Evaluation,
    LabelRecall,
    LengthBin,
    Metric,
    SentenceCounts,
)
from treemean.trees import Treebank
from treemean.trees.bitsets import Ints

LENGTH_LIMITS = (10, 20, 30, 40, 50)


def evaluate(
    predicted: Treebank,
    gold: Treebank,
    protocol: str | Protocol = "paper",
    *,
    match: Match = "position",
    max_length: int | None = None,
    punctuation: str | Collection[str] = "auto",
) -> Evaluation:
    """Score a predicted against a gold treebank.

    Parameters
    ----------
    protocol : the conventions, by name or given; see `PROTOCOLS`.
    match : pair sentences by `"position"` or by `"id"`.
    max_length : leave out longer sentences; the protocol says whether punctuation counts.
    punctuation : how the gold treebank tells its punctuation, see `punctuation_mask`. With `"auto"`, a
        protocol may have a list of words of its own, which then count beside punctuation tags. A prediction
        may have its punctuation removed already.

    Raises `MismatchError`, which names the sentence, if the treebanks do not have the same sentences.

    >>> from treemean.trees import Tree
    >>> words = "Wake your friend up".split()
    >>> gold = Treebank.from_trees([Tree(words, [(range(4), "S"), ({0, 3}, "V"), ({1, 2}, "NP")])])
    >>> guess = Treebank.from_trees([Tree(words, [(range(4), "S"), ({1, 2, 3}, "X"), ({1, 2}, "Y")])])
    >>> evaluate(guess, gold).overall
    Counts(1 matched, 2 predicted, 2 gold: F1 50.00, precision 50.00, recall 50.00)
    """
    chosen = get_protocol(protocol)
    pair = align(predicted, gold, chosen, match=match, max_length=max_length, punctuation=punctuation)
    matched = _match(pair, chosen)
    per_sentence = _count(pair, matched, chosen)
    discontinuous = pair.gold.fan_outs > 1
    everything = per_sentence["overall"]
    return Evaluation(
        protocol=chosen,
        **{metric: counts.total(chosen.level) for metric, counts in per_sentence.items()},
        per_sentence=per_sentence,
        sentences=pair.sentences,
        gold_digest=_digest(pair.gold),
        dropped={why: _names(gold, places) for why, places in pair.dropped.items()},
        exact_matches=int(
            ((everything.matched == everything.predicted) & (everything.matched == everything.gold)).sum()
        ),
        gold_fan_out_above_2=int((pair.gold.fan_outs > 2).sum()),
        by_label=_by_label(pair, matched, np.ones_like(discontinuous)),
        by_label_discontinuous=_by_label(pair, matched, discontinuous),
        by_length=_by_length(pair, per_sentence, chosen),
        branching=branching_statistics(pair.predicted),
    )


def correctness(
    predicted: Treebank,
    gold: Treebank,
    protocol: str | Protocol = "paper",
    *,
    match: Match = "position",
    punctuation: str | Collection[str] = "auto",
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Tell for every predicted constituent whether it is scored, and whether it is in the gold: bool[C] each.

    The parameters are those of `evaluate`. Constituents of a unary chain are told alike.

    >>> from treemean.trees import Tree
    >>> gold = Treebank.from_trees([Tree("a b c".split(), [({0, 1, 2}, ""), ({0, 1}, "")])])
    >>> [flags.tolist() for flags in correctness(gold, gold)]
    [[False, True], [False, True]]
    """
    chosen = get_protocol(protocol)
    marked = predicted.with_columns(constituent_values={"place": np.arange(len(predicted.labels))})
    pair = align(marked, gold, chosen, match=match, punctuation=punctuation)
    matched = _match(pair, chosen)
    right = np.zeros(len(matched.predicted.nodes), dtype=bool)
    right[matched.place[matched.place >= 0]] = True
    place = pair.predicted.constituent_values["place"].astype(np.int64)[_scored(pair.predicted, chosen)]
    scored, correct = (np.zeros(len(predicted.labels), dtype=bool) for _ in range(2))
    scored[place] = True
    correct[place] = np.repeat(right, matched.predicted.copies)
    return scored, correct


def _digest(gold: Treebank) -> str:
    digest = hashlib.blake2b("\0".join(gold.words.tolist()).encode(), digest_size=16)
    for offsets in (gold.word_offsets, gold.constituent_offsets):
        digest.update(offsets.tobytes())
    digest.update(gold.bits.tobytes())
    return digest.hexdigest()


def agreement(
    treebanks: Sequence[Treebank],
    protocol: str | Protocol = "paper",
    *,
    metric: Metric = "overall",
    match: Match = "position",
    punctuation: str | Collection[str] = "auto",
) -> NDArray[np.float64]:
    """Return how much several predictions for the same sentences agree: F1 of each pair, float64[K, K].

    Protocols do not treat both sides alike, so each pair is scored in both directions and the mean is taken;
    the matrix is symmetric. Its diagonal holds the score of each treebank against itself, which is 100 where
    the protocol drops nothing but what it drops on both sides.
    """
    chosen = get_protocol(protocol)
    result = np.zeros((len(treebanks), len(treebanks)))
    for row, predicted in enumerate(treebanks):
        for column, gold in enumerate(treebanks):
            pair = align(predicted, gold, chosen, match=match, punctuation=punctuation)
            counts = _count(pair, _match(pair, chosen), chosen)[metric]
            result[row, column] = counts.total(chosen.level).f1
    return (result + result.T) / 2


@dataclass(frozen=True)
class _Matched:
    """The different sets to score on both sides, and which are the same.

    Parameters
    ----------
    scored : bool[C], the gold constituents that are scored.
    place : int64, for every gold set the place of the predicted one, -1 if it was missed.
    """

    predicted: DistinctSets
    gold: DistinctSets
    scored: NDArray[np.bool_]
    place: Ints


def _scored(treebank: Treebank, protocol: Protocol) -> NDArray[np.bool_]:
    """Return which constituents a protocol scores, on either side."""
    scored = np.ones(len(treebank.labels), dtype=bool)
    if protocol.drop_whole_sentence:
        scored &= treebank.sizes < treebank.lengths[treebank.sentence_of]
    if not protocol.count_single_words:
        scored &= treebank.sizes > 1
    if protocol.drop_labels:
        scored &= ~treebank.labels.where(lambda label: label.upper() in protocol.drop_labels)
    return scored


def _match(pair: Alignment, protocol: Protocol) -> _Matched:
    scored = _scored(pair.gold, protocol)
    if protocol.max_gold_fan_out is not None:
        scored &= pair.gold.fan_outs <= protocol.max_gold_fan_out
    predicted_sets = distinct_sets(pair.predicted, _scored(pair.predicted, protocol))
    gold_sets = distinct_sets(pair.gold, scored)
    return _Matched(
        predicted_sets, gold_sets, scored, find_sets(gold_sets, pair.gold, predicted_sets, pair.predicted)
    )


def _count(pair: Alignment, matched: _Matched, protocol: Protocol) -> dict[Metric, SentenceCounts]:
    """Count matched, predicted and gold constituents of each sentence as the protocol wants it."""
    found = matched.place >= 0
    if protocol.duplicates == "multiset":
        in_predicted, in_gold = matched.predicted.copies, matched.gold.copies
        in_both = np.where(found, np.minimum(_at(in_predicted, matched.place), in_gold), 0)
    else:
        in_predicted, in_both = np.ones_like(matched.predicted.copies), found.astype(np.int64)
        in_gold = np.ones_like(matched.gold.copies)
        if protocol.duplicates == "missed":
            in_gold = np.where(found, 1, matched.gold.copies)

    def per_sentence(bank: Treebank, sets: DistinctSets, amounts: Ints, chosen: NDArray[np.bool_]) -> Ints:
        sentence = bank.sentence_of[sets.nodes[chosen]]
        return np.bincount(sentence, weights=amounts[chosen], minlength=len(bank)).astype(np.int64)

    predicted_gaps = pair.predicted.fan_outs[matched.predicted.nodes] > 1
    gold_gaps = pair.gold.fan_outs[matched.gold.nodes] > 1
    continuous, discontinuous = (
        SentenceCounts(
            matched=per_sentence(pair.gold, matched.gold, in_both, of_gold),
            predicted=per_sentence(pair.predicted, matched.predicted, in_predicted, of_predicted),
            gold=per_sentence(pair.gold, matched.gold, in_gold, of_gold),
        )
        for of_predicted, of_gold in ((~predicted_gaps, ~gold_gaps), (predicted_gaps, gold_gaps))
    )
    return {
        "overall": continuous + discontinuous,
        "continuous": continuous,
        "discontinuous": discontinuous,
    }


def _at(values: Ints, places: Ints) -> Ints:
    """Return values at places, anything at a place of -1, also where there are no values at all."""
    return np.append(values, 0)[places]


def _by_label(pair: Alignment, matched: _Matched, chosen: NDArray[np.bool_]) -> Mapping[str, LabelRecall]:
    """Count, for every label, the chosen ones of the scored gold constituents, and those found."""
    found = np.repeat(matched.place >= 0, matched.gold.copies)
    counted = chosen[matched.scored]
    codes = pair.gold.labels.codes[matched.scored]
    texts = pair.gold.labels.texts
    gold = np.bincount(codes[counted], minlength=len(texts))
    hits = np.bincount(codes[counted & found], minlength=len(texts))
    order = sorted(np.flatnonzero(gold).tolist(), key=lambda code: (-gold[code], texts[code]))
    return {texts[code]: LabelRecall(int(hits[code]), int(gold[code])) for code in order}


def _by_length(
    pair: Alignment, per_sentence: Mapping[Metric, SentenceCounts], protocol: Protocol
) -> tuple[LengthBin, ...]:
    place = np.searchsorted(LENGTH_LIMITS, pair.gold.lengths)
    bins = []
    for index in np.unique(place).tolist():
        chosen = place == index
        bins.append(
            LengthBin(
                shortest=LENGTH_LIMITS[index - 1] + 1 if index else 1,
                longest=LENGTH_LIMITS[index] if index < len(LENGTH_LIMITS) else None,
                sentences=int(chosen.sum()),
                **{m: counts.take(chosen).total(protocol.level) for m, counts in per_sentence.items()},
            )
        )
    return tuple(bins)


def _names(treebank: Treebank, places: Ints) -> tuple[str, ...]:
    """Return the ids of sentences, or their numbers where they have none."""
    return tuple(treebank.ids[place] or f"#{place + 1}" for place in places.tolist())
