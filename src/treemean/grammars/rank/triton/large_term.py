# mypy: disable-error-code="no-untyped-def, untyped-decorator"
"""Kernels of the large term: two continuous children with a gap between them (R4), forward and backward.

A product of matrices over pairs of spans once ranks are contracted, by far the most arithmetic of a pass.
"""

from __future__ import annotations

import triton
import triton.language as tl

from treemean.grammars.gpu.indexing import (
    add_product,
    block_of,
    cell_in_block,
    halves,
    nearest_tf32,
    partner_of,
    partners_of,
    row_of,
    triangle,
)
from treemean.grammars.rank.triton.forward import SIZES


@triton.jit(do_not_specialize=SIZES)
def publish_gap_views(
    views,
    parts,
    width,
    n,
    batch,
    rows,
    sentences,
    R3: tl.constexpr,
    COLUMNS: tl.constexpr,
    GAP_LEFT: tl.constexpr,
    BLOCK_RANKS: tl.constexpr,
):
    """Write the two gap views of the spans of one width as pairs of bfloat16, in the order of partners.

    ``parts`` is (2, sentences, n(n+1)/2, 2, R3): side 0 holds right parts, side 1 left parts.
    """
    start = tl.program_id(0)
    sentence = tl.program_id(1)
    side = tl.program_id(2)
    run = (sentence // batch).to(tl.int64)
    row = row_of(width, start, sentence % batch, n, batch)
    rank = tl.arange(0, BLOCK_RANKS)
    known = rank < R3
    column = GAP_LEFT + (1 - side) * R3
    value = tl.load(views + (run * rows + row) * COLUMNS + column + rank, mask=known, other=0.0)
    depth = tl.where(side == 0, n - start, start + width)
    high, low = halves(value)
    target = (side * sentences + sentence).to(tl.int64) * triangle(n) + partner_of(depth, width)
    tl.store(parts + target * (2 * R3) + rank, high, mask=known)
    tl.store(parts + target * (2 * R3) + R3 + rank, low, mask=known)


@triton.jit(do_not_specialize=SIZES)
def large_forward(
    parts,
    contraction,
    wrapping,
    attaching,
    largest,
    width,
    n,
    batch,
    cells,
    sentences,
    tiles,
    R3: tl.constexpr,
    H: tl.constexpr,
    BLOCK_LEFT: tl.constexpr,
    BLOCK_RIGHT: tl.constexpr,
    BLOCK_COLUMNS: tl.constexpr,
    STEP: tl.constexpr,
    FLOOR: tl.constexpr,
):
    """Combine two continuous children into discontinuous spans of one total width: the large term.

    A tile of left parts times a tile of right parts of fixed lengths; each left part counts once for each
    column of the contraction matrix, of which there are ``2 H``. Products of pairs of bfloat16 are as exact
    as float32. The programs must be too small for asynchronous tensor cores, see `settings.synchronous`.
    """
    Q: tl.constexpr = 2 * H
    COLUMN_TILES: tl.constexpr = Q // BLOCK_COLUMNS
    LINES: tl.constexpr = BLOCK_LEFT * BLOCK_COLUMNS
    left0 = (tl.program_id(0) // tiles) * BLOCK_LEFT
    right0 = (tl.program_id(0) % tiles) * BLOCK_RIGHT
    left = tl.program_id(1) // COLUMN_TILES + 1
    column0 = tl.program_id(1) % COLUMN_TILES * BLOCK_COLUMNS
    right = width - left
    sentence = tl.program_id(2)
    size = n - width
    if right0 + BLOCK_RIGHT > left0:
        run = sentence // batch
        i = left0 + tl.arange(0, BLOCK_LEFT)
        p = right0 + tl.arange(0, BLOCK_RIGHT)
        i_ok = i < size
        p_ok = p < size
        right_parts = parts + sentence.to(tl.int64) * triangle(n) * (2 * R3)
        left_parts = parts + (sentences + sentence).to(tl.int64) * triangle(n) * (2 * R3)
        left_at = left_parts + partner_of(i + left, left) * (2 * R3)
        right_at = right_parts + partner_of(n - 1 - left - p, right) * (2 * R3)
        column = column0 + tl.arange(0, BLOCK_COLUMNS)
        total = tl.zeros([LINES, BLOCK_RIGHT], dtype=tl.float32)
        top = tl.zeros([BLOCK_LEFT, BLOCK_RIGHT], dtype=tl.float32)
        for first in range(0, R3, STEP):
            rank = first + tl.arange(0, STEP)
            known = rank < R3
            left_mask = i_ok[:, None] & known[None, :]
            left_view = tl.load(left_at[:, None] + rank[None, :], mask=left_mask, other=0.0).to(tl.float32)
            left_view += tl.load(left_at[:, None] + R3 + rank[None, :], mask=left_mask, other=0.0).to(
                tl.float32
            )
            matrix = tl.load(
                contraction + (run * Q + column[:, None]) * R3 + rank[None, :], mask=known[None, :], other=0.0
            )
            spread = tl.reshape(left_view[:, None, :] * matrix[None, :, :], (LINES, STEP))
            high, low = halves(spread)
            right_mask = known[:, None] & p_ok[None, :]
            right_high = tl.load(right_at[None, :] + rank[:, None], mask=right_mask, other=0.0)
            right_low = tl.load(right_at[None, :] + R3 + rank[:, None], mask=right_mask, other=0.0)
            total = add_product(high, right_high, total)
            total = add_product(high, right_low, total)
            total = add_product(low, right_high, total)
            if FLOOR:
                right_view = right_high.to(tl.float32) + right_low.to(tl.float32)
                top = tl.maximum(top, tl.max(left_view[:, :, None] * right_view[None, :, :], 1))
        line = tl.arange(0, LINES)
        line_i = left0 + line // BLOCK_COLUMNS
        q = column0 + line % BLOCK_COLUMNS
        base = sentence.to(tl.int64) * cells + block_of(left, right, n)
        cell = base + cell_in_block(line_i[:, None], p[None, :], size)
        ok = (line_i[:, None] <= p[None, :]) & p_ok[None, :]
        tl.store(wrapping + cell * H + q[:, None], total, mask=ok & (q < H)[:, None])
        tl.store(attaching + cell * H + (q - H)[:, None], total, mask=ok & (q >= H)[:, None])
        if FLOOR:
            tl.store(
                largest + base + cell_in_block(i[:, None], p[None, :], size),
                top,
                mask=(i[:, None] <= p[None, :]) & p_ok[None, :] & (column0 == 0),
            )


@triton.jit(do_not_specialize=SIZES)
def large_backward(
    parts,
    pairs,
    contraction,
    view_gradients,
    contraction_gradients,
    width,
    n,
    batch,
    rows,
    cells,
    sentences,
    tiles,
    R3: tl.constexpr,
    H: tl.constexpr,
    COLUMNS: tl.constexpr,
    GAP_LEFT: tl.constexpr,
    BLOCK_RANKS: tl.constexpr,
    BLOCK_PARTS: tl.constexpr,
    BLOCK_COLUMNS: tl.constexpr,
    STEP: tl.constexpr,
):
    """Take the gradients of both gap views of the spans of one width: the large term backwards.

    For a tile of parts, gradients of all their pairs times the views of the partners, one dense product; only
    then are the ``2 H`` columns contracted. The gradient of the contraction matrix falls out of the same
    product. The programs must be too small for asynchronous tensor cores, see `settings.synchronous`.
    """
    Q: tl.constexpr = 2 * H
    LINES: tl.constexpr = BLOCK_PARTS * BLOCK_COLUMNS
    tile = tl.program_id(1)
    side = tl.program_id(2) // sentences
    sentence = tl.program_id(2) % sentences
    run = (sentence // batch).to(tl.int64)
    rank = tl.program_id(0) * BLOCK_RANKS + tl.arange(0, BLOCK_RANKS)
    known = rank < R3
    line = tl.arange(0, LINES)
    start = tile * BLOCK_PARTS + line // BLOCK_COLUMNS
    reach = tl.where(side == 0, n - 1 - width - start, start - 1)
    reach = tl.where(start <= n - width, tl.maximum(reach, 0), 0)
    index = tl.where(side == 0, start, n - width - start)
    partners = triangle(reach)
    base = partners_of(reach, index, n) * (2 * Q) + line % BLOCK_COLUMNS
    first_start = tile * BLOCK_PARTS
    last_start = tl.minimum(first_start + BLOCK_PARTS - 1, n - width)
    furthest = tl.maximum(tl.where(side == 0, n - 1 - width - first_start, last_start - 1), 0)
    pairs += (side * sentences + sentence).to(tl.int64) * cells * (2 * Q)
    partner_views = parts + (side * sentences + sentence).to(tl.int64) * triangle(n) * (2 * R3)
    part_start = tile * BLOCK_PARTS + tl.arange(0, BLOCK_PARTS)
    real = (part_start <= n - width)[:, None] & known[None, :]
    own_views = parts + (sentences + sentence).to(tl.int64) * triangle(n) * (2 * R3)
    own_at = own_views + (partner_of(part_start + width, width) * (2 * R3))[:, None] + rank[None, :]
    slot = (sentence.to(tl.int64) * tiles + tile) * (Q * R3)

    gradient = tl.zeros([BLOCK_PARTS, BLOCK_RANKS], dtype=tl.float32)
    for column0 in range(0, Q, BLOCK_COLUMNS):
        total = tl.zeros([LINES, BLOCK_RANKS], dtype=tl.float32)
        for first in range(0, triangle(furthest), STEP):
            k = first + tl.arange(0, STEP)
            view_at = partner_views + (k * (2 * R3))[:, None] + rank[None, :]
            view_mask = (k < triangle(furthest))[:, None] & known[None, :]
            pair_at = pairs + column0 + (k * (2 * Q))[None, :] + base[:, None]
            pair_mask = k[None, :] < partners[:, None]
            view_high = tl.load(view_at, mask=view_mask, other=0.0)
            view_low = tl.load(view_at + R3, mask=view_mask, other=0.0)
            pair_high = tl.load(pair_at, mask=pair_mask, other=0.0)
            pair_low = tl.load(pair_at + Q, mask=pair_mask, other=0.0)
            total = add_product(pair_high, view_high, total)
            total = add_product(pair_low, view_high, total)
            total = add_product(pair_high, view_low, total)

        by_part = tl.reshape(total, (BLOCK_PARTS, BLOCK_COLUMNS, BLOCK_RANKS))
        q = column0 + tl.arange(0, BLOCK_COLUMNS)
        matrix_at = (run * Q + q[:, None]) * R3 + rank[None, :]
        matrix = tl.load(contraction + matrix_at, mask=known[None, :], other=0.0)
        gradient += tl.sum(by_part * matrix[None, :, :], 1)
        if side == 0:
            own = tl.load(own_at, mask=real, other=0.0).to(tl.float32)
            own += tl.load(own_at + R3, mask=real, other=0.0).to(tl.float32)
            share = tl.sum(by_part * own[:, None, :], 0)
            corner = contraction_gradients + slot + (q * R3)[:, None] + rank[None, :]
            tl.store(corner, tl.load(corner, mask=known[None, :], other=0.0) + share, mask=known[None, :])

    row = run * rows + row_of(width, part_start, sentence % batch, n, batch)
    target = view_gradients + (row * COLUMNS)[:, None] + (GAP_LEFT + side * R3 + rank)[None, :]
    tl.store(target, nearest_tf32(gradient), mask=real)
