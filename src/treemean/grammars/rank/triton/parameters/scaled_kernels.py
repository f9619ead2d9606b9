# mypy: disable-error-code="no-untyped-def, untyped-decorator"
"""Kernels of a network whose values fp16 numbers could not hold as they are.

Hidden layers of emissions grow as long as a run learns, to ten thousand and beyond, and so do the gradients
on the way back. So each row of a layer is written with a *scale* of its own, a power of two which it has to
be multiplied by, and gradients are float32 between products, but go into these as fp16 with one *step* for
each run, which they have to be multiplied by. Rows are symbols; products over columns keep them apart.
"""

from __future__ import annotations

import triton
import triton.language as tl

from treemean.grammars.gpu.units import exponent, two_to
from treemean.grammars.rank.triton.parameters.forward_kernels import rectified, store_split

#: What hidden vectors are multiplied by where products add up over rows, in which scales have no place.
VECTOR_SCALE = 2.0**-6
_VECTOR_SCALE = tl.constexpr(VECTOR_SCALE)
# The exponents of two of the largest number of a row, and of all gradients, as fp16.
_ROW, _GRADIENT = tl.constexpr(12), tl.constexpr(14)


@triton.jit(do_not_specialize=["rows"])
def activate_scaled(
    sums,
    sum_scales,
    bias,
    skip,
    skip_scales,
    result,
    result_scales,
    vectors,
    rows,
    COLUMNS: tl.constexpr,
    PITCH: tl.constexpr,
    PITCH_VECTORS: tl.constexpr,
    SCALED: tl.constexpr,
    RELU: tl.constexpr,
    SKIP: tl.constexpr,
    LAST: tl.constexpr,
    REST: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Add the bias to a row of sums, apply ReLU, add what skipped the layers; write it by `store_split`.

    Sums are to be multiplied by their scales if SCALED, and what is skipped by its own. The LAST layer is
    also written as ``vectors``, fp16 numbers times VECTOR_SCALE.
    """
    run = tl.program_id(1).to(tl.int64)
    row = run * rows + tl.program_id(0)
    column = tl.arange(0, BLOCK)
    real = column < COLUMNS
    value = tl.load(sums + row * COLUMNS + column, mask=real, other=0.0)
    if SCALED:
        value *= tl.load(sum_scales + row)
    value += tl.load(bias + run * COLUMNS + column, mask=real, other=0.0)
    if RELU:
        value = rectified(value)
    if SKIP:
        skipped = tl.load(skip + row * PITCH + column, mask=real, other=0.0).to(tl.float32)
        if REST > 0:
            at = skip + row * PITCH + REST * COLUMNS + column
            skipped += tl.load(at, mask=real, other=0.0).to(tl.float32)
        value += skipped * tl.load(skip_scales + row)
    # Where gradients are multiplied by scales, rows that are next to nothing must not lose theirs.
    k = tl.maximum(exponent(tl.max(tl.where(real, tl.abs(value), 0.0), 0)), 0) - _ROW
    tl.store(result_scales + row, two_to(k))
    store_split(result + row * PITCH + column, value * two_to(-k), real, COLUMNS, REST)
    if LAST:
        tl.store(vectors + row * PITCH_VECTORS + column, value * _VECTOR_SCALE, mask=real)


@triton.jit(do_not_specialize=["rows"])
def add_and_find_peaks(
    x,
    more,
    more_step,
    more_scales,
    own_scales,
    wanted_scales,
    peaks,
    rows,
    COLUMNS: tl.constexpr,
    ADD: tl.constexpr,
    OWN: tl.constexpr,
    WANTED: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Find the largest magnitude of each row as `fit` will write it; to ADD, add other gradients before.

    These are to be multiplied by a step and divided by scales. For the scales see `fit`.
    """
    run = tl.program_id(1).to(tl.int64)
    row = run * rows + tl.program_id(0)
    column = tl.arange(0, BLOCK)
    real = column < COLUMNS
    value = tl.load(x + row * COLUMNS + column, mask=real, other=0.0)
    if ADD:
        factor = tl.load(more_step + run) / tl.load(more_scales + row)
        value += tl.load(more + row * COLUMNS + column, mask=real, other=0.0) * factor
        tl.store(x + row * COLUMNS + column, value, mask=real)
    factor = 1.0
    if WANTED:
        factor *= tl.load(wanted_scales + row)
    if OWN:
        factor /= tl.load(own_scales + row)
    tl.store(peaks + row, tl.max(tl.abs(value), 0) * factor)


@triton.jit(do_not_specialize=["rows", "blocks"])
def fit(
    x,
    own_step,
    own_scales,
    wanted_scales,
    peaks,
    values,
    value_scales,
    bias,
    result,
    step,
    shares,
    rows,
    blocks,
    COLUMNS: tl.constexpr,
    PITCH: tl.constexpr,
    PITCH_VALUES: tl.constexpr,
    OWN: tl.constexpr,
    WANTED: tl.constexpr,
    MASK: tl.constexpr,
    BLOCK_ROWS: tl.constexpr,
    BLOCK_COLUMNS: tl.constexpr,
    ALL_ROWS: tl.constexpr,
):
    """Write gradients as fp16, and a share of those of the bias for each block of rows.

    With OWN, what is given has to be multiplied by a step and divided by scales. What is written has to be
    multiplied by the new ``step`` and, if WANTED, divided by other scales: its product with the rows of a
    layer that have these is then right but for the step. MASK says when a ReLU let something through:
    0 always, 1 where ``values`` (its results) are positive, 2 where ``values`` times scales plus bias are.
    """
    run = tl.program_id(2).to(tl.int64)
    every = tl.arange(0, ALL_ROWS)
    k = exponent(tl.max(tl.load(peaks + run * rows + every, mask=every < rows, other=0.0), 0)) - _GRADIENT
    row = tl.program_id(0) * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)
    column = tl.program_id(1) * BLOCK_COLUMNS + tl.arange(0, BLOCK_COLUMNS)
    there, real = row < rows, column < COLUMNS
    mask = there[:, None] & real[None, :]
    line = run * rows + row
    gradient = tl.load(x + line[:, None] * COLUMNS + column[None, :], mask=mask, other=0.0)
    if MASK > 0:
        place = line[:, None] * PITCH_VALUES + column[None, :]
        value = tl.load(values + place, mask=mask, other=0.0).to(tl.float32)
        if MASK == 2:
            value *= tl.load(value_scales + line, mask=there, other=0.0)[:, None]
            value += tl.load(bias + run * COLUMNS + column, mask=real, other=0.0)[None, :]
        gradient = tl.where(value > 0, gradient, 0.0)
    if OWN:
        gradient *= (1.0 / tl.load(own_scales + line, mask=there, other=1.0))[:, None]
    scaled = gradient * two_to(-k)
    if WANTED:
        scaled *= tl.load(wanted_scales + line, mask=there, other=0.0)[:, None]
    tl.store(result + line[:, None] * PITCH + column[None, :], scaled, mask=mask)
    factor = 1.0
    if OWN:
        factor *= tl.load(own_step + run)
    share = (run * blocks + tl.program_id(0)) * COLUMNS + column
    tl.store(shares + share, tl.sum(gradient, 0) * factor, mask=real)
    if (tl.program_id(0) == 0) & (tl.program_id(1) == 0):
        tl.store(step + run, two_to(k) * factor)
