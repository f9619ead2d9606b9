"""Which sentences are computed together."""

from __future__ import annotations

import numpy as np

from treemean.grammars import Grammar

#: About how many words are computed together.
WORDS = 800
#: On a GPU, whose kernels take sentences of several lengths, and hardly more time for more of them: how many
#: words, padding included, and by how many of them lengths may differ.
_WORDS_MIXED = 4000
_APART = 4


def cut_for(grammar: Grammar, lengths: np.ndarray, words: int | None = None) -> list[np.ndarray]:
    """Cut sentences into the batches that a grammar handles best where it is.

    Parameters
    ----------
    lengths : (N,) numbers of words.
    words : about how many of them are in a batch, padding included; None for a number that suits.

    Returns the places of the sentences of each batch. Those of less than two words are in none.
    """
    on_gpu = next(grammar.parameters()).device.type == "cuda"
    if on_gpu and grammar.config.is_low_rank:
        return cut_by_similar_length(lengths, words or _WORDS_MIXED)
    return cut_by_length(lengths, words or WORDS)


def cut_by_length(lengths: np.ndarray, words: int) -> list[np.ndarray]:
    """Cut sentences into batches of one length, shortest first.

    >>> [places.tolist() for places in cut_by_length(np.array([3, 2, 3, 1, 3]), words=6)]
    [[1], [0, 2], [4]]
    """
    order = _sorted(lengths)
    batches = []
    for same in np.split(order, np.flatnonzero(np.diff(lengths[order])) + 1):
        if len(same):
            size = max(1, words // int(lengths[same[0]]))
            batches += [same[start : start + size] for start in range(0, len(same), size)]
    return batches


def cut_by_similar_length(lengths: np.ndarray, words: int) -> list[np.ndarray]:
    """Cut sentences into batches of similar lengths, longest first.

    >>> [places.tolist() for places in cut_by_similar_length(np.array([3, 2, 9, 1, 3]), words=9)]
    [[2], [1, 0, 4]]
    """
    order = _sorted(lengths)
    batches: list[np.ndarray] = []
    end = len(order)
    while end:
        longest = int(lengths[order[end - 1]])
        similar = int(np.searchsorted(lengths[order], longest - _APART))
        start = max(similar, end - max(1, words // longest))
        batches.append(order[start:end])
        end = start
    return batches


def _sorted(lengths: np.ndarray) -> np.ndarray:
    order = np.argsort(lengths, kind="stable")
    found: np.ndarray = order[lengths[order] > 1]
    return found
