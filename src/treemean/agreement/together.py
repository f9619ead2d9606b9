"""Bringing runs together without a gold treebank: the same sentences, the same words, no punctuation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

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


@dataclass(frozen=True)
class Whole:
    """What must be known of all sentences before any are brought together.

    Parameters
    ----------
    names : of the runs with the most words, which have all of them.
    rule : how these tell punctuation: by tag if one of them has such tags, else by word.
    """

    names: tuple[str, ...]
    rule: str | Collection[str]

    @staticmethod
    def of(batches: Iterable[Mapping[str, Treebank]], by: str | Collection[str]) -> Whole:
        """Find it out, from batches of the runs by name."""
        words: Counter[str] = Counter()
        rules: dict[str, str | Collection[str]] = {}
        for batch in batches:
            for name, run in batch.items():
                words[name] += len(run.words)
                if rules.get(name) != "tag":
                    rules[name] = settle_punctuation(run, by)
        most = max(words.values(), default=0)
        complete = tuple(name for name in words if words[name] == most)
        told = [rules[name] for name in complete]
        return Whole(complete, "tag" if "tag" in told else told[0] if told else by)


def bring_together(
    runs: Mapping[str, Treebank],
    protocol: Protocol,
    *,
    match: Match,
    whole: Whole,
    ignore_case: bool,
    first: int = 0,
) -> Together:
    """Check that runs have the same sentences, and remove punctuation from all of them.

    `whole` says which runs have all words; `first` sentences come before these, for messages.

    Some runs may lack the punctuation that others have. Of those with the most words, which have all, any may
    say that a word is punctuation; so the order of the runs does not matter. Words, ids and places are those
    of the first of them.
    """
    name = whole.names[0]
    most = runs[name]
    same = partial(align, protocol=protocol, match=match, ignore_case=ignore_case, first=first)
    complete = [
        same(runs[other], most, punctuation=(), names=(other, name)).predicted for other in whole.names
    ]
    removed = np.logical_or.reduce([punctuation_mask(run, whole.rule) for run in complete])
    marked = most.with_columns(tags=CodedStrings.of(np.where(removed, "punct", "").tolist()))
    pairs = [same(run, marked, punctuation="tag", names=(other, name)) for other, run in runs.items()]
    words, sentences = pairs[0].gold.words, pairs[0].sentences
    position = np.arange(len(most.words)) - np.repeat(most.word_offsets[:-1], most.lengths)
    left = gather(most.word_offsets, sentences)
    return Together(
        [pair.predicted.with_columns(words=words, ids=pairs[0].gold.ids) for pair in pairs],
        most,
        sentences,
        position[left][~removed[left]],
        pairs[0].dropped,
    )
