"""The backward pass of the vectorised inside algorithm in rank space; `partition.py` joins both passes."""

from __future__ import annotations

import torch
from torch import Tensor

from treemean.grammars.charts import strides
from treemean.grammars.charts.gapped import Gapped, wraps
from treemean.grammars.rank.torch.attaching import attachings
from treemean.grammars.rank.torch.inside import Inside
from treemean.grammars.rank.torch.matrices import apply_matrix, matrix_gradient
from treemean.grammars.rank.views import Views


class Outside:
    """Gradients of log Z, times `grad` (K,), by everything in the charts, from long spans to short ones."""

    def __init__(self, inside: Inside, grad: Tensor) -> None:
        self.inside = inside
        n, batch, ranks = inside.n, inside.batch, inside.ranks
        like = inside.probability
        self.views = Views.zeros(n, batch, ranks, like)
        self.to_views = torch.zeros_like(inside.to_views)
        self.apart_to_views = torch.zeros_like(inside.apart_to_views)
        self.attached_to_views = torch.zeros_like(inside.attached_to_views)
        possible = inside.probability > 0
        self.share = torch.where(possible, grad / torch.where(possible, inside.probability, 1.0), 0.0)
        self.root = torch.zeros_like(inside.root)
        if inside.has_gaps:
            self.wrapping = Gapped.zeros(n, batch, ranks.r2, like)
            self.extended = Gapped.zeros(n, batch, ranks.r4, like)
            self.attachments = Gapped(n, batch, ranks.r4, like)
            self.attachable = torch.zeros_like(inside.attachable)
        for width in range(n, 1, -1):
            if inside.has_gaps and width < n:
                self._leave_discontinuous(width)
                self._leave_attachable(width)
            self._leave_continuous(width)

    def _leave_continuous(self, width: int) -> None:
        """Hand on the gradient of the spans of one width to their parts."""
        inside = self.inside
        views, scores = self.views.read(width), inside.scores[width]
        self.to_views += matrix_gradient(scores, views, inside.runs)
        grad = apply_matrix(views, inside.to_views.transpose(1, 2))
        grad[0] += self._from_root(width, scores[0])
        side_by_side, wrapped = grad[..., : inside.ranks.r1], grad[..., inside.ranks.r1 :]
        grad_pairs = side_by_side[:, None] * inside.sums[width][..., None]
        left = strides.first_parts(inside.views.left, width)
        right = strides.second_parts(inside.views.right, width)
        strides.first_parts(self.views.left, width).addcmul_(grad_pairs, right)
        strides.second_parts(self.views.right, width).addcmul_(grad_pairs, left)
        if width in inside.nests:
            ways = wraps(inside.n, width, views.device)
            inner, outer = inside.inner_and_outer(width)
            grad_ways = wrapped * inside.nests[width][..., None]
            self.wrapping.flat[ways.outer] = grad_ways * inner
            flat = self.views.wrapped.view(inside.n * inside.n, inside.batch, -1)
            flat.index_add_(0, ways.inner.flatten(), (grad_ways * outer).flatten(0, 1))

    def _from_root(self, width: int, scores: Tensor) -> Tensor:
        """Return the gradient that the scores of whole sentences of one length get from the root."""
        share = torch.where(self.inside.lengths == width, self.share, 0.0)[:, None]
        self.root += share * scores
        return share * self.inside.root

    def _leave_attachable(self, width: int) -> None:
        """Hand on the gradient of rescaled views to the views."""
        inside = self.inside
        spans, sums = inside.n - width + 1, inside.splits(width)
        for attachment, chart in enumerate(self.views.attached):
            parts = (strides.first_parts if attachment % 2 == 0 else strides.second_parts)(chart, width)
            parts.addcmul_(self.attachable[attachment, :spans, : width - 1, width - 1], sums)

    def _leave_discontinuous(self, width: int) -> None:
        """Hand on the gradient of the discontinuous spans of one total width."""
        inside = self.inside
        gaps = inside.n - width
        grad = torch.cat([self.wrapping.at(width), self.extended.at(width)], -1)
        grad *= inside.gap_factors(width)
        self.attached_to_views += matrix_gradient(inside.attachments.at(width), grad, inside.runs)
        self._leave_apart(width, grad.permute(3, 0, 4, 1, 2).reshape(inside.batch, width - 1, -1, gaps))
        self.attachments.at(width).copy_(apply_matrix(grad, inside.attached_to_views.transpose(1, 2)))
        for step in attachings(inside.n, inside.batch, inside.ranks.r4)[width]:
            parents, added = step.parents.take(self.attachments.flat), step.added.take(inside.attachable)
            step.children.take(self.extended.flat).addcmul_(parents, added)
            worth = parents * step.children.take(inside.extended.flat)
            step.added.take(self.attachable).add_(worth.sum(step.axis, keepdim=True))

    def _leave_apart(self, width: int, grad: Tensor) -> None:
        """Hand on the gradient [K, a-1, (view, i), m'] of R4."""
        inside = self.inside
        left, right = inside.gap_parts(width)
        matrix = inside.apart_by_view()
        weighted = left[:, :, None] * matrix
        grad_right = torch.matmul(grad.transpose(2, 3), weighted.flatten(2, 3))
        grad_weighted = torch.matmul(grad, right).view_as(weighted)
        grad_left = (grad_weighted * matrix).sum(2)
        strides.left_of_gaps(self.views.gap_left, width).add_(grad_left.permute(2, 1, 0, 3))
        strides.right_of_gaps(self.views.gap_right, width).add_(grad_right.permute(2, 1, 0, 3))
        worth = (grad_weighted * left[:, :, None]).view(inside.runs, -1, matrix.shape[2], left[0, 0].numel())
        by_part = worth.sum(1).view(inside.runs, matrix.shape[2], *left.shape[2:])  # [E, view, i, r3]
        self.apart_to_views += by_part.sum(2).transpose(1, 2)
