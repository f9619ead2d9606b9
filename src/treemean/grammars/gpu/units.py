# mypy: disable-error-code="no-untyped-def, untyped-decorator"
"""Powers of two by which numbers are multiplied before they are written as fp16, and back."""

from __future__ import annotations

import triton
import triton.language as tl

#: Probabilities are written as fp16 times this, so that small ones keep their digits.
SCALE = 2.0**15
PROBABILITY = tl.constexpr(1.0 / SCALE)
_LARGEST_HALF = tl.constexpr(65504.0)


@triton.jit
def exponent(x):
    """Return k with 2^k <= x < 2^(k+1), between -100 and 100, for x >= 0."""
    k = (x.to(tl.int32, bitcast=True) >> 23) - 127
    return tl.minimum(tl.maximum(k, -100), 100)


@triton.jit
def two_to(k):
    """Return 2^k exactly."""
    return ((k + 127) << 23).to(tl.float32, bitcast=True)


@triton.jit
def limited(x):
    """Keep what is too large for fp16 within its range, and NaN, so that it is noticed."""
    x = tl.maximum(x, -_LARGEST_HALF, propagate_nan=tl.PropagateNan.ALL)
    return tl.minimum(x, _LARGEST_HALF, propagate_nan=tl.PropagateNan.ALL)
