# mypy: disable-error-code="no-untyped-def, untyped-decorator"
"""Kernels that find the units of gradients, and write gradients of rules in them.

Gradients of logits are expected counts: what a grammar did, minus what it would do without looking. They add
up to no more than a few times the number of words, each times the weight of its sentence, ``N``. That bound
gives each run its *units*, powers of two by which gradients are multiplied before they are written as fp16:
``u`` with ``u N`` just under 1, ``w`` with ``w`` times the largest weight of a sentence just under 1.
Parameters get the same gradients whatever the units, up to rounding.

Symbols of fan-out two are rare, and have units of their own, which come from how often they were used.
"""

from __future__ import annotations

import triton
import triton.language as tl

from treemean.grammars.gpu.units import exponent, two_to

#: The exponents of two of the units of fp16 numbers: of gradients of logits, of hidden layers, of posteriors.
LOGITS, HIDDEN, POSTERIORS = 13, 9, 14

#: What `measure` writes for each run: u, w, the inverse of the largest step of gradients of views, and the
#: factors that undo the units of hidden layers and of logits.
UNITS = 5

LOGITS_UNIT = tl.constexpr(2.0**LOGITS)
HIDDEN_UNIT = tl.constexpr(2.0**HIDDEN)
POSTERIORS_UNIT = tl.constexpr(2.0**POSTERIORS)
UNITS_OF_RUN = tl.constexpr(UNITS)


@triton.jit(do_not_specialize=["positions"])
def scale_view_gradients(
    gradients,
    views,
    result,
    steps,
    weights,
    positions,
    COLUMNS: tl.constexpr,
    PITCH: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Write the gradients of the views of a word as fp16, in steps of their own.

    The views times their gradients add up to the weight of the sentence. Zeros follow up to the next row.
    """
    position = tl.program_id(1).to(tl.int64) * positions + tl.program_id(0)
    column = tl.arange(0, BLOCK)
    real = column < COLUMNS
    gradient = tl.load(gradients + position * COLUMNS + column, mask=real, other=0.0)
    view = tl.load(views + position * COLUMNS + column, mask=real, other=0.0)
    k = exponent(tl.max(tl.abs(gradient), 0))
    tl.store(steps + position, two_to(k - 14))
    tl.store(weights + position, tl.abs(tl.sum(gradient * view, 0)))
    tl.store(result + position * PITCH + column, gradient * two_to(14 - k), mask=column < PITCH)


@triton.jit(do_not_specialize=["positions"])
def measure(
    steps,
    weights,
    rules,
    gradients,
    units,
    gapped_units,
    positions,
    COUNT: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Find the units of a run, and those of its symbols of fan-out two.

    The latter come from COUNT rules and their gradients, which multiplied tell how often each was used. In
    place of w they have the factor that takes them to the units of the run.
    """
    run = tl.program_id(0).to(tl.int64)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    heaviest = tl.zeros([BLOCK], dtype=tl.float32)
    widest = tl.zeros([BLOCK], dtype=tl.float32)
    for first in range(0, positions, BLOCK):
        position = first + tl.arange(0, BLOCK)
        real = position < positions
        weight = tl.load(weights + run * positions + position, mask=real, other=0.0)
        total += weight
        heaviest = tl.maximum(heaviest, weight)
        widest = tl.maximum(widest, tl.load(steps + run * positions + position, mask=real, other=0.0))
    used = tl.zeros([BLOCK], dtype=tl.float32)
    for first in range(0, COUNT, BLOCK):
        rule = first + tl.arange(0, BLOCK)
        real = rule < COUNT
        gradient = tl.load(gradients + run * COUNT + rule, mask=real, other=0.0)
        used += tl.abs(gradient * tl.load(rules + run * COUNT + rule, mask=real, other=0.0))
    u = exponent(tl.sum(total, 0)) + 1
    gapped = exponent(tl.sum(used, 0)) + 1
    gapped_units += run * UNITS_OF_RUN
    tl.store(gapped_units, two_to(-gapped))
    tl.store(gapped_units + 1, two_to(tl.maximum(gapped - u, -100)))
    tl.store(gapped_units + 3, two_to(gapped) / HIDDEN_UNIT)
    tl.store(gapped_units + 4, two_to(gapped) / LOGITS_UNIT)
    units += run * UNITS_OF_RUN
    tl.store(units, two_to(-u))
    tl.store(units + 1, two_to(-exponent(tl.max(heaviest, 0)) - 1))
    tl.store(units + 2, 1.0 / tl.max(widest, 0))
    tl.store(units + 3, two_to(u) / HIDDEN_UNIT)
    tl.store(units + 4, two_to(u) / LOGITS_UNIT)


@triton.jit(do_not_specialize=["rows"])
def row_peaks(x, peaks, rows, COLUMNS: tl.constexpr, BLOCK: tl.constexpr):
    """Find the largest magnitude of each row."""
    row = tl.program_id(1).to(tl.int64) * rows + tl.program_id(0)
    column = tl.arange(0, BLOCK)
    value = tl.load(x + row * COLUMNS + column, mask=column < COLUMNS, other=0.0)
    tl.store(peaks + row, tl.max(tl.abs(value), 0))


@triton.jit(do_not_specialize=["rows", "padded"])
def scale_matrix(
    x,
    peaks,
    result,
    step,
    rows,
    padded,
    COLUMNS: tl.constexpr,
    PITCH: tl.constexpr,
    BLOCK: tl.constexpr,
    BLOCK_ROWS: tl.constexpr,
):
    """Write a matrix as fp16 in one step for the whole matrix of a run, twice, one below the other.

    Rows and columns are filled up with zeros, to ``padded`` and PITCH.
    """
    run, local = tl.program_id(1).to(tl.int64), tl.program_id(0)
    every = tl.arange(0, BLOCK_ROWS)
    k = exponent(tl.max(tl.load(peaks + run * rows + every, mask=every < rows, other=0.0), 0))
    column = tl.arange(0, BLOCK)
    real = (column < COLUMNS) & (local < rows)
    value = tl.load(x + (run * rows + local) * COLUMNS + column, mask=real, other=0.0)
    value *= two_to(14 - k)
    row = 2 * run * padded + local
    tl.store(result + row * PITCH + column, value, mask=column < PITCH)
    tl.store(result + (row + padded) * PITCH + column, value, mask=column < PITCH)
    if local == 0:
        tl.store(step + run, two_to(k - 14))


@triton.jit
def undo_units(x, units, result, stride, size, UNIT: tl.constexpr, BLOCK: tl.constexpr):
    """Multiply ``size`` numbers of each run by number UNIT of its units.

    ``stride`` is the distance of runs in ``x``; in the result one follows the other.
    """
    run = tl.program_id(1).to(tl.int64)
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    real = place < size
    value = tl.load(x + run * stride + place, mask=real, other=0.0)
    value *= tl.load(units + run * UNITS_OF_RUN + UNIT)
    tl.store(result + run * size + place, value, mask=real)
