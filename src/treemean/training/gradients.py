"""Gradients of a batch, the quick way or in full precision, and how good the quick way is."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from treemean.grammars import Grammar
from treemean.grammars.precision import in_float64

if TYPE_CHECKING:
    from treemean.training.learner import Request

#: By how many nats per word log Z may be off before the quick way is not used any more.
LARGEST_DIFFERENCE = 1e-3
#: Sentences in full precision at once; they take several times the memory of quick ones.
_AT_ONCE = 4


def differentiate(
    grammar: Grammar, request: Request, places: Tensor, at_once: int, generator: torch.Generator
) -> Tensor:
    """Add the gradient of the mean objective of a batch to those of the parameters.

    Parameters
    ----------
    places : of the sentences that are this process's share of the batch.
    at_once : so many of them together, all if 0.
    generator : of what the grammar draws, on its device.

    Returns
    -------
    The sums (2,) of the two losses over the share.
    """
    parameter = next(grammar.parameters())
    total = len(request.words)
    sums = torch.zeros(2, dtype=parameter.dtype, device=parameter.device)
    for some in torch.split(places, at_once or total):
        if len(some) == 0:
            continue
        lengths = None if request.lengths is None else request.lengths[some]
        width = request.words.shape[1] if lengths is None else int(lengths.max())
        loss = grammar.loss(
            request.words[some, :width].to(sums.device),
            None if lengths is None else lengths.to(sums.device),
            generator=generator,
        )
        parts = torch.stack([loss.negative_log_likelihood.sum(), loss.divergence.sum()])
        (parts.sum() / total).backward()  # type: ignore[no-untyped-call]
        sums += parts.detach()
    return sums


def differentiate_exactly(
    grammar: Grammar, request: Request, places: Tensor, generator: torch.Generator
) -> Tensor:
    """Set the gradients of the parameters to what they are in float64; see `differentiate`."""
    precise = in_float64(grammar)
    sums = differentiate(precise, request, places, _AT_ONCE, generator)
    for parameter, copy in zip(grammar.parameters(), precise.parameters()):
        parameter.grad = None if copy.grad is None else copy.grad.to(parameter.dtype)
    return sums.to(next(grammar.parameters()).dtype)


def some_of_all_lengths(lengths: NDArray[np.int64], *, longest: bool) -> NDArray[np.int64]:
    """Return the places of up to three sentences, at a quarter, half and three quarters of all lengths.

    Parameters
    ----------
    longest : whether the longest is wanted too, which takes by far the most time in full precision.

    >>> some_of_all_lengths(np.array([7, 2, 9, 3, 4, 5, 6, 8]), longest=True).tolist()
    [3, 5, 0, 2]
    """
    order = np.argsort(lengths, kind="stable")
    quarters = len(order) * np.arange(1, 5 if longest else 4) // 4 - 1
    places: NDArray[np.int64] = order[np.unique(quarters.clip(0))]
    return places


@torch.no_grad()
def difference(grammar: Grammar, words: Tensor, lengths: Tensor | None) -> float:
    """Return by how many nats per word log Z of a sentence is off at most, beside float64.

    Infinity where only float64 has a result, and no number where it has none either: then the parameters are
    broken, and no precision helps.
    """
    device = next(grammar.parameters()).device
    words, lengths = words.to(device), None if lengths is None else lengths.to(device)
    expected = in_float64(grammar).log_prob(words, lengths)
    if not bool(expected.isfinite().all()):
        return math.nan
    off = (grammar.log_prob(words, lengths).double() - expected).abs()
    off /= words.shape[1] if lengths is None else lengths
    return float(off.nan_to_num(nan=math.inf).max())
