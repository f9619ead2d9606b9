# mypy: disable-error-code="no-untyped-def, untyped-decorator"
"""Kernels of the best tree: each span keeps its best sum and how it came about.

Sums of continuous spans are (S, n+1, n+1) by start and end, those of discontinuous ones (S, cells) as in
`indexing`. Of equal ways the first counts: two children side by side before one around the other, and shorter
first parts first, as in `rank.decoding.mbr`.
"""

from __future__ import annotations

import triton
import triton.language as tl

from treemean.grammars.gpu.indexing import block_of, cell_in_block, gapped_spans_of

_NEVER = tl.constexpr(-1e30)


@triton.jit(do_not_specialize=["width", "n", "cells"])
def best_continuous(
    posteriors,
    sums,
    ways,
    gapped_sums,
    width,
    n,
    cells,
    GAPS: tl.constexpr,
    BLOCK: tl.constexpr,
    ROWS: tl.constexpr,
):
    """Find the best way to divide a continuous span of one width.

    The way is the length of the first child, or for a child with a gap minus (length of its left part times
    n + 1 plus length of the gap).
    """
    i = tl.program_id(0)
    sentence = tl.program_id(1).to(tl.int64)
    j = i + width
    line = n + 1
    posteriors += sentence * line * line
    sums += sentence * line * line
    k = tl.arange(0, BLOCK)
    inner = (k > 0) & (k < width)
    both = tl.load(sums + i * line + i + k, mask=inner, other=0.0)
    both += tl.load(sums + (i + k) * line + j, mask=inner, other=0.0)
    both = tl.where(inner, both, _NEVER)
    best = tl.max(both, 0)
    way = tl.argmax(both, 0, tie_break_left=True)
    if GAPS:
        for first in range(1, width - 1, ROWS):
            left = (first + tl.arange(0, ROWS))[:, None]
            gap = tl.arange(0, BLOCK)[None, :]
            right = width - left - gap
            real = (gap > 0) & (right > 0)
            inside = tl.load(sums + (i + left) * line + i + left + gap, mask=real, other=0.0)
            cell = block_of(left, right, n) + cell_in_block(i, i + gap - 1, n - left - right)
            around = tl.load(gapped_sums + sentence * cells + cell, mask=real, other=0.0)
            # Row by row: the compiler may reorder what is reshaped for a reduction, and places with it.
            wrapped = tl.where(real, inside + around, _NEVER)
            of_rows = tl.max(wrapped, 1)
            gaps = tl.argmax(wrapped, 1, tie_break_left=True)
            value = tl.max(of_rows, 0)
            row = tl.argmax(of_rows, 0, tie_break_left=True)
            chosen = tl.sum(tl.where(tl.arange(0, ROWS) == row, gaps, 0), 0)
            code = -((first + row) * line + chosen)
            way = tl.where(value > best, code, way)
            best = tl.maximum(best, value)
    tl.store(sums + i * line + j, best + tl.load(posteriors + i * line + j))
    tl.store(ways + sentence * line * line + i * line + j, way)


@triton.jit(do_not_specialize=["width", "n", "cells"])
def best_discontinuous(
    posteriors,
    sums,
    gapped_sums,
    gapped_ways,
    width,
    n,
    cells,
    BLOCK: tl.constexpr,
):
    """Find the best way to divide the discontinuous spans of one total width.

    The way is 0 for two continuous children, or for R5-R8 the length of the first part of what is divided,
    plus n + 1 for each attachment before it.
    """
    size = n - width
    left = tl.program_id(1) + 1
    right = width - left
    sentence = tl.program_id(2).to(tl.int64)
    i, p, m, ok = gapped_spans_of(size, left, BLOCK)
    line = n + 1
    sums += sentence * line * line
    gapped_sums += sentence * cells
    best = tl.load(sums + i * line + i + left, mask=ok, other=0.0)
    best += tl.load(sums + m * line + m + right, mask=ok, other=0.0)
    way = tl.zeros([BLOCK], dtype=tl.int32)
    for s in range(1, left):
        cell = block_of(left - s, right, n) + cell_in_block(i + s, p + s, size + s)
        value = tl.load(gapped_sums + cell, mask=ok, other=0.0)
        value += tl.load(sums + i * line + i + s, mask=ok, other=0.0)
        way = tl.where(value > best, s, way)
        best = tl.maximum(best, value)
    for s in range(1, left):
        cell = block_of(s, right, n) + cell_in_block(i, p + left - s, size + left - s)
        value = tl.load(gapped_sums + cell, mask=ok, other=0.0)
        value += tl.load(sums + (i + s) * line + i + left, mask=ok, other=0.0)
        way = tl.where(value > best, line + s, way)
        best = tl.maximum(best, value)
    for s in range(1, right):
        cell = block_of(left, right - s, n) + cell_in_block(i, p + s, size + s)
        value = tl.load(gapped_sums + cell, mask=ok, other=0.0)
        value += tl.load(sums + m * line + m + s, mask=ok, other=0.0)
        way = tl.where(value > best, 2 * line + s, way)
        best = tl.maximum(best, value)
    for s in range(1, right):
        cell = block_of(left, s, n) + cell_in_block(i, p, size + right - s)
        value = tl.load(gapped_sums + cell, mask=ok, other=0.0)
        value += tl.load(sums + (m + s) * line + m + right, mask=ok, other=0.0)
        way = tl.where(value > best, 3 * line + s, way)
        best = tl.maximum(best, value)
    own = block_of(left, right, n) + cell_in_block(i, p, size)
    best += tl.load(posteriors + sentence * cells + own, mask=ok, other=0.0)
    tl.store(gapped_sums + own, best, mask=ok)
    tl.store(gapped_ways + sentence * cells + own, way, mask=ok)
