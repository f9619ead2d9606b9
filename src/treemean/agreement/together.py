"""Bringing runs together without a gold treebank: the same sentences, the same words, no punctuation."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from treemean.evaluation import Protocol
from treemean.evaluation.alignment import align
from treemean.names import Match
from treemean.trees import Treebank
from treemean.trees.bitsets import Ints
from treemean.trees.punctuation import punctuation_mask, settle_punctuation
from treemean.trees.strings import CodedStrings
from treemean.trees.treebank import gather


@dataclass(frozen=True, eq=False)
class Together:
    """Runs over the same words.

    Parameters
    ----------
    runs : K treebanks of S sentences, without punctuation.
    whole : the treebank that was given with the most words; the first of equal ones.
    sentences : int64[S], the place of each sentence in it.
    positions : int64[N], where each word that is left stands in its sentence as given.
    dropped : for every reason the places of the sentences left out.
    """

    runs: list[Treebank]
    whole: Treebank
    sentences: Ints
    positions: Ints
    dropped: Mapping[str, Ints]


def bring_together(
    runs: Mapping[str, Treebank],
    protocol: Protocol,
    *,
    match: Match,
    punctuation: str | Collection[str],
    ignore_case: bool,
) -> Together:
    """Check that runs have the same sentences, and remove punctuation from all of them.

    Some runs may lack the punctuation that others have. Of those with the most words, which have all, any may
    say that a word is punctuation; so the order of the runs does not matter. Words, ids and places are those
    of the first of them.
    """
    [name, whole] = max(runs.items(), key=lambda item: len(item[1].words))
    same = partial(align, protocol=protocol, match=match, ignore_case=ignore_case)
    complete = [
        same(run, whole, punctuation=(), names=(other, name)).predicted
        for other, run in runs.items()
        if len(run.words) == len(whole.words)
    ]
    removed = _is_punctuation(complete, punctuation)
    marked = whole.with_columns(tags=CodedStrings.of(np.where(removed, "punct", "").tolist()))
    pairs = [same(run, marked, punctuation="tag", names=(other, name)) for other, run in runs.items()]
    words, sentences = pairs[0].gold.words, pairs[0].sentences
    position = np.arange(len(whole.words)) - np.repeat(whole.word_offsets[:-1], whole.lengths)
    left = gather(whole.word_offsets, sentences)
    return Together(
        [pair.predicted.with_columns(words=words, ids=pairs[0].gold.ids) for pair in pairs],
        whole,
        sentences,
        position[left][~removed[left]],
        pairs[0].dropped,
    )


def _is_punctuation(runs: list[Treebank], by: str | Collection[str]) -> NDArray[np.bool_]:
    """Tell which words any of some runs calls punctuation: all by tag if one has such tags, else by word."""
    told = [settle_punctuation(run, by) for run in runs]
    rule = "tag" if "tag" in told else told[0]
    return np.asarray(np.logical_or.reduce([punctuation_mask(run, rule) for run in runs]))
