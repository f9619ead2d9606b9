"""Span posteriors by Triton kernels: one pass forward, one backward."""

from __future__ import annotations

import torch
from torch import Tensor

from treemean.grammars.gpu.posteriors import Posteriors
from treemean.grammars.rank.rules import RankRules
from treemean.grammars.rank.triton.backward_pass import Gradients, fill_gradients
from treemean.grammars.rank.triton.charts import Shape
from treemean.grammars.rank.triton.context import Context
from treemean.grammars.rank.triton.forward_pass import fill_charts
from treemean.grammars.rank.triton.partition import Total, kernel_rules, pad_ranks
from treemean.grammars.rank.triton.settings import DEFAULT, Settings
from treemean.grammars.spans import SpanPosteriors, full_lengths


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
