"""log Z and span posteriors over symbols by kernels."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from treemean.grammars.charts.weights import SpanWeights, check_unweighted
from treemean.grammars.dense.rules import DenseRules
from treemean.grammars.dense.triton.backward_pass import Outside
from treemean.grammars.dense.triton.charts import Sizes, gapped_of_width, rule_matrix, spans_of_length
from treemean.grammars.dense.triton.forward_pass import DEFAULT, Inside, Settings
from treemean.grammars.spans import SpanPosteriors, full_lengths


def log_partition(
    rules: DenseRules,
    lengths: Tensor | None = None,
    weights: SpanWeights | None = None,
    *,
    settings: Settings = DEFAULT,
) -> Tensor:
    """Return log Z of each sentence, (B,), differentiable; -inf for one word.

    Takes the time of `dense.torch`, and O(n⁴ D) memory per sentence, in O(n) launches. Knows no weights.
    """
    check_unweighted(weights)
    batch, n, _ = rules.words.shape
    lengths = full_lengths(lengths, batch, n, rules.words.device)
    sizes = Sizes.of(rules)
    value: Tensor = _LogPartition.apply(  # type: ignore[no-untyped-call]
        rules.words, rules.root, rule_matrix(rules, sizes), lengths, sizes, settings
    )
    return value


@torch.no_grad()
def span_posteriors(rules: DenseRules, lengths: Tensor | None = None) -> SpanPosteriors:
    """Return the span posteriors of a batch: what each span is worth times how much log Z gains by it."""
    batch, n, _ = rules.words.shape
    lengths = full_lengths(lengths, batch, n, rules.words.device)
    sizes = Sizes.of(rules)
    inside = Inside(rules.words, rules.root, rule_matrix(rules, sizes), lengths, sizes)
    outside = Outside(inside, torch.ones_like(inside.log_z))
    continuous = rules.words.new_zeros(batch, n + 1, n + 1)
    worth = (inside.symbols * outside.symbols).sum(-1)
    for width in range(2, n + 1):
        continuous.diagonal(width, 1, 2).copy_(spans_of_length(worth, width, n))
    continuous.diagonal(1, 1, 2).copy_(torch.arange(n, device=lengths.device) < lengths[:, None])
    discontinuous = {}
    for width in range(2, n) if sizes.has_gaps else ():
        values, grads = (gapped_of_width(chart.gapped, width, n) for chart in (inside, outside))
        real = torch.ones(n - width, n - width, dtype=torch.bool, device=lengths.device).triu()
        discontinuous[width] = torch.where(real, (values * grads).sum(-1), 0.0)
    return SpanPosteriors(continuous, discontinuous)


class _LogPartition(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        words: Tensor,
        root: Tensor,
        matrix: Tensor,
        lengths: Tensor,
        sizes: Sizes,
        settings: Settings,
    ) -> Tensor:
        inside = ctx.inside = Inside(words, root, matrix, lengths, sizes, settings)
        ctx.sets = len(root)
        return inside.log_z.clone()  # an output that `ctx` held would keep all charts until it is collected

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        inside = ctx.inside
        outside = Outside(inside, grad)
        words = inside.words_in(outside.symbols) * inside.words_in(inside.symbols)
        root, matrix = outside.root, outside.matrix
        if ctx.sets == 1:
            root, matrix = root.sum(0, keepdim=True), matrix.sum(0, keepdim=True)
        return words, root, matrix, None, None, None
