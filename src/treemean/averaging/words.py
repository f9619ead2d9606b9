"""Votes on what individuals say about words: tags and functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treemean.averaging.frequencies import summed, tells_something
from treemean.averaging.request import AverageRequest
from treemean.trees import CodedStrings, Treebank


def voted_words(runs: Sequence[Treebank], request: AverageRequest) -> dict[str, CodedStrings]:
    """Return the columns `tags` and `word_functions` with the most weight; the request has frequencies.

    Of equal ones the more frequent text is taken, then the alphabetically first. Individuals without weight,
    or without any tags (or functions) at all, have no say about these.
    """
    return {
        name: _voted(
            [getattr(run, name) for run in runs],
            request.weights.continuous,
            [getattr(counted, name) for counted in request.frequencies or []],
        )
        for name in ("tags", "word_functions")
    }


def _voted(
    columns: Sequence[CodedStrings], weights: Sequence[int], counters: Sequence[Counter[str]]
) -> CodedStrings:
    heard = [k for k, weight in enumerate(weights) if weight and tells_something(counters[k])]
    if not heard:
        return columns[0]
    first = columns[heard[0]]
    same_codes = all(columns[k].texts == first.texts for k in heard)
    if same_codes and _agree([columns[k].codes for k in heard]):
        return first
    both = CodedStrings.concatenate([columns[k] for k in heard])
    codes = both.codes.reshape(len(heard), -1)
    if _agree([*codes]):
        return first
    texts = both.texts
    often = summed(counters[k] for k in heard)
    order = sorted(range(len(texts)), key=lambda code: (-often[texts[code]], texts[code]))
    preference = np.empty(len(texts), dtype=np.int64)
    preference[order] = np.arange(len(texts))
    result = codes[0].copy()
    disputed = np.flatnonzero((codes != codes[0]).any(axis=0))
    result[disputed] = winners(codes[:, disputed], [weights[k] for k in heard], preference)
    return CodedStrings(result, both.vocabulary)


def _agree(codes: Sequence[NDArray[Any]]) -> bool:
    return all(np.array_equal(codes[0], other) for other in codes[1:])


def winners(codes: NDArray[Any], weights: Sequence[int], preference: NDArray[np.int64]) -> NDArray[Any]:
    """Return of every column the code with most weight, of equal ones the one with the lowest preference.

    Parameters
    ----------
    codes : (K, N); what each of K voters says about N things.
    weights : K integers.
    preference : a number for each code.

    >>> winners(np.array([[0, 1], [1, 0], [0, 2]]), [1, 3, 1], np.arange(3)).tolist()
    [1, 0]
    """
    votes = np.zeros(codes.shape, dtype=np.int64)
    for voter, weight in enumerate(weights):
        votes += np.where(codes == codes[voter], weight, 0)
    best = np.zeros(codes.shape[1], dtype=np.int64)
    everywhere = np.arange(codes.shape[1])
    for voter in range(1, len(weights)):
        here, there = votes[voter], votes[best, everywhere]
        preferred = preference[codes[voter]] < preference[codes[best, everywhere]]
        best = np.where((here > there) | ((here == there) & preferred), voter, best)
    return codes[best, everywhere]
