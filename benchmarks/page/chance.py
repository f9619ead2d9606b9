"""Could a difference between two kinds of runs be chance?"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product

import numpy as np


def p_value(strata: Sequence[tuple[Sequence[float], Sequence[float]]]) -> float:
    """Return how often chance alone makes two kinds of runs differ as much as they do.

    An exact permutation test, two-sided: the values of each stratum are dealt out to the two kinds in all
    possible ways. In how many of them is the sum of the first kind as far from its mean as it is in fact?

    Parameters
    ----------
    strata : the values of both kinds, apart for what else runs differ in. There are 924 ways for six runs
        beside six, and for several strata the product of theirs; all of them are in memory.

    >>> p_value([([1.0, 2.0], [8.0, 9.0])])  # two of six ways, this one and its mirror image
    0.3333333333333333
    >>> p_value([([1.0, 2.0], [8.0, 9.0]), ([8.0, 9.0], [1.0, 2.0])])  # the one makes up for the other
    1.0
    """
    sums, found = np.zeros(1), 0.0
    for first, second in strata:
        ways = combinations([*first, *second], len(first))
        sums = np.add.outer(sums, [sum(way) for way in ways]).ravel()
        found += sum(first)
    off = np.abs(sums - sums.mean())
    rounding = 1e-9 * (1 + np.abs(sums).max())  # sums of the same values in another order are equal
    return float(np.mean(off >= abs(found - sums.mean()) - rounding))


def sign_p_value(differences: Sequence[float]) -> float:
    """Return how often chance alone makes paired runs differ as much as they do.

    A permutation test, two-sided: the two of each pair are exchanged in all ways, 2^n for n pairs, or, beyond
    16 pairs, in 2^16 ways that are drawn at random. In how many is the mean difference as far from 0 as it is
    in fact?

    >>> sign_p_value([1.0, 2.0, 3.0])  # two of eight ways, this one and its mirror image
    0.25
    """
    given = np.asarray(differences, dtype=np.float64)
    if len(given) <= 16:
        signs = np.array(list(product((1.0, -1.0), repeat=len(given))))
    else:
        signs = np.random.default_rng(0).choice((1.0, -1.0), size=(2**16, len(given)))
    sums = signs @ given
    rounding = 1e-9 * (1 + np.abs(given).sum())
    return float(np.mean(np.abs(sums) >= abs(given.sum()) - rounding))
