# mypy: disable-error-code="no-untyped-def, untyped-decorator"
"""Kernels of R5-R8, where nearly all of the work is.

A discontinuous span (i, j, m, e) grows at i by R5, at j by R6, at m by R7, at e by R8 (`kind` 0 to 3). All
spans of one width that agree in this *anchor* are multiplied by the same matrices, whichever way the other
two ends lie. They are lined up by left length a and by a column: m'-i for R5 and R6, i for R7 and R8. The
anchor of R8 is counted as m', which for one width comes to the same.

These fields of spans have four, three or no corners of 90°. They are cut into tiles of ROWS spans: for sums
over children such that those of a tile have about as many, for gradients such that places are found fast.
"""

from __future__ import annotations

import triton
import triton.language as tl

from treemean.grammars.dense.triton.fp16 import add_outer_products, exponents_of, multiply_split
from treemean.grammars.dense.triton.places import row_of, slots_before

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
def triangle(size):
    """Sum up the numbers up to a size, 0 if it is less than one."""
    size = tl.maximum(size, 0)
    return size * (size + 1) // 2


@triton.jit
def lines_at(kind, anchor, first, last, gaps, BY_GAP: tl.constexpr):
    """Cut a field into lines of spans: return the size of the first ones, how many are so long, and of all.

    Each line after these is shorter by one. Lines have one left length, or with BY_GAP one gap where the
    length of the gap decides how often a span is met, so that all spans of a line are met as often.
    """
    columns, slope = columns_at(kind, anchor, gaps)
    lefts = tl.maximum(last - first + 1, 0)
    longest = columns + slope * tl.where(kind == 1, last, first)
    size, whole, number = longest, tl.where(slope == 0, lefts, 1), lefts
    if BY_GAP:
        shortest = columns + slope * tl.where(kind == 1, first, last)
        size = tl.where(slope == 0, size, lefts)
        whole = tl.where(slope == 0, whole, shortest)
        number = tl.where(slope == 0, number, tl.where(lefts > 0, longest, 0))
    return size, whole, number


@triton.jit
def find_in_lines(position, size, whole):
    """Return line and place in it of positions in a field as by `lines_at`."""
    # Half a span more keeps roots and quotients away from whole numbers. Of the shorter lines, the first p
    # have p (2 size - 1 - p) / 2 spans.
    beyond = position - whole * size
    middle = 2 * size - 1
    root = tl.sqrt(tl.maximum(middle * middle - 8 * beyond - 4, 0).to(tl.float32))
    lines = ((middle.to(tl.float32) - root) * 0.5).to(tl.int32)
    line = ((position.to(tl.float32) + 0.5) * (1.0 / size.to(tl.float32))).to(tl.int32)
    shorter = beyond >= 0
    place = tl.where(shorter, beyond - lines * (middle - lines) // 2, position - line * size)
    return tl.where(shorter, whole + lines, line), place


@triton.jit
def span_at(kind, anchor, first, last, line, place, BY_GAP: tl.constexpr):
    """Return left length and column of a span in the lines of `lines_at`."""
    left, column = tl.where(kind == 1, last - line, first + line), place
    if BY_GAP:
        slanting = (kind == 1) | (kind == 2)
        left = tl.where(slanting, tl.where(kind == 1, last - place, first + place), left)
        column = tl.where(slanting, tl.where(kind == 1, line, anchor - left - 1 - line), column)
    return left, column


@triton.jit
def pairs_of_lines(columns, slope, first, last):
    """Count the spans of the first and last line of a field, which are those of each such pair, and all."""
    lines = tl.maximum(last - first + 1, 0)
    both = 2 * columns + slope * (first + last)
    return both, lines * both // 2


@triton.jit
def find_in_pairs(position, columns, slope, first, last, both):
    """Return left length and column of positions in a field that is read from both ends, pair by pair."""
    pair = ((position.to(tl.float32) + 0.5) * (1.0 / both.to(tl.float32))).to(tl.int32)
    place = position - pair * both
    size = columns + slope * (first + pair)
    from_end = place >= size
    return tl.where(from_end, last - pair, first + pair), tl.where(from_end, place - size, place)


@triton.jit
def line_up(kind, anchor, shape):
    """Return what slots [a, i, m'] have in common, and how they change with left length and column."""
    square = shape * shape
    common = tl.where(kind < 2, anchor * (shape + 1), tl.where(kind == 2, anchor - 1, anchor))
    by_left = tl.where(kind == 1, square - shape - 1, tl.where(kind == 2, square - 1, square))
    return common, by_left, tl.where(kind < 2, 1, shape)


@triton.jit
def shifted_slots(kind, before, taken, shape):
    """Return what a slot [a, i, m'] is to be increased by if so many words are taken off, or added if < 0.

    The spans without these words have `before` slots before them, and `shape` places for each part.
    """
    common = before - (1 + (kind < 2).to(tl.int32) * taken) * shape * shape
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
    return (begin * n + size - 1) * n + split - 1, (moves * n + grows) * n + split_moves


@triton.jit
def load_factors(factors, kind, anchor, left, limit, width, taken, n, BACK: tl.constexpr):
    """Load the factors for so many words that are taken off spans, or with BACK added, 0 beyond a limit."""
    if BACK:
        moved = tl.where(kind == 1, taken, tl.where(kind == 3, 0, -taken))
        factor, by_left = factors_at(kind, anchor + moved, width + taken, taken, n)
        factor += by_left * tl.where(kind < 2, taken, 0)  # what the parent's left part has more
    else:
        factor, by_left = factors_at(kind, anchor, width, taken, n)
    return tl.load(factors + (factor + left * by_left), mask=taken <= limit, other=0.0)


@triton.jit
def tiles_at(kind, anchor, width, n, BY_GAP: tl.constexpr, ROWS: tl.constexpr):
    """Count the tiles of the spans with one anchor."""
    first, last = lefts_at(kind, anchor, width, 1, n)
    size, whole, number = lines_at(kind, anchor, first, last, n - width, BY_GAP)
    return (number * size - triangle(number - whole) + ROWS - 1) // ROWS


@triton.jit(do_not_specialize=SIZES)
def attach(
    values,
    attachers,
    factors,
    results,
    width,
    n,
    slots,
    D: tl.constexpr,
    BACK: tl.constexpr,
    ROWS: tl.constexpr,
):
    """Sum over attached children of all lengths: [kind, sentence, slot of this width, D].

    Forward, `values` are of children that lack what is attached. With BACK, they are gradients of parents
    that have it in addition.
    """
    anchor, tile, kind = tl.program_id(0), tl.program_id(1), tl.program_id(2) % 2
    sentence = (tl.program_id(2) // 2).to(tl.int64)
    batch = tl.num_programs(2) // 2
    gaps = n - width
    # Where one kind has many spans, the other one has few.
    tiles = tiles_at(kind, anchor, width, n, BACK, ROWS)
    if tile >= tiles:
        tile -= tiles
        anchor += kind
        kind = 3 - kind
        tiles = tiles_at(kind, anchor, width, n, BACK, ROWS)
    if tile < tiles:
        first, last = lefts_at(kind, anchor, width, 1, n)
        size, whole, number = lines_at(kind, anchor, first, last, gaps, BACK)
        spans = number * size - triangle(number - whole)
        position = tile * ROWS + tl.arange(0, ROWS)
        real = position < spans
        line, place = find_in_lines(tl.minimum(position, spans - 1), size, whole)
        left, column = span_at(kind, anchor, first, last, line, place, BACK)
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
        matrices = attachers + kind * (D * D) + pattern
        chart = values + sentence * slots * D
        ratios = factors + sentence * n * n * n
        total = tl.zeros((ROWS, D), results.dtype.element_ty)
        before = slots_before(width + (1 if BACK else -1), n)
        # Loaded one round ahead, as the compiler does for what tensor cores multiply, but for nothing else.
        ratio = load_factors(ratios, kind, anchor, left, limit, width, 1, n, BACK)
        for taken in range(1, tl.max(limit, 0) + 1):
            if BACK:
                shape = gaps - taken
                others = shifted_slots(kind, before, -taken, shape)
                before += (width + taken - 1) * shape * shape
                own = row_of(sentence, end - (1 - kind % 2) * taken, taken, n)
            else:
                shape = gaps + taken
                others = shifted_slots(kind, before, taken, shape)
                before -= (width - taken - 2) * (shape + 1) * (shape + 1)
                own = row_of(sentence, end - kind % 2 * taken, taken, n)
            common, by_left, by_column = line_up(kind, anchor, shape)
            other = others + common + left * by_left + column * by_column
            possible = taken <= limit
            here = chart + other * D
            halves = tl.load(here[:, None] + symbol, mask=possible[:, None], other=0.0)
            scale = ratio * tl.exp2(exponents_of(halves, 1))
            matrix = matrices + own * (8 * D * D)
            total += multiply_split(halves, tl.load(matrix), tl.load(matrix + 4 * D * D), scale)
            ratio = load_factors(ratios, kind, anchor, left, limit, width, taken + 1, n, BACK)
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
    COLUMNS: tl.constexpr,
    ATTACH: tl.constexpr,
    ROWS: tl.constexpr,
):
    """Collect gradients of [child, parent] for the spans of one length that are attached by R5-R8.

    Sums are divided among programs: [chunk, sentence, start, COLUMNS].
    """
    start, sentence = tl.program_id(0), tl.program_id(2).to(tl.int64)
    kind, chunk = tl.program_id(1) % 4, tl.program_id(1) // 4
    symbol = tl.arange(0, D)
    values, grads = gapped + sentence * slots * D, grad_gapped + sentence * slots * D
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
        children += shifted_slots(kind, slots_before(width - length, n), length, shape)
        factor, by_factor = factors_at(kind, anchor, width, length, n)
        both, spans = pairs_of_lines(columns, slope, first, last)
        for position in range(0, spans, ROWS):
            place = position + tl.arange(0, ROWS)
            real = place < spans
            left, column = find_in_pairs(place, columns, slope, first, last, both)
            here = values + (children + left * child_by_left + column * child_by_column) * D
            value = tl.load(here[:, None] + symbol, mask=real[:, None], other=0.0)
            here = grads + (parents + left * by_left + column * by_column) * D
            grad = tl.load(here[:, None] + symbol, mask=real[:, None], other=0.0)
            ratio = tl.load(ratios + factor + left * by_factor, mask=real, other=0.0)
            ratio *= tl.exp2(exponents_of(value + grad, 1))
            total = add_outer_products(value, grad, ratio, total)
    # What exponents have given is no gradient.
    total = tl.where((symbol[:, None] < D - 1) & (symbol[None, :] < D - 1), total, 0.0)
    spans = n - length + 1
    target = partial + ((chunk * tl.num_programs(2) + sentence) * spans + start) * COLUMNS
    tl.store(target + ATTACH + kind * D * D + symbol[:, None] * D + symbol[None, :], total)
