# mypy: disable-error-code="no-untyped-def, untyped-decorator"
"""Kernels that fill charts with the most probable derivations in rank space, from short spans to long ones.

Charts of continuous spans are (views or ranks, rows), those of discontinuous ones (ranks, S, cells), rows and
cells as in `indexing`. Additions are made in the order of `rank.decoding.chart`.
"""

from __future__ import annotations

import triton
import triton.language as tl

from treemean.grammars.gpu.indexing import block_of, cell_in_block, gapped_spans_of, row_of, spans_of
from treemean.grammars.gpu.max_plus import larger

_NEVER = tl.constexpr(float("-inf"))
_SIZES = ["width", "n", "batch", "pitch", "cells"]  # never compiled into a kernel


@triton.jit(do_not_specialize=_SIZES)
def split_spans(
    views,
    scores,
    width,
    n,
    batch,
    pitch,
    R1: tl.constexpr,
    BLOCK_RANKS: tl.constexpr,
    BLOCK_ROWS: tl.constexpr,
):
    """Score the continuous spans of one width by the best place to split them in two (R2)."""
    start, sentence, ok = spans_of(width, n, batch, BLOCK_ROWS)
    rank = tl.program_id(1) * BLOCK_RANKS + tl.arange(0, BLOCK_RANKS)
    of_rank = tl.minimum(rank, R1 - 1).to(tl.int64)[:, None] * pitch
    lefts = views + of_rank
    rights = lefts + R1 * pitch.to(tl.int64)
    best = tl.full([BLOCK_RANKS, BLOCK_ROWS], _NEVER, tl.float64)
    for k in range(1, width):
        first = tl.load(lefts + row_of(k, start, sentence, n, batch)[None, :])
        second = tl.load(rights + row_of(width - k, start + k, sentence, n, batch)[None, :])
        best = larger(first + second, best)
    own = row_of(width, start, sentence, n, batch)
    tl.store(scores + of_rank + own[None, :], best, mask=(rank < R1)[:, None] & ok[None, :])


@triton.jit(do_not_specialize=_SIZES)
def wrap_spans(
    views,
    scores,
    wrapping,
    width,
    n,
    batch,
    pitch,
    cells,
    R1: tl.constexpr,
    R2: tl.constexpr,
    WRAPPED: tl.constexpr,
    BLOCK_RANKS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Score a continuous span by the best span with a gap and what fills the gap (R3)."""
    i = tl.program_id(0)
    sentence = tl.program_id(1)
    rank = tl.arange(0, BLOCK_RANKS)
    known = tl.minimum(rank, R2 - 1).to(tl.int64)[:, None]
    fillings = views + (WRAPPED + known) * pitch
    wrappings = wrapping + (known * batch + sentence) * cells
    gap = tl.arange(0, BLOCK)[None, :]
    best = tl.full([BLOCK_RANKS, BLOCK], _NEVER, tl.float64)
    for left in range(1, width - 1):
        right = width - left - gap
        real = (gap > 0) & (right > 0)
        filling = row_of(gap, i + left, sentence, n, batch)
        cell = block_of(left, right, n) + cell_in_block(i, i + gap - 1, n - left - right)
        both = tl.load(fillings + filling, mask=real, other=_NEVER)
        both += tl.load(wrappings + cell, mask=real, other=_NEVER)
        best = larger(both, best)
    own = row_of(width, i, sentence, n, batch)
    tl.store(scores + (R1 + rank).to(tl.int64) * pitch + own, tl.max(best, 1), mask=rank < R2)


@triton.jit(do_not_specialize=_SIZES)
def gapped_spans(
    views,
    wrapping,
    extended,
    attachments,
    rules,
    width,
    n,
    batch,
    pitch,
    cells,
    R2: tl.constexpr,
    R3: tl.constexpr,
    R4: tl.constexpr,
    GAP_LEFT: tl.constexpr,
    ATTACHED: tl.constexpr,
    BLOCK_VIEWS: tl.constexpr,
    BLOCK_RANKS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Score the discontinuous spans of one total width (R4-R8), and find their views.

    The sums for two continuous children, one for each rank, are never stored. `rules` is (r3 + r4,
    BLOCK_VIEWS).
    """
    size = n - width
    left = tl.program_id(1) + 1
    right = width - left
    sentence = tl.program_id(2)
    i, p, m, ok = gapped_spans_of(size, left, BLOCK)
    view = tl.arange(0, BLOCK_VIEWS)

    lefts = views + GAP_LEFT * pitch.to(tl.int64)
    rights = lefts + R3 * pitch.to(tl.int64)
    of_left = row_of(left, i, sentence, n, batch)
    of_right = row_of(right, m, sentence, n, batch)
    best = tl.full([BLOCK_VIEWS, BLOCK], _NEVER, tl.float64)
    for _ in tl.range(R3, loop_unroll_factor=2):
        sums = tl.load(lefts + of_left)[None, :] + tl.load(rules + view)[:, None]
        best = larger(sums + tl.load(rights + of_right)[None, :], best)
        lefts += pitch
        rights += pitch
        rules += BLOCK_VIEWS

    rank = tl.arange(0, BLOCK_RANKS)[:, None]
    known = tl.minimum(rank, R4 - 1).to(tl.int64)
    children = views + (ATTACHED + known) * pitch
    next_attachment = R4 * pitch.to(tl.int64)
    others = extended + (known * batch + sentence) * cells
    total = tl.full([BLOCK_RANKS, BLOCK], _NEVER, tl.float64)
    for s in range(1, left):
        before = block_of(left - s, right, n) + cell_in_block(i + s, p + s, size + s)
        after = block_of(s, right, n) + cell_in_block(i, p + left - s, size + left - s)
        child = tl.load(children + row_of(s, i, sentence, n, batch)[None, :])
        total = larger(child + tl.load(others + before[None, :]), total)
        child = tl.load(children + next_attachment + row_of(left - s, i + s, sentence, n, batch)[None, :])
        total = larger(child + tl.load(others + after[None, :]), total)
    for s in range(1, right):
        before = block_of(left, right - s, n) + cell_in_block(i, p + s, size + s)
        after = block_of(left, s, n) + cell_in_block(i, p, size + right - s)
        child = tl.load(children + 2 * next_attachment + row_of(s, m, sentence, n, batch)[None, :])
        total = larger(child + tl.load(others + before[None, :]), total)
        child = tl.load(
            children + 3 * next_attachment + row_of(right - s, m + s, sentence, n, batch)[None, :]
        )
        total = larger(child + tl.load(others + after[None, :]), total)
    for r in tl.static_range(R4):
        one = tl.max(tl.where(rank == r, total, _NEVER), 0)
        best = larger(one[None, :] + tl.load(rules + r * BLOCK_VIEWS + view)[:, None], best)

    cell = (block_of(left, right, n) + cell_in_block(i, p, size))[None, :]
    tl.store(attachments + (known * batch + sentence) * cells + cell, total, mask=(rank < R4) & ok[None, :])
    view = view.to(tl.int64)[:, None]
    wraps = (view < R2) & ok[None, :]
    extends = (view >= R2) & (view < R2 + R4) & ok[None, :]
    tl.store(wrapping + (view * batch + sentence) * cells + cell, best, mask=wraps)
    tl.store(extended + ((view - R2) * batch + sentence) * cells + cell, best, mask=extends)
