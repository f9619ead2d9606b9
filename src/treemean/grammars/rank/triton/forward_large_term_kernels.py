# mypy: disable-error-code="no-untyped-def, untyped-decorator"
"""Kernels of the large term, forward: two continuous children with a gap between them (R4).

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
    partner_of,
    row_of,
    triangle,
)
from treemean.grammars.rank.triton.forward_kernels import SIZES


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
