# mypy: disable-error-code="no-untyped-def, untyped-decorator"
"""Kernels of the inside pass: from short spans to long ones.

NT, D, S are numbers of symbols padded to powers of two (see `charts`); what the rules make of a continuous
span is a row of COLUMNS numbers: [NT, S] as right child of R2, and with gaps, from APART on, [D, S] as left
child of R4, from WRAP on [NT, D] in the gap of R3, from VIEW on four times [D child, D parent] for R5-R8. The
latter ones, *attachers*, lie apart as sums of two fp16 numbers: all first ones, then all second ones.
"""

from __future__ import annotations

import triton
import triton.language as tl

from treemean.grammars.dense.triton.fp16 import exponents_of, multiply, multiply_fp16, split, store_scaled
from treemean.grammars.dense.triton.places import (
    attached_at,
    best_split,
    best_splits,
    factor_of,
    row_in,
    row_of,
    slot_of,
)

#: Never compiled into a kernel.
SIZES = ["width", "n", "slots", "parts", "chunks", "length", "possible"]


@triton.jit(do_not_specialize=SIZES)
def look_up(
    symbols,
    matrix,
    views,
    attachers,
    length,
    n,
    possible,
    NT: tl.constexpr,
    S: tl.constexpr,
    COLUMNS: tl.constexpr,
    VIEW: tl.constexpr,
    EACH: tl.constexpr,
    ROWS: tl.constexpr,
    STEP: tl.constexpr,
):
    """Multiply ROWS spans of one length with STEP columns of the rules: views, or attachers as fp16.

    With EACH, every sentence has rules of its own.
    """
    begin, sentence = tl.program_id(1) * STEP, tl.program_id(2).to(tl.int64)
    start = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column, symbol = begin + tl.arange(0, STEP), tl.arange(0, NT)
    real = (start <= n - length)[:, None]
    row = row_of(sentence, start, length, n)[:, None]
    rules = matrix + (sentence * (S * COLUMNS) if EACH else 0) + column
    total = tl.zeros((ROWS, STEP), symbols.dtype.element_ty)
    for child in range(0, possible, NT):
        x = tl.load(symbols + row * S + child + symbol, mask=real, other=0.0)
        total = multiply(x, tl.load(rules + (child + symbol)[:, None] * COLUMNS), total)
    if begin < VIEW:
        tl.store(views + row * VIEW + column, total, mask=real)
    else:
        first, second = split(total, attachers.dtype.element_ty)
        target = attachers + row * (2 * (COLUMNS - VIEW)) + column - VIEW
        tl.store(target, first, mask=real)
        tl.store(target + (COLUMNS - VIEW), second, mask=real)


@triton.jit(do_not_specialize=SIZES)
def combine(
    symbols,
    views,
    scales,
    partial,
    width,
    n,
    parts,
    NT: tl.constexpr,
    S: tl.constexpr,
    VIEW: tl.constexpr,
    SPLITS: tl.constexpr,
):
    """Score spans whose first child has `first` words (R2): [sentence, start, first - 1 of `parts`, NT]."""
    start, first, sentence = tl.program_id(0), tl.program_id(1) + 1, tl.program_id(2).to(tl.int64)
    reference = tl.max(best_split(scales, sentence, start, width, n, SPLITS), 0)
    parents, children = tl.arange(0, NT)[:, None], tl.arange(0, NT)[None, :]
    left = row_of(sentence, start, first, n)
    right = row_of(sentence, start + first, width - first, n)
    pairs = tl.zeros((NT, NT), symbols.dtype.element_ty)
    for column in range(0, tl.where(first == 1, S, NT), NT):
        matrix = tl.load(views + right * VIEW + parents * S + column + children)
        pairs += matrix * tl.load(symbols + left * S + column + children)
    total = tl.sum(pairs, 1) * tl.exp(tl.load(scales + left) + tl.load(scales + right) - reference)
    place = (sentence * (n - width + 1) + start) * parts + first - 1
    tl.store(partial + place * NT + tl.arange(0, NT), total)


@triton.jit
def load_inner_scales(scales, begin, gap, left, right, n):
    """Return the log scales of what is in a gap and of the parts after it, together; -inf without any."""
    real = (left > 0) & (right > 0)
    after = row_in(begin + gap, tl.maximum(right, 1), n)
    inner = tl.load(scales + row_in(begin, gap, n))
    return inner + tl.load(scales + after, mask=real, other=float("-inf"))


@triton.jit(do_not_specialize=SIZES)
def wrap(
    views,
    scales,
    gapped,
    partial,
    width,
    n,
    slots,
    parts,
    chunks,
    NT: tl.constexpr,
    D: tl.constexpr,
    VIEW: tl.constexpr,
    WRAP: tl.constexpr,
    SPLITS: tl.constexpr,
    ROWS: tl.constexpr,
):
    """Score ROWS spans by putting others into gaps (R3); gaps are divided among programs, the last `parts`.

    What is in a gap is the same for many spans around it, which makes a product of matrices.
    """
    first, chunk, sentence = tl.program_id(0) * ROWS, tl.program_id(1), tl.program_id(2).to(tl.int64)
    count = n - width + 1
    last = tl.minimum(first + ROWS, count) - 1
    start = tl.minimum(first + tl.arange(0, ROWS), last)
    # What differs between sentences is left out of what is computed for each span.
    rows = sentence * (n * (n + 1) // 2)
    scales, views, gapped = scales + rows, views + rows * VIEW, gapped + sentence * slots * D
    reference = best_splits(scales, start, width, n, SPLITS)
    symbol, parent = tl.arange(0, D), tl.arange(0, NT)
    total = tl.zeros((ROWS, NT), partial.dtype.element_ty)
    for begin in range(first + 1 + chunk, last + width - 1, chunks):
        left = begin - start
        own = tl.load(scales + row_in(start, tl.maximum(left, 1), n)) - reference
        beyond = load_inner_scales(scales, begin, 1, left, start + width - begin - 1, n)
        for gap in range(1, tl.minimum(last, begin - 1) + width - begin):
            right = start + width - begin - gap
            real = (left > 0) & (right > 0)
            around = gapped + slot_of(left, start, start + gap - 1, width - gap, n) * D
            outer = tl.load(around[:, None] + symbol, mask=real[:, None], other=0.0)
            factor = tl.where(real, tl.exp(own + beyond) * tl.exp2(exponents_of(outer, 1)), 0.0)
            inner = row_in(begin, gap, n)
            matrix = tl.load(views + inner * VIEW + WRAP + parent[None, :] * D + symbol[:, None])
            total += multiply_fp16(outer, matrix, factor)
            beyond = load_inner_scales(scales, begin, gap + 1, left, right - 1, n)  # ahead, see `attach`
    start = first + tl.arange(0, ROWS)
    place = (sentence * count + start) * parts + parts - chunks + chunk
    tl.store(partial + place[:, None] * NT + parent, total, mask=(start < count)[:, None])


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
    parts,
    root_stride,
    NT: tl.constexpr,
    S: tl.constexpr,
    SPLITS: tl.constexpr,
    PARTS: tl.constexpr,
):
    """Add up the scores of spans, bring them to scale, and give log Z of the sentences of this length."""
    start, sentence = tl.program_id(0), tl.program_id(1).to(tl.int64)
    splits = best_split(scales, sentence, start, width, n, SPLITS)
    part, symbol = tl.arange(0, PARTS)[:, None], tl.arange(0, NT)
    place = (sentence * (n - width + 1) + start) * parts + part
    scores = tl.sum(tl.load(partial + place * NT + symbol, mask=part < parts, other=0.0), 0)
    largest = tl.max(scores, 0)
    largest = tl.where(largest > 0, largest, 1.0)
    scale = tl.max(splits, 0) + tl.log(largest)
    scores = scores / largest
    row = row_of(sentence, start, width, n)
    tl.store(symbols + row * S + symbol, scores)
    tl.store(scales + row, scale)
    split = tl.arange(0, SPLITS) + 1
    place = factor_of(sentence, start, split, width, n)
    tl.store(factors + place, tl.exp(splits - scale), mask=split < width)
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
    VIEW: tl.constexpr,
    APART: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Score discontinuous spans by R4 for one left part and all right ones, and add what R5-R8 gave."""
    start, left, sentence = tl.program_id(0), tl.program_id(1) + 1, tl.program_id(2).to(tl.int64)
    symbol, child = tl.arange(0, D), tl.arange(0, NT)
    gaps = n - width
    own = views + row_of(sentence, start, left, n) * VIEW + APART
    for block in range(start, gaps, BLOCK):
        place = block + tl.arange(0, BLOCK)
        real = (place < gaps)[:, None]
        total = tl.zeros((BLOCK, D), symbols.dtype.element_ty)
        others = row_of(sentence, place + left + 1, width - left, n)
        for column in range(0, tl.where(width - left == 1, S, NT), NT):
            x = tl.load(symbols + others[:, None] * S + column + child, mask=real, other=0.0)
            matrix = tl.load(own + symbol[None, :] * S + column + child[:, None])
            total = multiply(x, matrix, total)
        total += attached_at(attached, sentence, left, start, place, place < gaps, width, n, D)
        slot = sentence * slots + slot_of(left, start, place, width, n)
        store_scaled(gapped + slot * D, total, place < gaps, D)
