# mypy: disable-error-code="no-untyped-def, untyped-decorator"
"""Kernels of R5-R8, where nearly all of the work is.

A discontinuous span (i, j, m, e) grows at i by R5, at j by R6, at m by R7, at e by R8 (`kind` 0 to 3). All
spans of one width that agree in this *anchor* are multiplied by the same matrices, whichever way the other
two ends lie. They are lined up by left length a and by a column: m'-i for R5 and R6, i for R7 and R8. A tile
of ROWS of them has PLACES columns. The anchor of R8 is counted as m', which for one width comes to the same.
"""

from __future__ import annotations

import triton
import triton.language as tl

from treemean.grammars.inside.dense_kernels.places import (
    load_halves,
    multiply_halves,
    row_of,
    slots_before,
)

SIZES = ["width", "n", "slots", "length", "chunks"]  # never compiled into a kernel


@triton.jit
def lefts_at(kind, anchor, width, least, n):
    """Return the first and last left length of spans; what grows has at least `least` words."""
    gaps = n - width
    first = tl.where(kind < 2, least, 1)
    last = tl.where(kind < 2, width - 1, width - least)
    first = tl.where(kind == 1, tl.maximum(first, anchor - gaps + 1), first)
    last = tl.where(kind == 1, tl.minimum(last, anchor), last)
    first = tl.where(kind == 2, tl.maximum(first, anchor - gaps), first)
    last = tl.where(kind == 2, tl.minimum(last, anchor - 1), last)
    outside = (anchor < 0) | ((anchor >= gaps) & ((kind == 0) | (kind == 3)))
    return first, tl.where(outside, first - 1, last)


@triton.jit
def columns_at(kind, anchor, gaps):
    """Return a number of columns, and by how much it changes with the left length."""
    straight = tl.where(kind == 0, gaps - anchor, anchor + 1)
    number = tl.where(kind == 1, gaps - anchor, tl.where(kind == 2, anchor, straight))
    return number, tl.where(kind == 1, 1, tl.where(kind == 2, -1, 0))


@triton.jit
def line_up(kind, anchor, shape):
    """Return what slots [a, i, m'] have in common, and how they change with left length and column."""
    square = shape * shape
    common = tl.where(kind < 2, anchor * (shape + 1), tl.where(kind == 2, anchor - 1, anchor))
    by_left = tl.where(kind == 1, square - shape - 1, tl.where(kind == 2, square - 1, square))
    return common, by_left, tl.where(kind < 2, 1, shape)


@triton.jit
def shifted_slots(kind, width, taken, shape, n):
    """Return what a slot [a, i, m'] is to be increased by if so many words are taken off, or added if < 0."""
    common = slots_before(width - taken, n) - (1 + (kind < 2).to(tl.int32) * taken) * shape * shape
    return common + (kind == 0).to(tl.int32) * taken * shape + (kind != 3).to(tl.int32) * taken


@triton.jit
def factors_at(kind, anchor, width, taken, n):
    """Number the factors for so many words at the anchor: with a left length of 0, and for each more.

    The part that grows begins at i or m, and its first `taken` words or all but its last ones are split off.
    """
    begin = anchor + (kind == 3).to(tl.int32)
    moves = tl.where(kind == 1, -1, (kind == 3).to(tl.int32))
    size, grows = tl.where(kind < 2, 0, width), tl.where(kind < 2, 1, -1)
    split = tl.where(kind % 2 == 1, size - taken, taken)
    split_moves = tl.where(kind % 2 == 1, grows, 0)
    return (begin * n + split - 1) * n + size - 1, (moves * n + split_moves) * n + grows


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
    PLACES: tl.constexpr,
):
    """Sum over attached children of all lengths: [kind, sentence, slot of this width, D].

    Forward, `values` are of children that lack what is attached. With BACK, they are gradients of parents
    that have it in addition.
    """
    anchor, kind = tl.program_id(0), tl.program_id(2) % 4
    sentence = (tl.program_id(2) // 4).to(tl.int64)
    batch = tl.num_programs(2) // 4
    gaps = n - width
    first, last = lefts_at(kind, anchor, width, 1, n)
    columns, slope = columns_at(kind, anchor, gaps)
    across = (gaps + PLACES - 1) // PLACES
    lowest = first + tl.program_id(1) // across * (ROWS // PLACES)
    highest = tl.minimum(lowest + ROWS // PLACES - 1, last)
    leftmost = tl.program_id(1) % across * PLACES
    if (lowest <= last) & (leftmost < tl.maximum(columns + slope * lowest, columns + slope * highest)):
        line = tl.arange(0, ROWS)
        left, column = lowest + line // PLACES, leftmost + line % PLACES
        real = (left <= last) & (column < columns + slope * left)
        common, by_left, by_column = line_up(kind, anchor, gaps)
        slot = common - gaps * gaps + left * by_left + column * by_column
        end = tl.where(kind == 3, anchor + width + 1, anchor)
        if BACK:
            limit = tl.where(kind == 1, column, anchor - left - 1 - column)  # the gap, but for one word
            limit = tl.where(kind == 0, anchor, tl.where(kind == 3, n - end, limit))
        else:
            limit = tl.where(kind < 2, left, width - left) - 1
        limit = tl.where(real, limit, 0)
        symbol = tl.arange(0, D)
        if BACK:
            pattern = symbol[None, :] * D + symbol[:, None]
        else:
            pattern = symbol[:, None] * D + symbol[None, :]
        matrices = views + ATTACH + kind * D * D + pattern
        chart = values + sentence * slots * (2 * D)
        ratios = factors + sentence * n * n * n
        total = tl.zeros((ROWS, D), results.dtype.element_ty)
        nothing = tl.zeros((ROWS, D), results.dtype.element_ty)
        for taken in range(1, tl.max(limit, 0) + 1):
            if BACK:
                shape = gaps - taken
                others = shifted_slots(kind, width, -taken, shape, n)
                own = row_of(sentence, end - (1 - kind % 2) * taken, taken, n)
                moved = tl.where(kind == 1, taken, tl.where(kind == 3, 0, -taken))
                factor, by_factor = factors_at(kind, anchor + moved, width + taken, taken, n)
                factor += by_factor * tl.where(kind < 2, taken, 0)  # what the parent's left part has more
            else:
                shape = gaps + taken
                others = shifted_slots(kind, width, taken, shape, n)
                own = row_of(sentence, end - kind % 2 * taken, taken, n)
                factor, by_factor = factors_at(kind, anchor, width, taken, n)
            common, by_left, by_column = line_up(kind, anchor, shape)
            other = others + common + left * by_left + column * by_column
            possible = taken <= limit
            here = chart + other[:, None] * (2 * D) + symbol
            high = tl.load(here, mask=possible[:, None], other=0.0)
            low = tl.load(here + D, mask=possible[:, None], other=0.0)
            ratio = tl.load(ratios + (factor + left * by_factor), mask=possible, other=0.0)
            product = multiply_halves(high, low, tl.load(matrices + own * COLUMNS), nothing)
            total += product * ratio[:, None]
        target = results + (kind * batch + sentence) * ((width - 1) * gaps * gaps) * D
        tl.store(target + slot[:, None] * D + symbol, total, mask=real[:, None])


@triton.jit(do_not_specialize=SIZES)
def collect_attached(
    gapped,
    grad_gapped,
    factors,
    partial,
    length,
    n,
    slots,
    chunks,
    D: tl.constexpr,
    ENTRIES: tl.constexpr,
    ATTACH: tl.constexpr,
    ROWS: tl.constexpr,
    PLACES: tl.constexpr,
):
    """Collect gradients of [child, parent] for the spans of one length that are attached by R5-R8.

    Sums are divided among programs: [chunk, sentence, start, ENTRIES].
    """
    start, sentence = tl.program_id(0), tl.program_id(2).to(tl.int64)
    kind, chunk = tl.program_id(1) % 4, tl.program_id(1) // 4
    symbol, line = tl.arange(0, D), tl.arange(0, ROWS)
    down, across = line // PLACES, line % PLACES
    values, grads = gapped + sentence * slots * (2 * D), grad_gapped + sentence * slots * (2 * D)
    ratios = factors + sentence * n * n * n
    total = tl.zeros((D, D), partial.dtype.element_ty)
    for width in range(length + 2 + chunk, n, chunks):
        anchor = start + kind % 2 * length - tl.where(kind == 3, width + 1, 0)
        first, last = lefts_at(kind, anchor, width, length + 1, n)
        gaps, shape = n - width, n - width + length
        columns, slope = columns_at(kind, anchor, gaps)
        parents, by_left, by_column = line_up(kind, anchor, gaps)
        parents += slots_before(width, n) - gaps * gaps
        children, child_by_left, child_by_column = line_up(kind, anchor, shape)
        children += shifted_slots(kind, width, length, shape, n)
        factor, by_factor = factors_at(kind, anchor, width, length, n)
        # All is linear: what differs within a tile is the same for all tiles.
        parent = (down * by_left + across * by_column)[:, None] * (2 * D) + symbol
        child = (down * child_by_left + across * child_by_column)[None, :] * (2 * D) + symbol[:, None]
        ratio = down * by_factor
        most = across - slope * down
        for lowest in range(first, last + 1, ROWS // PLACES):
            highest = tl.minimum(lowest + ROWS // PLACES - 1, last)
            number = columns + slope * lowest
            for leftmost in range(0, tl.maximum(number, columns + slope * highest), PLACES):
                real = (down <= last - lowest) & (most < number - leftmost)
                here = values + (children + lowest * child_by_left + leftmost * child_by_column) * (2 * D)
                high = tl.load(here + child, mask=real[None, :], other=0.0)
                low = tl.load(here + D + child, mask=real[None, :], other=0.0)
                here = grads + (parents + lowest * by_left + leftmost * by_column) * (2 * D)
                grad = load_halves(here + parent, real[:, None], D)
                grad *= tl.load(ratios + factor + lowest * by_factor + ratio, mask=real, other=0.0)[:, None]
                total = multiply_halves(high, low, grad, total)
    spans = n - length + 1
    target = partial + ((chunk * tl.num_programs(2) + sentence) * spans + start) * ENTRIES
    tl.store(target + ATTACH + kind * D * D + symbol[:, None] * D + symbol[None, :], total)
