# mypy: disable-error-code="no-untyped-def, untyped-decorator"
"""Kernels of the inside pass: from short spans to long ones.

NT, D, S are numbers of symbols padded to powers of two (see `charts`); what the rules make of a continuous
span is a row of COLUMNS numbers: [NT, S] as right child of R2, and with gaps, from APART on, [D, S] as left
child of R4, from WRAP on [NT, D] in the gap of R3, from ATTACH on four times [D child, D parent] for R5-R8.
"""

from __future__ import annotations

import triton
import triton.language as tl

from treemean.grammars.inside.dense_kernels.places import (
    attached_at,
    best_split,
    factor_of,
    load_scaled,
    multiply,
    row_of,
    slot_of,
    store_scaled,
)

AT_ONCE = tl.constexpr(4)  # loads on their way at the same time, where there is nothing else to do
SIZES = ["width", "n", "slots"]  # never compiled into a kernel


@triton.jit(do_not_specialize=SIZES)
def combine(
    symbols,
    views,
    scales,
    gapped,
    partial,
    width,
    n,
    slots,
    NT: tl.constexpr,
    D: tl.constexpr,
    S: tl.constexpr,
    COLUMNS: tl.constexpr,
    WRAP: tl.constexpr,
    GAPS: tl.constexpr,
    SPLITS: tl.constexpr,
):
    """Score spans whose first child, or first part of a child with a gap, has `first` words (R2, R3)."""
    start, first, sentence = tl.program_id(0), tl.program_id(1) + 1, tl.program_id(2).to(tl.int64)
    reference = tl.max(best_split(scales, sentence, start, width, n, SPLITS), 0)
    parents, children = tl.arange(0, NT)[:, None], tl.arange(0, NT)[None, :]
    left = row_of(sentence, start, first, n)
    right = row_of(sentence, start + first, width - first, n)
    left_scale = tl.load(scales + left)
    pairs = tl.zeros((NT, NT), symbols.dtype.element_ty)
    for column in range(0, tl.where(first == 1, S, NT), NT):
        matrix = tl.load(views + right * COLUMNS + parents * S + column + children)
        pairs += matrix * tl.load(symbols + left * S + column + children)
    total = tl.sum(pairs, 1) * tl.exp(left_scale + tl.load(scales + right) - reference)
    if GAPS:
        symbol = tl.arange(0, D)
        ways = tl.zeros((AT_ONCE, NT, D), symbols.dtype.element_ty)
        for block in range(1, width - first, AT_ONCE):
            gap = block + tl.arange(0, AT_ONCE)
            real = gap < width - first
            gap = tl.where(real, gap, 1)
            inner = row_of(sentence, start + first, gap, n)
            after = row_of(sentence, start + first + gap, width - first - gap, n)
            scale = left_scale + tl.load(scales + inner) + tl.load(scales + after) - reference
            slot = sentence * slots + slot_of(first, start, start + gap - 1, width - gap, n)
            outer = load_scaled(gapped + slot * D, real, D) * tl.exp(scale)[:, None]
            place = inner[:, None, None] * COLUMNS + WRAP + parents[None] * D + symbol[None, None]
            ways += tl.load(views + place) * outer[:, None]
        total += tl.sum(tl.sum(ways, 0), 1)
    place = (sentence * (n - width + 1) + start) * (width - 1) + first - 1
    tl.store(partial + place * NT + tl.arange(0, NT), total)


@triton.jit(do_not_specialize=SIZES)
def finish(
    partial,
    symbols,
    scales,
    factors,
    root,
    lengths,
    probability,
    log_z,
    width,
    n,
    root_stride,
    NT: tl.constexpr,
    S: tl.constexpr,
    SPLITS: tl.constexpr,
):
    """Add up the scores of spans, bring them to scale, and give log Z of the sentences of this length."""
    start, sentence = tl.program_id(0), tl.program_id(1).to(tl.int64)
    splits = best_split(scales, sentence, start, width, n, SPLITS)
    split, symbol = tl.arange(0, SPLITS), tl.arange(0, NT)
    place = (sentence * (n - width + 1) + start) * (width - 1) + split
    real = split < width - 1
    scores = tl.sum(tl.load(partial + place[:, None] * NT + symbol, mask=real[:, None], other=0.0), 0)
    largest = tl.max(scores, 0)
    largest = tl.where(largest > 0, largest, 1.0)
    scale = tl.max(splits, 0) + tl.log(largest)
    scores = scores / largest
    row = row_of(sentence, start, width, n)
    tl.store(symbols + row * S + symbol, scores)
    tl.store(scales + row, scale)
    tl.store(factors + factor_of(sentence, start, split + 1, width, n), tl.exp(splits - scale), mask=real)
    if (start == 0) & (tl.load(lengths + sentence) == width):
        total = tl.sum(scores * tl.load(root + sentence * root_stride + symbol), 0)
        tl.store(probability + sentence, total)
        tl.store(log_z + sentence, tl.log(total) + scale)


@triton.jit(do_not_specialize=SIZES)
def set_apart(
    symbols,
    views,
    attached,
    gapped,
    width,
    n,
    slots,
    D: tl.constexpr,
    NT: tl.constexpr,
    S: tl.constexpr,
    COLUMNS: tl.constexpr,
    APART: tl.constexpr,
    BLOCK: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """Score discontinuous spans by R4 for one left part and all right ones, and add what R5-R8 gave."""
    start, left, sentence = tl.program_id(0), tl.program_id(1) + 1, tl.program_id(2).to(tl.int64)
    symbol, child = tl.arange(0, D), tl.arange(0, NT)
    gaps = n - width
    own = views + row_of(sentence, start, left, n) * COLUMNS + APART
    for block in range(start, gaps, BLOCK):
        place = block + tl.arange(0, BLOCK)
        real = (place < gaps)[:, None]
        total = tl.zeros((BLOCK, D), symbols.dtype.element_ty)
        others = row_of(sentence, place + left + 1, width - left, n)
        for column in range(0, tl.where(width - left == 1, S, NT), NT):
            x = tl.load(symbols + others[:, None] * S + column + child, mask=real, other=0.0)
            matrix = tl.load(own + symbol[None, :] * S + column + child[:, None])
            total = multiply(x, matrix, total, PRECISION)
        total += attached_at(attached, sentence, left, start, place, width, n, D)
        slot = sentence * slots + slot_of(left, start, place, width, n)
        store_scaled(gapped + slot * D, total, place < gaps, D)
