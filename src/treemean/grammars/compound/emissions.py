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

# How many positions a program writes at once.
_AT_ONCE = 64


def word_log_probs(hidden: Tensor, weights: Tensor, bias: Tensor, words: Tensor) -> Tensor:
    """Return log p(word | preterminal) for the words of a batch, (B, n, T), differentiable.

    Parameters
    ----------
    hidden : (R, T, s) with R = 1 or B.
    weights, bias : (V, s) and (V,), from there to the logits of all words.
    words : (B, n).
    """
    keep = torch.is_grad_enabled() and any(x.requires_grad for x in (hidden, weights, bias))
    each = words.reshape(len(hidden), -1)
    log_probs: Tensor = _LogProbs.apply(hidden, weights, bias, each, keep)  # type: ignore[no-untyped-call]
    if not keep:
        return log_probs.view(*words.shape, -1)
    chosen = weights[words] @ hidden.mT + bias[words][..., None]
    # Of this product only the gradient is taken: its logits are not quite those of the normalisers,
    # see `forward_kernels.normalise`.
    return log_probs.view_as(chosen) + (chosen - chosen.detach())


class _LogProbs(torch.autograd.Function):
    """Logarithms of the probabilities of words (R, positions), for each row of `hidden`, (R, positions, T).

    The gradient is that of the normalisers alone. What it takes is there only to `keep`.
    """

    @staticmethod
    def forward(ctx: Any, hidden: Tensor, weights: Tensor, bias: Tensor, words: Tensor, keep: bool) -> Tensor:
        (runs, preterminals, _), vocabulary, device = hidden.shape, len(weights), hidden.device
        rows, positions = runs * preterminals, words.shape[1]
        width = -(-vocabulary // TILE) * TILE
        flat = hidden.flatten(0, 1)
        # The bias is one more column, for which there is a 1 in every row.
        inputs = _extended(flat, torch.ones_like(flat[:, 0]), rows)
        scales = _powers(inputs[0]) * 2.0**-12  # as halves, the largest of a row is about 2^12
        inputs = split_matrix(inputs / scales[:, None])
        table = split_matrix(_extended(weights, bias, width), rest=1)
        logits = product(inputs, table.mT)
        log_probs = torch.empty(runs, positions, preterminals, device=device)
        probabilities = half_matrix(1, rows, width * keep, device=device)
        block = power(width + 1) // 2
        forward_kernels.normalise[(preterminals, runs)](
            logits,
            scales,
            words.contiguous(),
            log_probs,
            probabilities,
            preterminals,
            vocabulary,
            width,
            positions,
            PITCH=probabilities.stride(1),
            KEEP=keep,
            BLOCK=block,
            MORE=power(width - block),
            AT_ONCE=_AT_ONCE,
            num_warps=warps(2 * block),
        )
        if keep:
            ctx.save_for_backward(flat, probabilities, whole_part(table))
            ctx.vocabulary, ctx.shape = vocabulary, hidden.shape
        return log_probs

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, Tensor, None, None]:
        hidden, probabilities, table = ctx.saved_tensors
        size, unit = hidden.shape[1], 1.0 / forward_kernels.SCALE
        grad = -grad.sum(1).flatten()
        expected = product(probabilities, table)[0, :, :size]
        # Halves take the largest gradient as 1.
        largest = torch.clamp((hidden.abs().amax(1).clamp(min=1.0) * grad.abs()).amax(), min=1e-30)
        share = grad / largest
        weighted = _extended(hidden * share[:, None], share, len(hidden)).to(table.dtype)
        of_table = product(probabilities.mT, weighted)[0, : ctx.vocabulary]
        largest = unit * largest
        of_hidden = (expected * (unit * grad)[:, None]).view(ctx.shape)
        return of_hidden, of_table[:, :size] * largest, of_table[:, size] * largest, None, None


def _powers(rows: Tensor) -> Tensor:
    """Return a power of two over the largest magnitude of each row, by less than twice."""
    peaks = rows.abs().amax(1)
    return peaks / torch.frexp(peaks).mantissa


def _extended(matrix: Tensor, column: Tensor, rows: int) -> Tensor:
    """Return a matrix with one more column, and with zeros beside and below, (1, rows, aligned)."""
    size = matrix.shape[1]
    result = matrix.new_zeros(1, rows, aligned(size + 1))
    result[0, : len(matrix), :size] = matrix
    result[0, : len(matrix), size] = column
    return result
