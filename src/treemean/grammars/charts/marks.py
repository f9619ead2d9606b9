"""Span posteriors of the naive inside algorithms, straight from their meaning."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import torch
from torch import Tensor

from treemean.grammars.spans import SpanPosteriors, empty_discontinuous

#: Logarithms of factors on spans (i, j) and (i, j, m, e).
Marks = dict[tuple[int, ...], Tensor]


def posteriors_by_marks(
    log_partition: Callable[[int, int, Marks], Tensor], lengths: Tensor, n: int, gaps: bool
) -> SpanPosteriors:
    """Return derivatives of log Z by the logarithm of a factor put on each span, in float64.

    Parameters
    ----------
    log_partition : returns log Z, given the number of a sentence, its length, and logarithms of factors.
    lengths : (B,).
    n : for how many words to make charts.
    gaps : whether there are discontinuous spans.
    """
    batch = len(lengths)
    posteriors = SpanPosteriors(
        torch.zeros(batch, n + 1, n + 1, dtype=torch.float64),
        empty_discontinuous(batch, n, dtype=torch.float64) if gaps else {},
    )
    for sentence, length in enumerate(lengths.tolist()):
        for i in range(length):
            posteriors.continuous[sentence, i, i + 1] = 1.0
        spans: list[tuple[int, ...]] = [(i, j) for i, j in combinations(range(length + 1), 2) if j > i + 1]
        spans += combinations(range(length + 1), 4) if gaps else ()
        if not spans:
            continue
        marks = {span: torch.zeros((), dtype=torch.float64, requires_grad=True) for span in spans}
        with torch.enable_grad():
            value = log_partition(sentence, length, marks)
        for span, grad in zip(spans, torch.autograd.grad(value, list(marks.values()))):
            if len(span) == 2:
                posteriors.continuous[sentence, span[0], span[1]] = grad
            else:
                i, j, m, e = span
                posteriors.discontinuous[j - i + e - m][sentence, j - i - 1, i, m - (j - i) - 1] = grad
    return posteriors
