# mypy: disable-error-code="no-untyped-def, untyped-decorator"
"""Kernels before and after the products of emissions.

A *step* or a *scale* is a power of two that fp16 numbers have to be multiplied by.
"""

from __future__ import annotations

import triton
import triton.language as tl

from treemean.grammars.dense.triton.fp16 import multiply
from treemean.grammars.gpu.units import PROBABILITY, exponent, limited, two_to

# The exponents of two of the largest number of a row of inputs, and of gradients, as fp16.
_ROW, _GRADIENT = tl.constexpr(12), tl.constexpr(14)
# What rounding takes away from vectors of words is multiplied by this, and what it meets divided: vectors are
# small, and the rest of them would get lost at the lower end of fp16 numbers.
_UP = tl.constexpr(2.0**10)


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
    SPLIT: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Write a row with one more column as fp16 of WIDTH; zeros fill up columns and rows.

    The rows of INPUTS have a 1 behind them, and a scale each; others have what ``column`` gives. To SPLIT,
    two more parts follow: of INPUTS the same again and what rounding took away, of others the reverse, so
    that products have the digits of float32.
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
    target, real = result + row * PITCH + place, place < WIDTH
    high = value.to(result.dtype.element_ty)
    tl.store(target, high, mask=real)
    if SPLIT:
        rest = value - high.to(tl.float32)
        if INPUTS:
            tl.store(target + WIDTH, high.to(tl.float32) * (1.0 / _UP), mask=real)
            tl.store(target + 2 * WIDTH, rest, mask=real)
        else:
            tl.store(target + WIDTH, rest * _UP, mask=real)
            tl.store(target + 2 * WIDTH, high, mask=real)


@triton.jit
def surplus_at(place, words, gradients, log_probs, number, rows, positions, LOOK: tl.constexpr):
    """Return how much more often than expected a preterminal emits the words at some places, and whether they
    stand there first.

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
    return total - number * p, there & (before == 0)


@triton.jit(do_not_specialize=["rows", "positions", "width"])
def logit_gradients(
    gradients,
    log_probs,
    words,
    probabilities,
    scales,
    surplus,
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

    That is how often each word was emitted, minus how often it was expected. For the words of the sentence it
    is written as ``surplus`` (R, positions, rows), where a word stands first; at other places are zeros. For
    all others, most of which are next to nothing, the ``result`` is in fp16: each row has a step of its own,
    and as ``peaks`` that times the scale of its inputs.

    Preterminals that emit one word only have large vectors, and what they did and what was expected of them
    are nearly the same: the difference has to be taken before products round both.
    """
    run, local = tl.program_id(1).to(tl.int64), tl.program_id(0)
    row = run * rows + local
    words += run * positions
    gradients += run * positions * rows + local
    log_probs += run * positions * rows + local
    surplus += run * positions * rows + local
    number = tl.zeros([], dtype=tl.float32)
    for begin in range(0, positions, LOOK):
        place = begin + tl.arange(0, LOOK)
        number += tl.sum(tl.load(gradients + place * rows, mask=place < positions, other=0.0), 0)
    for begin in range(0, positions, LOOK):
        place = begin + tl.arange(0, LOOK)
        value, first = surplus_at(place, words, gradients, log_probs, number, rows, positions, LOOK)
        tl.store(surplus + place * rows, tl.where(first, value, 0.0), mask=place < positions)
    k = exponent(tl.abs(number)) - _GRADIENT
    tl.store(steps + row, two_to(k))
    tl.store(peaks + row, two_to(k) * tl.load(scales + row))
    factor = -number * PROBABILITY * two_to(-k)
    for begin in range(0, width, BLOCK):
        column = begin + tl.arange(0, BLOCK)
        p = tl.load(probabilities + row * PITCH + column, mask=column < width, other=0.0).to(tl.float32)
        tl.store(result + row * PITCH + column, limited(p * factor), mask=column < width)
    tl.debug_barrier()  # what is written of the words of the sentence is to be written over
    for begin in range(0, positions, LOOK):
        place = begin + tl.arange(0, LOOK)
        word = tl.load(words + place, mask=place < positions, other=0)
        nothing = tl.zeros([LOOK], dtype=tl.float32)
        tl.store(result + row * PITCH + word, nothing, mask=place < positions)


@triton.jit(do_not_specialize=["rows", "positions"])
def hidden_gradients(
    products,
    steps,
    surplus,
    words,
    weights,
    result,
    rows,
    positions,
    SIZE: tl.constexpr,
    PITCH: tl.constexpr,
    ROWS: tl.constexpr,
    LOOK: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Take some columns of the gradients of the vectors of preterminals: those from products with the words
    that do not stand in the sentence, in steps of the row, and those from the others.
    """
    run = tl.program_id(1).to(tl.int64)
    row, column = tl.arange(0, ROWS), tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    there, real = row < rows, (column < SIZE)[None, :]
    at = (run * rows + row)[:, None]
    total = tl.load(products + at * PITCH + column[None, :], mask=there[:, None] & real, other=0.0)
    total *= tl.load(steps + run * rows + row, mask=there, other=0.0)[:, None]
    for begin in range(0, positions, LOOK):
        place = begin + tl.arange(0, LOOK)
        stands = place < positions
        word = tl.load(words + run * positions + place, mask=stands, other=0)
        source = surplus + (run * positions + place)[None, :] * rows + row[:, None]
        x = tl.load(source, mask=there[:, None] & stands[None, :], other=0.0)
        vectors = weights + word[:, None] * SIZE + column[None, :]
        total = multiply(x, tl.load(vectors, mask=stands[:, None] & real, other=0.0), total)
    tl.store(result + at * SIZE + column[None, :], total, mask=there[:, None] & real)


@triton.jit(do_not_specialize=["rows", "places"])
def word_gradients(
    products,
    step,
    chosen,
    surplus,
    words,
    of_weights,
    of_bias,
    rows,
    places,
    SIZE: tl.constexpr,
    PITCH: tl.constexpr,
    ROWS: tl.constexpr,
    LOOK: tl.constexpr,
    STEP: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Take the gradients of the vector and the bias of a word: from products with preterminals of sentences
    without it, in a step, and from the ``chosen`` rows of all ``places`` where it stands.

    Every word looks for its places itself, in their order, so that sums have the same bits each time: at LOOK
    places at once, and only if it is there at STEP at once.
    """
    word = tl.program_id(0)
    column, row = tl.arange(0, BLOCK), tl.arange(0, ROWS)
    real = column < SIZE
    unit = tl.load(step)
    source = products + word.to(tl.int64) * PITCH
    total = tl.load(source + column, mask=real, other=0.0) * unit
    bias = tl.load(source + SIZE) * unit
    for begin in range(0, places, LOOK):
        some = begin + tl.arange(0, LOOK)
        among = tl.load(words + some, mask=some < places, other=-1) == word
        if tl.max(among.to(tl.int32), 0) > 0:
            for first in range(begin, tl.minimum(begin + LOOK, places), STEP):
                place = first + tl.arange(0, STEP)
                found = tl.load(words + place, mask=place < places, other=-1) == word
                if tl.max(found.to(tl.int32), 0) > 0:
                    at = place.to(tl.int64)[:, None]
                    here = tl.load(
                        chosen + at * SIZE + column[None, :], mask=found[:, None] & real[None, :], other=0.0
                    )
                    total += tl.sum(here, 0)
                    mask = found[:, None] & (row < rows)[None, :]
                    of_rows = tl.load(surplus + at * rows + row[None, :], mask=mask, other=0.0)
                    bias += tl.sum(tl.sum(of_rows, 1), 0)
    tl.store(of_weights + word.to(tl.int64) * SIZE + column, total, mask=real)
    tl.store(of_bias + word, bias)


@triton.jit
def weigh(inputs, peaks, step, result, WIDTH: tl.constexpr, PITCH: tl.constexpr, BLOCK: tl.constexpr):
    """Multiply a row of inputs by its peak, in a step, the largest peak."""
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    x = tl.load(inputs + row * PITCH + column, mask=column < WIDTH, other=0.0).to(tl.float32)
    share = tl.load(peaks + row) / tl.load(step)
    tl.store(result + row * WIDTH + column, x * share, mask=column < WIDTH)
