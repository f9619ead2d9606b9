"""The backward pass: which kernel when, and beside which other."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from treemean.grammars.gpu.launching import launch
from treemean.grammars.gpu.tiles import power, tiles
from treemean.grammars.rank.triton import backward_kernels as kernels
from treemean.grammars.rank.triton import backward_large_term_kernels as large_term_kernels
from treemean.grammars.rank.triton.charts import Charts
from treemean.grammars.rank.triton.context import Context, KernelRules, nearest_tf32, tensor_cores


@dataclass
class Gradients:
    """Gradients of a weighted sum of log Z by everything; E runs, S sentences of all runs."""

    scores: Tensor  # (E, rows, r1 + r2)
    views: Tensor  # (E, rows, C)
    attached: Tensor  # (S, cells, half)
    pairs: Tensor  # (2, S, cells, 2, 2 half) bfloat16
    from_pairs: Tensor  # (S, tiles, 2 half, r3), to be added up
    from_attached: Tensor  # (S, n, tiles, half, 2 half), to be added up
    shares: Tensor  # (S, 4, n, n, half): of attached views, by length of the other part
    posteriors: Tensor  # (S, cells) of discontinuous spans, if asked for

    @classmethod
    def allocate(cls, context: Context, *, posteriors: bool) -> Gradients:
        """Reserve memory; only what is added to is set to zero."""
        shape, settings, gaps = context.shape, context.settings, context.gaps
        s, half, n = shape.sentences * gaps, shape.half, shape.n
        device = context.device

        def empty(*size: int, dtype: torch.dtype = torch.float32) -> Tensor:
            return torch.empty(*size, device=device, dtype=dtype)

        cell_tiles = tiles((n - 2) * (n - 1) // 2, settings.cells_back) if n > 2 else 0
        part_tiles = tiles(n, _gradient_tile(context)[0])
        return cls(
            scores=torch.zeros(shape.runs, shape.rows, shape.scores, device=device),
            views=empty(shape.runs, shape.rows, shape.ranks.views),
            attached=empty(s, shape.cells, half),
            pairs=empty(2, s, shape.cells, 2, 2 * half, dtype=torch.bfloat16),
            from_pairs=torch.zeros(s, part_tiles, 2 * half, shape.ranks.r3, device=device),
            from_attached=torch.zeros(s, n, cell_tiles, half, 2 * half, device=device),
            shares=empty(s, 4, n, n, half),
            posteriors=empty(s, shape.cells if posteriors else 0),
        )


def fill_gradients(context: Context, charts: Charts, rules: KernelRules, gradients: Gradients) -> None:
    """Take all gradients, from long spans to short ones.

    `gradients.scores` holds the gradients of the spans that are whole sentences, and zeros.
    """
    shape, streams = context.shape, context.streams
    transposed = rules.continuous[:, : shape.scores].transpose(1, 2)
    for width in range(shape.n - 1, 0, -1):
        if context.gaps:
            with streams.beside(0):
                if width > 1:
                    _discontinuous(context, charts, rules, gradients, width)
            with streams.beside(1):
                _attached(context, charts, gradients, width)
                _wrapped(context, charts, gradients, width)
            with streams.beside(2):
                _siblings(context, charts, gradients, width)
            _large(context, charts, rules, gradients, width)
            streams.join(1, 2)
        else:
            _siblings(context, charts, gradients, width)
        if width > 1:
            rows = shape.rows_of(width)
            if charts.weighed:
                of_weighed = gradients.views[:, rows] * charts.row_factors[:, rows, None]
                gradients.views[:, rows] = nearest_tf32(of_weighed)
            with tensor_cores():
                gradients.scores[:, rows].baddbmm_(gradients.views[:, rows], transposed)
        streams.join(0)


def _discontinuous(
    context: Context, charts: Charts, rules: KernelRules, gradients: Gradients, width: int
) -> None:
    shape, settings = context.shape, context.settings
    size = shape.n - width
    count = size * (size + 1) // 2
    block = min(settings.cells_back, power(count, 16))
    launch(
        kernels.discontinuous_backward,
        (tiles(count, block), width - 1, shape.sentences),
        charts,
        shape,
        context.constants,
        score_gradients=gradients.scores,
        contraction=rules.from_attached,
        attached_gradients=gradients.attached,
        pairs=gradients.pairs,
        contraction_gradients=gradients.from_attached,
        posteriors=gradients.posteriors,
        width=width,
        tiles=gradients.from_attached.shape[2],
        BLOCK=block,
        POSTERIORS=gradients.posteriors.shape[1] > 0,
        WEIGHED=charts.weighed,
        num_warps=settings.cells_back_warps,
    )


def _gradient_tile(context: Context) -> tuple[int, int]:
    """Return how many parts and columns of the contraction matrix a program of the large term takes."""
    lines = context.settings.gradient_lines
    columns = min(2 * context.shape.half, lines)
    return lines // columns, columns


def _large(context: Context, charts: Charts, rules: KernelRules, gradients: Gradients, width: int) -> None:
    shape, settings = context.shape, context.settings
    ranks = min(settings.gradient_ranks, power(shape.ranks.r3, 16))
    parts, columns = _gradient_tile(context)
    grid = (tiles(shape.ranks.r3, ranks), tiles(shape.n - width + 1, parts), 2 * shape.sentences)
    launch(
        large_term_kernels.large_backward,
        grid,
        charts,
        shape,
        context.constants,
        pairs=gradients.pairs,
        contraction=rules.from_pairs,
        view_gradients=gradients.views,
        contraction_gradients=gradients.from_pairs,
        width=width,
        tiles=gradients.from_pairs.shape[1],
        BLOCK_RANKS=ranks,
        BLOCK_PARTS=parts,
        BLOCK_COLUMNS=columns,
        STEP=settings.gradient_step,
        num_warps=settings.gradient_warps,
        num_stages=settings.gradient_stages,
    )


def _attached(context: Context, charts: Charts, gradients: Gradients, width: int) -> None:
    shape, settings = context.shape, context.settings
    others = shape.n - 2 - width
    if others < 1:
        return
    grid = (tiles(shape.n - width + 1, settings.attached_own), others, 4 * shape.sentences)
    launch(
        kernels.attached_backward,
        grid,
        charts,
        shape,
        context.constants,
        attached_gradients=gradients.attached,
        partial=gradients.shares,
        width=width,
        BLOCK_OWN=settings.attached_own,
        BLOCK_OTHER=settings.attached_other,
        num_warps=settings.attached_warps,
    )


def _siblings(context: Context, charts: Charts, gradients: Gradients, width: int) -> None:
    shape, settings = context.shape, context.settings
    launch(
        kernels.sibling_backward,
        (shape.n - width + 1, shape.sentences, 2),
        charts,
        shape,
        context.constants,
        score_gradients=gradients.scores,
        view_gradients=gradients.views,
        width=width,
        H=shape.ranks.r2,
        BLOCK_RANKS=power(shape.ranks.r1, 16),
        STEP=settings.step,
        num_warps=settings.span_warps,
    )


def _wrapped(context: Context, charts: Charts, gradients: Gradients, width: int) -> None:
    shape, settings = context.shape, context.settings
    launch(
        kernels.wrapped_backward,
        (shape.n - width + 1, shape.sentences),
        charts,
        shape,
        context.constants,
        score_gradients=gradients.scores,
        partial=gradients.shares,
        view_gradients=gradients.views,
        width=width,
        BLOCK=power(shape.n, 16),
        STEP=settings.wrapped_step,
        num_warps=settings.span_warps,
    )
