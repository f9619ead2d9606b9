# mypy: disable-error-code="no-untyped-def, untyped-decorator"
"""Kernels of the outside pass: gradients of log Z from long spans to short ones.

Every kernel collects, for the things of one width, what all that is made of them gives back. Scales count as
constants, which is exact because the result does not depend on them. For the names of sizes see `forward`.
"""

from __future__ import annotations

import triton
import triton.language as tl

from treemean.grammars.dense.triton.fp16 import (
    exponents_of,
    load_scaled,
    load_scaled_columns,
    multiply,
    multiply_fp16,
    store_scaled,
)
from treemean.grammars.dense.triton.places import attached_at, factor_of, row_in, row_of, slot_of

#: Never compiled into a kernel.
SIZES = ["width", "n", "slots", "length", "chunks", "attach_chunks"]
AT_ONCE = tl.constexpr(4)  # loads on their way at the same time, where there is nothing else to do


@triton.jit(do_not_specialize=SIZES)
def collect_gapped(
    views,
    scales,
    grad_symbols,
    attached,
    grad_gapped,
    width,
    n,
    slots,
    D: tl.constexpr,
    NT: tl.constexpr,
    S: tl.constexpr,
    VIEW: tl.constexpr,
    WRAP: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Collect gradients of the discontinuous spans around one gap from R3, and add what R5-R8 gave."""
    begin, gap, sentence = tl.program_id(0) + 1, tl.program_id(1) + 1, tl.program_id(2).to(tl.int64)
    lowest, highest = tl.maximum(1, begin + gap + width - n), tl.minimum(width - 1, begin)
    symbol, parent = tl.arange(0, D), tl.arange(0, NT)
    # What differs between sentences is left out of what is computed for each span.
    rows = sentence * (n * (n + 1) // 2)
    scales, views, grad_symbols = scales + rows, views + rows * VIEW, grad_symbols + rows * S
    grad_gapped += sentence * slots * D
    inner = row_in(begin, gap, n)
    inner_scale = tl.load(scales + inner, mask=lowest <= highest)
    for block in range(lowest, highest + 1, BLOCK):
        left = block + tl.arange(0, BLOCK)
        real = left <= highest
        left = tl.where(real, left, lowest)
        start = begin - left
        around = row_in(start, width + gap, n)
        after = row_in(begin + gap, width - left, n)
        scale = tl.load(scales + row_in(start, left, n)) + inner_scale + tl.load(scales + after)
        scale -= tl.load(scales + around)
        grad = tl.load(grad_symbols + around[:, None] * S + parent, mask=real[:, None], other=0.0)
        matrix = tl.load(views + inner * VIEW + WRAP + parent[:, None] * D + symbol)
        total = tl.zeros((BLOCK, D), grad_symbols.dtype.element_ty)
        total = multiply(grad * tl.exp(scale)[:, None], matrix, total)
        place = start + gap - 1
        total += attached_at(attached, sentence, left, start, place, real, width, n, D)
        store_scaled(grad_gapped + slot_of(left, start, place, width, n) * D, total, real, D)


@triton.jit(do_not_specialize=SIZES)
def collect_right_parts(
    views,
    grad_gapped,
    shares,
    length,
    n,
    slots,
    chunks,
    D: tl.constexpr,
    NT: tl.constexpr,
    S: tl.constexpr,
    VIEW: tl.constexpr,
    APART: tl.constexpr,
    ROWS: tl.constexpr,
):
    """Collect gradients of the symbols of ROWS spans of one length as right parts of R4.

    A left part is the same for many right ones, which makes a product of matrices. Symbols are divided among
    programs by NT, and sums: [chunk, sentence, start, S].
    """
    spans = n - length + 1
    blocks = (spans + ROWS - 1) // ROWS
    first, column = tl.program_id(0) % blocks * ROWS, tl.program_id(0) // blocks * NT
    chunk, sentence = tl.program_id(1), tl.program_id(2).to(tl.int64)
    last = tl.minimum(first + ROWS, spans) - 1
    start = first + tl.arange(0, ROWS)
    symbol, child = tl.arange(0, D), tl.arange(0, NT)
    place = (chunk * tl.num_programs(2) + sentence) * spans + start
    views += sentence * (n * (n + 1) // 2) * VIEW + APART + column
    grad_gapped += sentence * slots * D
    total = tl.zeros((ROWS, NT), shares.dtype.element_ty)
    for end in range(1 + chunk, last, chunks):  # of the left part; one word at least lies between
        real = (start > end) & (start < spans)
        for i in range(0, end):
            left = end - i
            parents = grad_gapped + slot_of(left, i, start - left - 1, left + length, n) * D
            grad = tl.load(parents[:, None] + symbol, mask=real[:, None], other=0.0)
            factor = tl.where(real, tl.exp2(exponents_of(grad, 1)), 0.0)
            matrix = tl.load(views + row_in(i, left, n) * VIEW + symbol[:, None] * S + child)
            total += multiply_fp16(grad, matrix, factor)
    target = shares + place[:, None] * S + column + child
    tl.store(target, total, mask=(start < spans)[:, None])


@triton.jit(do_not_specialize=SIZES)
def collect_views(
    symbols,
    views,
    scales,
    factors,
    gapped,
    grad_symbols,
    grad_gapped,
    grad_views,
    shares,
    length,
    n,
    slots,
    chunks,
    D: tl.constexpr,
    NT: tl.constexpr,
    S: tl.constexpr,
    COLUMNS: tl.constexpr,
    VIEW: tl.constexpr,
    APART: tl.constexpr,
    WRAP: tl.constexpr,
    USES: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Collect gradients of what the rules make of the spans of one length, and of their symbols.

    All but those of R5-R8, see `attaching.collect_attached`, and those of symbols in right parts. Sums are
    divided among programs: [chunk, sentence, start, COLUMNS], and for symbols [chunk, sentence, start, S].
    """
    start, sentence = tl.program_id(0), tl.program_id(2).to(tl.int64)
    use, chunk = tl.program_id(1) % USES, tl.program_id(1) // USES
    spans = n - length + 1
    place = (chunk * tl.num_programs(2) + sentence) * spans + start
    target = grad_views + place * COLUMNS
    own = row_of(sentence, start, length, n)
    line, nonterminal, symbol = tl.arange(0, BLOCK), tl.arange(0, NT), tl.arange(0, D)
    rows, columns = tl.arange(0, NT)[:, None], tl.arange(0, NT)[None, :]
    if use == 0:  # right child of R2
        for column in range(0, S, NT):
            total = tl.zeros((NT, NT), symbols.dtype.element_ty)
            for block in range(chunk * BLOCK, start, chunks * BLOCK):
                i = block + line
                real = i < start
                i = tl.where(real, i, 0)
                ratio = tl.load(factors + factor_of(sentence, i, start - i, start - i + length, n))
                parent = row_of(sentence, i, start - i + length, n)
                grad = tl.load(
                    grad_symbols + parent[None, :] * S + nonterminal[:, None], mask=real[None, :], other=0.0
                )
                left = row_of(sentence, i, start - i, n)
                x = tl.load(
                    symbols + left[:, None] * S + column + nonterminal[None, :], mask=real[:, None], other=0.0
                )
                total = multiply(grad * ratio[None, :], x, total)
            tl.store(target + rows * S + column + columns, total)
    elif use == 1:  # left child of R2
        for column in range(0, tl.where(length == 1, S, NT), NT):
            total = tl.zeros((NT, NT), symbols.dtype.element_ty)  # [parent, symbol]
            for other in range(1 + chunk, n - start - length + 1, chunks):
                ratio = tl.load(factors + factor_of(sentence, start, length, length + other, n))
                right = row_of(sentence, start + length, other, n)
                parent = row_of(sentence, start, length + other, n)
                grad = tl.load(grad_symbols + parent * S + rows) * ratio
                total += grad * tl.load(views + right * VIEW + rows * S + column + columns)
            tl.store(shares + place * S + column + nonterminal, tl.sum(total, 0))
    elif USES == 2:
        pass
    elif use == 2:  # left child of R4
        for column in range(0, S, NT):
            total = tl.zeros((D, NT), symbols.dtype.element_ty)
            for other in range(1 + chunk, tl.where(column == 0, n - start - length, 2), chunks):
                count = n - length - other - start
                for block in range(0, count, BLOCK):
                    lines = block + line
                    real = lines < count
                    slot = slot_of(length, start, start + lines, length + other, n)
                    grad = load_scaled_columns(grad_gapped + (sentence * slots + slot) * D, real, D)
                    right = row_of(sentence, start + lines + length + 1, other, n)
                    x = tl.load(
                        symbols + right[:, None] * S + column + nonterminal[None, :],
                        mask=real[:, None],
                        other=0.0,
                    )
                    total = multiply(grad, x, total)
            tl.store(target + APART + symbol[:, None] * S + column + columns, total)
    else:  # in the gap of R3
        total = tl.zeros((NT, D), symbols.dtype.element_ty)
        own_scale = tl.load(scales + own)
        for i in range(chunk, start, chunks):
            left = start - i
            scale = own_scale + tl.load(scales + row_of(sentence, i, left, n))
            count = n - start - length
            for block in range(0, count, BLOCK):
                lines = block + line
                real = lines < count
                right = tl.where(real, lines, 0) + 1
                after = row_of(sentence, start + length, right, n)
                around = row_of(sentence, i, left + length + right, n)
                ratio = tl.exp(scale + tl.load(scales + after) - tl.load(scales + around))
                slot = slot_of(left, i, i + length - 1, left + right, n)
                x = load_scaled(gapped + (sentence * slots + slot) * D, real, D)
                grad = tl.load(
                    grad_symbols + around[None, :] * S + nonterminal[:, None], mask=real[None, :], other=0.0
                )
                total = multiply(grad * ratio[None, :], x, total)
        tl.store(target + WRAP + nonterminal[:, None] * D + symbol, total)


@triton.jit(do_not_specialize=SIZES)
def collect_rules(
    partial,
    matrix,
    grad_views,
    shares,
    length,
    n,
    chunks,
    attach_chunks,
    NT: tl.constexpr,
    S: tl.constexpr,
    COLUMNS: tl.constexpr,
    ATTACH: tl.constexpr,
    EACH: tl.constexpr,
    BLOCK: tl.constexpr,
    STEP: tl.constexpr,
    STEPS: tl.constexpr,
):
    """Add up the chunks of some columns, and hand them on to the symbols of the spans.

    Columns are divided among programs: [columns / (STEP · STEPS), sentence, start, symbol]. With EACH, every
    sentence has rules of its own.
    """
    sentence, first = (tl.program_id(1) // (COLUMNS // (STEP * STEPS))).to(tl.int64), tl.program_id(2) * NT
    part = tl.program_id(1) % (COLUMNS // (STEP * STEPS))
    batch, possible = tl.num_programs(1) // (COLUMNS // (STEP * STEPS)), tl.num_programs(2) * NT
    chunks = tl.where(part * (STEP * STEPS) < ATTACH, chunks, attach_chunks)
    spans = n - length + 1
    start = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    real = (start < spans)[:, None]
    symbol = first + tl.arange(0, NT)
    chunk_size = batch.to(tl.int64) * spans * COLUMNS
    source = partial + ((sentence * spans + start) * COLUMNS)[:, None]
    row = row_of(sentence, start, length, n)[:, None]
    rules = matrix + (sentence * (S * COLUMNS) if EACH else 0) + symbol[None, :] * COLUMNS
    total = tl.zeros((BLOCK, NT), shares.dtype.element_ty)
    for step in tl.static_range(STEPS):
        column = (part * STEPS + step) * STEP + tl.arange(0, STEP)
        x = tl.load(source + column, mask=real, other=0.0)
        for chunk in range(1, chunks, 2):  # two loads on their way at the same time
            x += tl.load(source + chunk * chunk_size + column, mask=real, other=0.0)
            x += tl.load(
                source + (chunk + 1) * chunk_size + column, mask=real & (chunk + 1 < chunks), other=0.0
            )
        if first == 0:
            tl.store(grad_views + row * COLUMNS + column, x, mask=real)
        total = multiply(x, tl.load(rules + column[:, None]), total)
    place = ((part * batch + sentence) * spans + start)[:, None]
    tl.store(shares + place * possible + symbol, total, mask=real)


@triton.jit(do_not_specialize=SIZES)
def collect_symbols(
    view_shares,
    shares,
    grad_symbols,
    length,
    n,
    chunks,
    NT: tl.constexpr,
    S: tl.constexpr,
    PARTS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Add what the other kernels gave to the gradients of the symbols of spans."""
    sentence, first, possible = tl.program_id(1).to(tl.int64), tl.program_id(2) * NT, tl.num_programs(2) * NT
    spans, batch = n - length + 1, tl.num_programs(1)
    start = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    real = (start < spans)[:, None]
    symbol = first + tl.arange(0, NT)
    here = (sentence * spans + start)[:, None]
    target = grad_symbols + row_of(sentence, start, length, n)[:, None] * S + symbol
    total = tl.load(target, mask=real, other=0.0)
    for first_chunk in range(0, chunks, AT_ONCE):
        for chunk in tl.static_range(AT_ONCE):
            source = view_shares + ((first_chunk + chunk) * batch * spans + here) * S + symbol
            total += tl.load(source, mask=real & (first_chunk + chunk < chunks), other=0.0)
    for part in tl.static_range(PARTS):
        source = shares + (part * batch * spans + here) * possible + symbol
        total += tl.load(source, mask=real, other=0.0)
    tl.store(target, total, mask=real)
