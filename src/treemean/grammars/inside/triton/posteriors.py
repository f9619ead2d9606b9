"""Span posteriors by Triton kernels: one pass forward, one backward."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from treemean.grammars.inside.rules import RankRules, full_lengths
from treemean.grammars.inside.triton.charts import Shape
from treemean.grammars.inside.triton.context import Context
from treemean.grammars.inside.triton.inside_pass import fill_charts
from treemean.grammars.inside.triton.outside_pass import Gradients, fill_gradients
from treemean.grammars.inside.triton.partition import Total, kernel_rules, pad_ranks
from treemean.grammars.inside.triton.settings import DEFAULT, Settings
from treemean.grammars.spans import SpanPosteriors


@dataclass
class Posteriors:
    """Posteriors as the kernels leave them, for S sentences of all runs.

    Parameters
    ----------
    continuous : (S, n+1, n+1) as in `SpanPosteriors`.
    cells : (S, cells) of discontinuous spans, in the order of `indexing`; no cells without gaps.
    log_z : (S,).
    """

    continuous: Tensor
    cells: Tensor
    log_z: Tensor

    def constituents(self) -> Tensor:
        """Return the expected number (S,) of constituents of several words of each sentence."""
        return self.continuous.triu(2).sum((1, 2)) + self.cells.sum(1)

    @classmethod
    def of_spans(cls, spans: SpanPosteriors) -> Posteriors:
        """Return what is in the common form in this one, in float32; log Z is not known."""
        continuous = spans.continuous.float().contiguous()
        cells = continuous.new_zeros(len(continuous), 0)
        if spans.discontinuous:
            places, sizes = _squares(continuous.shape[1] - 1, continuous.device)
            flat = torch.cat([spans.discontinuous[width].flatten(1) for width in sizes], 1)
            cells = flat[:, places].float()
        return cls(continuous, cells, continuous.new_full((len(continuous),), torch.nan))

    def spans(self) -> SpanPosteriors:
        """Return the posteriors in the common form."""
        n = self.continuous.shape[1] - 1
        if not self.cells.shape[1]:
            return SpanPosteriors(self.continuous)
        places, sizes = _squares(n, self.cells.device)
        flat = self.cells.new_zeros(len(self.cells), sum(sizes.values()))
        flat[:, places] = self.cells
        parts = flat.split_with_sizes(list(sizes.values()), 1)
        charts = {w: part.view(-1, w - 1, n - w, n - w) for w, part in zip(sizes, parts)}
        return SpanPosteriors(self.continuous, charts)


@torch.no_grad()
def compact_posteriors(
    rules: RankRules, lengths: Tensor | None = None, *, settings: Settings = DEFAULT
) -> Posteriors:
    """Return the span posteriors of stacked rules; nothing in it waits for the device."""
    runs, batch, n, _ = rules.views.shape
    device = rules.views.device
    sentences = runs * batch
    lengths = full_lengths(None if lengths is None else lengths.reshape(-1), sentences, n, device)
    ends = torch.arange(n + 1, device=device)
    width = ends - ends[:, None]
    words = (width == 1) & (ends <= lengths[:, None, None])
    if n == 1:
        nothing = rules.views.new_zeros(sentences, 0)
        return Posteriors(words.float(), nothing, nothing.new_full((sentences,), -torch.inf))
    padded = pad_ranks(rules)
    shape = Shape(runs, batch, n, padded.ranks)
    context = Context(shape, rules.ranks, rules.floor, settings, device)
    matrices = kernel_rules(padded.continuous, padded.discontinuous, padded.root, padded.ranks)
    charts = fill_charts(context, padded.views, padded.scales, matrices)
    total = Total(shape, charts, matrices.root, lengths.view(runs, batch))
    gradients = Gradients.allocate(context, posteriors=True)
    total.start(gradients, shape, torch.ones(runs, batch, device=device), matrices.root)
    fill_gradients(context, charts, matrices, gradients)
    shares = (charts.views * gradients.views).sum(-1)
    inner = (width > 1) & (width < n)
    safe = torch.where(inner, width, 1)
    sentence = torch.arange(batch, device=device)[:, None, None]
    row = (safe - 1) * (2 * n - safe + 2) // 2 * batch + sentence * (n - safe + 1)
    row = torch.where(inner, row + ends[:, None], 0)
    continuous = torch.where(inner, shares[:, row.flatten()].view(sentences, n + 1, n + 1), words.float())
    whole = (width == lengths[:, None, None]) & (ends[:, None] == 0) & (width > 1)
    continuous = torch.where(whole, 1.0, continuous)
    cells = gradients.posteriors if context.gaps else continuous.new_zeros(sentences, 0)
    return Posteriors(continuous, cells, total.log().flatten())


def span_posteriors(
    rules: RankRules, lengths: Tensor | None = None, *, settings: Settings = DEFAULT
) -> SpanPosteriors:
    """Return the span posteriors of a batch, from one forward and one backward pass."""
    return compact_posteriors(rules.stack(), lengths, settings=settings).spans()


@lru_cache(maxsize=128)
def _squares(n: int, device: torch.device) -> tuple[Tensor, dict[int, int]]:
    """Return where each cell lies in the charts of `SpanPosteriors` one behind the other, and their sizes."""
    sizes = {width: (width - 1) * (n - width) ** 2 for width in range(2, n)}
    starts, start = {}, 0
    for width, size in sizes.items():
        starts[width] = start
        start += size
    places = []
    for left in range(1, n - 1):
        for right in range(1, n - left):
            size = n - left - right
            i, p = torch.triu_indices(size, size)
            places.append(starts[left + right] + ((left - 1) * size + i) * size + p)
    return torch.cat(places).to(device), sizes
