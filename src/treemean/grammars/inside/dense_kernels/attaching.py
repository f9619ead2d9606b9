# mypy: disable-error-code="no-untyped-def, untyped-decorator"
"""Kernels of R5-R8, where nearly all of the work is.

A discontinuous span (i, j, m, e) grows at i by R5, at j by R6, at m by R7, at e by R8 (`kind` 0 to 3). All
spans of one width that agree in this *anchor* are multiplied by the same matrices, whichever way the other
two ends lie. They are lined up as rows by left length a and then by a column: m'-i for R5 and R6, i for R7
and R8. The anchor of R8 is counted as m', which for one width comes to the same.
"""

from __future__ import annotations

import triton
import triton.language as tl

from treemean.grammars.inside.dense_kernels.places import factor_of, multiply, row_of, slot_of, slots_before

SIZES = ["width", "n", "slots"]  # never compiled into a kernel


@triton.jit
def rows_at(kind, anchor, width, least, n):
    """Return first left length, number of rows, and of columns; what grows has at least `least` words."""
    gaps = n - width
    on_left = kind < 2
    first = tl.where(on_left, least, 1)
    last = tl.where(on_left, width - 1, width - least)
    first = tl.where(kind == 1, tl.maximum(first, anchor - gaps + 1), first)
    last = tl.where(kind == 1, tl.minimum(last, anchor), last)
    first = tl.where(kind == 2, tl.maximum(first, anchor - gaps), first)
    last = tl.where(kind == 2, tl.minimum(last, anchor - 1), last)
    columns = tl.where(kind == 0, gaps - anchor, tl.where(kind == 3, anchor + 1, gaps))
    outside = (anchor < 0) | ((anchor >= gaps) & ((kind == 0) | (kind == 3)))
    count = tl.where(outside, 0, tl.maximum(last - first + 1, 0) * columns)
    return first, count, tl.maximum(columns, 1)


@triton.jit
def spans_at(kind, anchor, width, first, count, columns, row, n):
    """Return left lengths a, starts i, places m', and which rows are spans."""
    left = first + row // columns
    column = row % columns
    start = tl.where(kind == 0, anchor, tl.where(kind == 1, anchor - left, column))
    place = tl.where(kind == 2, anchor - left - 1, tl.where(kind == 3, anchor, start + column))
    real = (row < count) & (start <= place) & (place < n - width)
    return left, start, place, real


@triton.jit(do_not_specialize=SIZES)
def attach(
    values,
    views,
    factors,
    results,
    width,
    n,
    slots,
    D: tl.constexpr,
    COLUMNS: tl.constexpr,
    ATTACH: tl.constexpr,
    BACK: tl.constexpr,
    ROWS: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """Sum over attached children of all lengths: [kind, sentence, slot of this width, D].

    Forward, `values` are of children that lack what is attached. With BACK, they are gradients of parents
    that have it in addition.
    """
    anchor, kind = tl.program_id(0), tl.program_id(2) % 4
    sentence = (tl.program_id(2) // 4).to(tl.int64)
    batch = tl.num_programs(2) // 4
    first, count, columns = rows_at(kind, anchor, width, 1, n)
    if tl.program_id(1) * ROWS < count:
        row = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
        left, start, place, real = spans_at(kind, anchor, width, first, count, columns, row, n)
        on_right, at_end = (kind >= 2).to(tl.int32), kind % 2
        by_left, by_start, by_place = 1 - on_right, (kind == 0).to(tl.int32), (kind != 3).to(tl.int32)
        begin = tl.where(kind < 2, start, place + left + 1)
        whole = tl.where(kind < 2, left, width - left)
        end = tl.where(kind == 3, anchor + width + 1, anchor)
        if BACK:
            limit = tl.where(kind == 0, anchor, tl.where(kind == 3, n - end, place - start))
        else:
            limit = whole - 1
        limit = tl.where(real, limit, 0)
        symbol = tl.arange(0, D)
        if BACK:
            pattern = symbol[None, :] * D + symbol[:, None]
        else:
            pattern = symbol[:, None] * D + symbol[None, :]
        matrices = views + ATTACH + kind * D * D + pattern
        chart = values + sentence * slots * D
        total = tl.zeros((ROWS, D), values.dtype.element_ty)
        # What differs from row to row is linear in `taken`, except for the shape of the other width.
        factor = factor_of(sentence, begin, tl.where(at_end == 1, whole, 0), whole, n)
        if BACK:
            sign = -1
            by_factor = tl.where(at_end == 1, 1, n + 1 - n * n)
        else:
            sign = 1
            by_factor = tl.where(at_end == 1, -n, n)
        for taken in range(1, tl.max(limit, 0) + 1):
            step = sign * taken
            shape = n - width + step
            common = slots_before(width - step, n) - (1 + by_left * step) * shape * shape
            common += by_start * step * shape + by_place * step
            other = left * (shape * shape) + start * shape + (place + common)
            if BACK:
                own = row_of(sentence, end - (1 - at_end) * taken, taken, n)
            else:
                own = row_of(sentence, end - at_end * taken, taken, n)
            possible = taken <= limit
            x = tl.load(chart + other[:, None] * D + symbol, mask=possible[:, None], other=0.0)
            x *= tl.load(factors + (factor + by_factor * taken), mask=possible, other=0.0)[:, None]
            total = multiply(x, tl.load(matrices + own * COLUMNS), total, PRECISION)
        gaps = n - width
        slot = ((left - 1) * gaps + start) * gaps + place
        target = results + (kind * batch + sentence) * ((width - 1) * gaps * gaps) * D
        tl.store(target + slot[:, None] * D + symbol, total, mask=real[:, None])


@triton.jit
def collect_attached(
    gapped, grad_gapped, factors, sentence, start, length, n, slots, chunk, chunks, kind,
    D: tl.constexpr, ROWS: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Return the gradient of [child, parent] for a span attached by one of R5-R8."""
    on_right, at_end = (kind >= 2).to(tl.int32), kind % 2
    by_left, by_start, by_place = 1 - on_right, (kind == 0).to(tl.int32), (kind != 3).to(tl.int32)
    symbol = tl.arange(0, D)
    values, grads = gapped + sentence * slots * D, grad_gapped + sentence * slots * D
    total = tl.zeros((D, D), gapped.dtype.element_ty)
    for width in range(length + 2 + chunk, n, chunks):
        anchor = start + at_end * length - tl.where(kind == 3, width + 1, 0)
        first, count, columns = rows_at(kind, anchor, width, length + 1, n)
        for block in range(0, count, ROWS):
            row = block + tl.arange(0, ROWS)
            left, i, place, real = spans_at(kind, anchor, width, first, count, columns, row, n)
            begin = tl.where(kind < 2, i, place + left + 1)
            whole = tl.where(kind < 2, left, width - left)
            factor = factor_of(sentence, begin, tl.where(at_end == 1, whole - length, length), whole, n)
            child = slot_of(
                left - by_left * length, i + by_start * length, place + by_place * length, width - length, n
            )
            parent = slot_of(left, i, place, width, n)
            x = tl.load(values + child[None, :] * D + symbol[:, None], mask=real[None, :], other=0.0)
            grad = tl.load(grads + parent[:, None] * D + symbol, mask=real[:, None], other=0.0)
            grad *= tl.load(factors + factor, mask=real, other=0.0)[:, None]
            total = multiply(x, grad, total, PRECISION)
    return total
