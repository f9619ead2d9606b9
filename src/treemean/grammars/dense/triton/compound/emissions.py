"""How well preterminals emit the words of a batch: a softmax over all words, for many preterminals.

The logits of all words are a product of fp16 matrices in several parts, as exact as one of float32: a
preterminal that emits few words would show what rounding does to them. For gradients fp16 will do where
words do not stand in a sentence, which is where the work is.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from treemean.grammars.dense.triton.compound import emission_kernels
from treemean.grammars.dense.triton.compound.parallel_networks import Aside
from treemean.grammars.gpu import emission_kernels as shared_kernels
from treemean.grammars.gpu.matrices import TILE, aligned, half_matrix, parts, product, whole_part
from treemean.grammars.gpu.tiles import power, warps, whole_row

# How many positions of a sentence a program writes at once, and looks at.
_AT_ONCE, _LOOK = 64, 32
# How many words a program handles at once, and how many columns of vectors; what tensor cores take at least.
_WORDS, _COLUMNS, _LEAST = 2048, 64, 16
# At how many places of all sentences a word is looked for, and of how many gradients are added up at once.
_PLACES, _STEP = 512, 16


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
    return log_probs.view(*words.shape, -1)


class _LogProbs(torch.autograd.Function):
    """Logarithms of the probabilities of words (R, positions), for each row of `hidden`, (R, positions, T).

    What gradients take is there only to `keep`.
    """

    @staticmethod
    def forward(ctx: Any, hidden: Tensor, weights: Tensor, bias: Tensor, words: Tensor, keep: bool) -> Tensor:
        (runs, preterminals, _), vocabulary, device = hidden.shape, len(weights), hidden.device
        rows, positions = runs * preterminals, words.shape[1]
        width = -(-vocabulary // TILE) * TILE
        hidden, weights, bias, words = (x.contiguous() for x in (hidden, weights, bias, words))
        # The bias is one more column, for which there is a 1 in every row.
        inputs, scales = _extended(hidden.flatten(0, 1), None, rows)
        table, _ = _extended(weights, bias, width)
        logits = product(inputs, table.mT)
        log_probs = torch.empty(runs, positions, preterminals, device=device)
        probabilities = half_matrix(1, rows, width * keep, device=device)
        block = power(width + 1) // 2
        shared_kernels.normalise[(preterminals, runs)](
            logits=logits,
            scales=scales,
            words=words,
            log_probs=log_probs,
            probabilities=probabilities,
            rows=preterminals,
            columns=vocabulary,
            width=width,
            positions=positions,
            PITCH=probabilities.stride(1),
            KEEP=keep,
            BLOCK=block,
            MORE=power(width - block),
            AT_ONCE=_AT_ONCE,
            num_warps=warps(2 * block),
        )
        if keep:
            of_products = probabilities, scales, whole_part(inputs), whole_part(table)
            ctx.save_for_backward(hidden, weights, words, log_probs, *of_products)
        return log_probs

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, Tensor, None, None]:
        hidden, weights, words, log_probs, probabilities, scales, inputs, table = ctx.saved_tensors
        (runs, preterminals, size), vocabulary = hidden.shape, len(weights)
        _, rows, columns = inputs.shape
        positions, device = words.shape[1], grad.device
        of_logits, surplus = torch.empty_like(probabilities), torch.empty_like(log_probs)
        steps, peaks = (torch.empty(rows, device=device) for _ in range(2))
        emission_kernels.logit_gradients[(preterminals, runs)](
            gradients=grad.contiguous(),
            log_probs=log_probs,
            words=words,
            probabilities=probabilities,
            scales=scales,
            surplus=surplus,
            result=of_logits,
            steps=steps,
            peaks=peaks,
            rows=preterminals,
            positions=positions,
            width=probabilities.shape[2],
            PITCH=of_logits.stride(1),
            LOOK=_LOOK,
            BLOCK=_WORDS,
        )
        aside = Aside(device)
        of_hidden, of_weights = torch.empty_like(hidden), torch.empty_like(weights)
        of_bias = torch.empty(vocabulary, device=device)
        with aside.block():
            step = peaks.amax(0, keepdim=True)
            weighted = torch.empty(1, rows, columns, dtype=inputs.dtype, device=device)
            emission_kernels.weigh[(rows,)](
                inputs=inputs,
                peaks=peaks,
                step=step,
                result=weighted,
                WIDTH=columns,
                PITCH=inputs.stride(1),
                BLOCK=power(columns),
            )
            emission_kernels.word_gradients[(vocabulary,)](
                products=product(of_logits.mT, weighted),
                step=step,
                chosen=torch.bmm(surplus, hidden),
                surplus=surplus,
                words=words,
                of_weights=of_weights,
                of_bias=of_bias,
                rows=preterminals,
                places=words.numel(),
                SIZE=size,
                PITCH=columns,
                ROWS=power(preterminals),
                LOOK=_PLACES,
                STEP=_STEP,
                BLOCK=power(size),
            )
        emission_kernels.hidden_gradients[(-(-size // _COLUMNS), runs)](
            products=product(of_logits, table),
            steps=steps,
            surplus=surplus,
            words=words,
            weights=weights,
            result=of_hidden,
            rows=preterminals,
            positions=positions,
            SIZE=size,
            PITCH=columns,
            ROWS=power(preterminals, _LEAST),
            LOOK=_LEAST,
            BLOCK=_COLUMNS,
            num_warps=2,  # with more, 64 preterminals would be asynchronous products, see `synchronous`
        )
        aside.join()
        return of_hidden, of_weights, of_bias, None, None


def _extended(matrix: Tensor, column: Tensor | None, rows: int) -> tuple[Tensor, Tensor]:
    """Return a matrix with one more column, and with zeros beside and below, in parts; see `extend`.

    Parameters
    ----------
    column : without it, there are 1s instead, as for inputs, and scales (rows,) that these are to be
        multiplied by.
    """
    size = matrix.shape[1]
    width = aligned(size + 1)
    result = half_matrix(1, rows, parts() * width, device=matrix.device)
    scales = torch.empty(rows, device=matrix.device)
    emission_kernels.extend[(rows,)](
        x=matrix,
        column=scales if column is None else column,
        result=result,
        scales=scales,
        given=len(matrix),
        SIZE=size,
        WIDTH=width,
        PITCH=result.stride(1),
        INPUTS=column is None,
        SPLIT=parts() > 1,
        **whole_row(width),
    )
    return result, scales
