"""Products of what is said of spans with the matrix of each grammar of a stack, and their gradients."""

from __future__ import annotations

import torch
from torch import Tensor


def apply_matrix(x: Tensor, matrix: Tensor) -> Tensor:
    """Multiply [..., K, r] by each grammar's matrix, (E, r, c)."""
    runs, rows, columns = matrix.shape
    if runs == 1:
        return x @ matrix[0]
    grouped = x.reshape(-1, runs, x.shape[-2] // runs, rows).transpose(0, 1)
    product = torch.bmm(grouped.reshape(runs, -1, rows), matrix)
    return (
        product.view(runs, -1, x.shape[-2] // runs, columns).transpose(0, 1).reshape(*x.shape[:-1], columns)
    )


def matrix_gradient(x: Tensor, grad: Tensor, runs: int) -> Tensor:
    """Return the gradient (E, r, c) of each grammar's matrix from its operand and the product's gradient."""
    rows, columns = x.shape[-1], grad.shape[-1]
    if runs == 1:
        return (x.reshape(-1, rows).T @ grad.reshape(-1, columns))[None]
    shape = (-1, runs, x.shape[-2] // runs)
    left = x.reshape(*shape, rows).permute(1, 3, 0, 2).reshape(runs, rows, -1)
    right = grad.reshape(*shape, columns).transpose(0, 1).reshape(runs, -1, columns)
    return torch.bmm(left, right)
