"""Matrices of half precision, and their products on tensor cores.

Operands of half precision have as many digits as those of TF32 products, but are rounded to nearest, and take
half the time and memory. Sums are in float32. Half precision has few exponents: probabilities and gradients
are therefore scaled by powers of two before they are written as fp16.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise

import torch
from torch import Tensor

_dtype = torch.float16

#: Rows of matrices that tensor cores read begin at multiples of so many of them (16 bytes), and fast products
#: have only rows that also end there: large matrices are filled up with zeros.
_ALIGNMENT = 8
#: What the rows of large matrices are filled up to, the size of a tile: an odd number of them, as of words of
#: a vocabulary, would make every product several times slower.
TILE = 64
#: Over how many terms a product of numbers that are not negative may add up at a time.
_LONGEST = 1152


def aligned(columns: int) -> int:
    """Return how many columns a row takes with what lies between it and the next."""
    return -(-columns // _ALIGNMENT) * _ALIGNMENT


@contextmanager
def precision(dtype: torch.dtype) -> Iterator[None]:
    """Let all fp16 matrices be of another type, which is to be float32 if not float16.

    Then products are of float32 too. Products in fp16 add up in float32 only.
    """
    global _dtype
    settings = torch.backends.cuda.matmul
    before = _dtype, settings.allow_fp16_reduced_precision_reduction, torch.get_float32_matmul_precision()
    _dtype = dtype
    settings.allow_fp16_reduced_precision_reduction = False
    torch.set_float32_matmul_precision("highest")
    try:
        yield
    finally:
        _dtype, settings.allow_fp16_reduced_precision_reduction, products = before
        torch.set_float32_matmul_precision(products)


def half_matrix(*shape: int, device: torch.device) -> Tensor:
    """Reserve an fp16 matrix whose rows are aligned; what lies between the rows is never read.

    >>> half_matrix(1, 2, 13, device=torch.device("cpu")).stride()
    (32, 16, 1)
    """
    *rows, columns = shape
    return torch.empty(*rows, aligned(columns), dtype=_dtype, device=device)[..., :columns]


def parts() -> int:
    """Return in how many parts an operand of an exact product is written; see `layers.split_matrix`."""
    return 3 if _dtype == torch.float16 else 1


def whole_part(split: Tensor) -> Tensor:
    """Return the first part of a matrix of several parts: the matrix as fp16."""
    return split[..., : split.shape[-1] // parts()]


def whole_rows(split: Tensor) -> Tensor:
    """Return the same of a matrix whose parts lie one below the other."""
    return split[:, : split.shape[1] // parts()]


def product(a: Tensor, b: Tensor) -> Tensor:
    """Multiply stacks of fp16 matrices (E, m, k) and (E, k, n) into float32."""
    if not a.is_cuda:
        return torch.bmm(a.float(), b.float())
    if a.dtype == torch.float32:
        return torch.bmm(a, b)
    if len(a) == 1:
        return torch.mm(a[0], b[0], out_dtype=torch.float32)[None]
    return torch.bmm(a, b, out_dtype=torch.float32)


def long_product(a: Tensor, b: Tensor) -> Tensor:
    """Multiply matrices of several `parts`, (E, m, ·) and (E, n, ·), whose first parts are not negative.

    Tensor cores do not round what they add up, they cut it off. Of thousands of terms of one sign, each sum
    loses a little, the same way every time; so the first parts, which make up nearly all of the result, are
    added up in pieces. Which algorithm a product takes depends on the number of runs, and how long its sums
    are; this does not.
    """
    width = a.shape[2] // parts()
    ends = [*range(0, width, _LONGEST), width, *([a.shape[2]] if parts() > 1 else [])]
    pieces = (product(a[..., start:end], b[..., start:end].mT) for start, end in pairwise(ends))
    total = next(pieces)
    for piece in pieces:
        total += piece
    return total


def half_product(a: Tensor, b: Tensor, *, scale: float = 1.0, out: Tensor | None = None) -> Tensor:
    """Multiply stacks of fp16 matrices, times a scale, into fp16 numbers."""
    if out is None:
        out = half_matrix(len(a), a.shape[1], b.shape[2], device=a.device)
    if not a.is_cuda:
        return out.copy_(torch.bmm(a.float(), b.float()).mul_(scale))
    if len(a) == 1:
        torch.addmm(out[0], a[0], b[0], beta=0, alpha=scale, out=out[0])
    else:
        torch.baddbmm(out, a, b, beta=0, alpha=scale, out=out)
    return out


def add_product(total: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """Add the product of stacks of fp16 matrices to fp16 numbers, in place."""
    if not a.is_cuda:
        return total.copy_(total.float() + torch.bmm(a.float(), b.float()))
    if len(a) == 1:
        total[0].addmm_(a[0], b[0])
    else:
        total.baddbmm_(a, b)
    return total
