"""Which words are taken out before scoring: punctuation, or what a parameter file lists."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from treemean.errors import InvalidOption
from treemean.evaluation.parameters import QUOTES, Parameters
from treemean.evaluation.protocols import Protocol
from treemean.trees import Treebank
from treemean.trees.bitsets import Ints
from treemean.trees.punctuation import punctuation_mask, unescape_brackets
from treemean.trees.treebank import offsets_of

Flags = NDArray[np.bool_]


def removed_words(
    gold: Treebank, protocol: Protocol, punctuation: str | Collection[str]
) -> tuple[Flags, Flags]:
    """Return which gold words are plain punctuation, and which the protocol removes: bool[N] each.

    A prediction may have been stripped of either.
    """
    if protocol.parameters is not None:
        if punctuation != "auto":
            raise InvalidOption("a parameter file says which words are removed: leave out punctuation")
        removed = _listed(gold, protocol.parameters)
        return removed, removed
    by_list = punctuation == "auto" and bool(protocol.punctuation_words)
    plain = punctuation_mask(gold, "tag" if by_list else punctuation)
    if not by_list:
        return plain, plain
    listed = protocol.punctuation_words
    return plain, plain | gold.words.where(lambda word: unescape_brackets(word) in listed)


def _listed(gold: Treebank, parameters: Parameters) -> Flags:
    words = parameters.delete_words
    removed = gold.tags.where(parameters.deletes_tag)
    removed |= gold.words.where(lambda word: word in words or unescape_brackets(word) in words)
    if parameters.delete_words_under_root:
        removed |= _under_root(gold)
    return removed


def _under_root(treebank: Treebank) -> Flags:
    """Return which words hang directly under the root of their tree."""
    flags: list[bool] = []
    for tree in treebank:
        root_only = [True] * len(tree)
        for constituent in tree.constituents[1:]:
            for position in constituent.positions:
                root_only[position] = False
        flags += root_only
    return np.array(flags, dtype=bool)


def sentence_lengths(gold: Treebank, left: Ints, protocol: Protocol) -> Ints:
    """Return how long the gold sentences are for a limit: int64[S].

    Parameters
    ----------
    left : int64[S], how many words they have once punctuation is removed.
    """
    if not protocol.length_with_punctuation:
        return left
    if protocol.parameters is None or not protocol.parameters.ignored_in_length:
        return gold.lengths
    ignored = gold.tags.where(protocol.parameters.ignored_in_length.__contains__)
    return np.diff(offsets_of(~ignored)[gold.word_offsets])


def evalb_errors(
    predicted: Treebank, gold: Treebank, removed: Flags, present: Flags, parameters: Parameters
) -> tuple[Flags, Flags]:
    """Return which gold words EVALB removes, bool[N], and which sentences it calls errors, bool[S].

    EVALB removes words on each side by the tags of that side, and leaves out a sentence of which other words
    are left then. Only quotes of which both tags are listed are put back. Where the prediction has no tag,
    that of the gold decides.

    Parameters
    ----------
    removed : bool[N], the gold words that the gold tags remove.
    present : bool[N], the gold words that are in the prediction.
    """
    theirs = removed[present]
    tagged = ~predicted.tags.where("".__eq__)
    ours = np.where(tagged, predicted.tags.where(parameters.deletes_tag), theirs)
    differ = ours != theirs
    if parameters.quote_labels and differ.any():
        quotes = predicted.words.where(QUOTES.__contains__)
        quotes &= predicted.tags.where(parameters.quote_labels.__contains__)
        quotes &= gold.tags.where(parameters.quote_labels.__contains__)[present]
        put_back = np.zeros_like(removed)
        put_back[present] = quotes & differ
        removed = removed & ~put_back
        differ &= ~quotes
    wrong = np.diff(offsets_of(differ)[predicted.word_offsets]) > 0
    return removed, wrong
