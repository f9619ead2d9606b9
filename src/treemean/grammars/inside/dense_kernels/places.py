# mypy: disable-error-code="no-untyped-def, untyped-decorator"
"""Where things lie in the charts of the kernels.

*Rows*, one per continuous span: by sentence, then length, then start, so that the spans of one length are the
rows of one matrix product for each sentence.

*Slots*, one per discontinuous span: by sentence, then total width w, and there as [a-1, i, m'], where a is
the length of the left part, i its start, and m' = m-a-1 where m is the start of the right part. Only i <= m'
is ever written or read.

Each is two times D halves, which together keep 16 binary digits: halves are what tensor cores multiply
fastest, and need not be prepared for it each time. In the interpreter halves are as wide as all else.

*Factors*, by sentence, start, split - 1, length - 1: what scales of the two parts of a continuous span come
to, on the scale of the whole.
"""

from __future__ import annotations

import triton
import triton.language as tl

INTERPRETED = tl.constexpr(bool(triton.knobs.runtime.interpret))


@triton.jit
def row_of(sentence, start, length, n):
    """Number a continuous span."""
    before = (length - 1) * (n + 1) - (length - 1) * length // 2
    return sentence * (n * (n + 1) // 2) + before + start


@triton.jit
def factor_of(sentence, start, split, length, n):
    """Number a continuous span together with a split of it."""
    return ((sentence * n + start) * n + split - 1) * n + length - 1


@triton.jit
def slots_before(width, n):
    """Count the slots of smaller widths, (v-1)(n-v)² of each width v."""
    last = width - 2
    triangle = last * (last + 1) // 2
    return (n - 1) * ((n - 1) * triangle - 2 * triangle * (2 * last + 1) // 3) + triangle * triangle


@triton.jit
def slot_of(left, start, place, width, n):
    """Number a discontinuous span within its sentence."""
    gaps = n - width
    return (slots_before(width, n) - gaps * gaps) + left * (gaps * gaps) + start * gaps + place


@triton.jit
def best_split(scales, sentence, start, width, n, SPLITS: tl.constexpr):
    """Return the log scales of the two parts for all splits, -inf beyond the last one."""
    split = tl.arange(0, SPLITS) + 1
    real = split < width
    split = tl.where(real, split, 1)
    first = tl.load(scales + row_of(sentence, start, split, n))
    second = tl.load(scales + row_of(sentence, start + split, width - split, n))
    return tl.where(real, first + second, float("-inf"))


@triton.jit
def high_bits(x):
    """Cut off what tensor cores would cut off."""
    return (x.to(tl.int32, bitcast=True) & -0x2000).to(tl.float32, bitcast=True)


@triton.jit
def nearest(x):
    """Let what is left after tensor cores have cut bits off be the nearest number."""
    return (x.to(tl.int32, bitcast=True) + 0x1000).to(tl.float32, bitcast=True)


@triton.jit
def multiply(x, matrix, total, PRECISION: tl.constexpr):
    """Add a product of small matrices; in the interpreter always exactly. See `passes.Settings`."""
    if INTERPRETED or PRECISION == "ieee":
        return tl.dot(x, matrix, total, input_precision="ieee", out_dtype=total.dtype)
    elif PRECISION == "tf32":
        return tl.dot(nearest(x), nearest(matrix), total, input_precision="tf32")
    else:
        high, matrix_high = high_bits(x), high_bits(matrix)
        total = tl.dot(x - high, matrix_high, total, input_precision="tf32")
        total = tl.dot(high, matrix - matrix_high, total, input_precision="tf32")
        return tl.dot(high, matrix_high, total, input_precision="tf32")


@triton.jit
def store_halves(target, x, mask, SIZE: tl.constexpr):
    """Store numbers as halves, and behind SIZE of them what these leave out, as halves too."""
    first = x.to(target.dtype.element_ty)
    tl.store(target, first, mask=mask)
    tl.store(target + SIZE, (x - first.to(x.dtype)).to(target.dtype.element_ty), mask=mask)


@triton.jit
def load_halves(source, mask, SIZE: tl.constexpr):
    """Load numbers that are stored as by `store_halves`, 0 where they are masked."""
    first = tl.load(source, mask=mask, other=0.0)
    second = tl.load(source + SIZE, mask=mask, other=0.0)
    if source.dtype.element_ty == tl.bfloat16:
        first, second = first.to(tl.float32), second.to(tl.float32)
    return first + second


@triton.jit
def in_halves(x):
    """Return numbers as a sum of halves.

    To cut bits off is much faster than to round. As second halves of rounded numbers, with which they are
    multiplied, are as often below zero as above it, what is left out is nothing on average even so.
    """
    bits = x.to(tl.int32, bitcast=True)
    first = (bits >> 16).to(tl.int16).to(tl.bfloat16, bitcast=True)
    return first, (x - (bits & -0x10000).to(tl.float32, bitcast=True)).to(tl.bfloat16)


@triton.jit
def multiply_halves(first, second, matrix, total):
    """Add the product of a matrix of two halves with another one, but for what two second halves give."""
    if INTERPRETED:
        return tl.dot(first + second, matrix, total, input_precision="ieee", out_dtype=total.dtype)
    else:
        high, low = in_halves(matrix)
        total = tl.dot(second, high, total)
        total = tl.dot(first, low, total)
        return tl.dot(first, high, total)


@triton.jit
def multiply_rounded(halves, matrix, total):
    """Add the product of halves, whatever they stand for, with a matrix."""
    if INTERPRETED:
        return tl.dot(halves, matrix, total, input_precision="ieee", out_dtype=total.dtype)
    else:
        high, low = in_halves(matrix)
        return tl.dot(halves, high, tl.dot(halves, low, total))


@triton.jit
def stacked(matrix):
    """Return a matrix twice, one below the other."""
    twice = tl.broadcast_to(matrix[None], (2, matrix.shape[0], matrix.shape[1]))
    return twice.reshape(2 * matrix.shape[0], matrix.shape[1])


@triton.jit
def multiply_joined(halves, matrix, total):
    """Add the product of a matrix, given as [its first halves | its second halves], with another one."""
    if INTERPRETED:
        return tl.dot(halves, stacked(matrix), total, input_precision="ieee", out_dtype=total.dtype)
    else:
        high, low = in_halves(matrix)
        return tl.dot(halves, stacked(high), tl.dot(halves, stacked(low), total))


@triton.jit
def attached_at(attached, sentence, left, start, place, width, n, D: tl.constexpr):
    """Add up what R5-R8 gave for the spans at some places, [place, D]; see `attaching.attach`."""
    gaps = n - width
    size = (width - 1) * gaps * gaps
    slot = sentence * size + ((left - 1) * gaps + start) * gaps + place
    here = attached + slot[:, None] * D + tl.arange(0, D)
    real, step = (place < gaps)[:, None], tl.num_programs(2) * size.to(tl.int64) * D
    total = tl.load(here, mask=real, other=0.0) + tl.load(here + step, mask=real, other=0.0)
    return (
        total
        + tl.load(here + 2 * step, mask=real, other=0.0)
        + tl.load(here + 3 * step, mask=real, other=0.0)
    )
