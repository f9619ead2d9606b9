"""What two aligned treebanks share, constituent by constituent, in columns: no loop over trees.

A *unit* is what is counted: a set of words, or with labels a set and a label. Both sides have some number of
each unit (unary chains repeat them), and a protocol says what such numbers count for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treemean.evaluation.alignment import Alignment
from treemean.evaluation.matching import distinct_sets, find_sets
from treemean.evaluation.protocols import Protocol
from treemean.evaluation.results import Confusion, LabelScore, SentenceCounts
from treemean.names import Metric
from treemean.trees import Treebank
from treemean.trees.bitsets import Ints
from treemean.trees.strings import Codes, comparable

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class MatchedSide:
    """The constituents of one side that are scored, in canonical order.

    Parameters
    ----------
    nodes : int64[m], which constituents of the treebank they are.
    sets : int64[m], the set of each: equal numbers are equal sets, on both sides.
    units : int64[m], what each counts as.
    found : bool[m], whether the other side has it. Of labelled copies as many as are matched, upper ones
        first; without labels, all constituents of a unary chain alike.
    codes : int32[m], the label of each, among those of the `Matching`.
    """

    nodes: Ints
    sets: Ints
    units: Ints
    found: Flags
    codes: Codes


@dataclass(frozen=True)
class Matching:
    """The scored constituents of both sides, and how often every unit counts.

    Parameters
    ----------
    labels : the different labels, as they are compared.
    in_both, in_predicted, in_gold : int64[U], how often a unit counts as matched, predicted and gold.
    sentence : int64[U], where it is; `gapped` : bool[U], whether it is discontinuous.
    """

    predicted: MatchedSide
    gold: MatchedSide
    labels: list[str]
    in_both: Ints
    in_predicted: Ints
    in_gold: Ints
    sentence: Ints
    gapped: Flags


def match_trees(pair: Alignment, protocol: Protocol) -> Matching:
    """Find which constituents of two aligned treebanks are the same."""
    nodes = [
        np.flatnonzero(scored_constituents(pair.predicted, protocol, is_gold=False)),
        np.flatnonzero(scored_constituents(pair.gold, protocol, is_gold=True)),
    ]
    sets = _set_numbers(pair, nodes)
    label_of = protocol.parameters.label_of if protocol.parameters is not None else str
    all_codes = comparable(pair.predicted.labels, pair.gold.labels, label_of)
    codes = [of_all[chosen] for of_all, chosen in zip(all_codes, nodes, strict=True)]
    labels = _texts(pair, nodes, codes, label_of)
    if protocol.labelled:
        keys = np.concatenate([s * max(1, len(labels)) + c for s, c in zip(sets, codes, strict=True)])
        unique, numbers = np.unique(keys, return_inverse=True)
        amount = len(unique)
    else:
        numbers = np.concatenate(sets)
        amount = int(numbers.max(initial=-1)) + 1
    units = np.split(numbers.astype(np.int64), [len(nodes[0])])
    copies = [np.bincount(u, minlength=amount).astype(np.int64) for u in units]
    shared = np.minimum(copies[0], copies[1])
    found = [_is_matched(u, shared, protocol) for u in units]
    predicted, gold = (MatchedSide(*parts) for parts in zip(nodes, sets, units, found, codes, strict=True))
    sentence, gapped = np.zeros(amount, dtype=np.int64), np.zeros(amount, dtype=bool)
    for bank, side in ((pair.predicted, predicted), (pair.gold, gold)):
        sentence[side.units] = bank.sentence_of[side.nodes]
        gapped[side.units] = bank.fan_outs[side.nodes] > 1
    amounts = _amounts(copies[0], copies[1], shared, protocol)
    return Matching(predicted, gold, labels, *amounts, sentence, gapped)


def scored_constituents(treebank: Treebank, protocol: Protocol, *, is_gold: bool) -> Flags:
    """Return which constituents of an aligned treebank a protocol scores: bool[C]."""
    scored = np.ones(len(treebank.labels), dtype=bool)
    if protocol.drop_whole_sentence == "one":
        roots = treebank.constituent_offsets[:-1][treebank.constituent_counts > 0]
        scored[roots] = False
    elif protocol.drop_whole_sentence:
        scored &= treebank.sizes < treebank.lengths[treebank.sentence_of]
    if not protocol.count_single_words:
        scored &= treebank.sizes > 1
    if protocol.drop_labels:
        scored &= ~treebank.labels.where(lambda label: label.upper() in protocol.drop_labels)
    if is_gold and protocol.max_gold_fan_out is not None:
        scored &= treebank.fan_outs <= protocol.max_gold_fan_out
    if (parameters := protocol.parameters) is not None:
        deletes, label_of = parameters.deletes_label, parameters.label_of
        scored &= ~treebank.labels.where(lambda label: deletes(label_of(label)))
        if parameters.discontinuous_only:
            scored &= treebank.fan_outs > 1
    return scored


def _set_numbers(pair: Alignment, nodes: list[Ints]) -> list[Ints]:
    """Number the sets of chosen constituents of both sides, equal sets alike."""
    chosen = [np.zeros(len(bank.labels), dtype=bool) for bank in (pair.predicted, pair.gold)]
    for flags, places in zip(chosen, nodes, strict=True):
        flags[places] = True
    predicted, gold = distinct_sets(pair.predicted, chosen[0]), distinct_sets(pair.gold, chosen[1])
    place = find_sets(gold, pair.gold, predicted, pair.predicted)
    number_of_gold = np.where(place >= 0, place, len(predicted.nodes) + np.arange(len(place)))
    return [
        np.repeat(np.arange(len(predicted.nodes)), predicted.copies),
        np.repeat(number_of_gold, gold.copies),
    ]


def _texts(
    pair: Alignment, nodes: list[Ints], codes: list[Codes], label_of: Callable[[str], str]
) -> list[str]:
    """Return the labels behind codes."""
    texts: dict[int, str] = {}
    for bank, chosen, coded in zip((pair.predicted, pair.gold), nodes, codes, strict=True):
        seen, first = np.unique(coded, return_index=True)
        for code, at in zip(seen.tolist(), first.tolist(), strict=True):
            texts[code] = label_of(bank.labels[int(chosen[at])])
    return [texts.get(code, "") for code in range(max(texts, default=-1) + 1)]


def _is_matched(units: Ints, shared: Ints, protocol: Protocol) -> Flags:
    """Tell which constituents of a side the other side has; see `MatchedSide`."""
    if not protocol.labelled:
        return shared[units] > 0
    return ranks(units) < shared[units]


def ranks(groups: Ints) -> Ints:
    """Return for every entry how many before it are of the same group.

    >>> ranks(np.array([5, 3, 5, 5, 3])).tolist()
    [0, 0, 1, 2, 1]
    """
    order = np.argsort(groups, kind="stable")
    ordered = groups[order]
    begins = np.flatnonzero(np.diff(ordered, prepend=-1))
    rank = np.empty(len(groups), dtype=np.int64)
    rank[order] = np.arange(len(groups)) - np.repeat(begins, np.diff(begins, append=len(groups)))
    return rank


def _amounts(predicted: Ints, gold: Ints, shared: Ints, protocol: Protocol) -> tuple[Ints, Ints, Ints]:
    """Return how much every unit counts as matched, predicted and gold."""
    if protocol.labelled or protocol.duplicates == "multiset":
        return shared, predicted, gold
    matched = np.minimum(shared, 1)
    if protocol.duplicates == "missed":
        return matched, np.minimum(predicted, 1), np.where(matched > 0, 1, gold)
    return matched, np.minimum(predicted, 1), np.minimum(gold, 1)


def count_sentences(found: Matching, sentences: int) -> dict[Metric, SentenceCounts]:
    """Return matched, predicted and gold constituents of each sentence."""

    def summed(amounts: Ints, chosen: Flags) -> Ints:
        weights = amounts[chosen]
        return np.bincount(found.sentence[chosen], weights=weights, minlength=sentences).astype(np.int64)

    continuous, discontinuous = (
        SentenceCounts(
            summed(found.in_both, chosen), summed(found.in_predicted, chosen), summed(found.in_gold, chosen)
        )
        for chosen in (~found.gapped, found.gapped)
    )
    return {"overall": continuous + discontinuous, "continuous": continuous, "discontinuous": discontinuous}


def score_labels(
    found: Matching, protocol: Protocol, *, discontinuous: bool = False
) -> dict[str, LabelScore]:
    """Return scores by label, labels with many gold constituents first."""

    def counted(side: MatchedSide, chosen: Flags | None = None) -> Ints:
        kept = np.ones(len(side.nodes), dtype=bool) if chosen is None else chosen.copy()
        if discontinuous:
            kept &= found.gapped[side.units]
        return np.bincount(side.codes[kept], minlength=len(found.labels))

    gold, hits = counted(found.gold), counted(found.gold, found.gold.found)
    predicted = counted(found.predicted) if protocol.labelled else np.zeros_like(gold)
    order = sorted(
        np.flatnonzero(gold + predicted).tolist(), key=lambda code: (-gold[code], found.labels[code])
    )
    return {
        found.labels[code]: LabelScore(
            int(hits[code]), int(gold[code]), int(predicted[code]) if protocol.labelled else None
        )
        for code in order
    }


def confused_labels(found: Matching) -> tuple[Confusion, ...]:
    """Return which labels were taken for which over the same words, frequent ones first.

    What is left of the chains of a set once equal labels are matched is paired from the top down.
    """
    left = []
    for side in (found.gold, found.predicted):
        wrong = ~side.found
        sets, codes = side.sets[wrong], side.codes[wrong].astype(np.int64)
        left.append((sets, ranks(sets), codes))
    (gold_sets, gold_rank, gold_codes), (sets, rank, codes) = left
    deepest = 1 + max(gold_rank.max(initial=0), rank.max(initial=0))
    _, of_gold, of_predicted = np.intersect1d(
        gold_sets * deepest + gold_rank, sets * deepest + rank, assume_unique=True, return_indices=True
    )
    pairs = gold_codes[of_gold] * max(1, len(found.labels)) + codes[of_predicted]
    numbers, counts = np.unique(pairs, return_counts=True)
    confusions = [
        Confusion(found.labels[pair // len(found.labels)], found.labels[pair % len(found.labels)], count)
        for pair, count in zip(numbers.tolist(), counts.tolist(), strict=True)
    ]
    return tuple(sorted(confusions, key=lambda c: (-c.count, c.gold, c.predicted)))
