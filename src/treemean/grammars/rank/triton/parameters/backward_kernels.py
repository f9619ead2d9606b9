# mypy: disable-error-code="no-untyped-def, untyped-decorator"
"""Kernels between the products of the backward pass; `unit_kernels` tells in which units gradients are."""

from __future__ import annotations

import triton
import triton.language as tl

from treemean.grammars.gpu.units import PROBABILITY, limited
from treemean.grammars.rank.triton.parameters.unit_kernels import LOGITS_UNIT, UNITS_OF_RUN


@triton.jit(do_not_specialize=["rows", "blocks"])
def deactivate(
    gradients,
    values,
    bias,
    result,
    shares,
    rows,
    blocks,
    COLUMNS: tl.constexpr,
    PITCH: tl.constexpr,
    PITCH_VALUES: tl.constexpr,
    MASK: tl.constexpr,
    BLOCK_ROWS: tl.constexpr,
    BLOCK_COLUMNS: tl.constexpr,
):
    """Take the gradients of what went into a ReLU, and a share of those of the bias for each block of rows.

    MASK says when the ReLU let something through: 0 always (there is none), 1 where ``values`` (its results)
    are positive, 2 where ``values`` plus bias are.
    """
    run = tl.program_id(2).to(tl.int64)
    row = tl.program_id(0) * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)
    column = tl.program_id(1) * BLOCK_COLUMNS + tl.arange(0, BLOCK_COLUMNS)
    real = column < COLUMNS
    mask = (row < rows)[:, None] & real[None, :]
    at = (run * rows + row)[:, None] * PITCH + column[None, :]
    gradient = tl.load(gradients + at, mask=mask, other=0.0).to(tl.float32)
    if MASK > 0:
        place = (run * rows + row)[:, None] * PITCH_VALUES + column[None, :]
        value = tl.load(values + place, mask=mask, other=0.0).to(tl.float32)
        if MASK == 2:
            value += tl.load(bias + run * COLUMNS + column, mask=real, other=0.0)[None, :]
        gradient = tl.where(value > 0, gradient, 0.0)
        tl.store(result + at, gradient, mask=mask)
    share = (run * blocks + tl.program_id(0)) * COLUMNS + column
    tl.store(shares + share, tl.sum(gradient, 0), mask=real)


@triton.jit(do_not_specialize=["rows", "lines", "lines_of_gradients"])
def softmax_gradients(
    probabilities,
    gradients,
    step,
    factors,
    others,
    units,
    result,
    shares,
    rows,
    lines,
    lines_of_gradients,
    COLUMNS: tl.constexpr,
    PITCH: tl.constexpr,
    PITCH_GRADIENTS: tl.constexpr,
    PITCH_RESULT: tl.constexpr,
    SPLIT: tl.constexpr,
    FORM: tl.constexpr,
    COUNT: tl.constexpr,
    PITCH_FACTORS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Take the gradients of the logits of one row of a softmax, in the units of logits.

    Gradients of the probabilities p are the sum of a matrix (FORM 1), or one of scaled probabilities times
    ``step`` of the run (FORM 2), or nothing (FORM 0); and of ``factors`` (COUNT, rows) times ``others``
    (COUNT, columns), of a product of p with the factors. The gradients of the factors, p times the others,
    are written to ``shares`` (COUNT, rows).

    Probabilities and their gradients have more rows for each run, ``lines`` and ``lines_of_gradients``. Zeros
    follow in the result up to the next row; as far behind p is what rounding took away.
    """
    run = tl.program_id(1).to(tl.int64)
    local = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    real = column < COLUMNS
    source = probabilities + (run * lines + local) * PITCH + column
    p = tl.load(source, mask=real, other=0.0).to(tl.float32)
    if SPLIT:
        p += tl.load(source + PITCH_RESULT, mask=real, other=0.0).to(tl.float32)
    p *= PROBABILITY
    weighted = tl.zeros([BLOCK], dtype=tl.float32)
    if FORM > 0:
        gradients += (run * lines_of_gradients + local) * PITCH_GRADIENTS
        weighted += tl.load(gradients + column, mask=real, other=0.0)
    if FORM == 2:
        weighted *= tl.load(step + run) * PROBABILITY
    weighted *= p
    for k in tl.static_range(COUNT):
        other = p * tl.load(others + (run * COUNT + k) * COLUMNS + column, mask=real, other=0.0)
        tl.store(shares + (run * COUNT + k) * rows + local, tl.sum(other, 0))
        factor = tl.load(factors + (run * COUNT + k) * PITCH_FACTORS + local).to(tl.float32)
        weighted += other * (factor * PROBABILITY)
    mean = tl.sum(weighted, 0) / tl.sum(p, 0)
    gradient = (weighted - p * mean) * (tl.load(units + run * UNITS_OF_RUN) * LOGITS_UNIT)
    target = result + (run * rows + local) * PITCH_RESULT + column
    tl.store(target, limited(gradient), mask=column < PITCH_RESULT)


@triton.jit
def weigh(probabilities, gradients, column, COLUMNS: tl.constexpr, shift, factor):
    """Return some scaled probabilities as they are, and times their gradients, with a shift and a factor."""
    real = column < COLUMNS
    p = tl.load(probabilities + column, mask=real, other=0.0).to(tl.float32) * PROBABILITY
    return p, p * ((tl.load(gradients + column, mask=real, other=0.0) + shift) * factor)


@triton.jit
def child_gradients(
    nonterminals,
    preterminals,
    gradients,
    gradients_t,
    step,
    units,
    result,
    R1: tl.constexpr,
    R2: tl.constexpr,
    R3: tl.constexpr,
    R4: tl.constexpr,
    NT: tl.constexpr,
    T: tl.constexpr,
    PITCH_NT: tl.constexpr,
    PITCH_T: tl.constexpr,
    PITCH_GRADIENTS: tl.constexpr,
    PITCH_GRADIENTS_T: tl.constexpr,
    PITCH: tl.constexpr,
    ROWS: tl.constexpr,
    BLOCK_NT: tl.constexpr,
    BLOCK_T: tl.constexpr,
    MORE_T: tl.constexpr,
):
    """Take the gradients of the logits by which a rank chooses children, the reverse of `choose_children`.

    The result has rows of r1 + r3 left, r1 + r3 right and r2 + r4 other children; all others have ROWS rows.
    Preterminals are kept in two blocks, of BLOCK_T and MORE_T, so that few registers are idle.
    """
    SIBLINGS: tl.constexpr = R1 + R3
    row = tl.program_id(0)
    run = tl.program_id(1).to(tl.int64)
    mixed = tl.where(row < 2 * SIBLINGS + R2, row - 2 * R3, row)
    right = tl.where(row < SIBLINGS + R1, row - R3, row + R2)
    left = tl.where(row < R1, row, row + R1 + R2)
    view = tl.where(row < SIBLINGS, left, tl.where(row < 2 * SIBLINGS, right, mixed))
    count = tl.where(row < 2 * SIBLINGS + R2, 1, 4)
    column = tl.arange(0, BLOCK_NT)
    column_t = tl.arange(0, BLOCK_T)
    more = BLOCK_T + tl.arange(0, MORE_T)
    factor = tl.load(step + run) * PROBABILITY
    factor_t = PROBABILITY / tl.load(units + run * UNITS_OF_RUN + 2)
    p = tl.zeros([BLOCK_NT], dtype=tl.float32)
    p_t = tl.zeros([BLOCK_T], dtype=tl.float32)
    p_more = tl.zeros([MORE_T], dtype=tl.float32)
    weighted = tl.zeros([BLOCK_NT], dtype=tl.float32)
    weighted_t = tl.zeros([BLOCK_T], dtype=tl.float32)
    weighted_more = tl.zeros([MORE_T], dtype=tl.float32)
    for kind in range(count):
        at = run * ROWS + view + kind * R4
        source, of_source = nonterminals + at * PITCH_NT, gradients + at * PITCH_GRADIENTS
        one, product = weigh(source, of_source, column, NT, 0.0, factor)
        p += one
        weighted += product
        source, of_source = preterminals + at * PITCH_T, gradients_t + at * PITCH_GRADIENTS_T
        of_mean = tl.load(of_source + T)
        one_t, product_t = weigh(source, of_source, column_t, T, of_mean, factor_t)
        p_t += one_t
        weighted_t += product_t
        one_more, product_more = weigh(source, of_source, more, T, of_mean, factor_t)
        p_more += one_more
        weighted_more += product_more
    total = tl.sum(weighted, 0) + tl.sum(weighted_t, 0) + tl.sum(weighted_more, 0)
    total /= tl.sum(p, 0) + tl.sum(p_t, 0) + tl.sum(p_more, 0)
    unit = tl.load(units + run * UNITS_OF_RUN) * LOGITS_UNIT
    target = result + (run * (2 * SIBLINGS + R2 + R4) + row) * PITCH
    tl.store(target + column, limited((weighted - p * total) * unit), mask=column < NT)
    target += NT
    tl.store(target + column_t, limited((weighted_t - p_t * total) * unit))
    tl.store(target + more, limited((weighted_more - p_more * total) * unit), mask=more < T)


@triton.jit(do_not_specialize=["positions"])
def attachment_gradients(
    views,
    of_views,
    rules,
    of_rules,
    nonterminals,
    preterminals,
    units,
    result,
    positions,
    floor,
    ROWS: tl.constexpr,
    VIEWS: tl.constexpr,
    LINES: tl.constexpr,
    R4: tl.constexpr,
    NT: tl.constexpr,
    T: tl.constexpr,
    PITCH_NT: tl.constexpr,
    PITCH_T: tl.constexpr,
    PITCH: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Take the gradients of the logits by which a rank chooses one of four attachments.

    How often each was chosen is what all its views and rules contributed, values times gradients in float32.
    Symbols need not be looked at: four nearly equal sums over thousands of rounded numbers would hide the
    little by which they differ. The probabilities are those that children were given, after rounding, in
    LINES rows for each run.
    """
    rank = tl.program_id(0)
    run = tl.program_id(1).to(tl.int64)
    view = VIEWS - 4 * R4 + tl.arange(0, 4) * R4 + rank
    chosen = tl.zeros([4], dtype=tl.float32)
    for first in range(0, positions, BLOCK):
        place = first + tl.arange(0, BLOCK)
        at = (run * positions + place)[None, :] * VIEWS + view[:, None]
        real = (place < positions)[None, :] & (view < VIEWS)[:, None]
        value = tl.load(views + at, mask=real, other=0.0) - floor
        chosen += tl.sum(value * tl.load(of_views + at, mask=real, other=0.0), 1)
    for first in range(0, ROWS, BLOCK):
        row = first + tl.arange(0, BLOCK)
        at = (run * ROWS + row)[None, :] * VIEWS + view[:, None]
        real = (row < ROWS)[None, :] & (view < VIEWS)[:, None]
        value = tl.load(rules + at, mask=real, other=0.0)
        chosen += tl.sum(value * tl.load(of_rules + at, mask=real, other=0.0), 1)
    p = tl.zeros([4], dtype=tl.float32)
    line = (run * LINES + view)[:, None]
    for first in range(0, NT, BLOCK):
        column = (first + tl.arange(0, BLOCK))[None, :]
        real = (column < NT) & (view < VIEWS)[:, None]
        p += tl.sum(tl.load(nonterminals + line * PITCH_NT + column, mask=real, other=0.0).to(tl.float32), 1)
    for first in range(0, T, BLOCK):
        column = (first + tl.arange(0, BLOCK))[None, :]
        real = (column < T) & (view < VIEWS)[:, None]
        p += tl.sum(tl.load(preterminals + line * PITCH_T + column, mask=real, other=0.0).to(tl.float32), 1)
    gradient = chosen - p * (tl.sum(chosen, 0) / tl.sum(p, 0))
    gradient *= tl.load(units + run * UNITS_OF_RUN) * LOGITS_UNIT
    tl.store(result + (run * R4 + rank) * PITCH + tl.arange(0, 4), gradient)


@triton.jit
def symbol_gradients(
    of_children,
    of_parents,
    of_emissions,
    units,
    result,
    NT: tl.constexpr,
    T: tl.constexpr,
    SIZE: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Add up the gradients of a symbol: as a child, and as a parent or a preterminal."""
    run = tl.program_id(1).to(tl.int64)
    symbol = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    real = column < SIZE
    row = run * (NT + T) + symbol
    total = tl.load(of_children + row * SIZE + column, mask=real, other=0.0)
    if symbol < NT:
        total += tl.load(of_parents + (run * NT + symbol) * SIZE + column, mask=real, other=0.0)
    else:
        total += tl.load(of_emissions + (run * T + symbol - NT) * SIZE + column, mask=real, other=0.0)
    tl.store(result + row * SIZE + column, total * tl.load(units + run * UNITS_OF_RUN + 3), mask=real)
