"""Span posteriors of the naive inside algorithms, straight from their meaning."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import torch
from torch import Tensor

from treemean.grammars.spans import SpanPosteriors, empty_discontinuous


def posteriors_by_marks(
    log_partition: Callable[[dict[tuple[int, ...], Tensor]], Tensor], lengths: Tensor, n: int, gaps: bool
) -> SpanPosteriors:
    """Return derivatives of log Z by the logarithm of a factor put on each span, in float64.

    Parameters
    ----------
    log_partition : returns log Z (B,), given such logarithms (B,) by span: (i, j) and (i, j, m, e).
    lengths : (B,).
    """
    batch = len(lengths)
    spans: list[tuple[int, ...]] = [*combinations(range(n + 1), 2)]
    spans += combinations(range(n + 1), 4) if gaps else ()
    marks = {span: torch.zeros(batch, dtype=torch.float64, requires_grad=True) for span in spans}
    with torch.enable_grad():
        value = log_partition(marks)
        total = torch.where(value.isfinite(), value, 0.0).sum() + 0.0 * torch.stack([*marks.values()]).sum()
    grads = torch.autograd.grad(total, list(marks.values()))
    posteriors = SpanPosteriors(
        torch.zeros(batch, n + 1, n + 1, dtype=torch.float64),
        empty_discontinuous(batch, n, dtype=torch.float64) if gaps else {},
    )
    for span, grad in zip(marks, grads):
        if len(span) == 2:
            i, j = span
            posteriors.continuous[:, i, j] = (lengths >= j).double() if j == i + 1 else grad
        else:
            i, j, m, e = span
            posteriors.discontinuous[j - i + e - m][:, j - i - 1, i, m - (j - i) - 1] = grad
    return posteriors
