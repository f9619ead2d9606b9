# mypy: disable-error-code="no-untyped-def, untyped-decorator"
"""The normaliser of a softmax over a large vocabulary, whose probabilities are never all needed.

Matrix products run on tensor cores in half precision, whose operands have as many digits as those of TF32
products but take half the time and memory; sums are in float32. What could leave the range of half precision
is scaled.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor
from torch.autograd.function import once_differentiable

_SCALE = 2.0**15  # of probabilities in half precision, so that rare words keep their digits
_BLOCK = 2048


@triton.jit
def _log_sum_rows(logits, result, columns, BLOCK: tl.constexpr):
    """Take the logarithm of the sum of exponentials of a row, in one pass."""
    row = tl.program_id(0).to(tl.int64)
    largest = tl.full([BLOCK], -1e30, dtype=tl.float32)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for first in range(0, columns, BLOCK):
        column = first + tl.arange(0, BLOCK)
        x = tl.load(logits + row * columns + column, mask=column < columns, other=-1e30)
        higher = tl.maximum(largest, x)
        total = total * tl.exp(largest - higher) + tl.where(column < columns, tl.exp(x - higher), 0.0)
        largest = higher
    top = tl.max(largest, 0)
    tl.store(result + row, top + tl.log(tl.sum(total * tl.exp(largest - top), 0)))


@triton.jit
def _probabilities(logits, normaliser, result, columns, scale, BLOCK: tl.constexpr):
    """Write the softmax of a row, scaled, in the precision of the result."""
    row = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(logits + row * columns + column, mask=column < columns, other=0.0)
    p = tl.exp(x - tl.load(normaliser + row)) * scale
    tl.store(result + row * columns + column, p.to(result.dtype.element_ty), mask=column < columns)


def log_normaliser(hidden: Tensor, embeddings: Tensor) -> Tensor:
    """Return, for each row of ``hidden``, the logarithm of the sum of exponentials of its products with all
    words.

    Parameters
    ----------
    hidden : (T, s), a vector for each preterminal.
    embeddings : (V, s), a vector for each word.
    """
    result: Tensor = _LogNormaliser.apply(hidden, embeddings)  # type: ignore[no-untyped-call]
    return result


def _product(a: Tensor, b: Tensor) -> Tensor:
    """Multiply matrices of half precision into one of float32."""
    if a.is_cuda:
        return torch.mm(a, b, out_dtype=torch.float32)
    return a.float() @ b.float()


class _LogNormaliser(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, hidden: Tensor, embeddings: Tensor) -> Tensor:
        h, w = hidden.half(), embeddings.half()
        logits = _product(h, w.T)
        result = torch.empty(len(hidden), device=hidden.device)
        _log_sum_rows[(len(hidden),)](logits, result, logits.shape[1], BLOCK=_BLOCK, num_warps=8)
        ctx.save_for_backward(hidden, w, logits, result)
        return result

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor]:
        hidden, w, logits, normaliser = ctx.saved_tensors
        rows, columns = logits.shape
        p = torch.empty(rows, columns, device=logits.device, dtype=torch.float16)
        grid = (rows, triton.cdiv(columns, _BLOCK))
        _probabilities[grid](logits, normaliser, p, columns, _SCALE, BLOCK=_BLOCK, num_warps=8)
        weighted = hidden * gradient[:, None]
        largest = weighted.abs().amax().clamp(min=1e-30)
        of_hidden = _product(p, w) * (gradient[:, None] / _SCALE)
        of_embeddings = _product(p.T, (weighted / largest).half()) * (largest / _SCALE)
        return of_hidden, of_embeddings
