"""What "or" means when charts are filled in log space: sum over all ways, or the best way."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor

from treemean.grammars.charts.logarithms import log, log_sum


class Semiring(ABC):
    """Combines alternatives; those that follow one another are added, as logarithms."""

    @abstractmethod
    def either(self, a: Tensor, b: Tensor) -> Tensor:
        """Combine two alternatives, elementwise."""

    @abstractmethod
    def any_of(self, x: Tensor, dim: int) -> Tensor:
        """Combine the alternatives along an axis."""

    @abstractmethod
    def product(self, x: Tensor, matrix: Tensor) -> Tensor:
        """Combine x[..., r] + matrix[..., r, c] over r; axes before the last broadcast."""

    @abstractmethod
    def pairs(self, left: Tensor, right: Tensor, matrix: Tensor) -> Tensor:
        """Combine left[..., i, r] + right[..., m, r] + matrix[r, c] over r to [..., i, m, c]."""


class Sum(Semiring):
    """Adds probabilities."""

    def either(self, a: Tensor, b: Tensor) -> Tensor:
        """See `Semiring.either`."""
        return torch.logaddexp(a, b)

    def any_of(self, x: Tensor, dim: int) -> Tensor:
        """See `Semiring.any_of`."""
        return log_sum(x, dim)

    def product(self, x: Tensor, matrix: Tensor) -> Tensor:
        """See `Semiring.product`."""
        shift = _largest(x)
        if matrix.dim() == 2:
            return log((x - shift).exp() @ matrix.exp()) + shift
        return log(((x - shift).exp()[..., None, :] @ matrix.exp())[..., 0, :]) + shift

    def pairs(self, left: Tensor, right: Tensor, matrix: Tensor) -> Tensor:
        """See `Semiring.pairs`."""
        left_shift, right_shift = _largest(left), _largest(right)
        weighted = (left - left_shift).exp()[..., None, :] * matrix.exp().T
        both = weighted.flatten(-3, -2) @ (right - right_shift).exp().transpose(-1, -2)
        both = both.view(*weighted.shape[:-1], -1).transpose(-1, -2)
        return log(both) + left_shift[..., None] + right_shift[..., None, :, :]


class Max(Semiring):
    """Keeps the most probable."""

    def either(self, a: Tensor, b: Tensor) -> Tensor:
        """See `Semiring.either`."""
        return torch.maximum(a, b)

    def any_of(self, x: Tensor, dim: int) -> Tensor:
        """See `Semiring.any_of`."""
        return x.amax(dim)

    def product(self, x: Tensor, matrix: Tensor) -> Tensor:
        """See `Semiring.product`; one row or one column at a time, so as to need little memory."""
        rows, columns = matrix.shape[-2:]
        if columns < rows:
            return torch.stack([(x + matrix[..., c]).amax(-1) for c in range(columns)], -1)
        result = x[..., :1] + matrix[..., 0, :]
        for r in range(1, rows):
            result = torch.maximum(result, x[..., r : r + 1] + matrix[..., r, :])
        return result

    def pairs(self, left: Tensor, right: Tensor, matrix: Tensor) -> Tensor:
        """See `Semiring.pairs`; one column at a time, so as to need little memory."""
        right = right[..., None, :, :]
        return torch.stack([((left + column)[..., None, :] + right).amax(-1) for column in matrix.T], -1)


SUM, MAX = Sum(), Max()


def _largest(x: Tensor) -> Tensor:
    """Return the largest entry of each row as a shift; 0 for a row of -inf."""
    largest = x.amax(-1, keepdim=True)
    return torch.where(largest.isinf(), 0.0, largest)
