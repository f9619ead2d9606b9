# mypy: disable-error-code="no-untyped-def, untyped-decorator"
"""Kernels before and after the products of emissions.

A *step* or a *scale* is a power of two that halves have to be multiplied by.
"""

from __future__ import annotations

import triton
import triton.language as tl

from treemean.grammars.fused.forward_kernels import store_split
from treemean.grammars.fused.unit_kernels import PROBABILITY, exponent, limited, two_to

# The exponents of two of the largest number of a row of inputs, and of gradients, as halves.
_ROW, _GRADIENT = tl.constexpr(12), tl.constexpr(14)
# At least so much of the probability may be that of words that do not stand in a sentence: what is left of 1
# by rounding.
_REST = tl.constexpr(2.0**-18)


@triton.jit(do_not_specialize=["given"])
def extend(
    x,
    column,
    result,
    scales,
    given,
    SIZE: tl.constexpr,
    WIDTH: tl.constexpr,
    PITCH: tl.constexpr,
    INPUTS: tl.constexpr,
    REST: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Write a row with one more column by `store_split`, in parts of WIDTH; zeros fill up columns and rows.

    The rows of INPUTS have a 1 behind them, and a scale each; others have what ``column`` gives.
    """
    row = tl.program_id(0).to(tl.int64)
    place = tl.arange(0, BLOCK)
    value = tl.load(x + row * SIZE + place, mask=(place < SIZE) & (row < given), other=0.0)
    if INPUTS:
        value = tl.where(place == SIZE, 1.0, value)
        k = exponent(tl.max(tl.abs(value), 0)) - _ROW
        tl.store(scales + row, two_to(k))
        value *= two_to(-k)
    else:
        value = tl.where(place == SIZE, tl.load(column + row, mask=row < given, other=0.0), value)
    store_split(result + row * PITCH + place, value, place < WIDTH, WIDTH, REST)


@triton.jit
def surplus_at(place, words, gradients, log_probs, number, rows, positions, LOOK: tl.constexpr):
    """Return how much more often than expected a preterminal emits the words at some places, how likely they
    are, and whether they stand there first.

    ``number`` is how often the preterminal stands anywhere. ``rows`` is the distance of positions.
    """
    there = place < positions
    word = tl.load(words + place, mask=there, other=-1)
    total = tl.zeros([LOOK], dtype=tl.float32)
    before = tl.zeros([LOOK], dtype=tl.int32)
    for begin in range(0, positions, LOOK):
        other = begin + tl.arange(0, LOOK)
        same = tl.load(words + other, mask=other < positions, other=-2)[None, :] == word[:, None]
        gradient = tl.load(gradients + other * rows, mask=other < positions, other=0.0)
        total += tl.sum(tl.where(same, gradient[None, :], 0.0), 1)
        before += tl.sum((same & (other[None, :] < place[:, None])).to(tl.int32), 1)
    p = tl.exp(tl.load(log_probs + place * rows, mask=there, other=-1e30))
    return tl.where(there, total - number * p, 0.0), p, there & (before == 0)


@triton.jit(do_not_specialize=["rows", "positions", "width"])
def logit_gradients(
    gradients,
    log_probs,
    words,
    probabilities,
    scales,
    result,
    steps,
    peaks,
    rows,
    positions,
    width,
    PITCH: tl.constexpr,
    LOOK: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Take the gradients of the logits of a preterminal from those of the words of its sentence.

    That is how often each word was emitted, minus how often it was expected. Preterminals that emit one word
    only have large vectors, and for that word both are nearly the same: halves have to be made of the
    difference. Each row has a step of its own, and as ``peaks`` that times the scale of its inputs.
    """
    run, local = tl.program_id(1).to(tl.int64), tl.program_id(0)
    row = run * rows + local
    words += run * positions
    gradients += run * positions * rows + local
    log_probs += run * positions * rows + local
    number = tl.zeros([], dtype=tl.float32)
    for begin in range(0, positions, LOOK):
        place = begin + tl.arange(0, LOOK)
        number += tl.sum(tl.load(gradients + place * rows, mask=place < positions, other=0.0), 0)
    largest = tl.zeros([], dtype=tl.float32)
    unseen = tl.full([], 1.0, dtype=tl.float32)
    for begin in range(0, positions, LOOK):
        place = begin + tl.arange(0, LOOK)
        value, p, first = surplus_at(place, words, gradients, log_probs, number, rows, positions, LOOK)
        largest = tl.maximum(largest, tl.max(tl.abs(value), 0))
        unseen -= tl.sum(tl.where(first, p, 0.0), 0)
    largest = tl.maximum(largest, tl.abs(number) * (tl.maximum(unseen, 0.0) + _REST))
    k = exponent(largest) - _GRADIENT
    tl.store(steps + row, two_to(k))
    tl.store(peaks + row, two_to(k) * tl.load(scales + row))
    factor = -number * PROBABILITY * two_to(-k)
    for begin in range(0, width, BLOCK):
        column = begin + tl.arange(0, BLOCK)
        p = tl.load(probabilities + row * PITCH + column, mask=column < width, other=0.0).to(tl.float32)
        tl.store(result + row * PITCH + column, limited(p * factor), mask=column < width)
    tl.debug_barrier()  # the words of the sentence come on top of that
    for begin in range(0, positions, LOOK):
        place = begin + tl.arange(0, LOOK)
        value, p, first = surplus_at(place, words, gradients, log_probs, number, rows, positions, LOOK)
        word = tl.load(words + place, mask=first, other=0)
        tl.store(result + row * PITCH + word, value * two_to(-k), mask=first)


@triton.jit(do_not_specialize=["rows"])
def weigh(
    inputs,
    peaks,
    result,
    step,
    rows,
    WIDTH: tl.constexpr,
    PITCH: tl.constexpr,
    BLOCK: tl.constexpr,
    ROWS: tl.constexpr,
):
    """Multiply a row of inputs by its peak, in steps of the largest peak, which is written too."""
    row = tl.program_id(0)
    every = tl.arange(0, ROWS)
    largest = tl.max(tl.load(peaks + every, mask=every < rows, other=0.0), 0)
    column = tl.arange(0, BLOCK)
    x = tl.load(inputs + row * PITCH + column, mask=column < WIDTH, other=0.0).to(tl.float32)
    tl.store(result + row * WIDTH + column, x * (tl.load(peaks + row) / largest), mask=column < WIDTH)
    if row == 0:
        tl.store(step, largest)
