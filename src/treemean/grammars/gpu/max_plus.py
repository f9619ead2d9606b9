# mypy: disable-error-code="no-untyped-def, untyped-decorator"
"""Products in which the best of sums takes the place of the sum of products, in float64.

Sums and comparisons of the same numbers give the same bits everywhere, so that charts filled by kernels are
those that PyTorch fills, and ties are ties in both.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from treemean.grammars.decoding.semirings import Max
from treemean.grammars.gpu.tiles import power, tiles

#: A program computes 32 rows by one to four times 32 columns.
_TILE, _MOST_GROUPS = 32, 4
#: With fewer programs, smaller tiles: a large GPU has this many places for them.
_ENOUGH = 256
#: How far tiles reach beyond the last column of an operand at most.
MARGIN = _TILE * _MOST_GROUPS


@triton.jit
def larger(a, b):
    """Choose the larger of two numbers; several instructions fewer than a maximum that minds NaN."""
    return tl.where(a > b, a, b)


_SIZES = ["inner", "rows", "columns", "pitch_left", "pitch_right", "pitch_result", "next_left", "next_right"]


@triton.jit(do_not_specialize=_SIZES)
def best_sums(
    left,
    right,
    result,
    inner,
    rows,
    columns,
    pitch_left,
    pitch_right,
    pitch_result,
    next_left,
    next_right,
    GROUPS: tl.constexpr,
    TILE: tl.constexpr,
):
    """Find the largest left[k, row] + right[k, column] over k.

    Threads of a warp share a row, and each has some rows and a column of every group, so that few loads serve
    many sums. Rows and columns beyond the last are computed from whatever lies there, and not stored. The
    third axis of the grid is a product each, whose columns lie one behind the other.
    """
    left += tl.program_id(2).to(tl.int64) * next_left
    right += tl.program_id(2) * next_right
    result += tl.program_id(2) * next_right
    row = tl.program_id(1) * TILE + tl.arange(0, TILE)
    column = (tl.program_id(0) * GROUPS + tl.arange(0, GROUPS)[:, None]) * TILE + tl.arange(0, TILE)[None, :]
    best = tl.full([GROUPS, TILE, TILE], float("-inf"), tl.float64)
    for _ in tl.range(inner, loop_unroll_factor=2):
        sums = tl.load(left + row)[None, :, None] + tl.load(right + column)[:, None, :]
        best = larger(sums, best)
        left += pitch_left
        right += pitch_right
    ok = (row < rows)[None, :, None] & (column < columns)[:, None, :]
    place = row.to(tl.int64)[None, :, None] * pitch_result + column[:, None, :]
    tl.store(result + place, best, mask=ok)


def roomy(rows: int, columns: int, device: torch.device) -> Tensor:
    """Reserve a float64 matrix beyond whose last column there is memory that may be read."""
    return torch.empty(rows, columns + MARGIN, device=device, dtype=torch.float64)[:, :columns]


def max_plus(left: Tensor, right: Tensor, result: Tensor) -> None:
    """Write the largest left[k, row] + right[k, column] over k to result[row, column].

    Parameters
    ----------
    left : (K, rows), or (E, K, rows), of which each is for columns / E columns.
    right : (K, columns).
    result : (rows, columns).

    All are contiguous along the last axis; left and right are parts of `roomy` matrices.
    """
    products = len(left) if left.dim() == 3 else 1
    rows, columns = len(result), result.shape[1] // products
    high, groups = tiles(rows, _TILE), _MOST_GROUPS
    while groups > 1 and (
        groups * _TILE >= 2 * columns or products * high * tiles(columns, groups * _TILE) < _ENOUGH
    ):
        groups //= 2
    best_sums[(tiles(columns, groups * _TILE), high, products)](
        left=left,
        right=right,
        result=result,
        inner=left.shape[-2],
        rows=rows,
        columns=columns,
        pitch_left=left.stride(-2),
        pitch_right=right.stride(0),
        pitch_result=result.stride(0),
        next_left=left.stride(0) if products > 1 else 0,
        next_right=columns,
        GROUPS=groups,
        TILE=_TILE,
        num_warps=max(4, power(2 * groups)),
    )


class KernelMax(Max):
    """Keeps the most probable; products with one matrix for all are computed by a kernel."""

    def product(self, x: Tensor, matrix: Tensor) -> Tensor:
        """See `Semiring.product`; takes float64."""
        if matrix.dim() > 2:
            return super().product(x, matrix)
        rows, (inner, columns) = x.reshape(-1, x.shape[-1]), matrix.shape
        left, right = roomy(inner, len(rows), x.device), roomy(inner, columns, x.device)
        left.copy_(rows.T)
        right.copy_(matrix)
        result = torch.empty(len(rows), columns, device=x.device, dtype=torch.float64)
        max_plus(left, right, result)
        return result.view(*x.shape[:-1], columns)
