# mypy: disable-error-code="no-untyped-def, untyped-decorator"
"""Where things lie in the charts of the kernels.

*Rows*, one per continuous span: by sentence, then length, then start, so that the spans of one length are the
rows of one matrix product for each sentence.

*Slots*, one per discontinuous span: by sentence, then total width w, and there as [a-1, i, m'], where a is
the length of the left part, i its start, and m' = m-a-1 where m is the start of the right part. Only i <= m'
is ever written or read.

*Factors*, by sentence, start, split - 1, length - 1: what scales of the two parts of a continuous span come
to, on the scale of the whole.
"""

from __future__ import annotations

import triton
import triton.language as tl


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
def slot_of(left, start, place, width, n):
    """Number a discontinuous span within its sentence; before it come (v-1)(n-v)² of each smaller width v."""
    last = width - 2
    triangle = last * (last + 1) // 2
    before = (n - 1) * (n - 1) * triangle - (n - 1) * (2 * triangle * (2 * last + 1) // 3)
    before += triangle * triangle
    return before + ((left - 1) * (n - width) + start) * (n - width) + place


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
def multiply(x, matrix, total, PRECISION: tl.constexpr):
    """Add a product of small matrices."""
    return tl.dot(x, matrix, total, input_precision=PRECISION, out_dtype=total.dtype)
