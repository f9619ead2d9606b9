"""Values of sets of words, as fitted models give them, made into values of labelled constituents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treemean.trees import Treebank


def hits_with_labels(
    runs: Sequence[Treebank], hits: Sequence[Any], weights: Sequence[float], *, additive: bool = False
) -> list[NDArray[np.float64]]:
    """Return what labelled constituents are worth, given what sets of 2 to n - 1 words are.

    Such models know nothing of the whole sentence, of single words and of the lower constituents of a unary
    chain. Those of a chain are worth what its uppermost one is, whole sentences and single words 1. Where
    sums are maximised (`additive`), single words are worth the share of the weight that has them beyond one
    half, so that they need a majority.

    >>> from treemean.trees import Tree
    >>> bank = Treebank.from_trees([Tree(list("abc"), [({0, 1, 2}, "S"), ({0, 1}, "NP"), ({0, 1}, "N")])])
    >>> hits_with_labels([bank], [[0, 0.7, 0]], [1])[0].tolist()
    [1.0, 0.7, 0.7]
    """
    worth_of_words = np.ones(len(runs[0].words))
    if additive:
        worth_of_words = np.full(len(runs[0].words), -0.5)
        for run, weight in zip(runs, weights, strict=True):
            worth_of_words[np.unique(_words(run)[_single(run)])] += weight / sum(weights)
    result = []
    for run, values in zip(runs, hits, strict=True):
        places = np.arange(len(run.labels))
        uppermost = np.maximum.accumulate(np.where(run.repeats, 0, places)) if len(places) else places
        spread = np.asarray(values, dtype=np.float64)[uppermost]
        spread[_single(run)] = worth_of_words[_words(run)[_single(run)]]
        spread[run.sizes == run.lengths[run.sentence_of]] = 1
        result.append(spread)
    return result


def _single(run: Treebank) -> NDArray[np.bool_]:
    return np.asarray((run.sizes == 1) & (run.lengths[run.sentence_of] > 1), dtype=bool)


def _words(run: Treebank) -> NDArray[np.int64]:
    """Return the first word of every constituent, counted over all sentences."""
    return run.word_offsets[:-1][run.sentence_of] + run.firsts
