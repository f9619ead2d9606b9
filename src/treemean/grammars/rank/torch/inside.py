"""The vectorised inside pass in rank space; `partition.py` joins both passes."""

from __future__ import annotations

import torch
from torch import Tensor

from treemean.grammars.charts import strides
from treemean.grammars.charts.gapped import Gapped, valid_gaps, wraps
from treemean.grammars.charts.weights import SpanWeights, WeightCharts
from treemean.grammars.rank.rules import RankRules
from treemean.grammars.rank.torch.attaching import attachings
from treemean.grammars.rank.torch.matrices import apply_matrix
from treemean.grammars.rank.views import Views


class Inside:
    """The charts of a batch, filled from short spans to long ones.

    Parameters
    ----------
    rules : with a leading axis of E grammars.
    lengths : (K,) of the K = E · B sentences.
    weights : of their spans.
    """

    def __init__(self, rules: RankRules, lengths: Tensor, weights: SpanWeights | None = None) -> None:
        runs, batch, n, columns = rules.views.shape
        self.rules, self.lengths, self.runs, self.n, self.batch = rules, lengths, runs, n, runs * batch
        self.ranks, self.has_gaps = rules.ranks, rules.ranks.has_gaps and n > 2
        like = rules.views.detach()
        self.to_views = rules.continuous.detach()
        self.apart_to_views = rules.discontinuous.detach()[:, : self.ranks.r3]
        self.attached_to_views = rules.discontinuous.detach()[:, self.ranks.r3 :]
        self.weights = None if weights is None else WeightCharts(weights, n, self.batch, like)
        self.views = Views.empty(n, self.batch, self.ranks, like)
        self.scales = like.new_empty(n, n, self.batch)
        self.scores: dict[int, Tensor] = {}  # by width [i, K, r1 + r2], divided by exp(scales)
        # by width [i, k-1, K]: exp(scales of two parts - scale of the whole without its weight)
        self.sums: dict[int, Tensor] = {}
        self.nests: dict[int, Tensor] = {}  # by width [way, i, K]: the same for the three parts of R3
        if self.has_gaps:
            self.wrapping = Gapped(n, self.batch, self.ranks.r2, like)
            self.extended = Gapped(n, self.batch, self.ranks.r4, like)
            self.attachments = Gapped.zeros(n, self.batch, self.ranks.r4, like)
            self.attachable = like.new_empty(4, n, n, n, self.batch, self.ranks.r4)
        self.root = rules.root.detach().repeat_interleave(batch, 0)
        self.probability = like.new_zeros(self.batch)  # of the whole sentence, divided by exp of its scale
        self.log_z = like.new_full((self.batch,), -torch.inf)
        self.views.write(1, like.reshape(self.batch, n, columns).transpose(0, 1))
        self.scales[:, 0] = rules.scales.detach().reshape(self.batch, n).T
        for width in range(2, n + 1):
            self._fill_continuous(width)
            if self.has_gaps and width < n:
                self._prepare_attachable(width)
                self._fill_discontinuous(width)

    def _fill_continuous(self, width: int) -> None:
        """Score the spans of one width (R2, R3), bring them to scale and give them their views."""
        pairs = strides.first_parts(self.scales, width) + strides.second_parts(self.scales, width)
        reference = pairs.amax(1)
        sums = (pairs - reference[:, None]).exp_()
        left, right = (
            strides.first_parts(self.views.left, width),
            strides.second_parts(self.views.right, width),
        )
        scores = (left * right).mul_(sums[..., None]).sum(1)
        if self.has_gaps:
            scores = torch.cat([scores, self._wrapped(width, reference)], -1)
        elif self.ranks.r2:
            scores = torch.nn.functional.pad(scores, (0, self.ranks.r2))
        views = apply_matrix(scores, self.to_views)
        largest = views.amax(-1)
        if self.rules.floor > 0:
            views += self.rules.floor * scores.amax(-1, keepdim=True)
            largest = views.amax(-1)
        largest = torch.where(largest > 0, largest, 1.0)
        self.views.write(width, views / largest[..., None])
        self.scores[width] = scores / largest[..., None]
        scales = reference + largest.log()
        if self.weights is not None:
            # All that stands for a span is relative to its scale, and counts for so much more.
            scales += self.weights.continuous(width)
        self.scales[: len(largest), width - 1] = scales
        self.sums[width] = sums.div_(largest[:, None])
        if width in self.nests:
            self.nests[width].div_(largest)
        total = (self.scores[width][0] * self.root).sum(-1)
        ends = self.lengths == width
        self.probability = torch.where(ends, total, self.probability)
        self.log_z = torch.where(ends, total.log() + self.scales[0, width - 1], self.log_z)

    def _wrapped(self, width: int, reference: Tensor) -> Tensor:
        """Sum over the ways of R3: [i, K, r2]."""
        if width < 3:
            return reference.new_zeros(*reference.shape, self.ranks.r2)
        ways = wraps(self.n, width, reference.device)
        scales = self.scales.view(-1, self.batch)
        nests = scales[ways.left].add_(scales[ways.inner]).add_(scales[ways.right])
        self.nests[width] = nests.sub_(reference).exp_()
        inner, outer = self.inner_and_outer(width)
        return (inner * outer).mul_(nests[..., None]).sum(0)

    def inner_and_outer(self, width: int) -> tuple[Tensor, Tensor]:
        """Return the views of both children of R3, each [way, i, K, r2]."""
        ways = wraps(self.n, width, self.scales.device)
        inner = self.views.wrapped.view(self.n * self.n, self.batch, -1)[ways.inner]
        return inner, self.wrapping.flat[ways.outer]

    def _prepare_attachable(self, width: int) -> None:
        """Bring the views of both parts of the spans of one width to the scale that R5-R8 need."""
        spans, sums = self.n - width + 1, self.splits(width)
        for attachment, chart in enumerate(self.views.attached):
            parts = (strides.first_parts if attachment % 2 == 0 else strides.second_parts)(chart, width)
            torch.mul(parts, sums, out=self.attachable[attachment, :spans, : width - 1, width - 1])

    def splits(self, width: int) -> Tensor:
        """Return exp(scales of two parts - scale of the whole), [i, k-1, K, 1]."""
        sums = self.sums[width]
        if self.weights is not None:
            sums = sums * (-self.weights.continuous(width)).exp()[:, None]
        return sums[..., None]

    def gap_factors(self, width: int) -> Tensor:
        """Return the weights of the discontinuous spans of one width; 0 where there is none."""
        valid = valid_gaps(self.scales, self.n - width)
        return valid if self.weights is None else valid * self.weights.discontinuous(width)

    def _fill_discontinuous(self, width: int) -> None:
        """Score the discontinuous spans of one total width (R4-R8) and give them their views."""
        gaps = self.n - width
        attached = self.attachments.at(width)
        for step in attachings(self.n, self.batch, self.ranks.r4)[width]:
            parents = step.parents.take(self.attachments.flat)
            parents.addcmul_(step.children.take(self.extended.flat), step.added.take(self.attachable))
        left, right = self.gap_parts(width)
        weighted = left[:, :, None] * self.apart_by_view()
        views = torch.matmul(weighted.flatten(2, 3), right.transpose(2, 3))  # [K, a-1, (view, i), m']
        views = views.view(self.batch, width - 1, -1, gaps, gaps).permute(1, 3, 4, 0, 2)
        views = apply_matrix(attached, self.attached_to_views).add_(views)
        if self.rules.floor > 0:
            apart = (left[:, :, :, None] * right[:, :, None]).amax(-1).permute(1, 2, 3, 0)
            views += self.rules.floor * torch.maximum(apart, attached.amax(-1))[..., None]
        views *= self.gap_factors(width)
        self.wrapping.at(width).copy_(views[..., : self.ranks.r2])
        self.extended.at(width).copy_(views[..., self.ranks.r2 :])

    def gap_parts(self, width: int) -> tuple[Tensor, Tensor]:
        """Return the views of both children of R4, each [K, a-1, i or m', r3]."""
        left = strides.left_of_gaps(self.views.gap_left, width).permute(2, 1, 0, 3)
        right = strides.right_of_gaps(self.views.gap_right, width).permute(2, 1, 0, 3)
        return left.contiguous(), right.contiguous()

    def apart_by_view(self) -> Tensor:
        """Return the matrix of R4 as [K, 1, view, 1, r3]."""
        matrix = self.apart_to_views.transpose(1, 2)
        return matrix.repeat_interleave(self.batch // self.runs, 0)[:, None, :, None]
