"""How kernels are compared with the definitions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import torch
from torch import Tensor

from treemean.grammars.dense.rules import DenseRules
from treemean.grammars.rank.rules import RankRules
from treemean.grammars.spans import SpanPosteriors

Rules = RankRules | DenseRules


def tensors_of(rules: Rules) -> dict[str, Tensor]:
    """Return all tensors by name."""
    every = {field.name: getattr(rules, field.name) for field in fields(rules)}
    return {name: value for name, value in every.items() if isinstance(value, Tensor)}


def moved(rules: Any, device: str, dtype: torch.dtype) -> Any:
    """Return rules in other numbers, on a device."""
    return replace(rules, **{name: tensor.to(device, dtype) for name, tensor in tensors_of(rules).items()})


def differentiate(
    log_partition: Callable[[Any, Tensor | None], Tensor], rules: Rules, lengths: Tensor | None
) -> tuple[Tensor, dict[str, Tensor]]:
    """Return log Z and the gradients of a weighted sum of it, which no kernel gets right by symmetry."""
    leaves = {n: t.clone().requires_grad_() for n, t in tensors_of(rules).items() if n != "scales"}
    value = log_partition(replace(rules, **leaves), lengths)
    weights = torch.linspace(0.5, 1.5, value.numel(), dtype=value.dtype, device=value.device).view_as(value)
    total = (torch.where(value.isfinite(), value, 0.0) * weights).sum()
    gradients = torch.autograd.grad(total, list(leaves.values()), allow_unused=True, materialize_grads=True)
    return value.detach().cpu().double(), {n: g.cpu().double() for n, g in zip(leaves, gradients)}


def rounded_at_random(product: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
    """Return a matrix product whose every number is off by a little, as sums on a GPU are."""
    generator = torch.Generator().manual_seed(1)

    def rounded(a: Tensor, b: Tensor) -> Tensor:
        result = product(a, b)
        return result * (1 + 1e-6 * torch.randn(result.shape, generator=generator).to(result))

    return rounded


def assert_same_gradients(found: dict[str, Tensor], expected: dict[str, Tensor], tolerance: float) -> None:
    """Compare norms: small numbers of a tensor may be off by more than large ones."""
    for name, wanted in expected.items():
        assert found[name].shape == wanted.shape, name
        assert torch.isfinite(found[name]).all(), name
        error = float((found[name] - wanted).norm())
        assert error <= tolerance * float(wanted.norm()), f"{name} is off by {error}"


def assert_same_spans(found: SpanPosteriors, expected: SpanPosteriors, tolerance: float) -> None:
    """Compare posteriors one by one."""
    found = found.to("cpu")
    torch.testing.assert_close(found.continuous.double(), expected.continuous, rtol=0, atol=tolerance)
    assert found.discontinuous.keys() == expected.discontinuous.keys()
    for width, chart in expected.discontinuous.items():
        torch.testing.assert_close(found.discontinuous[width].double(), chart, rtol=0, atol=tolerance)
