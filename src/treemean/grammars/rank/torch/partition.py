"""The inside algorithm in rank space, vectorised over spans, splits and sentences; its own backward pass.

Values are plain probabilities. Each continuous span has one log scale, and a discontinuous span uses the sum
of the scales of its two parts, so that the largest term (R4) is a bare matrix product. Scales count as
constants in gradients, which is exact because the result does not depend on them.

Loops run over widths, and for R5-R8 over the number of words of the attached child: O(n²) operations, each of
which handles everything of one width. Writing the backward pass by hand saves most of autograd's bookkeeping.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from treemean.grammars.charts.weights import SpanWeights
from treemean.grammars.rank.rules import RankRules
from treemean.grammars.rank.torch.inside import Inside
from treemean.grammars.rank.torch.outside import Outside
from treemean.grammars.spans import SpanPosteriors, empty_discontinuous, full_lengths


def log_partition(
    rules: RankRules, lengths: Tensor | None = None, weights: SpanWeights | None = None
) -> Tensor:
    """Return log Z of each sentence, (B,), or (E, B) for a stack; -inf for one word.

    Takes O(n³ r1 + n⁴ (r2 + r3) + n⁵ r4) time and O(n⁴ (r2 + r4)) memory per sentence. `weights` number the
    sentences of a stack one grammar after the other.
    """
    if not rules.is_stacked:
        return log_partition(rules.stack(), None if lengths is None else lengths[None], weights)[0]
    runs, batch, n, _ = rules.views.shape
    flat = None if lengths is None else lengths.reshape(-1)
    lengths = full_lengths(flat, runs * batch, n, rules.views.device)
    value: Tensor = _LogPartition.apply(  # type: ignore[no-untyped-call]
        rules.views, rules.continuous, rules.discontinuous, rules.root, rules, lengths, weights
    )
    return value.view(runs, batch)


@torch.no_grad()
def span_posteriors(rules: RankRules, lengths: Tensor | None = None) -> SpanPosteriors:
    """Return the span posteriors of a batch: what each view is worth times how much log Z gains by it."""
    batch, n, _ = rules.views.shape
    lengths = full_lengths(lengths, batch, n, rules.views.device)
    inside = Inside(rules.stack(), lengths)
    outside = Outside(inside, torch.ones_like(inside.log_z))
    continuous = rules.views.new_zeros(batch, n + 1, n + 1)
    for width in range(1, n + 1):
        worth = (inside.views.read(width) * outside.views.read(width)).sum(-1)  # [i, K]
        continuous.diagonal(width, 1, 2).copy_(worth.T)
    sentences = torch.arange(batch, device=lengths.device)
    continuous[sentences, 0, lengths] = 1.0
    words = torch.arange(n, device=lengths.device) < lengths[:, None]
    continuous.diagonal(1, 1, 2).copy_(words)
    discontinuous = {}
    if inside.has_gaps:
        discontinuous = empty_discontinuous(batch, n, dtype=continuous.dtype, device=continuous.device)
        for width, chart in discontinuous.items():
            worth = (inside.wrapping.at(width) * outside.wrapping.at(width)).sum(-1)
            worth += (inside.extended.at(width) * outside.extended.at(width)).sum(-1)
            chart.copy_(worth.permute(3, 0, 1, 2))
    return SpanPosteriors(continuous, discontinuous)


class _LogPartition(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        views: Tensor,
        continuous: Tensor,
        discontinuous: Tensor,
        root: Tensor,
        rules: RankRules,
        lengths: Tensor,
        weights: SpanWeights | None,
    ) -> Tensor:
        inside = ctx.inside = Inside(rules, lengths, weights)
        return inside.log_z.clone()  # an output that `ctx` held would keep all charts until it is collected

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        inside = ctx.inside
        outside = Outside(inside, grad)
        views = outside.views.read(1).transpose(0, 1).reshape(inside.rules.views.shape)
        discontinuous = torch.cat([outside.apart_to_views, outside.attached_to_views], 1)
        root = outside.root.view(inside.runs, -1, outside.root.shape[-1]).sum(1)
        return views, outside.to_views, discontinuous, root, None, None, None
