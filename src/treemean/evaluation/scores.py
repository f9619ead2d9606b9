"""Scoring a predicted against a gold treebank, in columns: no loop over trees."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from treemean.errors import check_type
from treemean.evaluation.alignment import ROLES, Alignment, Names, align
from treemean.evaluation.branching import count_branching
from treemean.evaluation.counting import (
    MatchedSide,
    confused_labels,
    count_sentences,
    match_trees,
    score_labels,
    scored_constituents,
)
from treemean.evaluation.matching import distinct_sets, each_set, find_sets
from treemean.evaluation.protocols import Protocol, get_protocol
from treemean.evaluation.results import Evaluation, LengthBin, SentenceCounts, TagCounts
from treemean.names import Match, Metric
from treemean.trees import SpanTable, Tree, Treebank, as_treebank
from treemean.trees.bitsets import Ints
from treemean.trees.strings import comparable

LENGTH_LIMITS = (10, 20, 30, 40, 50)
Flags = NDArray[np.bool_]
#: What can be scored.
Trees = Tree | Treebank | Iterable[Tree]


def evaluate(
    predicted: Trees,
    gold: Trees,
    protocol: str | Protocol = "standard",
    *,
    labelled: bool | None = None,
    match: Match = "position",
    max_length: int | None = None,
    punctuation: str | Collection[str] = "auto",
    ignore_case: bool = False,
) -> Evaluation:
    """Score a predicted against a gold treebank; trees, and lists of trees, will do as well.

    Parameters
    ----------
    protocol : the conventions, by name or given; see `PROTOCOLS`, and `read_prm` for parameter files.
    labelled : whether a match needs the same label, too; None for what the protocol says: no, unless a
        parameter file says yes.
    match : pair sentences by `"position"` or by `"id"`.
    max_length : leave out longer sentences; the protocol says whether punctuation counts.
    punctuation : what counts as punctuation in the gold treebank, see `punctuation_mask`. With `"auto"`, a
        protocol may add its own list of words to punctuation tags. Predictions may lack punctuation.
    ignore_case : whether to ignore upper and lower case when words are compared.

    Raises `MismatchError`, which names the sentence, if the treebanks do not have the same sentences.

    >>> from treemean.trees import Tree
    >>> words = "Wake your friend up".split()
    >>> gold = Tree(words, [(range(4), "S"), ({0, 3}, "V"), ({1, 2}, "NP")])
    >>> guess = Tree(words, [(range(4), "S"), ({1, 2, 3}, "X"), ({1, 2}, "Y")])
    >>> evaluate(guess, gold).overall
    Counts(1 matched, 2 predicted, 2 gold: F1 50.00, precision 50.00, recall 50.00)
    >>> evaluate(guess, gold, labelled=True).overall.f1
    0.0
    """
    return without_absent_tags(
        evaluate_part(
            as_treebank(predicted),
            as_treebank(gold),
            get_protocol(protocol, labelled=labelled),
            match=match,
            max_length=max_length,
            punctuation=punctuation,
            ignore_case=ignore_case,
        )
    )


def evaluate_part(
    predicted: Treebank,
    gold: Treebank,
    chosen: Protocol,
    *,
    match: Match = "position",
    max_length: int | None = None,
    punctuation: str | Collection[str] = "auto",
    ignore_case: bool = False,
    first: int = 0,
    names: Names = ROLES,
) -> Evaluation:
    """Score a part of a treebank as `evaluate` does; `first` is how many gold sentences come before it.

    Errors call the two treebanks by `names`. Tags are counted whether or not this part has any: others may.
    """
    pair = align(
        predicted,
        gold,
        chosen,
        match=match,
        max_length=max_length,
        punctuation=punctuation,
        ignore_case=ignore_case,
        first=first,
        names=names,
    )
    found = match_trees(pair, chosen)
    per_sentence = count_sentences(found, len(pair.gold))
    table = _Sentences(
        per_sentence,
        _exact(per_sentence),
        _compared(per_sentence, chosen),
        _tags(pair, chosen),
        (_has_tags(pair.predicted), _has_tags(pair.gold)),
    )
    everything = np.ones(len(pair.gold), dtype=bool)
    cutoff = chosen.parameters.cutoff if chosen.parameters is not None else None
    return Evaluation(
        protocol=chosen,
        **{metric: counts.total(chosen.level) for metric, counts in per_sentence.items()},
        per_sentence=per_sentence,
        sentences=pair.sentences + first,
        ids=tuple(pair.gold.ids.tolist()),
        lengths=pair.gold.lengths,
        exact=table.exact & table.compared,
        scored=len(pair.sentences),
        exact_matches=int((table.exact & table.compared).sum()),
        exact_of=int(table.compared.sum()),
        gold_digest=_digest(pair.gold, chosen),
        dropped={why: sentence_names(gold, places, first) for why, places in pair.dropped.items()},
        tags=table.tag_counts(everything),
        gold_fan_out_above_2=int((pair.gold.fan_outs > 2).sum()),
        by_label=score_labels(found, chosen),
        by_label_discontinuous=score_labels(found, chosen, discontinuous=True),
        confusions=confused_labels(found) if chosen.labelled else (),
        by_length=_by_length(pair, table, chosen),
        cutoff=None if cutoff is None else table.bin(1, cutoff, pair.lengths <= cutoff, chosen),
        branching_counts=count_branching(pair.predicted),
    )


def without_absent_tags(found: Evaluation) -> Evaluation:
    """Return an evaluation that tells no accuracy of tags where a side has none."""
    if found.tags is None or found.tags.told:
        return found
    return replace(
        found,
        tags=None,
        by_length=tuple(replace(part, tags=None) for part in found.by_length),
        cutoff=None if found.cutoff is None else replace(found.cutoff, tags=None),
    )


@dataclass(frozen=True)
class Judgement:
    """Which constituents of two treebanks are scored, and which of them the other side has: bool[C] each."""

    predicted_scored: Flags
    predicted_right: Flags
    gold_scored: Flags
    gold_found: Flags


def judge(
    predicted: Trees,
    gold: Trees,
    protocol: str | Protocol = "standard",
    *,
    labelled: bool | None = None,
    match: Match = "position",
    punctuation: str | Collection[str] = "auto",
    ignore_case: bool = False,
) -> Judgement:
    """Tell for every constituent of both treebanks what an evaluation makes of it; see `evaluate`."""
    predicted, gold = as_treebank(predicted), as_treebank(gold)
    chosen = get_protocol(protocol, labelled=labelled)
    ours, theirs = (
        bank.with_columns(constituent_values={"place": np.arange(len(bank.labels))})
        for bank in (predicted, gold)
    )
    pair = align(ours, theirs, chosen, match=match, punctuation=punctuation, ignore_case=ignore_case)
    found = match_trees(pair, chosen)

    def flags(given: Treebank, aligned: Treebank, side: MatchedSide) -> tuple[Flags, Flags]:
        place = aligned.constituent_values["place"].astype(np.int64)[side.nodes]
        scored, right = (np.zeros(len(given.labels), dtype=bool) for _ in range(2))
        scored[place] = True
        right[place] = side.found
        return scored, right

    return Judgement(*flags(predicted, pair.predicted, found.predicted), *flags(gold, pair.gold, found.gold))


def correctness(
    predicted: Trees,
    gold: Trees,
    protocol: str | Protocol = "standard",
    *,
    labelled: bool | None = None,
    match: Match = "position",
    punctuation: str | Collection[str] = "auto",
) -> tuple[Flags, Flags]:
    """Tell for every predicted constituent whether it is scored, and whether it is in the gold: bool[C] each.

    The parameters are those of `evaluate`. Without labels, constituents of a unary chain get the same flags.

    >>> from treemean.trees import Tree
    >>> gold = Treebank.from_trees([Tree("a b c".split(), [({0, 1, 2}, ""), ({0, 1}, "")])])
    >>> [flags.tolist() for flags in correctness(gold, gold)]
    [[False, True], [False, True]]
    """
    told = judge(predicted, gold, protocol, labelled=labelled, match=match, punctuation=punctuation)
    return told.predicted_scored, told.predicted_right


def correct_spans(
    spans: SpanTable,
    gold: Trees,
    protocol: str | Protocol = "standard",
    *,
    punctuation: str | Collection[str] = "auto",
) -> tuple[Flags, Flags]:
    """Tell the same for every span of a table; labels do not count."""
    check_type("the spans", spans, SpanTable)
    chosen, bank = get_protocol(protocol, labelled=False), as_treebank(gold)
    ours = spans.columns.with_columns(constituent_values={"place": np.arange(len(spans.columns.labels))})
    pair = align(ours, bank, chosen, punctuation=punctuation)
    nodes = np.flatnonzero(scored_constituents(pair.predicted, chosen, is_gold=False))
    of_gold = distinct_sets(pair.gold, scored_constituents(pair.gold, chosen, is_gold=True))
    place = pair.predicted.constituent_values["place"].astype(np.int64)[nodes]
    scored, right = (np.zeros(len(ours.labels), dtype=bool) for _ in range(2))
    scored[place] = True
    right[place] = find_sets(each_set(pair.predicted, nodes), pair.predicted, of_gold, pair.gold) >= 0
    return scored, right


def agreement(
    treebanks: Sequence[Trees],
    protocol: str | Protocol = "standard",
    *,
    metric: Metric = "overall",
    labelled: bool | None = None,
    match: Match = "position",
    punctuation: str | Collection[str] = "auto",
) -> NDArray[np.float64]:
    """Return how much several predictions for the same sentences agree: F1 of each pair, float64[K, K].

    Not all protocols treat both sides alike, so each pair is scored in both directions and the mean is taken;
    the matrix is symmetric. Its diagonal holds the score of each treebank against itself, which is 100 where
    the protocol drops nothing but what it drops on both sides.
    """
    chosen = get_protocol(protocol, labelled=labelled)
    banks = [as_treebank(trees) for trees in treebanks]
    result = np.zeros((len(banks), len(banks)))
    for row, predicted in enumerate(banks):
        for column, gold in enumerate(banks):
            pair = align(predicted, gold, chosen, match=match, punctuation=punctuation)
            counts = count_sentences(match_trees(pair, chosen), len(pair.gold))[metric]
            result[row, column] = counts.total(chosen.level).f1
    return (result + result.T) / 2


@dataclass(frozen=True)
class _Sentences:
    """What is known of every sentence.

    Parameters
    ----------
    exact : bool[S], whether it is an exact match; `compared` : bool[S], whether that is asked.
    tags : int64[S] right tags and int64[S] words.
    told : whether the prediction, and whether the gold has any tags.
    """

    per_sentence: Mapping[Metric, SentenceCounts]
    exact: Flags
    compared: Flags
    tags: tuple[Ints, Ints]
    told: tuple[bool, bool]

    def tag_counts(self, chosen: Flags) -> TagCounts:
        """Return the tags of some sentences."""
        right, words = (int(column[chosen].sum()) for column in self.tags)
        return TagCounts(right, words, *self.told)

    def bin(self, shortest: int, longest: int | None, chosen: Flags, protocol: Protocol) -> LengthBin:
        """Return the scores of some sentences."""
        return LengthBin(
            shortest=shortest,
            longest=longest,
            sentences=int(chosen.sum()),
            **{m: counts.take(chosen).total(protocol.level) for m, counts in self.per_sentence.items()},
            exact_matches=int((self.exact & self.compared & chosen).sum()),
            exact_of=int((self.compared & chosen).sum()),
            tags=self.tag_counts(chosen),
        )


def _exact(per_sentence: Mapping[Metric, SentenceCounts]) -> Flags:
    counts = per_sentence["overall"]
    exact: Flags = (counts.matched == counts.predicted) & (counts.matched == counts.gold)
    return exact


def _compared(per_sentence: Mapping[Metric, SentenceCounts], protocol: Protocol) -> Flags:
    """Return of which sentences an exact match is asked: all, or those with something discontinuous."""
    counts = per_sentence["overall"]
    if protocol.parameters is not None and protocol.parameters.discontinuous_only:
        return counts.predicted + counts.gold > 0
    return np.ones(len(counts), dtype=bool)


def _has_tags(treebank: Treebank) -> bool:
    return not treebank.tags.where("".__eq__).all()


def _tags(pair: Alignment, protocol: Protocol) -> tuple[Ints, Ints]:
    """Return how many words of each sentence have the gold tag, and how many words there are."""
    tag_of = protocol.parameters.tag_of if protocol.parameters is not None else str
    predicted, gold = comparable(pair.predicted.tags, pair.gold.tags, tag_of)
    sentence = np.repeat(np.arange(len(pair.gold)), pair.gold.lengths)
    right = np.bincount(sentence[predicted == gold], minlength=len(pair.gold))
    return right.astype(np.int64), pair.gold.lengths


def _by_length(pair: Alignment, table: _Sentences, protocol: Protocol) -> tuple[LengthBin, ...]:
    place = np.searchsorted(LENGTH_LIMITS, pair.gold.lengths)
    return tuple(
        table.bin(
            LENGTH_LIMITS[index - 1] + 1 if index else 1,
            LENGTH_LIMITS[index] if index < len(LENGTH_LIMITS) else None,
            place == index,
            protocol,
        )
        for index in np.unique(place).tolist()
    )


def _digest(gold: Treebank, protocol: Protocol) -> str:
    digest = hashlib.blake2b("\0".join(gold.words.tolist()).encode(), digest_size=16)
    for offsets in (gold.word_offsets, gold.constituent_offsets):
        digest.update(offsets.tobytes())
    digest.update(gold.bits.tobytes())
    if protocol.labelled:
        digest.update("\0".join(gold.labels.tolist()).encode())
    return digest.hexdigest()


def sentence_names(treebank: Treebank, places: Ints, first: int = 0) -> tuple[str, ...]:
    """Return the ids of sentences, or their numbers where they have none; `first` come before."""
    return tuple(treebank.ids[place] or f"#{first + place + 1}" for place in places.tolist())
