# mypy: disable-error-code="no-untyped-def, untyped-decorator"
"""Kernels of the outside pass: gradients of log Z from long spans to short ones.

Every kernel collects, for the things of one width, what all that is made of them gives back. Scales count as
constants, which is exact because the result does not depend on them. For the names of sizes see `forward`.
"""

from __future__ import annotations

import triton
import triton.language as tl

from treemean.grammars.inside.dense_kernels.forward import AT_ONCE
from treemean.grammars.inside.dense_kernels.places import (
    attached_at,
    factor_of,
    load_scaled,
    load_scaled_columns,
    multiply,
    row_of,
    slot_of,
    store_scaled,
)

#: Never compiled into a kernel.
SIZES = ["width", "n", "slots", "length", "chunks", "symbol_chunks", "attach_chunks", "matrix_stride"]


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
    COLUMNS: tl.constexpr,
    WRAP: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Collect gradients of the discontinuous spans with one left part from R3, and add what R5-R8 gave."""
    start, left, sentence = tl.program_id(0), tl.program_id(1) + 1, tl.program_id(2).to(tl.int64)
    symbol = tl.arange(0, D)
    gaps = n - width
    own_scale = tl.load(scales + row_of(sentence, start, left, n))
    for block in range(start, gaps, BLOCK):
        place = block + tl.arange(0, BLOCK)
        real = place < gaps
        gap = tl.where(real, place, start) - start + 1
        inner = row_of(sentence, start + left, gap, n)
        around = row_of(sentence, start, width + gap, n)
        after = row_of(sentence, start + left + gap, width - left, n)
        scale = own_scale + tl.load(scales + inner) + tl.load(scales + after) - tl.load(scales + around)
        total = tl.zeros((BLOCK, D), grad_symbols.dtype.element_ty)
        for parent in tl.static_range(NT):
            matrix = tl.load(views + inner[:, None] * COLUMNS + WRAP + parent * D + symbol)
            total += matrix * tl.load(grad_symbols + around * S + parent)[:, None]
        total *= tl.exp(scale)[:, None]
        total += attached_at(attached, sentence, left, start, place, width, n, D)
        slot = sentence * slots + slot_of(left, start, place, width, n)
        store_scaled(grad_gapped + slot * D, total, real, D)


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
    symbol_chunks,
    D: tl.constexpr,
    NT: tl.constexpr,
    S: tl.constexpr,
    COLUMNS: tl.constexpr,
    APART: tl.constexpr,
    WRAP: tl.constexpr,
    USES: tl.constexpr,
    BLOCK: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """Collect gradients of what the rules make of the spans of one length, and of their symbols.

    All but those of R5-R8, see `attaching.collect_attached`. Sums are divided among programs: [chunk,
    sentence, start, COLUMNS], and for the symbols [chunk, sentence, start, S]. The latter ones take longest.
    """
    start, sentence = tl.program_id(0), tl.program_id(2).to(tl.int64)
    program = tl.program_id(1) - symbol_chunks
    use, chunk = program % (USES - 1), program // (USES - 1)
    use += (use > 0).to(tl.int32)
    if program < 0:
        use, chunk, chunks = 1, program + symbol_chunks, symbol_chunks
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
                total = multiply(grad * ratio[None, :], x, total, PRECISION)
            tl.store(target + rows * S + column + columns, total)
    elif use == 1:  # left child of R2, right child of R4
        for column in range(0, tl.where(length == 1, S, NT), NT):
            total = tl.zeros((NT, NT), symbols.dtype.element_ty)  # [parent, symbol]
            for other in range(1 + chunk, n - start - length + 1, chunks):
                ratio = tl.load(factors + factor_of(sentence, start, length, length + other, n))
                right = row_of(sentence, start + length, other, n)
                parent = row_of(sentence, start, length + other, n)
                grad = tl.load(grad_symbols + parent * S + rows) * ratio
                total += grad * tl.load(views + right * COLUMNS + rows * S + column + columns)
            sums = tl.sum(total, 0)
            if USES > 2:
                gap_total = tl.zeros((AT_ONCE, D, NT), symbols.dtype.element_ty)
                for left in range(1 + chunk, start, chunks):
                    for block in range(0, start - left, AT_ONCE):
                        i = block + tl.arange(0, AT_ONCE)
                        real = i < start - left
                        i = tl.where(real, i, 0)
                        slot = sentence * slots + slot_of(left, i, start - left - 1, left + length, n)
                        grad = load_scaled(grad_gapped + slot * D, real, D)
                        beside = row_of(sentence, i, left, n)[:, None, None] * COLUMNS + APART
                        beside += symbol[None, :, None] * S + column + columns[None]
                        gap_total += grad[:, :, None] * tl.load(views + beside)
                sums += tl.sum(tl.sum(gap_total, 0), 0)
            tl.store(shares + place * S + column + nonterminal, sums)
        for column in range(tl.where(length == 1, S, NT), S, NT):
            tl.store(shares + place * S + column + nonterminal, tl.zeros((NT,), symbols.dtype.element_ty))
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
                    total = multiply(grad, x, total, PRECISION)
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
                total = multiply(grad * ratio[None, :], x, total, PRECISION)
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
    matrix_stride,
    NT: tl.constexpr,
    S: tl.constexpr,
    COLUMNS: tl.constexpr,
    ATTACH: tl.constexpr,
    BLOCK: tl.constexpr,
    STEP: tl.constexpr,
    STEPS: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """Add up the chunks of some columns, and hand them on to the symbols of the spans.

    Columns are divided among programs: [columns / (STEP · STEPS), sentence, start, symbol].
    """
    sentence, first = (tl.program_id(1) // (COLUMNS // (STEP * STEPS))).to(tl.int64), tl.program_id(2) * NT
    part = tl.program_id(1) % (COLUMNS // (STEP * STEPS))
    batch, possible = tl.num_programs(1) // (COLUMNS // (STEP * STEPS)), tl.num_programs(2) * NT
    chunks = tl.where(part * (STEP * STEPS) < ATTACH, chunks, attach_chunks)
    spans = n - length + 1
    start = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    real = (start < spans)[:, None]
    symbol = first + tl.arange(0, NT)
    chunk_size = batch * spans * COLUMNS
    source = partial + ((sentence * spans + start) * COLUMNS)[:, None]
    row = row_of(sentence, start, length, n)[:, None]
    rules = matrix + sentence * matrix_stride + symbol[None, :] * COLUMNS
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
        total = multiply(x, tl.load(rules + column[:, None]), total, PRECISION)
    place = ((part * batch + sentence) * spans + start)[:, None]
    tl.store(shares + place * possible + symbol, total, mask=real)


@triton.jit(do_not_specialize=SIZES)
def collect_symbols(
    view_shares,
    shares,
    grad_symbols,
    length,
    n,
    symbol_chunks,
    NT: tl.constexpr,
    S: tl.constexpr,
    PARTS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Add what `collect_rules` and `collect_views` gave to the gradients of the symbols of spans."""
    sentence, first, possible = tl.program_id(1).to(tl.int64), tl.program_id(2) * NT, tl.num_programs(2) * NT
    spans, batch = n - length + 1, tl.num_programs(1)
    start = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    real = (start < spans)[:, None]
    symbol = first + tl.arange(0, NT)
    here = (sentence * spans + start)[:, None]
    target = grad_symbols + row_of(sentence, start, length, n)[:, None] * S + symbol
    total = tl.load(target, mask=real, other=0.0)
    for first_chunk in range(0, symbol_chunks, AT_ONCE):
        chunk = (first_chunk + tl.arange(0, AT_ONCE))[:, None, None]
        source = view_shares + (chunk * batch * spans + here[None]) * S + symbol
        total += tl.sum(tl.load(source, mask=real[None] & (chunk < symbol_chunks), other=0.0), 0)
    for part in tl.static_range(PARTS):
        source = shares + (part * batch * spans + here) * possible + symbol
        total += tl.load(source, mask=real, other=0.0)
    tl.store(target, total, mask=real)
