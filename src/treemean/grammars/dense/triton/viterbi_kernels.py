# mypy: disable-error-code="no-untyped-def, untyped-decorator"
"""Kernels that fill charts with the most probable derivations over symbols, from short spans to long ones.

Charts of continuous spans are (symbols or columns, rows), that of discontinuous ones (D, S, cells), rows and
cells as in `indexing`. What rules make of a span is in columns for pairs of another child and a parent.
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
    symbols,
    columns,
    width,
    n,
    batch,
    pitch,
    SYMBOLS: tl.constexpr,
    PARENTS: tl.constexpr,
    BLOCK_PARENTS: tl.constexpr,
    BLOCK_ROWS: tl.constexpr,
):
    """Find what each nonterminal is worth over the spans of one width, if these are split in two (R2)."""
    start, sentence, ok = spans_of(width, n, batch, BLOCK_ROWS)
    pitch = pitch.to(tl.int64)
    parent = tl.arange(0, BLOCK_PARENTS)[:, None]
    seconds = columns + tl.minimum(parent, PARENTS - 1) * pitch
    best = tl.full([BLOCK_PARENTS, BLOCK_ROWS], _NEVER, tl.float64)
    for k in range(1, width):
        first = symbols + row_of(k, start, sentence, n, batch)
        second = seconds + row_of(width - k, start + k, sentence, n, batch)[None, :]
        # Words have preterminals, longer spans nonterminals.
        for symbol in range(tl.where(k == 1, PARENTS, 0), tl.where(k == 1, SYMBOLS, PARENTS)):
            sums = tl.load(first + symbol * pitch)[None, :] + tl.load(second + symbol * PARENTS * pitch)
            best = larger(sums, best)
    own = row_of(width, start, sentence, n, batch)
    tl.store(symbols + parent * pitch + own[None, :], best, mask=(parent < PARENTS) & ok[None, :])


@triton.jit(do_not_specialize=_SIZES)
def wrap_spans(
    symbols,
    wrapped,
    discontinuous,
    width,
    n,
    batch,
    pitch,
    cells,
    PARENTS: tl.constexpr,
    GAPPED: tl.constexpr,
    BLOCK_PARENTS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Improve what nonterminals are worth over a continuous span by one with a gap and its filling (R3)."""
    i = tl.program_id(0)
    sentence = tl.program_id(1)
    pitch = pitch.to(tl.int64)
    parent = tl.arange(0, BLOCK_PARENTS)
    fillings = wrapped + tl.minimum(parent, PARENTS - 1)[:, None] * pitch
    gap = tl.arange(0, BLOCK)
    best = tl.full([BLOCK_PARENTS, BLOCK], _NEVER, tl.float64)
    for left in range(1, width - 1):
        right = width - left - gap
        real = (gap > 0) & (right > 0)
        filling = fillings + row_of(gap, i + left, sentence, n, batch)[None, :]
        cell = block_of(left, right, n) + cell_in_block(i, i + gap - 1, n - left - right)
        outer = discontinuous + sentence.to(tl.int64) * cells + cell
        for _ in range(GAPPED):
            sums = tl.load(filling, mask=real[None, :], other=_NEVER)
            best = larger(sums + tl.load(outer, mask=real, other=_NEVER)[None, :], best)
            filling += PARENTS * pitch
            outer += batch * cells.to(tl.int64)
    own = symbols + parent * pitch + row_of(width, i, sentence, n, batch)
    before = tl.load(own, mask=parent < PARENTS, other=_NEVER)
    tl.store(own, larger(tl.max(best, 1), before), mask=parent < PARENTS)


@triton.jit
def attach(best, children, child, others, other, next_gapped, pitch, GAPPED: tl.constexpr):
    """Improve spans by an attached child and a span with a gap, of whatever symbol."""
    of_child = children + child[None, :]
    of_other = others + other
    for _ in range(GAPPED):
        best = larger(tl.load(of_child) + tl.load(of_other)[None, :], best)
        of_child += GAPPED * pitch
        of_other += next_gapped
    return best


@triton.jit(do_not_specialize=_SIZES)
def gapped_spans(
    symbols,
    beyond,
    attached,
    discontinuous,
    width,
    n,
    batch,
    pitch,
    cells,
    SYMBOLS: tl.constexpr,
    NONTERMINALS: tl.constexpr,
    GAPPED: tl.constexpr,
    BLOCK_GAPPED: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Find what symbols of fan-out two are worth over the discontinuous spans of one total width (R4-R8)."""
    size = n - width
    left = tl.program_id(1) + 1
    right = width - left
    sentence = tl.program_id(2)
    i, p, m, ok = gapped_spans_of(size, left, BLOCK)
    pitch = pitch.to(tl.int64)
    parent = tl.arange(0, BLOCK_GAPPED)[:, None]
    known = tl.minimum(parent, GAPPED - 1) * pitch
    next_gapped = batch * cells.to(tl.int64)
    others = discontinuous + sentence.to(tl.int64) * cells

    first = symbols + row_of(left, i, sentence, n, batch)
    second = beyond + known + row_of(right, m, sentence, n, batch)[None, :]
    best = tl.full([BLOCK_GAPPED, BLOCK], _NEVER, tl.float64)
    for symbol in range(tl.where(left == 1, NONTERMINALS, 0), tl.where(left == 1, SYMBOLS, NONTERMINALS)):
        sums = tl.load(first + symbol * pitch)[None, :] + tl.load(second + symbol * GAPPED * pitch)
        best = larger(sums, best)

    children = attached + known
    next_attachment = GAPPED * GAPPED * pitch
    for s in range(1, left):
        child = row_of(s, i, sentence, n, batch)
        other = block_of(left - s, right, n) + cell_in_block(i + s, p + s, size + s)
        best = attach(best, children, child, others, other, next_gapped, pitch, GAPPED)
        child = row_of(left - s, i + s, sentence, n, batch)
        other = block_of(s, right, n) + cell_in_block(i, p + left - s, size + left - s)
        best = attach(best, children + next_attachment, child, others, other, next_gapped, pitch, GAPPED)
    children += 2 * next_attachment
    for s in range(1, right):
        child = row_of(s, m, sentence, n, batch)
        other = block_of(left, right - s, n) + cell_in_block(i, p + s, size + s)
        best = attach(best, children, child, others, other, next_gapped, pitch, GAPPED)
        child = row_of(right - s, m + s, sentence, n, batch)
        other = block_of(left, s, n) + cell_in_block(i, p, size + right - s)
        best = attach(best, children + next_attachment, child, others, other, next_gapped, pitch, GAPPED)

    cell = block_of(left, right, n) + cell_in_block(i, p, size)
    tl.store(others + parent * next_gapped + cell[None, :], best, mask=(parent < GAPPED) & ok[None, :])
