"""The inside algorithm in rank space as it is defined: span by span, in log space, in float64.

Slow, and the measure of all others. Entries of the rules that are exactly zero get gradient zero.
"""

from __future__ import annotations

import math
from itertools import combinations

import torch
from torch import Tensor

from treemean.grammars.inside.logarithms import log, log_sum
from treemean.grammars.inside.marks import posteriors_by_marks
from treemean.grammars.inside.rules import RankRules, full_lengths
from treemean.grammars.spans import SpanPosteriors

Span = tuple[int, int]
Gapped = tuple[int, int, int, int]


def log_partition(rules: RankRules, lengths: Tensor | None = None) -> Tensor:
    """Return log Z of each sentence, (B,) in float64, or (E, B) for a stack; -inf for one word.

    Takes O(n⁴ (r2 + r3) + n⁵ r4) steps, each a few calls into PyTorch.
    """
    if rules.is_stacked:
        per_run = [None] * len(rules.views) if lengths is None else list(lengths)
        return torch.stack([log_partition(r, k) for r, k in zip(rules.unstack(), per_run)])
    return _log_partition(rules, lengths, {})


def span_posteriors(rules: RankRules, lengths: Tensor | None = None) -> SpanPosteriors:
    """Return the span posteriors of a batch, in float64.

    They are the derivatives of log Z by the logarithm of a factor put on all views of a span.
    """
    batch, n, _ = rules.views.shape
    return posteriors_by_marks(
        lambda marks: _log_partition(rules, lengths, marks),
        full_lengths(lengths, batch, n, rules.views.device),
        n,
        rules.ranks.has_gaps,
    )


def _log_partition(rules: RankRules, lengths: Tensor | None, marks: dict[tuple[int, ...], Tensor]) -> Tensor:
    """Return log Z; `marks` are (B,) logarithms of factors on spans."""
    (batch, n, _), ranks = rules.views.shape, rules.ranks
    lengths = full_lengths(lengths, batch, n, rules.views.device)
    columns, nothing = ranks.columns, torch.tensor(0.0, dtype=torch.float64)
    to_continuous, to_discontinuous = log(rules.continuous.double()), log(rules.discontinuous.double())
    root = log(rules.root.double())

    def views_of(scores: Tensor, matrix: Tensor, span: tuple[int, ...]) -> Tensor:
        views = log_sum(scores[:, :, None] + matrix, 1)
        if rules.floor > 0:
            least = math.log(rules.floor) + scores.detach().amax(1, keepdim=True)
            views = log_sum(torch.stack([views, least.expand_as(views)]), 0)
        return views + marks.get(span, nothing)[..., None]

    continuous: dict[Span, Tensor] = {}
    discontinuous: dict[Gapped, Tensor] = {}
    for i in range(n):
        word = log(rules.views[:, i].double()) + rules.scales[:, i, None].double()
        continuous[i, i + 1] = word + marks.get((i, i + 1), nothing)[..., None]

    def offer(use: slice, i: int, j: int) -> Tensor:
        return continuous[i, j][:, use]

    def attach(attachment: int, i: int, j: int) -> Tensor:
        return offer(columns.attached, i, j)[:, attachment * ranks.r4 : (attachment + 1) * ranks.r4]

    def wrapping(*span: int) -> Tensor:
        return discontinuous[span][:, : ranks.r2]  # type: ignore[index]

    def extended(*span: int) -> Tensor:
        return discontinuous[span][:, ranks.r2 :]  # type: ignore[index]

    def add(terms: list[Tensor], size: int) -> Tensor:
        never = torch.full((batch, size), -math.inf, dtype=torch.float64)
        return log_sum(torch.stack([never, *terms]), 0)

    result = torch.full((batch,), -math.inf, dtype=torch.float64) + 0.0 * rules.root.sum()  # has gradients
    for width in range(2, n + 1):
        for i in range(n - width + 1):
            j = i + width
            side_by_side = [offer(columns.left, i, k) + offer(columns.right, k, j) for k in range(i + 1, j)]
            wrapped = [
                offer(columns.wrapped, m, p) + wrapping(i, m, p, j)
                for m, p in combinations(range(i + 1, j), 2)
                if ranks.has_gaps
            ]
            scores = torch.cat([add(side_by_side, ranks.r1), add(wrapped, ranks.r2)], 1)
            continuous[i, j] = views_of(scores, to_continuous, (i, j))
            if i == 0:
                value = log_sum(scores + root, 1) + marks.get((i, j), nothing)
                result = torch.where(lengths == width, value, result)
        if not ranks.has_gaps:
            continue
        for i, j, m, e in combinations(range(n + 1), 4):
            if j - i + e - m != width:
                continue
            apart = offer(columns.gap_left, i, j) + offer(columns.gap_right, m, e)
            attached = [attach(0, i, k) + extended(k, j, m, e) for k in range(i + 1, j)]
            attached += [attach(1, k, j) + extended(i, k, m, e) for k in range(i + 1, j)]
            attached += [attach(2, m, k) + extended(i, j, k, e) for k in range(m + 1, e)]
            attached += [attach(3, k, e) + extended(i, j, m, k) for k in range(m + 1, e)]
            scores = torch.cat([apart, add(attached, ranks.r4)], 1)
            discontinuous[i, j, m, e] = views_of(scores, to_discontinuous, (i, j, m, e))
    return result
