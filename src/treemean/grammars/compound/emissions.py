"""How well preterminals emit the words of a batch: a softmax over all words, for many preterminals.

The logits of all words are a product of matrices of halves in several parts, as exact as one of float32: a
preterminal that emits few words would show what rounding does to them. For gradients halves will do.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from treemean.grammars.fused import forward_kernels
from treemean.grammars.fused.layers import split_matrix
from treemean.grammars.fused.matrices import TILE, aligned, half_matrix, power, product, warps, whole_part


def word_log_probs(hidden: Tensor, weights: Tensor, bias: Tensor, words: Tensor) -> Tensor:
    """Return log p(word | preterminal) for the words of a batch, (B, n, T), differentiable.

    Parameters
    ----------
    hidden : (R, T, s) with R = 1 or B.
    weights, bias : (V, s) and (V,), from there to the logits of all words.
    words : (B, n).
    """
    sums: Tensor = _LogSums.apply(hidden.flatten(0, 1), weights, bias)  # type: ignore[no-untyped-call]
    chosen = weights[words] @ hidden.mT + bias[words][..., None]
    return chosen - sums.view(len(hidden), 1, -1)


class _LogSums(torch.autograd.Function):
    """Logarithms of the sums of exponentials of logits, one for each row of `hidden`, (rows,)."""

    @staticmethod
    def forward(ctx: Any, hidden: Tensor, weights: Tensor, bias: Tensor) -> Tensor:
        rows, vocabulary, device = len(hidden), len(weights), hidden.device
        width = -(-vocabulary // TILE) * TILE
        # The bias is one more column, for which there is a 1 in every row.
        inputs = split_matrix(_extended(hidden, torch.ones_like(hidden[:, 0]), rows))
        table = split_matrix(_extended(weights, bias, width), rest=1)
        logits = product(inputs, table.mT)
        sums = torch.empty(rows, device=device)
        keep = any(ctx.needs_input_grad)
        probabilities = half_matrix(1, rows, width * keep, device=device)
        block = power(width + 1) // 2
        forward_kernels.normalise[(rows, 1)](
            logits,
            sums,
            probabilities,
            rows,
            vocabulary,
            width,
            PITCH=probabilities.stride(1),
            KEEP=keep,
            BLOCK=block,
            MORE=power(width - block),
            num_warps=warps(2 * block),
        )
        ctx.save_for_backward(hidden, probabilities, whole_part(table))
        ctx.vocabulary = vocabulary
        return sums

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        hidden, probabilities, table = ctx.saved_tensors
        size, unit = hidden.shape[1], 1.0 / forward_kernels.SCALE
        expected = product(probabilities, table)[0, :, :size]
        # Halves take the largest gradient as 1.
        largest = torch.clamp((hidden.abs().amax(1).clamp(min=1.0) * grad.abs()).amax(), min=1e-30)
        share = grad / largest
        weighted = _extended(hidden * share[:, None], share, len(hidden)).to(table.dtype)
        of_table = product(probabilities.mT, weighted)[0, : ctx.vocabulary]
        largest = unit * largest
        return expected * (unit * grad)[:, None], of_table[:, :size] * largest, of_table[:, size] * largest


def _extended(matrix: Tensor, column: Tensor, rows: int) -> Tensor:
    """Return a matrix with one more column, and with zeros beside and below, (1, rows, aligned)."""
    size = matrix.shape[1]
    result = matrix.new_zeros(1, rows, aligned(size + 1))
    result[0, : len(matrix), :size] = matrix
    result[0, : len(matrix), size] = column
    return result
