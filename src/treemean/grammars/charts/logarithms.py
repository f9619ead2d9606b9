"""Logarithms and sums in log space where probabilities may be zero; gradients are never NaN."""

from __future__ import annotations

import math

import torch
from torch import Tensor


def log(x: Tensor) -> Tensor:
    """Return the logarithm; that of zero is -inf, with gradient zero.

    >>> log(torch.tensor([1.0, 0.0]))
    tensor([0., -inf])
    """
    positive = x > 0
    return torch.where(positive, torch.where(positive, x, 1.0).log(), -math.inf)


def log_sum(x: Tensor, dim: int) -> Tensor:
    """Return the logarithm of the sum of exponentials along an axis; all -inf gives -inf, with gradient zero.

    >>> log_sum(torch.tensor([[0.0, 0.0], [-math.inf, -math.inf]]), 1)
    tensor([0.6931,   -inf])
    """
    largest = x.detach().amax(dim, keepdim=True)
    largest = torch.where(largest.isinf(), 0.0, largest)
    return log((x - largest).exp().sum(dim)) + largest.squeeze(dim)
