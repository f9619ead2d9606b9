# mypy: disable-error-code="no-untyped-def, untyped-decorator"
"""Kernels of the inside pass: from short spans to long ones.

Every value is a plain probability, scaled: a continuous span has one log scale, a discontinuous one uses the
sum of the scales of its two parts, so that the large term is a bare matrix product. ``H`` is the number of
ranks of wrapping and of attachment, both padded to the same power of two.
"""

from __future__ import annotations

import triton
import triton.language as tl

from treemean.grammars.gpu.indexing import (
    block_of,
    cell_in_block,
    gapped_spans_of,
    nearest_tf32,
    row_of,
    split_of,
    times_square,
    triangle,
    unfold_triangle,
)

SIZES = [
    "width",
    "n",
    "batch",
    "rows",
    "cells",
    "splits",
    "sentences",
    "tiles",
]  # never compiled into a kernel


@triton.jit
def store_parts(target, x, mask, SIZE: tl.constexpr, PARTS: tl.constexpr):
    """Write numbers as tensor cores take them: rounded, what that took away, and rounded again.

    They are to be multiplied with `KernelRules.continuous`. If there is one part only, nothing is rounded.
    """
    high = nearest_tf32(x)
    tl.store(target, high, mask=mask)
    if PARTS > 1:
        tl.store(target + SIZE, nearest_tf32(x - high), mask=mask)
        tl.store(target + 2 * SIZE, high, mask=mask)


@triton.jit(do_not_specialize=SIZES)
def continuous_forward(
    views,
    scales,
    scores,
    wrapping,
    ratios,
    coefficients,
    width,
    n,
    batch,
    rows,
    cells,
    splits,
    R1: tl.constexpr,
    H: tl.constexpr,
    COLUMNS: tl.constexpr,
    WRAPPED: tl.constexpr,
    ATTACHED: tl.constexpr,
    PARTS: tl.constexpr,
    BLOCK_RANKS: tl.constexpr,
    BLOCK_SPLITS: tl.constexpr,
    STEP: tl.constexpr,
    PAIRS: tl.constexpr,
    DISCONTINUOUS: tl.constexpr,
):
    """Score the spans of one width by rank, normalise them, and prepare what their splits weigh.

    One program per span. Writes the span's rank scores (largest 1) by `store_parts`, its scale, for each
    split the ratio of scales ``exp(s(i,k) + s(k,j) - s(i,j))``, and that ratio times what either half offers
    as attached child.
    """
    start = tl.program_id(0)
    sentence = tl.program_id(1)
    run = (sentence // batch).to(tl.int64)
    local = sentence % batch
    views += run * rows * COLUMNS
    scales += run * rows
    scores += run * rows * (PARTS * (R1 + H))
    wrapping += sentence.to(tl.int64) * cells * H
    ratios += sentence.to(tl.int64) * splits
    coefficients += sentence.to(tl.int64) * splits * (4 * H)

    split = tl.arange(0, BLOCK_SPLITS) + 1
    inner = split < width
    left_row = row_of(split, start, local, n, batch)
    right_row = row_of(width - split, start + split, local, n, batch)
    joint = tl.load(scales + left_row, mask=inner, other=0.0) + tl.load(
        scales + right_row, mask=inner, other=0.0
    )
    reference = tl.max(tl.where(inner, joint, -1e30), 0)

    rank = tl.arange(0, BLOCK_RANKS)
    known = rank < R1
    score = tl.zeros([BLOCK_RANKS], dtype=tl.float32)
    for first in range(1, width, STEP):
        k = first + tl.arange(0, STEP)
        ok = k < width
        left = row_of(k, start, local, n, batch)
        right = row_of(width - k, start + k, local, n, batch)
        ratio = tl.load(scales + left, mask=ok, other=0.0) + tl.load(scales + right, mask=ok, other=0.0)
        ratio = tl.exp(tl.where(ok, ratio - reference, -1e30))
        mask = ok[:, None] & known[None, :]
        as_left = tl.load(views + left[:, None] * COLUMNS + rank[None, :], mask=mask, other=0.0)
        as_right = tl.load(views + right[:, None] * COLUMNS + R1 + rank[None, :], mask=mask, other=0.0)
        score += tl.sum(as_left * as_right * ratio[:, None], 0)
    largest = tl.max(score, 0)

    own = row_of(width, start, local, n, batch)
    if DISCONTINUOUS:
        half = tl.arange(0, H)
        wrapped = tl.zeros([PAIRS, H], dtype=tl.float32)
        own_start = start
        for first in range(0, triangle(width - 2), PAIRS):
            pair = first + tl.arange(0, PAIRS)
            ok = pair < triangle(width - 2)
            both, before = unfold_triangle(pair)
            left = before + 1
            gap = both - before + 1
            right = width - left - gap
            cell = block_of(left, right, n) + cell_in_block(own_start, own_start + gap - 1, n - left - right)
            gap_row = row_of(gap, own_start + left, local, n, batch)
            weight = tl.load(scales + row_of(left, own_start, local, n, batch), mask=ok, other=0.0)
            weight += tl.load(scales + gap_row, mask=ok, other=0.0)
            weight += tl.load(
                scales + row_of(right, own_start + left + gap, local, n, batch), mask=ok, other=0.0
            )
            weight = tl.exp(tl.where(ok, weight - reference, -1e30))
            inside = tl.load(
                views + (gap_row * COLUMNS + WRAPPED)[:, None] + half[None, :], mask=ok[:, None], other=0.0
            )
            around = tl.load(wrapping + (cell * H)[:, None] + half[None, :], mask=ok[:, None], other=0.0)
            wrapped += inside * around * weight[:, None]
        by_wrapping = tl.sum(wrapped, 0)
        largest = tl.maximum(tl.maximum(largest, tl.max(by_wrapping, 0)), 1e-35)
        store_parts(
            scores + own * (PARTS * (R1 + H)) + R1 + half, by_wrapping / largest, half < H, R1 + H, PARTS
        )
    else:
        largest = tl.maximum(largest, 1e-35)
    scale = reference + tl.log(largest)
    store_parts(scores + own * (PARTS * (R1 + H)) + rank, score / largest, known, R1 + H, PARTS)
    tl.store(scales + own, scale)

    ratio = tl.exp(tl.where(inner, joint - scale, -1e30))
    triple = split_of(width, start, split, n)
    tl.store(ratios + triple, ratio, mask=inner)
    if DISCONTINUOUS:
        half = tl.arange(0, H)
        inner2 = inner[:, None]
        for kind in tl.static_range(4):
            child = left_row if kind % 2 == 0 else right_row
            offered = tl.load(
                views + (child * COLUMNS + ATTACHED + kind * H)[:, None] + half[None, :],
                mask=inner2,
                other=0.0,
            )
            tl.store(
                coefficients + (triple * (4 * H) + kind * H)[:, None] + half[None, :],
                offered * ratio[:, None],
                mask=inner2,
            )


@triton.jit(do_not_specialize=SIZES)
def attach_forward(
    coefficients,
    contraction,
    wrapping,
    attaching,
    attached,
    largest,
    factors,
    floor,
    width,
    n,
    batch,
    cells,
    splits,
    R2: tl.constexpr,
    R4: tl.constexpr,
    H: tl.constexpr,
    BLOCK: tl.constexpr,
    FLOOR: tl.constexpr,
    WEIGHED: tl.constexpr,
):
    """Add the four attachments of a continuous child to the discontinuous spans of one total width."""
    size = n - width
    left = tl.program_id(1) + 1
    right = width - left
    sentence = tl.program_id(2)
    i, p, m, ok = gapped_spans_of(size, left, BLOCK)
    half = tl.arange(0, H)[None, :]
    mask = ok[:, None]
    coefficients += sentence.to(tl.int64) * splits * (4 * H)
    wrapping += sentence.to(tl.int64) * cells * H
    attaching += sentence.to(tl.int64) * cells * H
    attached += sentence.to(tl.int64) * cells * H

    total = tl.zeros([BLOCK, H], dtype=tl.float32)
    for t in range(1, left):
        block = block_of(left - t, right, n)
        after = block + cell_in_block(i + t, p + t, size + t)
        before = block + cell_in_block(i, p + t, size + t)
        first = split_of(left, i, t, n) * (4 * H)
        last = split_of(left, i, left - t, n) * (4 * H) + H
        total += tl.load(coefficients + first[:, None] + half, mask=mask, other=0.0) * tl.load(
            attaching + (after * H)[:, None] + half, mask=mask, other=0.0
        )
        total += tl.load(coefficients + last[:, None] + half, mask=mask, other=0.0) * tl.load(
            attaching + (before * H)[:, None] + half, mask=mask, other=0.0
        )
    for t in range(1, right):
        block = block_of(left, right - t, n)
        after = block + cell_in_block(i, p + t, size + t)
        before = block + cell_in_block(i, p, size + t)
        first = split_of(right, m, t, n) * (4 * H) + 2 * H
        last = split_of(right, m, right - t, n) * (4 * H) + 3 * H
        total += tl.load(coefficients + first[:, None] + half, mask=mask, other=0.0) * tl.load(
            attaching + (after * H)[:, None] + half, mask=mask, other=0.0
        )
        total += tl.load(coefficients + last[:, None] + half, mask=mask, other=0.0) * tl.load(
            attaching + (before * H)[:, None] + half, mask=mask, other=0.0
        )

    cell = block_of(left, right, n) + cell_in_block(i, p, size)
    at = (cell * H)[:, None] + half
    tl.store(attached + at, total, mask=mask)
    as_wrapping = tl.load(wrapping + at, mask=mask, other=0.0)
    as_attaching = tl.load(attaching + at, mask=mask, other=0.0)
    contraction += (sentence // batch) * (2 * H * H)
    as_wrapping += times_square(total, contraction, 2 * H, 1, H)
    as_attaching += times_square(total, contraction + H, 2 * H, 1, H)
    if FLOOR:
        top = tl.load(largest + sentence.to(tl.int64) * cells + cell, mask=ok, other=0.0)
        lift = (tl.maximum(top, tl.max(total, 1)) * floor)[:, None]
        as_wrapping += tl.where(half < R2, lift, 0.0)
        as_attaching += tl.where(half < R4, lift, 0.0)
    if WEIGHED:
        factor = tl.load(factors + sentence.to(tl.int64) * cells + cell, mask=ok, other=0.0)[:, None]
        as_wrapping *= factor
        as_attaching *= factor
    tl.store(wrapping + at, as_wrapping, mask=mask)
    tl.store(attaching + at, as_attaching, mask=mask)
