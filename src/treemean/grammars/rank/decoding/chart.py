"""Charts in rank space and log space, for choosing trees: any semiring, and weights on spans."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from treemean.grammars.charts import strides
from treemean.grammars.charts.gapped import Gapped, wraps
from treemean.grammars.decoding.semirings import Semiring
from treemean.grammars.rank.rules import Ranks
from treemean.grammars.rank.views import Views
from treemean.grammars.spans import SpanPosteriors


@dataclass
class LogRankRules:
    """`RankRules` of one grammar in log space, without scales and floor."""

    views: Tensor
    continuous: Tensor
    discontinuous: Tensor
    root: Tensor
    ranks: Ranks


class RankChart:
    """What every span is worth, in log space, for a batch of sentences; filled from short spans to long ones.

    Parameters
    ----------
    rules : of the grammar.
    semiring : how alternatives combine.
    weights : added to everything that is said of a span.

    Takes the time and memory of `rank.torch.log_partition`; nothing is differentiable.
    """

    @torch.no_grad()
    def __init__(
        self, rules: LogRankRules, semiring: Semiring, weights: SpanPosteriors | None = None
    ) -> None:
        self.rules, self.semiring, self.weights = rules, semiring, weights
        self.batch, self.n, _ = rules.views.shape
        self.ranks = rules.ranks
        self.has_gaps = self.ranks.has_gaps and self.n > 2
        like = rules.views
        self.views = Views.empty(self.n, self.batch, self.ranks, like)
        self.scores: dict[int, Tensor] = {}  # by width [i, K, r1 + r2]
        if self.has_gaps:
            self.wrapping = Gapped(self.n, self.batch, self.ranks.r2, like)
            self.extended = Gapped(self.n, self.batch, self.ranks.r4, like)
            self.attachments = Gapped(self.n, self.batch, self.ranks.r4, like)
            self.attachments.flat.fill_(-torch.inf)
        self.views.write(1, rules.views.transpose(0, 1))
        for width in range(2, self.n + 1):
            self._fill_continuous(width)
            if self.has_gaps and width < self.n:
                self._fill_discontinuous(width)

    def _fill_continuous(self, width: int) -> None:
        left = strides.first_parts(self.views.left, width)
        scores = self.semiring.any_of(left + strides.second_parts(self.views.right, width), 1)
        if self.has_gaps and width > 2:
            ways = wraps(self.n, width, scores.device)
            inner = self.views.wrapped.view(self.n * self.n, self.batch, -1)[ways.inner]
            wrapped = self.semiring.any_of(inner + self.wrapping.flat[ways.outer], 0)
        else:
            wrapped = scores.new_full((*scores.shape[:-1], self.ranks.r2), -torch.inf)
        self.scores[width] = torch.cat([scores, wrapped], -1)
        views = self.semiring.product(self.scores[width], self.rules.continuous)
        if self.weights is not None:
            views += self.weights.continuous.diagonal(width, 1, 2).T[..., None]
        self.views.write(width, views)

    def _fill_discontinuous(self, width: int) -> None:
        attached = self.attachments.at(width)
        for taken in range(1, width - 1):
            places = strides.attaching_places(self.n, width, taken)
            added = strides.attached_spans(self.views.attached, width, taken)
            for (parents, children), child in zip(places, added):
                both = self.extended.at(width - taken)[children] + child
                attached[parents] = self.semiring.either(attached[parents], both)
        left = strides.left_of_gaps(self.views.gap_left, width).transpose(0, 1)
        right = strides.right_of_gaps(self.views.gap_right, width).transpose(0, 1)
        apart, others = self.rules.discontinuous.split_with_sizes([self.ranks.r3, self.ranks.r4])
        views = self.semiring.pairs(left.transpose(1, 2), right.transpose(1, 2), apart)  # [a, K, i, m', view]
        views = self.semiring.either(views.permute(0, 2, 3, 1, 4), self.semiring.product(attached, others))
        if self.weights is not None:
            views = views + self.weights.discontinuous[width].permute(1, 2, 3, 0)[..., None]
        self.wrapping.at(width).copy_(views[..., : self.ranks.r2])
        self.extended.at(width).copy_(views[..., self.ranks.r2 :])
