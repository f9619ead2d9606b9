# mypy: disable-error-code="no-untyped-def, untyped-decorator"
"""The kernel of the gradient of the large term: two continuous children with a gap between them (R4).

A product of matrices over pairs of spans, as forward; see `forward_large_term_kernels`.
"""

from __future__ import annotations

import triton
import triton.language as tl

from treemean.grammars.gpu.indexing import (
    add_product,
    nearest_tf32,
    partner_of,
    partners_of,
    row_of,
    triangle,
)
from treemean.grammars.rank.triton.forward_kernels import SIZES


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
