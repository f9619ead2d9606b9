# mypy: disable-error-code="no-untyped-def, untyped-decorator"
"""Where things lie in the charts of the kernels.

*Rows*, one per continuous span: by sentence, then length, then start, so that the spans of one length are the
rows of one matrix product for each sentence.

*Slots*, one per discontinuous span: by sentence, then total width w, and there as [a-1, i, m'], where a is
the length of the left part, i its start, and m' = m-a-1 where m is the start of the right part. Only i <= m'
is ever written or read.

Each is a row of D fp16 numbers, see `fp16`.

*Factors*, by sentence, start, length - 1, split - 1: what scales of the two parts of a continuous span come
to, on the scale of the whole.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def row_in(start, length, n):
    """Number a continuous span within its sentence."""
    return (length - 1) * (n + 1) - (length - 1) * length // 2 + start


@triton.jit
def row_of(sentence, start, length, n):
    """Number a continuous span."""
    return sentence * (n * (n + 1) // 2) + row_in(start, length, n)


@triton.jit
def factor_of(sentence, start, split, length, n):
    """Number a continuous span together with a split of it."""
    return ((sentence * n + start) * n + length - 1) * n + split - 1


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
def best_splits(scales, start, width, n, SPLITS: tl.constexpr):
    """Return the largest log scale of the two parts of spans of a sentence with some starts, (N,)."""
    split = tl.arange(0, SPLITS)[None, :] + 1
    real = split < width
    split = tl.where(real, split, 1)
    first = tl.load(scales + row_in(start[:, None], split, n))
    second = tl.load(scales + row_in(start[:, None] + split, width - split, n))
    return tl.max(tl.where(real, first + second, float("-inf")), 1)


@triton.jit
def attached_at(attached, sentence, left, start, place, real, width, n, D: tl.constexpr):
    """Add up what R5-R8 gave for some spans, [span, D], 0 unless real; see `attaching.attach`."""
    gaps = n - width
    size = (width - 1) * gaps * gaps
    slot = sentence * size + ((left - 1) * gaps + start) * gaps + place
    here, mask = attached + slot[:, None] * D + tl.arange(0, D), real[:, None]
    step = tl.num_programs(2) * size.to(tl.int64) * D
    total = tl.load(here, mask=mask, other=0.0) + tl.load(here + step, mask=mask, other=0.0)
    return (
        total
        + tl.load(here + 2 * step, mask=mask, other=0.0)
        + tl.load(here + 3 * step, mask=mask, other=0.0)
    )
