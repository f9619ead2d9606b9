"""Gradients of a batch, the quick way or in full precision."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from treemean.grammars import Grammar
from treemean.grammars.nan_policy import in_float64

if TYPE_CHECKING:
    from treemean.training.learner import Request

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
            weights=None if request.weights is None else request.weights.chosen(some),
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
