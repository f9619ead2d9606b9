# mypy: disable-error-code="no-untyped-def, untyped-decorator"
"""Kernels of the inside pass: from short spans to long ones.

NT, D, S are numbers of symbols padded to powers of two (see `charts`); what the rules make of a continuous
span is a row of COLUMNS numbers: [NT, S] as right child of R2, and with gaps, from APART on, [D, S] as left
child of R4, from WRAP on [NT, D] in the gap of R3, from ATTACH on four times [D child, D parent] for R5-R8.
"""

from __future__ import annotations

import triton
import triton.language as tl

from treemean.grammars.inside.dense_kernels.places import best_split, factor_of, multiply, row_of, slot_of

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
        inner_symbols = tl.arange(0, D)[None, :]
        ways = tl.zeros((NT, D), symbols.dtype.element_ty)
        for gap in range(1, width - first):
            inner = row_of(sentence, start + first, gap, n)
            after = row_of(sentence, start + first + gap, width - first - gap, n)
            scale = left_scale + tl.load(scales + inner) + tl.load(scales + after) - reference
            slot = sentence * slots + slot_of(first, start, start + gap - 1, width - gap, n)
            outer = tl.load(gapped + slot * D + inner_symbols)
            matrix = tl.load(views + inner * COLUMNS + WRAP + parents * D + inner_symbols)
            ways += matrix * (outer * tl.exp(scale))
        total += tl.sum(ways, 1)
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
def extend(
    symbols,
    views,
    factors,
    gapped,
    width,
    n,
    slots,
    D: tl.constexpr,
    NT: tl.constexpr,
    S: tl.constexpr,
    COLUMNS: tl.constexpr,
    APART: tl.constexpr,
    ATTACH: tl.constexpr,
    RIGHT: tl.constexpr,
    BLOCK: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """Score discontinuous spans by R4-R6 for one left part and all right ones, or add R7, R8 the other way.

    All spans that share the part which is made longer are one tile, so that its rules are one matrix for all.
    """
    fixed, left, sentence = tl.program_id(0), tl.program_id(1) + 1, tl.program_id(2).to(tl.int64)
    line, symbol = tl.arange(0, BLOCK), tl.arange(0, D)
    gaps = n - width
    if RIGHT:  # fixed is m', lines are starts i
        begin, whole, count = fixed + left + 1, width - left, fixed + 1
    else:  # fixed is i, lines are m' = i, i+1, ...
        begin, whole, count = fixed, left, gaps - fixed
    chart = gapped + sentence * slots * D
    for block in range(0, count, BLOCK):
        lines = block + line
        real = (lines < count)[:, None]
        total = tl.zeros((BLOCK, D), symbols.dtype.element_ty)
        if RIGHT:
            here = slot_of(left, lines, fixed, width, n)
        else:
            here = slot_of(left, fixed, fixed + lines, width, n)
            own = views + row_of(sentence, fixed, left, n) * COLUMNS + APART
            others = row_of(sentence, fixed + lines + left + 1, width - left, n)
            child = tl.arange(0, NT)
            for column in range(0, tl.where(width - left == 1, S, NT), NT):
                x = tl.load(symbols + others[:, None] * S + column + child, mask=real, other=0.0)
                total = multiply(
                    x, tl.load(own + symbol[None, :] * S + column + child[:, None]), total, PRECISION
                )
        for taken in range(1, whole):
            lost = width - taken
            if RIGHT:
                front = slot_of(left, lines, fixed + taken, lost, n)
                back = slot_of(left, lines, fixed, lost, n)
            else:
                front = slot_of(left - taken, fixed + taken, fixed + lines + taken, lost, n)
                back = slot_of(left - taken, fixed, fixed + lines + taken, lost, n)
            kind = ATTACH + 2 * RIGHT * D * D
            place = symbol[:, None] * D + symbol[None, :]
            added = tl.load(views + row_of(sentence, begin, taken, n) * COLUMNS + kind + place)
            added *= tl.load(factors + factor_of(sentence, begin, taken, whole, n))
            child_values = tl.load(chart + front[:, None] * D + symbol, mask=real, other=0.0)
            total = multiply(child_values, added, total, PRECISION)
            kind += D * D
            added = tl.load(
                views + row_of(sentence, begin + whole - taken, taken, n) * COLUMNS + kind + place
            )
            added *= tl.load(factors + factor_of(sentence, begin, whole - taken, whole, n))
            child_values = tl.load(chart + back[:, None] * D + symbol, mask=real, other=0.0)
            total = multiply(child_values, added, total, PRECISION)
        if RIGHT:
            total += tl.load(chart + here[:, None] * D + symbol, mask=real, other=0.0)
        tl.store(chart + here[:, None] * D + symbol, total, mask=real)
