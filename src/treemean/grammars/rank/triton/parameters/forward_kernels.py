# mypy: disable-error-code="no-untyped-def, untyped-decorator"
"""Kernels that turn products into activations and probabilities.

Matrices are (E, rows, columns) for E runs. ``PITCH`` is the distance of rows of an fp16 matrix.
"""

from __future__ import annotations

import triton
import triton.language as tl

from treemean.grammars.gpu.units import SCALE

_SCALE = tl.constexpr(SCALE)


@triton.jit
def rectified(x):
    """Return what is positive, and NaN, so that it is noticed."""
    return tl.maximum(x, 0.0, propagate_nan=tl.PropagateNan.ALL)


@triton.jit(do_not_specialize=["rows"])
def activate(
    sums,
    bias,
    skip,
    result,
    rows,
    COLUMNS: tl.constexpr,
    PITCH: tl.constexpr,
    RELU: tl.constexpr,
    SKIP: tl.constexpr,
    BLOCK_ROWS: tl.constexpr,
    BLOCK_COLUMNS: tl.constexpr,
):
    """Add the bias, apply ReLU, add what skipped the layers. All matrices have the same pitch."""
    run = tl.program_id(2).to(tl.int64)
    row = tl.program_id(0) * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)
    column = tl.program_id(1) * BLOCK_COLUMNS + tl.arange(0, BLOCK_COLUMNS)
    real = column < COLUMNS
    mask = (row < rows)[:, None] & real[None, :]
    at = (run * rows + row)[:, None] * PITCH + column[None, :]
    value = tl.load(sums + at, mask=mask, other=0.0).to(tl.float32)
    value += tl.load(bias + run * COLUMNS + column, mask=real, other=0.0)[None, :]
    if RELU:
        value = rectified(value)
    if SKIP:
        value += tl.load(skip + at, mask=mask, other=0.0).to(tl.float32)
    tl.store(result + at, value, mask=mask)


@triton.jit
def store_split(target, x, mask, SIZE: tl.constexpr, REST: tl.constexpr):
    """Write numbers as fp16; unless REST is 0, twice, and as part REST what rounding took away.

    SIZE is the distance of parts.
    """
    high = x.to(target.dtype.element_ty)
    tl.store(target, high, mask=mask)
    if REST > 0:
        tl.store(target + (3 - REST) * SIZE, high, mask=mask)
        tl.store(target + REST * SIZE, x - high.to(tl.float32), mask=mask)


@triton.jit(do_not_specialize=["rows", "given", "stride"])
def split_rows(
    x,
    result,
    rows,
    given,
    stride,
    COLUMNS: tl.constexpr,
    PITCH: tl.constexpr,
    REST: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Write rows of float32 by `store_split`, and zeros behind those that are ``given``.

    ``stride`` is the distance of runs in ``x``.
    """
    run, row = tl.program_id(1).to(tl.int64), tl.program_id(0)
    column = tl.arange(0, BLOCK)
    real = column < COLUMNS
    value = tl.load(x + run * stride + row * COLUMNS + column, mask=real & (row < given), other=0.0)
    store_split(result + (run * rows + row) * PITCH + column, value, real, COLUMNS, REST)


@triton.jit(do_not_specialize=["rows"])
def activate_exactly(
    sums,
    bias,
    result,
    rows,
    COLUMNS: tl.constexpr,
    SIZE: tl.constexpr,
    PITCH: tl.constexpr,
    REST: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Do as `activate` without a skip, with sums in float32; write by `store_split`.

    Each ``SIZE`` columns are written in parts of their own.
    """
    run = tl.program_id(1).to(tl.int64)
    row = run * rows + tl.program_id(0)
    column = tl.arange(0, BLOCK)
    real = column < COLUMNS
    value = tl.load(sums + row * COLUMNS + column, mask=real, other=0.0)
    value += tl.load(bias + run * COLUMNS + column, mask=real, other=0.0)
    value = rectified(value)
    at = row * PITCH + column
    if REST > 0:
        at += column // SIZE * (2 * SIZE)
    store_split(result + at, value, real, SIZE, REST)


@triton.jit(do_not_specialize=["given", "rows"])
def softmax(
    logits,
    bias,
    probabilities,
    given,
    rows,
    COLUMNS: tl.constexpr,
    PITCH_LOGITS: tl.constexpr,
    PITCH: tl.constexpr,
    ALIGNED: tl.constexpr,
    BIAS: tl.constexpr,
    SPLIT: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Write the softmax of a row of float32 as scaled fp16; to SPLIT, with what that lost behind it.

    Behind COLUMNS are zeros up to ALIGNED, and behind the rows that are ``given`` rows of zeros.
    """
    run, local = tl.program_id(1).to(tl.int64), tl.program_id(0)
    row = run * rows + local
    column = tl.arange(0, BLOCK)
    real = (column < COLUMNS) & (local < given)
    x = tl.load(logits + (run * given + local) * PITCH_LOGITS + column, mask=real, other=-1e30)
    if BIAS:
        x += tl.load(bias + run * COLUMNS + column, mask=real, other=0.0)
    e = tl.exp(x - tl.max(x, 0))
    p = tl.where(real, e * (_SCALE / tl.sum(tl.where(column < COLUMNS, e, 0.0), 0)), 0.0)
    high = p.to(probabilities.dtype.element_ty)
    target = probabilities + row * PITCH + column
    tl.store(target, high, mask=column < ALIGNED)
    if SPLIT:
        tl.store(target + ALIGNED, p - high.to(tl.float32), mask=column < ALIGNED)


@triton.jit(do_not_specialize=["positions", "vocabulary"])
def look_up(
    table,
    words,
    result,
    positions,
    vocabulary,
    SIZE: tl.constexpr,
    PITCH: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Write the rows of the words of a batch as fp16, and a 1 behind each, so that products also count."""
    run = tl.program_id(1).to(tl.int64)
    position = run * positions + tl.program_id(0)
    word = tl.load(words + position)
    column = tl.arange(0, BLOCK)
    x = tl.load(table + (run * vocabulary + word) * SIZE + column, mask=column < SIZE, other=1.0)
    tl.store(result + position * PITCH + column, x, mask=column <= SIZE)


@triton.jit(do_not_specialize=["positions"])
def emit(
    log_probs,
    emitted,
    scales,
    positions,
    COLUMNS: tl.constexpr,
    PITCH: tl.constexpr,
    REST: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Write how well preterminals emit a word: the largest logarithm, and scaled fp16 relative to it.

    They are written by `store_split`; zeros follow up to the next part or row.
    """
    WIDTH: tl.constexpr = PITCH // (3 if REST > 0 else 1)
    run = tl.program_id(1).to(tl.int64)
    position = run * positions + tl.program_id(0)
    column = tl.arange(0, BLOCK)
    x = tl.load(log_probs + position * COLUMNS + column, mask=column < COLUMNS, other=-1e30)
    largest = tl.max(x, 0)
    tl.store(scales + position, largest)
    p = tl.exp(x - largest) * _SCALE
    store_split(emitted + position * PITCH + column, p, column < WIDTH, WIDTH, REST)


@triton.jit
def pack_ranks(
    rank1,
    rank2,
    rank3,
    rank4,
    siblings,
    mixed,
    parents,
    gapped_parents,
    SIZE: tl.constexpr,
    R1: tl.constexpr,
    R2: tl.constexpr,
    R3: tl.constexpr,
    R4: tl.constexpr,
    SIBLINGS: tl.constexpr,
    MIXED: tl.constexpr,
    PARENTS: tl.constexpr,
    GAPPED: tl.constexpr,
    REST: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Put the four rank matrices side by side as they are used: 1 | 3, 2 | 4, 1 | 2, 3 | 4.

    SIBLINGS, MIXED, PARENTS and GAPPED are the pitches of the results; the last two are filled with zeros up
    to these. With REST, results have three times as many rows, by `store_split`.
    """
    run, row = tl.program_id(1).to(tl.int64), tl.program_id(0)
    given = run * SIZE + row
    at = (3 * given - 2 * row) if REST > 0 else given
    column = tl.arange(0, BLOCK)
    x, real = tl.load(rank1 + given * R1 + column, mask=column < R1, other=0.0), column < R1
    store_split(siblings + at * SIBLINGS + column, x, real, SIZE * SIBLINGS, REST)
    store_split(parents + at * PARENTS + column, x, real, SIZE * PARENTS, REST)
    behind = tl.arange(0, 8)
    zeros = tl.zeros([8], dtype=tl.float32)
    real = behind < PARENTS - R1 - R2
    store_split(parents + at * PARENTS + R1 + R2 + behind, zeros, real, SIZE * PARENTS, REST)
    if R3 > 0:
        real = behind < GAPPED - R3 - R4
        store_split(gapped_parents + at * GAPPED + R3 + R4 + behind, zeros, real, SIZE * GAPPED, REST)
        x, real = tl.load(rank2 + given * R2 + column, mask=column < R2, other=0.0), column < R2
        store_split(mixed + at * MIXED + column, x, real, SIZE * MIXED, REST)
        store_split(parents + at * PARENTS + R1 + column, x, real, SIZE * PARENTS, REST)
        x, real = tl.load(rank3 + given * R3 + column, mask=column < R3, other=0.0), column < R3
        store_split(siblings + at * SIBLINGS + R1 + column, x, real, SIZE * SIBLINGS, REST)
        store_split(gapped_parents + at * GAPPED + column, x, real, SIZE * GAPPED, REST)
        x, real = tl.load(rank4 + given * R4 + column, mask=column < R4, other=0.0), column < R4
        store_split(mixed + at * MIXED + R2 + column, x, real, SIZE * MIXED, REST)
        store_split(gapped_parents + at * GAPPED + R3 + column, x, real, SIZE * GAPPED, REST)


@triton.jit
def choose_children(
    left,
    right,
    mixed,
    attachment,
    nonterminals,
    preterminals,
    R1: tl.constexpr,
    R2: tl.constexpr,
    R3: tl.constexpr,
    R4: tl.constexpr,
    NT: tl.constexpr,
    T: tl.constexpr,
    PITCH_NT: tl.constexpr,
    PITCH_T: tl.constexpr,
    PITCH_ATTACHMENT: tl.constexpr,
    ROWS: tl.constexpr,
    REST: tl.constexpr,
    BLOCK_NT: tl.constexpr,
    BLOCK_T: tl.constexpr,
):
    """Write, for a view, how its rank chooses the symbol of a continuous child: a softmax over all symbols.

    Logits are (E, r1 + r3, NT + T) of left and right children and (E, r2 + r4, NT + T) of others. The four
    views of a rank of attachment are its softmax times the probability of each attachment. The result has
    two parts, nonterminals (E, views, NT) and preterminals (E, views, T), in scaled fp16, by `store_split`;
    rows and columns are filled up with zeros, to ROWS and what the pitches have for each part.
    """
    PARTS: tl.constexpr = 3 if REST > 0 else 1
    S: tl.constexpr = NT + T
    VIEWS: tl.constexpr = 2 * R1 + R2 + 2 * R3 + 4 * R4
    ATTACHED: tl.constexpr = R4 + (R4 == 0)
    view = tl.program_id(0)
    run = tl.program_id(1).to(tl.int64)
    weight = tl.full([], _SCALE, tl.float32)
    if view < R1:
        source = left + (run * (R1 + R3) + view) * S
    elif view < 2 * R1:
        source = right + (run * (R1 + R3) + view - R1) * S
    elif view < 2 * R1 + R2:
        source = mixed + (run * (R2 + R4) + view - 2 * R1) * S
    elif view < 2 * R1 + R2 + R3:
        source = left + (run * (R1 + R3) + view - R1 - R2) * S
    elif view < 2 * R1 + R2 + 2 * R3:
        source = right + (run * (R1 + R3) + view - R1 - R2 - R3) * S
    elif view < VIEWS:
        kind = (view - 2 * R1 - R2 - 2 * R3) // ATTACHED
        rank = (view - 2 * R1 - R2 - 2 * R3) % ATTACHED
        source = mixed + (run * (R2 + R4) + R2 + rank) * S
        weight = tl.load(attachment + (run * R4 + rank) * PITCH_ATTACHMENT + kind).to(tl.float32)
    else:
        source = left + run * (R1 + R3) * S
        weight = tl.zeros([], dtype=tl.float32)
    column = tl.arange(0, BLOCK_NT)
    real = column < NT
    x = tl.load(source + column, mask=real, other=-1e30)
    column_t = tl.arange(0, BLOCK_T)
    real_t = column_t < T
    x_t = tl.load(source + NT + column_t, mask=real_t, other=-1e30)
    largest = tl.maximum(tl.max(x, 0), tl.max(x_t, 0))
    e = tl.where(real, tl.exp(x - largest), 0.0)
    e_t = tl.where(real_t, tl.exp(x_t - largest), 0.0)
    factor = weight / (tl.sum(e, 0) + tl.sum(e_t, 0))
    row = run * ROWS + view
    WIDTH_NT: tl.constexpr = PITCH_NT // PARTS
    WIDTH_T: tl.constexpr = PITCH_T // PARTS
    store_split(nonterminals + row * PITCH_NT + column, e * factor, column < WIDTH_NT, WIDTH_NT, REST)
    store_split(preterminals + row * PITCH_T + column_t, e_t * factor, column_t < WIDTH_T, WIDTH_T, REST)
