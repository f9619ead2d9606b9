"""log Z and its gradient by Triton kernels."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from treemean.grammars.charts.weights import SpanWeights
from treemean.grammars.gpu.tiles import power
from treemean.grammars.rank.rules import RankRules, Ranks
from treemean.grammars.rank.triton.backward_pass import Gradients, fill_gradients
from treemean.grammars.rank.triton.charts import Charts, Shape
from treemean.grammars.rank.triton.context import Context, KernelRules, split_rules, tensor_cores
from treemean.grammars.rank.triton.forward_pass import fill_charts
from treemean.grammars.rank.triton.settings import DEFAULT, Settings
from treemean.grammars.spans import ATTACHMENTS


def log_partition(
    rules: RankRules,
    lengths: Tensor | None = None,
    weights: SpanWeights | None = None,
    *,
    settings: Settings = DEFAULT,
) -> Tensor:
    """Return log Z of each sentence, (B,) or (E, B) for a stack, differentiable; -inf for one word.

    Parameters
    ----------
    rules : on a CUDA device (or anywhere under Triton's interpreter), in float32.
    lengths : (B,) or (E, B); without it all sentences have the full length.
    weights : of spans; they number the sentences of a stack one grammar after the other.
    settings : how the kernels divide their work.
    """
    if not rules.is_stacked:
        lengths = None if lengths is None else lengths[None]
        return log_partition(rules.stack(), lengths, weights, settings=settings)[0]
    padded = pad_ranks(rules)
    result: Tensor = _LogPartition.apply(  # type: ignore[no-untyped-call]
        padded.views,
        padded.scales,
        padded.continuous,
        padded.discontinuous,
        padded.root,
        lengths,
        weights,
        rules.ranks,
        padded.ranks,
        rules.floor,
        settings,
    )
    return result


def pad_ranks(rules: RankRules) -> RankRules:
    """Return stacked rules whose r2 and r4 are the same power of two, filled with zeros.

    Published sizes are left as they are.
    """
    ranks = rules.ranks
    if not ranks.has_gaps:
        return rules
    half = power(max(ranks.r2, ranks.r4))
    if ranks.r2 == half and ranks.r4 == half:
        return rules
    more2, more4 = half - ranks.r2, half - ranks.r4
    columns = ranks.columns

    def pad_columns(x: Tensor) -> Tensor:
        attached = x[..., columns.attached].view(*x.shape[:-1], ATTACHMENTS, ranks.r4)
        return torch.cat(
            [
                x[..., : columns.wrapped.start],
                F.pad(x[..., columns.wrapped], (0, more2)),
                x[..., columns.gap_left.start : columns.gap_right.stop],
                F.pad(attached, (0, more4)).flatten(-2),
            ],
            -1,
        )

    gapped = rules.discontinuous
    gapped = torch.cat([F.pad(gapped[..., : ranks.r2], (0, more2)), gapped[..., ranks.r2 :]], -1)
    return RankRules(
        views=pad_columns(rules.views),
        scales=rules.scales,
        continuous=F.pad(pad_columns(rules.continuous), (0, 0, 0, more2)),
        discontinuous=F.pad(gapped, (0, more4, 0, more4)),
        root=F.pad(rules.root, (0, more2)),
        ranks=ranks._replace(r2=half, r4=half),
        floor=rules.floor,
    )


def kernel_rules(continuous: Tensor, discontinuous: Tensor, root: Tensor, ranks: Ranks) -> KernelRules:
    """Return padded rules in the form that the kernels take."""
    return KernelRules(
        continuous=split_rules(continuous.detach()),
        from_pairs=discontinuous.detach()[:, : ranks.r3].transpose(1, 2).contiguous(),
        from_attached=discontinuous.detach()[:, ranks.r3 :].contiguous(),
        root=root.detach(),
    )


def _whole_rows(shape: Shape, lengths: Tensor) -> Tensor:
    """Return the rows (E, B) of the spans that are whole sentences; of one-word sentences too."""
    sentence = torch.arange(shape.batch, device=lengths.device)
    width = lengths
    return (width - 1) * (2 * shape.n - width + 2) // 2 * shape.batch + sentence * (shape.n - width + 1)


class Total:
    """What log Z of a filled chart is made of, and where it was read.

    It must not hold log Z itself: a result that the backward pass holds would keep the whole chart, and be
    kept by it, until the garbage collector comes by.
    """

    def __init__(self, shape: Shape, charts: Charts, root: Tensor, lengths: Tensor | None) -> None:
        self.rows = None if lengths is None else _whole_rows(shape, lengths)
        if self.rows is None:
            last = shape.rows_of(shape.n)
            scores, self._scales = charts.scores[:, last, :2], charts.scales[:, last]
            factors = charts.row_factors[:, last]
        else:
            parts = charts.scores[:, :, :2]
            places = self.rows[..., None, None].expand(-1, -1, *parts.shape[2:])
            scores, self._scales = parts.gather(1, places), charts.scales.gather(1, self.rows)
            factors = charts.row_factors.gather(1, self.rows) if charts.weighed else charts.row_factors
        if charts.weighed:  # nothing is above a whole sentence to take its weight into account
            self._scales = self._scales + factors.log()
        self.scores = scores.sum(2)  # what is rounded, and what rounding took away
        value = (self.scores * root[:, None]).sum(-1)
        self.real = value > 0 if lengths is None else (value > 0) & (lengths > 1)
        self.value = torch.where(self.real, value, 1.0)

    def log(self) -> Tensor:
        """Return log Z (E, B)."""
        return torch.where(self.real, self.value.log() + self._scales, -math.inf)

    def start(self, gradients: Gradients, shape: Shape, weights: Tensor, root: Tensor) -> Tensor:
        """Put the gradients of whole sentences into the chart; return the gradient of the root vector."""
        share = torch.where(self.real, weights / self.value, 0.0)
        whole = share[..., None] * root[:, None]
        if self.rows is None:
            gradients.scores[:, shape.rows_of(shape.n)] = whole
        else:
            gradients.scores.scatter_(1, self.rows[..., None].expand(-1, -1, shape.scores), whole)
        scores = torch.where(self.real[..., None], self.scores, 0.0)
        return (scores * share[..., None]).sum(1)


class _LogPartition(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        views: Tensor,
        scales: Tensor,
        continuous: Tensor,
        discontinuous: Tensor,
        root: Tensor,
        lengths: Tensor | None,
        weights: SpanWeights | None,
        unpadded: Ranks,
        ranks: Ranks,
        floor: float,
        settings: Settings,
    ) -> Tensor:
        runs, batch, n, _ = views.shape
        shape = Shape(runs, batch, n, ranks)
        ctx.context = Context(shape, unpadded, floor, settings, views.device)
        if n == 1:
            ctx.save_for_backward(views, continuous, discontinuous, root)
            return views.new_full((runs, batch), -math.inf)
        ctx.rules = kernel_rules(continuous, discontinuous, root, ranks)
        ctx.charts = fill_charts(ctx.context, views, scales, ctx.rules, weights)
        total = ctx.total = Total(shape, ctx.charts, ctx.rules.root, lengths)
        return total.log()

    @staticmethod
    def backward(ctx: Any, *weights: Tensor) -> tuple[Tensor | None, ...]:
        if ctx.context.shape.n == 1:
            views, continuous, discontinuous, root = map(torch.zeros_like, ctx.saved_tensors)
            return views, None, continuous, discontinuous, root, *[None] * 6
        context, charts, rules = ctx.context, ctx.charts, ctx.rules
        shape = context.shape
        gradients = Gradients.allocate(context, posteriors=False)
        of_root = ctx.total.start(gradients, shape, weights[0], rules.root)
        fill_gradients(context, charts, rules, gradients)
        with tensor_cores():
            middle = slice(shape.rows_of(1).stop, shape.rows_of(shape.n).start)
            of_continuous = torch.bmm(charts.scores[:, middle, 0].transpose(1, 2), gradients.views[:, middle])
        of_words = gradients.views[:, shape.rows_of(1)].reshape(shape.runs, shape.batch, shape.n, -1)
        return of_words, None, of_continuous, _of_discontinuous(shape, gradients), of_root, *[None] * 6


def _of_discontinuous(shape: Shape, gradients: Gradients) -> Tensor:
    """Add up the gradient of the matrix from scores of discontinuous spans to views."""
    half, r3 = shape.half, shape.ranks.r3
    if not shape.ranks.has_gaps:
        return gradients.from_pairs.new_zeros(shape.runs, 0, 0)
    pairs = gradients.from_pairs.view(shape.runs, -1, 2 * half * r3).sum(1)
    attached = gradients.from_attached.view(shape.runs, -1, 2 * half * half).sum(1)
    return torch.cat([pairs.view(-1, 2 * half, r3).transpose(1, 2), attached.view(-1, half, 2 * half)], 1)
