# mypy: disable-error-code="no-untyped-def, untyped-decorator"
"""Kernels of the backward pass: from long spans to short ones, each gradient pulled from where the value was
used.

Nothing is added atomically, so that the same input gives the same bits. ``score_gradients`` are those of rank
scores, ``view_gradients`` those of views, both of the scaled values; scales count as constants.
"""

from __future__ import annotations

import triton
import triton.language as tl

from treemean.grammars.gpu.indexing import (
    block_of,
    cell_in_block,
    gapped_spans_of,
    halves,
    nearest_tf32,
    outer_sums,
    partner_of,
    partners_of,
    row_of,
    split_of,
    times_square,
)
from treemean.grammars.rank.triton.forward_kernels import SIZES


@triton.jit(do_not_specialize=SIZES)
def discontinuous_backward(
    views,
    scales,
    score_gradients,
    coefficients,
    contraction,
    wrapping,
    attaching,
    attached,
    attached_gradients,
    pairs,
    contraction_gradients,
    posteriors,
    factors,
    width,
    n,
    batch,
    rows,
    cells,
    splits,
    sentences,
    tiles,
    R1: tl.constexpr,
    H: tl.constexpr,
    COLUMNS: tl.constexpr,
    WRAPPED: tl.constexpr,
    BLOCK: tl.constexpr,
    POSTERIORS: tl.constexpr,
    WEIGHED: tl.constexpr,
):
    """Take the gradients of discontinuous spans of one total width.

    They come from the one continuous span that such a span wraps into, and from longer discontinuous ones
    that it was attached to. Writes them twice as pairs of bfloat16, in the lists of partners of both parts,
    (2, sentences, cells, 2, 2 H), and what they give to the scores by attachment. Adds to the gradient of the
    contraction matrix, a part for each program.
    """
    Q: tl.constexpr = 2 * H
    size = n - width
    left = tl.program_id(1) + 1
    right = width - left
    sentence = tl.program_id(2)
    run = (sentence // batch).to(tl.int64)
    local = sentence % batch
    i, p, m, ok = gapped_spans_of(size, left, BLOCK)
    gap = p + 1 - i
    half = tl.arange(0, H)[None, :]
    mask = ok[:, None]
    views += run * rows * COLUMNS
    scales += run * rows
    score_gradients += run * rows * (R1 + H)
    coefficients += sentence.to(tl.int64) * splits * (4 * H)
    attached_gradients += sentence.to(tl.int64) * cells * H

    parent = row_of(width + gap, i, local, n, batch)
    filler = row_of(gap, i + left, local, n, batch)
    weight = tl.load(scales + row_of(left, i, local, n, batch), mask=ok, other=0.0)
    weight += tl.load(scales + row_of(right, m, local, n, batch), mask=ok, other=0.0)
    weight += tl.load(scales + filler, mask=ok, other=0.0)
    weight -= tl.load(scales + parent, mask=ok, other=0.0)
    as_wrapping = tl.load(score_gradients + (parent * (R1 + H) + R1)[:, None] + half, mask=mask, other=0.0)
    as_wrapping *= tl.load(views + (filler * COLUMNS + WRAPPED)[:, None] + half, mask=mask, other=0.0)
    as_wrapping *= tl.exp(tl.where(ok, weight, -1e30))[:, None]

    as_attaching = tl.zeros([BLOCK, H], dtype=tl.float32)
    for t in range(1, size):
        longer_left = block_of(left + t, right, n)
        longer_right = block_of(left, right + t, n)
        can = (ok & (i >= t))[:, None]
        at = longer_left + cell_in_block(i - t, p - t, size - t)
        by = split_of(left + t, i - t, t, n) * (4 * H)
        as_attaching += tl.load(coefficients + by[:, None] + half, mask=can, other=0.0) * tl.load(
            attached_gradients + (at * H)[:, None] + half, mask=can, other=0.0
        )
        can = (ok & (p - t >= i))[:, None]
        at = longer_left + cell_in_block(i, p - t, size - t)
        by = split_of(left + t, i, left, n) * (4 * H) + H
        as_attaching += tl.load(coefficients + by[:, None] + half, mask=can, other=0.0) * tl.load(
            attached_gradients + (at * H)[:, None] + half, mask=can, other=0.0
        )
        at = longer_right + cell_in_block(i, p - t, size - t)
        by = split_of(right + t, m - t, t, n) * (4 * H) + 2 * H
        as_attaching += tl.load(coefficients + by[:, None] + half, mask=can, other=0.0) * tl.load(
            attached_gradients + (at * H)[:, None] + half, mask=can, other=0.0
        )
        can = (ok & (p + t < size))[:, None]
        at = longer_right + cell_in_block(i, p, size - t)
        by = split_of(right + t, m, right, n) * (4 * H) + 3 * H
        as_attaching += tl.load(coefficients + by[:, None] + half, mask=can, other=0.0) * tl.load(
            attached_gradients + (at * H)[:, None] + half, mask=can, other=0.0
        )

    cell = block_of(left, right, n) + cell_in_block(i, p, size)
    at = (cell * H)[:, None] + half
    if WEIGHED:  # from here on, gradients of what the weight multiplies
        tl.static_assert(not POSTERIORS)
        factor = tl.load(factors + sentence.to(tl.int64) * cells + cell, mask=ok, other=0.0)[:, None]
        as_wrapping *= factor
        as_attaching *= factor
    contraction += run * (H * Q)
    of_attached = times_square(as_wrapping, contraction, 1, Q, H)
    of_attached += times_square(as_attaching, contraction + H, 1, Q, H)
    tl.store(attached_gradients + at, of_attached, mask=mask)

    # Both lists of partners: side 0 belongs to the left part, side 1 to the right one.
    end = i + left
    first = partners_of(n - 1 - end, i, n) + partner_of(n - m, right)
    second = partners_of(m - 1, n - m - right, n) + partner_of(end, left)
    first_at = ((sentence.to(tl.int64) * cells + first) * (2 * Q))[:, None] + half
    second_at = (((sentences + sentence).to(tl.int64) * cells + second) * (2 * Q))[:, None] + half
    high, low = halves(as_wrapping)
    tl.store(pairs + first_at, high, mask=mask)
    tl.store(pairs + second_at, high, mask=mask)
    tl.store(pairs + first_at + Q, low, mask=mask)
    tl.store(pairs + second_at + Q, low, mask=mask)
    high, low = halves(as_attaching)
    tl.store(pairs + first_at + H, high, mask=mask)
    tl.store(pairs + second_at + H, high, mask=mask)
    tl.store(pairs + first_at + Q + H, low, mask=mask)
    tl.store(pairs + second_at + Q + H, low, mask=mask)

    score = tl.load(attached + sentence.to(tl.int64) * cells * H + at, mask=mask, other=0.0)
    slot = (sentence.to(tl.int64) * n + left) * tiles + tl.program_id(0)
    corner = contraction_gradients + slot * (H * Q) + tl.arange(0, H)[:, None] * Q + half
    tl.store(corner, tl.load(corner) + outer_sums(score, as_wrapping, H))
    tl.store(corner + H, tl.load(corner + H) + outer_sums(score, as_attaching, H))
    if POSTERIORS:
        value = tl.load(wrapping + sentence.to(tl.int64) * cells * H + at, mask=mask, other=0.0) * as_wrapping
        value += (
            tl.load(attaching + sentence.to(tl.int64) * cells * H + at, mask=mask, other=0.0) * as_attaching
        )
        tl.store(posteriors + sentence.to(tl.int64) * cells + cell, tl.sum(value, 1), mask=ok)


@triton.jit(do_not_specialize=SIZES)
def attached_backward(
    attaching,
    attached_gradients,
    ratios,
    partial,
    width,
    n,
    cells,
    splits,
    sentences,
    H: tl.constexpr,
    BLOCK_OWN: tl.constexpr,
    BLOCK_OTHER: tl.constexpr,
):
    """Take the gradients of the four attached views of the spans of one width, a share per length of the
    other part.

    The child lies at one edge of a part of ``length`` words, of which it leaves ``length - width``; the other
    part has ``other`` words. Writes (sentences, 4, starts, lengths of the other part, H).
    """
    other = tl.program_id(1) + 1
    kind = tl.program_id(2) // sentences
    sentence = tl.program_id(2) % sentences
    first = 1 - kind % 2
    attaching += sentence.to(tl.int64) * cells * H
    attached_gradients += sentence.to(tl.int64) * cells * H
    ratios += sentence.to(tl.int64) * splits
    start0 = tl.program_id(0) * BLOCK_OWN
    own = start0 + tl.arange(0, BLOCK_OWN)
    own_ok = own <= n - width
    across = tl.arange(0, BLOCK_OTHER)
    half = tl.arange(0, H)
    slot = ((sentence.to(tl.int64) * 4 + kind) * n + own) * n + other - 1
    target = partial + (slot * H)[:, None] + half[None, :]
    if kind < 2:
        left_total = tl.zeros([BLOCK_OWN, BLOCK_OTHER, H], dtype=tl.float32)
        for length in range(width + 1, n - other):
            size = n - other - length
            i = own - (1 - first) * (length - width)
            ok = own_ok & (i >= 0) & (i < size)
            split = first * width + (1 - first) * (length - width)
            ratio = tl.load(ratios + split_of(length, i, split, n), mask=ok, other=0.0)
            parent = block_of(length, other, n)
            child = block_of(length - width, other, n)
            for p0 in range(0, size, BLOCK_OTHER):
                p = p0 + across
                mask = (ok[:, None] & (i[:, None] <= p[None, :]) & (p < size)[None, :])[:, :, None]
                above = parent + cell_in_block(i[:, None], p[None, :], size)
                below = child + cell_in_block(
                    (i + first * width)[:, None], (p + width)[None, :], size + width
                )
                gradient = tl.load(
                    attached_gradients + (above * H)[:, :, None] + half[None, None, :], mask=mask, other=0.0
                )
                value = tl.load(
                    attaching + (below * H)[:, :, None] + half[None, None, :], mask=mask, other=0.0
                )
                left_total += gradient * value * ratio[:, None, None]
        tl.store(target, tl.sum(left_total, 1), mask=own_ok[:, None])
    else:
        right_total = tl.zeros([BLOCK_OTHER, BLOCK_OWN, H], dtype=tl.float32)
        for length in range(width + 1, n - other):
            size = n - other - length
            m = own - (1 - first) * (length - width)
            p = m - other - 1
            ok = own_ok & (p >= 0) & (p < size)
            split = first * width + (1 - first) * (length - width)
            ratio = tl.load(ratios + split_of(length, m, split, n), mask=ok, other=0.0)
            parent = block_of(other, length, n)
            child = block_of(other, length - width, n)
            for i0 in range(0, size, BLOCK_OTHER):
                i = i0 + across
                mask = (ok[None, :] & (i[:, None] <= p[None, :]))[:, :, None]
                above = parent + cell_in_block(i[:, None], p[None, :], size)
                below = child + cell_in_block(i[:, None], (p + first * width)[None, :], size + width)
                gradient = tl.load(
                    attached_gradients + (above * H)[:, :, None] + half[None, None, :], mask=mask, other=0.0
                )
                value = tl.load(
                    attaching + (below * H)[:, :, None] + half[None, None, :], mask=mask, other=0.0
                )
                right_total += gradient * value * ratio[None, :, None]
        tl.store(target, tl.sum(right_total, 0), mask=own_ok[:, None])


@triton.jit(do_not_specialize=SIZES)
def sibling_backward(
    views,
    ratios,
    score_gradients,
    view_gradients,
    width,
    n,
    batch,
    rows,
    splits,
    R1: tl.constexpr,
    H: tl.constexpr,
    COLUMNS: tl.constexpr,
    BLOCK_RANKS: tl.constexpr,
    STEP: tl.constexpr,
):
    """Take the gradients of the spans of one width as left (side 0) and as right (side 1) child of
    concatenation.
    """
    start = tl.program_id(0)
    sentence = tl.program_id(1)
    side = tl.program_id(2)
    run = (sentence // batch).to(tl.int64)
    local = sentence % batch
    views += run * rows * COLUMNS + (1 - side) * R1
    score_gradients += run * rows * (R1 + H)
    ratios += sentence.to(tl.int64) * splits
    rank = tl.arange(0, BLOCK_RANKS)
    known = rank < R1
    room = tl.where(side == 0, n - start - width, start)
    total = tl.zeros([BLOCK_RANKS], dtype=tl.float32)
    for first in range(1, room + 1, STEP):
        t = first + tl.arange(0, STEP)
        ok = t <= room
        parent_start = start - side * t
        sibling_start = tl.where(side == 0, start + width, start - t)
        sibling = row_of(t, sibling_start, local, n, batch)
        parent = row_of(width + t, parent_start, local, n, batch)
        split = tl.where(side == 0, width, t)
        ratio = tl.load(ratios + split_of(width + t, parent_start, split, n), mask=ok, other=0.0)
        mask = ok[:, None] & known[None, :]
        value = tl.load(views + sibling[:, None] * COLUMNS + rank[None, :], mask=mask, other=0.0)
        gradient = tl.load(score_gradients + parent[:, None] * (R1 + H) + rank[None, :], mask=mask, other=0.0)
        total += tl.sum(value * gradient * ratio[:, None], 0)
    own = run * rows + row_of(width, start, local, n, batch)
    tl.store(view_gradients + own * COLUMNS + side * R1 + rank, nearest_tf32(total), mask=known)


@triton.jit(do_not_specialize=SIZES)
def wrapped_backward(
    scales,
    score_gradients,
    wrapping,
    partial,
    view_gradients,
    width,
    n,
    batch,
    rows,
    cells,
    R1: tl.constexpr,
    H: tl.constexpr,
    COLUMNS: tl.constexpr,
    WRAPPED: tl.constexpr,
    ATTACHED: tl.constexpr,
    BLOCK: tl.constexpr,
    STEP: tl.constexpr,
):
    """Take the gradients of the spans of one width as filler of a gap; add up the shares of the attached
    views.
    """
    start = tl.program_id(0)
    sentence = tl.program_id(1)
    run = (sentence // batch).to(tl.int64)
    local = sentence % batch
    scales += run * rows
    score_gradients += run * rows * (R1 + H) + R1
    wrapping += sentence.to(tl.int64) * cells * H
    own = row_of(width, start, local, n, batch)
    end = start + width
    half = tl.arange(0, H)
    right = tl.arange(0, BLOCK) + 1
    right_ok = right <= n - end
    own_scale = tl.load(scales + own)
    right_scale = tl.load(scales + row_of(right, end, local, n, batch), mask=right_ok, other=0.0) + own_scale
    total = tl.zeros([STEP, BLOCK, H], dtype=tl.float32)
    for first in range(1, start + 1, STEP):
        left = first + tl.arange(0, STEP)
        left_ok = left <= start
        ok = left_ok[:, None] & right_ok[None, :]
        left_scale = tl.load(scales + row_of(left, start - left, local, n, batch), mask=left_ok, other=0.0)
        both = left[:, None] + right[None, :]
        i = (start - left)[:, None]
        parent = row_of(both + width, i, local, n, batch)
        cell = block_of(left[:, None], right[None, :], n) + cell_in_block(i, i + width - 1, n - both)
        weight = left_scale[:, None] + right_scale[None, :] - tl.load(scales + parent, mask=ok, other=0.0)
        weight = tl.exp(tl.where(ok, weight, -1e30))
        mask = ok[:, :, None]
        around = tl.load(wrapping + (cell * H)[:, :, None] + half[None, None, :], mask=mask, other=0.0)
        gradient = tl.load(
            score_gradients + (parent * (R1 + H))[:, :, None] + half[None, None, :], mask=mask, other=0.0
        )
        total += around * gradient * weight[:, :, None]
    target = view_gradients + (run * rows + own) * COLUMNS
    tl.store(target + WRAPPED + half, nearest_tf32(tl.sum(tl.sum(total, 0), 0)))

    other = tl.arange(0, BLOCK)
    some = (other < n - 2 - width)[:, None]
    for kind in tl.static_range(4):
        slot = ((sentence.to(tl.int64) * 4 + kind) * n + start) * n + other
        shares = tl.load(partial + (slot * H)[:, None] + half[None, :], mask=some, other=0.0)
        tl.store(target + ATTACHED + kind * H + half, nearest_tf32(tl.sum(shares, 0)))
