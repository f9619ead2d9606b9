"""The inside pass: which kernel when, and beside which other."""

from __future__ import annotations

import torch
from torch import Tensor

from treemean.grammars.gpu.tiles import power, tiles
from treemean.grammars.rank.triton import forward as kernels
from treemean.grammars.rank.triton import large_term
from treemean.grammars.rank.triton.charts import Charts
from treemean.grammars.rank.triton.context import Context, KernelRules, product_parts, tensor_cores


def fill_charts(context: Context, views: Tensor, scales: Tensor, rules: KernelRules) -> Charts:
    """Score all spans, from short ones to long ones.

    Parameters
    ----------
    context : of this pass.
    views : (E, B, n, C) of the words.
    scales : (E, B, n) of the words.
    rules : contracted rules.
    """
    shape, streams = context.shape, context.streams
    charts = Charts.allocate(shape, context.device, context.floor, product_parts())
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
        streams.join(0)
    if context.gaps and shape.n > 1:
        _publish(context, charts, shape.n - 1)
    return charts


def _continuous(context: Context, charts: Charts, width: int) -> None:
    shape, settings = context.shape, context.settings
    kernels.continuous_forward[(shape.n - width + 1, shape.sentences)](
        charts.views,
        charts.scales,
        charts.scores,
        charts.wrapping,
        charts.ratios,
        charts.coefficients,
        width,
        shape.n,
        shape.batch,
        shape.rows,
        shape.cells,
        shape.splits,
        R1=shape.ranks.r1,
        H=shape.ranks.r2,
        COLUMNS=context.columns,
        WRAPPED=context.wrapped,
        ATTACHED=context.attached,
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
    large_term.publish_gap_views[(shape.n - width + 1, shape.sentences, 2)](
        charts.views,
        charts.parts,
        width,
        shape.n,
        shape.batch,
        shape.rows,
        shape.sentences,
        R3=shape.ranks.r3,
        COLUMNS=context.columns,
        GAP_LEFT=context.gap_left,
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
    large_term.large_forward[(tiles(size, left) * across, (width - 1) * column_tiles, shape.sentences)](
        charts.parts,
        rules.from_pairs,
        charts.wrapping,
        charts.attaching,
        charts.largest,
        width,
        shape.n,
        shape.batch,
        shape.cells,
        shape.sentences,
        across,
        R3=shape.ranks.r3,
        H=shape.half,
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
    kernels.attach_forward[(tiles(count, block), width - 1, shape.sentences)](
        charts.coefficients,
        rules.from_attached,
        charts.wrapping,
        charts.attaching,
        charts.attached,
        charts.largest,
        context.floor,
        width,
        shape.n,
        shape.batch,
        shape.cells,
        shape.splits,
        R2=context.unpadded.r2,
        R4=context.unpadded.r4,
        H=shape.half,
        BLOCK=block,
        FLOOR=context.floor > 0,
        num_warps=settings.cell_warps,
    )
