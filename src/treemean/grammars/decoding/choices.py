"""How a tree is read off a chart: which alternative to take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from treemean.errors import NumericalError

Floats = NDArray[np.floating[Any]]

IS_NAN = (
    "the probability of a derivation is NaN: the parameters of the grammar are NaN or infinite; use the "
    "model of another run"
)

#: Chooses one of several alternatives by what they are worth.
Choose = Callable[[Floats], int]


def best(worth: Floats) -> int:
    """Choose the best alternative, the first of equals; raise `NumericalError` if one is NaN.

    >>> best(np.array([1.0, 3.0, 3.0]))
    1
    """
    place = int(worth.argmax())  # of NaN, if there is any
    if np.isnan(worth[place]):
        raise NumericalError(IS_NAN)
    return place


def check_numbers(*rules: Tensor) -> None:
    """Raise `NumericalError` if something is NaN, for those who choose where nobody looks."""
    if bool(torch.stack([tensor.isnan().any() for tensor in rules]).any()):
        raise NumericalError(IS_NAN)


def sampler(generator: torch.Generator | None) -> Choose:
    """Return a choice at random, in proportion to the exponentials, seeded by PyTorch's generator.

    It raises `NumericalError` if something is NaN.
    """
    device = "cpu" if generator is None else generator.device
    seed = torch.randint(2**62, (1,), generator=generator, device=device)
    draw = np.random.default_rng(int(seed))

    def choose(worth: Floats) -> int:
        chances = np.exp(worth - worth.max()).cumsum()
        if np.isnan(chances[-1]):
            raise NumericalError(IS_NAN)
        return int(np.searchsorted(chances, draw.random() * chances[-1], side="right"))

    return choose


def mask_of_span(start: int, end: int) -> int:
    """Return the words start..end-1 as a bit mask.

    >>> bin(mask_of_span(1, 3))
    '0b110'
    """
    return (1 << end) - (1 << start)


def to_numpy(x: Tensor) -> Floats:
    """Return a chart where walking through it is quick."""
    array: Floats = x.detach().cpu().numpy()
    return array
