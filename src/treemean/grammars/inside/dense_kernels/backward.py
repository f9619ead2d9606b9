# mypy: disable-error-code="no-untyped-def, untyped-decorator"
"""Kernels of the outside pass: gradients of log Z from long spans to short ones.

Every kernel collects, for the things of one width, what all that is made of them gives back. Scales count as
constants, which is exact because the result does not depend on them. For the names of sizes see `forward`.
"""

from __future__ import annotations

import triton
import triton.language as tl

from treemean.grammars.inside.dense_kernels.places import factor_of, multiply, row_of, slot_of

SIZES = ["width", "n", "slots", "length", "chunks"]  # never compiled into a kernel


@triton.jit(do_not_specialize=SIZES)
def collect_gapped(
    views,
    scales,
    factors,
    grad_symbols,
    grad_gapped,
    width,
    n,
    slots,
    D: tl.constexpr,
    NT: tl.constexpr,
    S: tl.constexpr,
    COLUMNS: tl.constexpr,
    WRAP: tl.constexpr,
    ATTACH: tl.constexpr,
    RIGHT: tl.constexpr,
    BLOCK: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """Collect gradients of discontinuous spans, from R3, R5, R6 for one left part, or R7, R8."""
    fixed, left, sentence = tl.program_id(0), tl.program_id(1) + 1, tl.program_id(2).to(tl.int64)
    line, symbol = tl.arange(0, BLOCK), tl.arange(0, D)
    gaps, right = n - width, width - left
    if RIGHT:  # fixed is m', lines are starts i
        begin, part, count = fixed + left + 1, right, fixed + 1
        longest = gaps - 1 - fixed  # that can follow
    else:  # fixed is i, lines are m' = i, i+1, ...
        begin, part, count = fixed, left, gaps - fixed
        longest = count - 1
    chart = grad_gapped + sentence * slots * D
    transposed = symbol[None, :] * D + symbol[:, None]
    kind = ATTACH + 2 * RIGHT * D * D
    for block in range(0, count, BLOCK):
        lines = block + line
        known = lines < count
        if RIGHT:
            here = slot_of(left, lines, fixed, width, n)
            total = tl.load(chart + here[:, None] * D + symbol, mask=known[:, None], other=0.0)
        else:
            here = slot_of(left, fixed, fixed + lines, width, n)
            total = tl.zeros((BLOCK, D), grad_symbols.dtype.element_ty)
            safe = tl.where(known, lines, 0)
            inner = row_of(sentence, fixed + left, safe + 1, n)
            around = row_of(sentence, fixed, width + safe + 1, n)
            after = row_of(sentence, fixed + left + safe + 1, right, n)
            scale = tl.load(scales + row_of(sentence, fixed, left, n)) + tl.load(scales + inner)
            scale += tl.load(scales + after) - tl.load(scales + around)
            for parent in range(0, NT):
                matrix = tl.load(
                    views + inner[:, None] * COLUMNS + WRAP + parent * D + symbol,
                    mask=known[:, None],
                    other=0.0,
                )
                total += matrix * tl.load(grad_symbols + around * S + parent)[:, None]
            total *= tl.exp(scale)[:, None]
        for added in range(1, fixed + 1):  # R5 or R7: words put before the part
            if RIGHT:
                there = slot_of(left, lines, fixed - added, width + added, n)
                real = known & (lines <= fixed - added)
            else:
                place = fixed + lines - added
                there = slot_of(left + added, fixed - added, place, width + added, n)
                real = known
            own = row_of(sentence, begin - added, added, n)
            matrix = tl.load(views + own * COLUMNS + kind + transposed)
            matrix *= tl.load(factors + factor_of(sentence, begin - added, added, part + added, n))
            x = tl.load(chart + there[:, None] * D + symbol, mask=real[:, None], other=0.0)
            total = multiply(x, matrix, total, PRECISION)
        for added in range(1, longest + 1):  # R6 or R8: words put after it
            if RIGHT:
                there = slot_of(left, lines, fixed, width + added, n)
                real = known
            else:
                there = slot_of(left + added, fixed, fixed + lines - added, width + added, n)
                real = known & (lines >= added)
            own = row_of(sentence, begin + part, added, n)
            matrix = tl.load(views + own * COLUMNS + kind + D * D + transposed)
            matrix *= tl.load(factors + factor_of(sentence, begin, part, part + added, n))
            x = tl.load(chart + there[:, None] * D + symbol, mask=real[:, None], other=0.0)
            total = multiply(x, matrix, total, PRECISION)
        tl.store(chart + here[:, None] * D + symbol, total, mask=known[:, None])


@triton.jit
def _collect_attached(
    gapped, grad_gapped, factors, sentence, start, length, n, slots, chunk, chunks, kind,
    D: tl.constexpr, BLOCK: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Return the gradient of [child, parent] for a span attached by R5-R8 (`kind` 0 to 3)."""
    on_right, at_end = kind >= 2, kind % 2
    line, symbol = tl.arange(0, BLOCK), tl.arange(0, D)
    values, grads = gapped + sentence * slots * D, grad_gapped + sentence * slots * D
    total = tl.zeros((D, D), gapped.dtype.element_ty)
    end = start + length
    longest = tl.where(on_right, n - start, n - 2 - start)
    longest = tl.where(at_end == 1, tl.where(on_right, end - 2, end), longest)
    for part in range(length + 1 + chunk, longest + 1, chunks):  # the part that was made longer
        begin = tl.where(at_end == 1, end - part, start)
        split = tl.where(at_end == 1, part - length, length)
        ratio = tl.load(factors + factor_of(sentence, begin, split, part, n))
        found = tl.zeros((D, D), gapped.dtype.element_ty)
        for other in range(1, tl.where(on_right, begin, n - begin - part)):
            width = part + other
            left = tl.where(on_right, other, part)
            count = tl.where(on_right, begin - left, n - width - begin)
            for block in range(0, count, BLOCK):
                lines = block + line
                i = tl.where(on_right, lines, begin)
                place = tl.where(on_right, begin - left - 1, begin + lines)
                parent = slot_of(left, i, place, width, n)
                child_left = tl.where(on_right, left, left - length)
                child_i = i + tl.where(on_right | (at_end == 1), 0, length)
                child_place = place + tl.where(on_right & (at_end == 1), 0, length)
                child = slot_of(child_left, child_i, child_place, width - length, n)
                real = lines < count
                x = tl.load(values + child[None, :] * D + symbol[:, None], mask=real[None, :], other=0.0)
                grad = tl.load(grads + parent[:, None] * D + symbol, mask=real[:, None], other=0.0)
                found = multiply(x, grad, found, PRECISION)
        total += found * ratio
    return total


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
    length,
    n,
    slots,
    chunks,
    D: tl.constexpr,
    NT: tl.constexpr,
    S: tl.constexpr,
    COLUMNS: tl.constexpr,
    APART: tl.constexpr,
    WRAP: tl.constexpr,
    ATTACH: tl.constexpr,
    USES: tl.constexpr,
    BLOCK: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """Collect gradients of what the rules make of the spans of one length, and of their symbols.

    Sums are divided among programs: [chunk, sentence, start, COLUMNS + S], the last S for the symbols.
    """
    start, sentence = tl.program_id(0), tl.program_id(2).to(tl.int64)
    use, chunk = tl.program_id(1) % USES, tl.program_id(1) // USES
    spans = n - length + 1
    batch = tl.num_programs(2)
    target = grad_views + ((chunk * batch + sentence) * spans + start) * (COLUMNS + S)
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
                gap_total = tl.zeros((D, NT), symbols.dtype.element_ty)
                for left in range(1 + chunk, start, chunks):
                    for i in range(0, start - left):
                        slot = slot_of(left, i, start - left - 1, left + length, n)
                        grad = tl.load(grad_gapped + (sentence * slots + slot) * D + symbol)
                        beside = views + row_of(sentence, i, left, n) * COLUMNS + APART
                        gap_total += grad[:, None] * tl.load(beside + symbol[:, None] * S + column + columns)
                sums += tl.sum(gap_total, 0)
            tl.store(target + COLUMNS + column + nonterminal, sums)
        for column in range(tl.where(length == 1, S, NT), S, NT):
            tl.store(target + COLUMNS + column + nonterminal, tl.zeros((NT,), symbols.dtype.element_ty))
    elif use == 2:  # left child of R4
        for column in range(0, S, NT):
            total = tl.zeros((D, NT), symbols.dtype.element_ty)
            for other in range(1 + chunk, tl.where(column == 0, n - start - length, 2), chunks):
                count = n - length - other - start
                for block in range(0, count, BLOCK):
                    lines = block + line
                    real = lines < count
                    slot = slot_of(length, start, start + lines, length + other, n)
                    grad = tl.load(
                        grad_gapped + (sentence * slots + slot[None, :]) * D + symbol[:, None],
                        mask=real[None, :],
                        other=0.0,
                    )
                    right = row_of(sentence, start + lines + length + 1, other, n)
                    x = tl.load(
                        symbols + right[:, None] * S + column + nonterminal[None, :],
                        mask=real[:, None],
                        other=0.0,
                    )
                    total = multiply(grad, x, total, PRECISION)
            tl.store(target + APART + symbol[:, None] * S + column + columns, total)
    elif use == 3:  # in the gap of R3
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
                x = tl.load(
                    gapped + (sentence * slots + slot[:, None]) * D + symbol, mask=real[:, None], other=0.0
                )
                grad = tl.load(
                    grad_symbols + around[None, :] * S + nonterminal[:, None], mask=real[None, :], other=0.0
                )
                total = multiply(grad * ratio[None, :], x, total, PRECISION)
        tl.store(target + WRAP + nonterminal[:, None] * D + symbol, total)
    else:
        kind = use - 4
        total = _collect_attached(
            gapped, grad_gapped, factors, sentence, start, length, n, slots, chunk, chunks, kind,
            D, BLOCK, PRECISION,
        )  # fmt: skip
        tl.store(target + ATTACH + kind * D * D + symbol[:, None] * D + symbol[None, :], total)
