"""Sets of word positions, as Python integers (one tree) and as rows of 64-bit words (a whole treebank).

A set of positions in a sentence of `n` words takes `width(n)` unsigned 64-bit words; position `p` is
bit `p % 64` of word `p // 64`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[np.uint64]
Ints = NDArray[np.int64]


def width(words: int) -> int:
    """Return how many 64-bit words hold a set of positions of a sentence of `words` words."""
    return (words + 63) >> 6


def widths(words: NDArray[Any]) -> Ints:
    """Return `width` of every entry of an array of sentence lengths."""
    return (np.asarray(words, dtype=np.int64) + 63) >> 6


def mask_of(positions: Iterable[int]) -> int:
    """Return the bit mask of some positions.

    >>> bin(mask_of([0, 3]))
    '0b1001'
    """
    mask = 0
    for position in positions:
        mask |= 1 << index(position)  # NumPy's integers would overflow
    return mask


def positions_of(mask: int) -> Iterator[int]:
    """Yield the positions of a mask in ascending order.

    >>> list(positions_of(0b1001))
    [0, 3]
    """
    if mask.bit_length() > 512:  # isolating the lowest bit of a long integer is quadratic overall
        raw = np.frombuffer(mask.to_bytes(width(mask.bit_length()) * 8, "little"), dtype=np.uint8)
        yield from np.flatnonzero(np.unpackbits(raw, bitorder="little")).tolist()
        return
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def spans_of(mask: int) -> list[tuple[int, int]]:
    """Return the maximal runs of a mask as half-open spans.

    >>> spans_of(0b110111)
    [(0, 3), (4, 6)]
    """
    spans = []
    start = 0
    while mask:
        skip = (mask & -mask).bit_length() - 1
        mask >>= skip
        start += skip
        run = (~mask & (mask + 1)).bit_length() - 1
        spans.append((start, start + run))
        mask >>= run
        start += run
    return spans


def first_of(mask: int) -> int:
    """Return the smallest position of a mask that is not empty."""
    return (mask & -mask).bit_length() - 1


def fan_out_of(mask: int) -> int:
    """Return the number of maximal runs: 1 for a continuous set.

    >>> fan_out_of(0b110111)
    2
    """
    return (mask & ~(mask << 1)).bit_count()


def compatible(a: int, b: int) -> bool:
    """Tell whether two sets can live in one tree: nested or disjoint."""
    common = a & b
    return common in (0, a, b)


def row_sizes(rows: Bits) -> Ints:
    """Count the positions of each row; `rows` is (m, width)."""
    sizes: Ints = np.bitwise_count(rows).sum(axis=1, dtype=np.int64)
    return sizes


def row_firsts(rows: Bits) -> Ints:
    """Return the smallest position of each row of an (m, width) array, -1 for an empty one."""
    if rows.shape[1] == 0:
        return np.full(len(rows), -1, dtype=np.int64)
    column = (rows != 0).argmax(axis=1)
    word = rows[np.arange(len(rows)), column]
    low = np.bitwise_count((word & (~word + np.uint64(1))) - np.uint64(1)).astype(np.int64)
    return np.where(word == 0, -1, column * 64 + low)


def row_fan_outs(rows: Bits) -> Ints:
    """Return the number of maximal runs of each row of an (m, width) array."""
    shifted = rows << np.uint64(1)
    shifted[:, 1:] |= rows[:, :-1] >> np.uint64(63)
    fan_outs: Ints = np.bitwise_count(rows & ~shifted).sum(axis=1, dtype=np.int64)
    return fan_outs
