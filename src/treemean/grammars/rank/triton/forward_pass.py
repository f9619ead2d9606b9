"""The inside pass: which kernel when, and beside which other."""

from __future__ import annotations

import torch
from torch import Tensor

from treemean.grammars.charts.weights import SpanWeights
from treemean.grammars.gpu.launching import launch
from treemean.grammars.gpu.tiles import power, tiles
from treemean.grammars.rank.triton import forward_kernels as kernels
from treemean.grammars.rank.triton import forward_large_term_kernels as large_term_kernels
from treemean.grammars.rank.triton.charts import Charts
from treemean.grammars.rank.triton.context import Context, KernelRules, product_parts, tensor_cores
from treemean.grammars.rank.triton.weight_kernels import spread_weights


def fill_charts(
    context: Context,
    views: Tensor,
    scales: Tensor,
    rules: KernelRules,
    weights: SpanWeights | None = None,
) -> Charts:
    """Score all spans, from short ones to long ones.

    Parameters
    ----------
    context : of this pass.
    views : (E, B, n, C) of the words.
    scales : (E, B, n) of the words.
    rules : contracted rules.
    weights : of spans. What a span offers to those above it, its views, is multiplied by them.
    """
    shape, streams = context.shape, context.streams
    charts = Charts.allocate(
        shape, context.device, context.floor, product_parts(), weighed=weights is not None
    )
    if weights is not None:
        _spread(context, charts, weights)
    words = shape.rows_of(1)
    charts.views[:, words] = views.reshape(shape.runs, -1, context.columns)
    charts.scales[:, words] = scales.reshape(shape.runs, -1)
    lift = context.lift() if context.floor > 0 else None
    for width in range(2, shape.n + 1):
        if context.gaps and width < shape.n:
            with streams.beside(0):
                _publish(context, charts, width - 1)
                _combine_pairs(context, charts, rules, width)
                _attach(context, charts, rules, width)
        _continuous(context, charts, width)
        if width < shape.n:
            rows = shape.rows_of(width)
            scores, target = charts.scores[:, rows].flatten(2), charts.views[:, rows]
            with tensor_cores():
                if lift is None:
                    torch.bmm(scores, rules.continuous, out=target)
                else:
                    torch.baddbmm(lift, scores, rules.continuous, out=target)
            if charts.weighed:
                target.mul_(charts.row_factors[:, rows, None])
        streams.join(0)
    if context.gaps and shape.n > 1:
        _publish(context, charts, shape.n - 1)
    return charts


def _spread(context: Context, charts: Charts, weights: SpanWeights) -> None:
    weights = weights.to(charts.scales)
    charts.row_factors.fill_(1.0)
    if weights.others is None:
        charts.factors.fill_(1.0)
    else:
        charts.factors.copy_(weights.others.exp()[:, None].expand_as(charts.factors))
    if len(weights.spans) == 0:
        return
    launch(
        spread_weights,
        (tiles(len(weights.spans), 128),),
        weights,
        charts,
        context.shape,
        count=len(weights.spans),
        BLOCK=128,
        GAPS=context.gaps,
    )


def _continuous(context: Context, charts: Charts, width: int) -> None:
    shape, settings = context.shape, context.settings
    launch(
        kernels.continuous_forward,
        (shape.n - width + 1, shape.sentences),
        charts,
        shape,
        context.constants,
        width=width,
        H=shape.ranks.r2,
        PARTS=product_parts(),
        BLOCK_RANKS=power(shape.ranks.r1, 16),
        BLOCK_SPLITS=power(shape.n, 16),
        STEP=settings.step,
        PAIRS=settings.pairs,
        DISCONTINUOUS=context.gaps,
        num_warps=settings.span_warps,
    )


def _publish(context: Context, charts: Charts, width: int) -> None:
    shape = context.shape
    launch(
        large_term_kernels.publish_gap_views,
        (shape.n - width + 1, shape.sentences, 2),
        charts,
        shape,
        context.constants,
        width=width,
        BLOCK_RANKS=power(shape.ranks.r3, 16),
        num_warps=2,
    )


def _combine_pairs(context: Context, charts: Charts, rules: KernelRules, width: int) -> None:
    shape, settings = context.shape, context.settings
    size = shape.n - width
    columns = min(2 * shape.half, settings.large_lines)
    # A tile is at least 16 wide on either side, as the tensor cores want it.
    left = min(settings.large_lines // columns, power(size, max(1, 16 // columns)))
    right = min(settings.large_right, power(size, 16))
    across = tiles(size, right)
    column_tiles = 2 * shape.half // columns
    launch(
        large_term_kernels.large_forward,
        (tiles(size, left) * across, (width - 1) * column_tiles, shape.sentences),
        charts,
        shape,
        context.constants,
        contraction=rules.from_pairs,
        width=width,
        tiles=across,
        BLOCK_LEFT=left,
        BLOCK_RIGHT=right,
        BLOCK_COLUMNS=columns,
        STEP=settings.large_step,
        FLOOR=context.floor > 0,
        num_warps=settings.large_warps,
        num_stages=settings.large_stages,
    )


def _attach(context: Context, charts: Charts, rules: KernelRules, width: int) -> None:
    shape, settings = context.shape, context.settings
    size = shape.n - width
    count = size * (size + 1) // 2
    block = min(settings.cells, power(count, 16))
    launch(
        kernels.attach_forward,
        (tiles(count, block), width - 1, shape.sentences),
        charts,
        shape,
        context.constants,
        contraction=rules.from_attached,
        floor=context.floor,
        width=width,
        R2=context.unpadded.r2,
        R4=context.unpadded.r4,
        BLOCK=block,
        FLOOR=context.floor > 0,
        WEIGHED=charts.weighed,
        num_warps=settings.cell_warps,
    )
