"""Whole charts of the inside pass against float64: the largest error of any cell, not of log Z alone."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from benchmarks.kernels.instances import largest
from treemean.grammars.charts.weights import SpanWeights
from treemean.grammars.dense.rules import DenseRules
from treemean.grammars.dense.torch import Inside as DenseReference
from treemean.grammars.dense.triton.charts import Sizes, gapped_of_width, rule_matrix, spans_of_length
from treemean.grammars.dense.triton.forward_pass import Inside as DenseInside
from treemean.grammars.gpu.posteriors import places_of_cells
from treemean.grammars.rank.rules import RankRules
from treemean.grammars.rank.torch.inside import Inside
from treemean.grammars.rank.triton.charts import Charts, Shape
from treemean.grammars.rank.triton.context import Context, KernelRules
from treemean.grammars.rank.triton.forward_pass import fill_charts
from treemean.grammars.rank.triton.partition import kernel_rules, pad_ranks
from treemean.grammars.rank.triton.settings import DEFAULT, Settings
from treemean.grammars.spans import full_lengths


@dataclass(frozen=True)
class Filled:
    """Charts of some sentences of E runs by kernels, and what they were filled with."""

    context: Context
    rules: KernelRules
    charts: Charts


def filled(rules: RankRules, settings: Settings = DEFAULT, weights: SpanWeights | None = None) -> Filled:
    """Fill the charts of stacked rules by kernels."""
    runs, batch, n, _ = rules.views.shape
    padded = pad_ranks(rules)
    context = Context(
        Shape(runs, batch, n, padded.ranks), rules.ranks, rules.floor, settings, rules.views.device
    )
    matrices = kernel_rules(padded.continuous, padded.discontinuous, padded.root, padded.ranks)
    charts = fill_charts(context, padded.views, padded.scales, matrices, weights)
    return Filled(context, matrices, charts)


@torch.no_grad()
def largest_errors(rules: RankRules) -> dict[str, float]:
    """Return the largest errors of views and of cells, each relative to the largest number of its span."""
    found = filled(rules)
    shape, charts = found.context.shape, found.charts
    n, sentences = shape.n, shape.sentences
    reference = Inside(rules.double(), full_lengths(None, sentences, n, rules.views.device))
    shift = torch.zeros(n, n, sentences, dtype=torch.float64, device=rules.views.device)
    views = []
    for width in range(1, n):
        rows, starts = shape.rows_of(width), n - width + 1
        scales = charts.scales[:, rows].double().reshape(sentences, starts).T
        shift[:starts, width - 1] = scales - reference.scales[:starts, width - 1]
        mine = _unpadded(charts.views[:, rows], found).double().reshape(sentences, starts, -1).transpose(0, 1)
        off = (mine * shift[:starts, width - 1, :, None].exp() - reference.views.read(width)).abs().amax(-1)
        views.append(float((off / reference.views.read(width).amax(-1)).max()))
    errors = {"views": largest(views)}
    if found.context.gaps and n > 2:
        errors["cells"] = _cell_errors(found, reference, shift)
    return errors


def _unpadded(views: Tensor, found: Filled) -> Tensor:
    """Leave out the columns of ranks that only fill up."""
    columns, ranks = found.context.shape.ranks.columns, found.context.unpadded
    attached = views[..., columns.attached].unflatten(-1, (4, -1))[..., : ranks.r4].flatten(-2)
    wrapped = views[..., columns.wrapped][..., : ranks.r2]
    gaps = views[..., columns.gap_left.start : columns.gap_right.stop]
    return torch.cat([views[..., : columns.wrapped.start], wrapped, gaps, attached], -1)


def _cell_errors(found: Filled, reference: Inside, shift: Tensor) -> float:
    shape, ranks, device = found.context.shape, found.context.unpadded, shift.device
    n = shape.n
    places, _ = places_of_cells(n, device)
    mine = torch.cat([found.charts.wrapping[..., : ranks.r2], found.charts.attaching[..., : ranks.r4]], -1)
    scale = torch.zeros(shape.cells, shape.sentences, dtype=torch.float64, device=device)
    first = 0
    for left in range(1, n - 1):
        for right in range(1, n - left):
            size = n - left - right
            i, p = torch.triu_indices(size, size, device=device)
            scale[first : first + len(i)] = shift[i, left - 1] + shift[p + left + 1, right - 1]
            first += len(i)
    errors = []
    for sentence in range(shape.sentences):
        wanted = torch.cat(
            [chart.flat[places, sentence] for chart in (reference.wrapping, reference.extended)], -1
        )
        off = (mine[sentence].double() * scale[:, sentence, None].exp() - wanted).abs().amax(-1)
        errors.append(float((off / wanted.amax(-1).clamp(min=1e-300)).max()))
    return largest(errors)


@torch.no_grad()
def largest_errors_of_dense(rules: DenseRules) -> dict[str, float]:
    """Return the same of the symbols of continuous and of discontinuous spans."""
    batch, n, _ = rules.words.shape
    lengths, sizes = full_lengths(None, batch, n, rules.words.device), Sizes.of(rules)
    found = DenseInside(rules.words, rules.root, rule_matrix(rules, sizes), lengths, sizes)
    reference = DenseReference(rules.double(), lengths)
    shift = torch.zeros(batch, n, n + 1, dtype=torch.float64, device=lengths.device)  # by start and length
    symbols, cells = [], []
    for width in range(1, n):
        starts = n - width + 1
        shift[:, :starts, width] = spans_of_length(found.scales, width, n).double()
        shift[:, :starts, width] -= reference.scales[:starts, width - 1].T
        mine = found.words_in(found.symbols) if width == 1 else spans_of_length(found.symbols, width, n)
        wanted = reference.symbols[width]
        factor = shift[:, :starts, width, None].exp()
        symbols.append(_off(mine[..., : wanted.shape[-1]].double() * factor, wanted))
    for width in range(2, n) if rules.has_gaps else ():
        mine, wanted = gapped_of_width(found.gapped, width, n).double(), reference.discontinuous[width]
        size, gapped = n - width, wanted.shape[-1]
        i, p = torch.triu_indices(size, size, device=lengths.device)
        for left in range(1, width):
            factor = (shift[:, i, left] + shift[:, p + left + 1, width - left])[..., None].exp()
            at = (slice(None), left - 1, i, p)
            cells.append(_off(mine[at][..., :gapped] * factor, wanted[at]))
    return {"symbols": largest(symbols)} | ({"cells": largest(cells)} if cells else {})


def _off(found: Tensor, wanted: Tensor) -> float:
    """Return the largest error of a number, relative to the largest of its span."""
    return float(((found - wanted).abs().amax(-1) / wanted.amax(-1).clamp(min=1e-300)).max())
