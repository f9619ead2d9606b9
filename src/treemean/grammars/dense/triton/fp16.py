# mypy: disable-error-code="no-untyped-def, untyped-decorator"
"""Small matrices as tensor cores multiply them, and rows of numbers as fp16.

A row that belongs to a discontinuous span is D fp16 numbers, which tensor cores multiply fastest: D - 1
numbers on a scale of their own, a power of two, and then its exponent. The largest number is between 1 and 2,
and keeps 11 binary digits. Where such rows are multiplied as they are, rules for the last number are zero.
Without tensor cores they are as wide as all else.
"""

from __future__ import annotations

import triton
import triton.language as tl

INTERPRETED = tl.constexpr(bool(triton.knobs.runtime.interpret))
_UP = tl.constexpr(2.0**14)  # by which numbers up to 1 are multiplied, since fp16 goes from 2^-24 to 2^16
_LEAST = tl.constexpr(2.0**-100)  # smaller numbers count as nothing
_MOST = tl.constexpr(126.0)  # the largest exponent, since GPUs take 2^-127 for 0


@triton.jit
def high_bits(x):
    """Cut off what tensor cores would cut off."""
    return (x.to(tl.int32, bitcast=True) & -0x2000).to(tl.float32, bitcast=True)


@triton.jit
def multiply(x, matrix, total):
    """Add a product of small matrices: three passes of tensor cores keep 22 binary digits."""
    if INTERPRETED:
        return tl.dot(x, matrix, total, input_precision="ieee", out_dtype=total.dtype)
    else:
        high, matrix_high = high_bits(x), high_bits(matrix)
        total = tl.dot(x - high, matrix_high, total, input_precision="tf32")
        total = tl.dot(high, matrix - matrix_high, total, input_precision="tf32")
        return tl.dot(high, matrix_high, total, input_precision="tf32")


@triton.jit
def store_scaled(rows, x, mask, SIZE: tl.constexpr):
    """Store numbers [row, SIZE] as fp16 on a scale for each row; the last number of a row is not kept."""
    symbol = tl.arange(0, SIZE)
    largest = tl.maximum(tl.max(tl.abs(x), 1), _LEAST)
    exponent = tl.minimum(tl.floor(tl.log2(largest)), _MOST)
    scaled = tl.where(symbol[None, :] < SIZE - 1, x * tl.exp2(-exponent)[:, None], exponent[:, None])
    tl.store(rows[:, None] + symbol, scaled.to(rows.dtype.element_ty), mask=mask[:, None])


@triton.jit
def exponents_of(halves, AXIS: tl.constexpr):
    """Return the exponents of rows that lie along an axis, stored as by `store_scaled`, 0 for masked ones.

    To load them apart would take as much from memory as the rows.
    """
    symbol = tl.expand_dims(tl.arange(0, halves.shape[AXIS]), 1 - AXIS)
    exponents = tl.sum(tl.where(symbol == halves.shape[AXIS] - 1, halves, 0.0), AXIS)
    if exponents.dtype == tl.float16:
        exponents = exponents.to(tl.float32)
    return exponents


@triton.jit
def load_scaled(rows, mask, SIZE: tl.constexpr):
    """Load numbers [row, SIZE] that are stored as by `store_scaled`, 0 where they are masked."""
    symbol = tl.arange(0, SIZE)
    x = tl.load(rows[:, None] + symbol, mask=mask[:, None], other=0.0)
    return tl.where(symbol[None, :] < SIZE - 1, x * tl.exp2(exponents_of(x, 1))[:, None], 0.0)


@triton.jit
def load_scaled_columns(rows, mask, SIZE: tl.constexpr):
    """Load the same as `load_scaled`, [SIZE, row]."""
    symbol = tl.arange(0, SIZE)
    x = tl.load(rows[None, :] + symbol[:, None], mask=mask[None, :], other=0.0)
    return tl.where(symbol[:, None] < SIZE - 1, x * tl.exp2(exponents_of(x, 0))[None, :], 0.0)


@triton.jit
def split(matrix, kind: tl.constexpr):
    """Return numbers up to 1, times _UP, as a sum of fp16 numbers; if these are as wide, as they are.

    Those under 1e-9 lose digits, and under 1e-12 they vanish.
    """
    if kind == tl.float16:
        matrix *= _UP
    first = matrix.to(kind)
    return first, (matrix - first.to(matrix.dtype)).to(kind)


@triton.jit
def multiply_split(halves, first, second, factors):
    """Return the product of fp16 with a matrix that was split, each row times a factor."""
    if halves.dtype == tl.float16:
        return tl.dot(halves, first, tl.dot(halves, second)) * (factors * (1.0 / _UP))[:, None]
    else:
        return tl.dot(halves, first, input_precision="ieee", out_dtype=first.dtype) * factors[:, None]


@triton.jit
def multiply_fp16(halves, matrix, factors):
    """Return the product of fp16 with a matrix of numbers however small, each row times a factor."""
    if halves.dtype == tl.float16:
        # Tensor cores cut nothing off fp16 numbers, so that two passes do what takes `multiply` three.
        x, high = halves.to(tl.float32), high_bits(matrix)
        rest = tl.dot(x, matrix - high, input_precision="tf32")
        return tl.dot(x, high, rest, input_precision="tf32") * factors[:, None]
    else:
        return tl.dot(halves, matrix, input_precision="ieee", out_dtype=matrix.dtype) * factors[:, None]


@triton.jit
def add_outer_products(values, grads, factors, total):
    """Add products of values [row, D] and gradients [row, D], with a factor of at least 0 for each row."""
    if values.dtype == tl.float16:
        # As shares of the largest factor none is too large for fp16 numbers, and none is lost that counts.
        largest = tl.maximum(tl.max(factors, 0), _LEAST)
        grads = (grads.to(tl.float32) * (factors * (1.0 / largest))[:, None]).to(tl.float16)
        return total + tl.dot(tl.trans(values), grads) * largest
    else:
        grads *= factors[:, None]
        return tl.dot(tl.trans(values), grads, total, input_precision="ieee", out_dtype=total.dtype)
