"""Residual networks of few rows, whose gradients take longer to start than to compute."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from treemean.grammars.dense.triton.compound.parallel_networks import Aside
from treemean.grammars.networks import Residual


def residual(block: Residual, x: Tensor) -> Tensor:
    """Return what a block makes of (..., s), with gradients of its parameters aside."""
    first, _, second, _ = block.layers
    result: Tensor = _Residual.apply(  # type: ignore[no-untyped-call]
        x.flatten(0, -2), first.weight, first.bias, second.weight, second.bias
    )
    return result.view_as(x)


class _Residual(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weights: Tensor, bias: Tensor, more_weights: Tensor, more_bias: Tensor
    ) -> Tensor:
        inner = torch.addmm(bias, x, weights.T).relu_()
        added = torch.addmm(more_bias, inner, more_weights.T).relu_()
        ctx.save_for_backward(x, inner, added, weights, more_weights)
        return x + added

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, ...]:
        x, inner, added, weights, more_weights = ctx.saved_tensors
        aside = Aside(grad.device)
        of_weights, of_more_weights = torch.empty_like(weights), torch.empty_like(more_weights)
        of_bias, of_more_bias = (grad.new_empty(grad.shape[1]) for _ in range(2))
        outer = torch.ops.aten.threshold_backward(grad, added, 0)
        with aside.block():
            torch.mm(outer.T, inner, out=of_more_weights)
            torch.sum(outer, 0, out=of_more_bias)
        within = torch.ops.aten.threshold_backward(outer @ more_weights, inner, 0)
        with aside.block():
            torch.mm(within.T, x, out=of_weights)
            torch.sum(within, 0, out=of_bias)
        of_x = torch.mm(within, weights).add_(grad)
        aside.join()
        return of_x, of_weights, of_bias, of_more_weights, of_more_bias
