"""What trials of kernels share: a module drawn anew, and how far two functions are apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import torch
from torch import Tensor, nn

#: The sentence of all trials: long enough for rules of all kinds.
WORDS = (0, 1, 2, 3)

Module = TypeVar("Module", bound=nn.Module)


def drawn(build: Callable[[], Module], device: torch.device) -> Module:
    """Return a module with the same random parameters each time; no number is taken away from others."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(1)
        return build().to(device)


def apart(first: Callable[[], Tensor], second: Callable[[], Tensor], leaves: Sequence[Tensor]) -> float:
    """Return the largest difference of two functions, and of their gradients by some tensors."""
    with torch.enable_grad():
        for leaf in leaves:
            leaf.requires_grad_()
        found, expected = (
            (value.detach(), *torch.autograd.grad(value.sum(), leaves)) for value in (first(), second())
        )
    # Unlike Python's, the maximum of PyTorch is not a number if one of these is not.
    return float(torch.stack([(a - b).abs().max() for a, b in zip(found, expected)]).max())
