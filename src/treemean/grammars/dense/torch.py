"""The inside algorithm over symbols, vectorised over spans, splits and sentences; gradients by autograd.

As in rank space, values are plain probabilities, a continuous span has one log scale, and a discontinuous
span the sum of its parts' scales. Every span is multiplied with the rules once, as the second child of R2 and
R4, as the child in the gap of R3 and as the attached child of R5-R8; what remains to do for pairs of spans is
then a product of small matrices.
"""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor
from torch.nn.functional import pad
from torch.utils.checkpoint import checkpoint

from treemean.grammars.charts import strides
from treemean.grammars.charts.gapped import valid_gaps
from treemean.grammars.charts.logarithms import log
from treemean.grammars.charts.weights import SpanWeights, WeightCharts
from treemean.grammars.dense.rules import DenseRules
from treemean.grammars.spans import SpanPosteriors, full_lengths


def log_partition(
    rules: DenseRules, lengths: Tensor | None = None, weights: SpanWeights | None = None
) -> Tensor:
    """Return log Z of each sentence, (B,), differentiable; -inf for one word.

    Takes O(n³ NT² + n² NT³) time without gaps; with gaps O(n⁵ D² + n⁴ D · NT) and more for single words.
    """
    batch, n, _ = rules.words.shape
    return Inside(rules, full_lengths(lengths, batch, n, rules.words.device), weights=weights).log_z


def span_posteriors(rules: DenseRules, lengths: Tensor | None = None) -> SpanPosteriors:
    """Return the span posteriors of a batch: derivatives of log Z by factors put on the spans."""
    batch, n, _ = rules.words.shape
    lengths = full_lengths(lengths, batch, n, rules.words.device)
    rules = DenseRules(**{name: tensor.detach() for name, tensor in rules.tensors().items()})
    marks = _Marks(rules)
    with torch.enable_grad():
        value = Inside(rules, lengths, marks=marks).log_z
        total = torch.where(value.isfinite(), value, 0.0).sum()
    continuous = rules.words.new_zeros(batch, n + 1, n + 1)
    continuous.diagonal(1, 1, 2).copy_(torch.arange(n, device=lengths.device) < lengths[:, None])
    if n == 1:
        return SpanPosteriors(continuous)
    tensors = [*marks.continuous.values(), *marks.discontinuous.values()]
    grads = iter(torch.autograd.grad(total, tensors, allow_unused=True, materialize_grads=True))
    for width in marks.continuous:
        continuous.diagonal(width, 1, 2).copy_(next(grads))
    discontinuous = {width: next(grads) for width in marks.discontinuous}
    return SpanPosteriors(continuous, discontinuous)


class _Marks:
    """Zeros to be added to the factor 1 of each span, by width: (B, starts) and (B, a-1, i, m')."""

    def __init__(self, rules: DenseRules) -> None:
        batch, n, _ = rules.words.shape
        zeros = rules.words.new_zeros
        self.continuous = {w: zeros(batch, n - w + 1).requires_grad_() for w in range(2, n + 1)}
        self.discontinuous = {}
        if rules.has_gaps:
            for w in range(2, n):
                self.discontinuous[w] = zeros(batch, w - 1, n - w, n - w).requires_grad_()


class Inside:
    """Charts by width: `symbols` is (B, start, NT), for single words (B, start, T).

    What the rules make of the symbols of a span is (B, start, ...): `second` [NT, S] as right child of R2,
    `beyond` [D, S] as right child of R4, both [parent, left child]; `wrapped` [D, NT] in the gap of R3 and
    `attached` [4, D, D] by R5-R8, both [child with the gap, parent].
    """

    def __init__(
        self,
        rules: DenseRules,
        lengths: Tensor,
        *,
        marks: _Marks | None = None,
        weights: SpanWeights | None = None,
    ) -> None:
        self.rules, self.lengths, self.marks = rules, lengths, marks
        self.batch, self.n, _ = rules.words.shape
        self.weights = (
            None if weights is None else WeightCharts(weights, self.n, self.batch, rules.words.detach())
        )
        self.nonterminals = rules.nonterminals
        self.matrix = self._matrix()
        self.symbols: dict[int, Tensor] = {}
        self.second: dict[int, Tensor] = {}
        self.beyond: dict[int, Tensor] = {}
        self.wrapped: dict[int, Tensor] = {}
        self.attached: dict[int, Tensor] = {}
        self.discontinuous: dict[int, Tensor] = {}  # by total width (B, a-1, i, m', D)
        like = rules.words.detach()
        self.log_z = like.new_full((self.batch,), -torch.inf) + 0.0 * rules.root.sum()  # has gradients
        self.scales = like.new_empty(self.n, self.n, self.batch)
        self.sums = like.new_empty(self.n, self.n, self.n, self.batch) if rules.has_gaps else None
        scales = like.amax(-1)
        self.scales[:, 0] = scales.T
        self._keep(1, (rules.words - scales[..., None]).exp())
        for width in range(2, self.n + 1):
            self._fill_continuous(width)
            if rules.has_gaps and width < self.n:
                self._fill_discontinuous(width)

    def _matrix(self) -> Tensor:
        """Return all rules as (R, S, columns): from the symbols of a span to what the rules make of it."""
        parts = [self.rules.side_by_side.permute(0, 3, 1, 2)]
        if self.rules.has_gaps:
            parts.append(self.rules.apart.permute(0, 3, 1, 2))
            parts.append(self.rules.wrapping.permute(0, 2, 3, 1))
            parts.append(self.rules.attaching.permute(0, 3, 2, 4, 1))
        return torch.cat([part.flatten(2) for part in parts], 2)

    def _keep(self, width: int, symbols: Tensor) -> None:
        """Keep the scaled symbols of the spans of one width, and what the rules make of them."""
        self.symbols[width] = symbols
        nonterminals, gapped = self.nonterminals, self.rules.discontinuous
        rows = slice(nonterminals, None) if width == 1 else slice(0, nonterminals)
        views = symbols @ self.matrix[:, rows]
        children = self.matrix.shape[1]
        ends = [0]
        for size in (nonterminals * children, gapped * children, gapped * nonterminals, 4 * gapped * gapped):
            ends.append(ends[-1] + size)
        second, beyond, wrapped, attached = (views[..., start:end] for start, end in pairwise(ends))
        self.second[width] = second.reshape(*second.shape[:2], nonterminals, children)
        if gapped:
            self.beyond[width] = beyond.reshape(*beyond.shape[:2], gapped, children)
            self.wrapped[width] = wrapped.reshape(*wrapped.shape[:2], gapped, nonterminals)
            self.attached[width] = attached.reshape(*attached.shape[:2], 4, gapped, gapped)

    def _fill_continuous(self, width: int) -> None:
        """Score the spans of one width (R1-R3) and bring them to scale."""
        count = self.n - width + 1
        pairs = strides.first_parts(self.scales, width) + strides.second_parts(self.scales, width)
        reference = pairs.amax(1)
        factors = (pairs - reference[:, None]).exp_()
        weights = factors.permute(2, 0, 1)  # [B, i, k-1]
        word, rest = self.symbols[1][:, :count], self.second[width - 1][:, 1 : count + 1]
        scores = _apply(rest[..., self.nonterminals :], word) * weights[:, :, :1]
        if width > 2:
            firsts = torch.stack([self.symbols[k][:, :count] for k in range(2, width)], 2)
            seconds = torch.stack(
                [self.second[width - k][:, k : k + count, :, : self.nonterminals] for k in range(2, width)], 3
            )  # [B, i, NT, k-2, NT]
            firsts = firsts * weights[:, :, 1:, None]
            scores = scores + _apply(seconds.flatten(3), firsts.flatten(2))
        if self.rules.has_gaps:
            for gap in range(1, width - 1):
                scores = scores + self._wrap(width, gap, reference)
        largest = scores.detach().amax(-1)
        largest = torch.where(largest > 0, largest, 1.0)
        scales = reference + largest.T.log()
        sums = factors / largest.T[:, None]
        if self.weights is not None:
            logarithms = self.weights.continuous(width)
            scales, sums = scales + logarithms, sums * (-logarithms).exp()[:, None]
        self.scales[:count, width - 1] = scales
        if self.sums is not None:
            self.sums[:count, : width - 1, width - 1] = sums
        symbols = scores / largest[..., None]
        if self.marks is not None:
            symbols = symbols * (1.0 + self.marks.continuous[width])[..., None]
        total = (symbols[:, 0] * self.rules.root).sum(-1)
        self.log_z = torch.where(self.lengths == width, log(total) + self.scales[0, width - 1], self.log_z)
        if width < self.n:
            self._keep(width, symbols)

    def _wrap(self, width: int, gap: int, reference: Tensor) -> Tensor:
        """Score the spans of one width made by putting `gap` words into a gap (R3): [B, i, NT]."""
        count, lefts = self.n - width + 1, width - gap - 1
        inner = self.wrapped[gap][:, 1 : lefts + count].unfold(1, count, 1)  # [B, a-1, D, NT, i]
        outer = self.discontinuous[width - gap].diagonal(gap - 1, 2, 3)  # [B, a-1, D, i]
        scales = self.scales[:count, :lefts].transpose(0, 1)
        scales = scales + strides.sliding(self.scales[1:, gap - 1], lefts, count)
        scales += strides.later_and_shorter(self.scales, gap + 1, width - gap, count).transpose(0, 1)
        factors = (scales - reference).exp_().permute(2, 0, 1)  # [B, a-1, i]
        outer = (outer * factors[:, :, None]).permute(0, 3, 1, 2).flatten(2)
        return _apply(inner.permute(0, 4, 3, 1, 2).flatten(3), outer)

    def _fill_discontinuous(self, width: int) -> None:
        """Score the discontinuous spans of one total width (R4-R8)."""
        gaps, split = self.n - width, self.nonterminals
        right = self.beyond[width - 1][:, 2 : gaps + 2, :, split:]
        charts = [_pair(self.symbols[1][:, :gaps], right)[:, None]]
        if width > 2:
            lefts = torch.stack([self.symbols[a][:, :gaps] for a in range(2, width)], 1)
            rights = [self.beyond[width - a][:, a + 1 : a + 1 + gaps, :, :split] for a in range(2, width)]
            charts.append(_pair(lefts, torch.stack(rights, 1)))
        chart = torch.cat(charts, 1)
        if width > 2:
            chart = chart + checkpoint(self._attach, width, use_reentrant=False, preserve_rng_state=False)
        chart = chart * valid_gaps(self.scales, gaps)[..., 0]
        if self.weights is not None:
            chart = chart * self.weights.discontinuous(width).permute(3, 0, 1, 2, 4)
        if self.marks is not None:
            chart = chart * (1.0 + self.marks.discontinuous[width])[..., None]
        self.discontinuous[width] = chart

    def _attach(self, width: int) -> Tensor:
        """Score the discontinuous spans of one total width by R5-R8: [B, a-1, i, m', D].

        Computed once more when gradients are taken, because keeping its O(n⁵) intermediate values would need
        most of the memory.
        """
        assert self.sums is not None
        gaps = self.n - width
        terms = []
        for taken in range(1, width - 1):
            lefts, last = width - 1 - taken, width - taken + 1
            chart, added = self.discontinuous[width - taken], self.attached[taken]
            places = strides.attaching_places(self.n, width, taken)
            r5, r6, r7, r8 = (chart[:, where[0], where[1], where[2]] for _, where in places)
            y5 = added[:, None, :gaps, 0]
            y6 = added[:, 1 : lefts + gaps, 1].unfold(1, gaps, 1).permute(0, 1, 4, 2, 3)
            y7 = added[:, 2 : lefts + gaps + 1, 2].unfold(1, gaps, 1).permute(0, 1, 4, 2, 3)
            y8 = added[:, None, last : last + gaps, 3]
            e5, e6, e7, e8 = (
                choose(self.sums, width, taken).permute(2, 0, 1)[..., None, None]
                for choose in (
                    strides.taken_before_left,
                    strides.taken_after_left,
                    strides.taken_before_right,
                    strides.taken_after_right,
                )
            )
            left = torch.matmul(r5, y5 * e5) + torch.matmul(r6, y6 * e6)
            right = torch.matmul(r7.transpose(2, 3), y7 * e7) + torch.matmul(r8.transpose(2, 3), y8 * e8)
            terms.append(pad(left, (0, 0, 0, 0, 0, 0, taken, 0)))
            terms.append(pad(right.transpose(2, 3), (0, 0, 0, 0, 0, 0, 0, taken)))
        return torch.stack(terms).sum(0)


def _apply(matrix: Tensor, x: Tensor) -> Tensor:
    """Multiply matrices [..., r, c] by vectors [..., c]."""
    return (matrix @ x[..., None])[..., 0]


def _pair(left: Tensor, right: Tensor) -> Tensor:
    """Combine all left parts [..., i, U] with all right parts [..., m', D, U]: [..., i, m', D]."""
    product = left @ right.flatten(-3, -2).transpose(-1, -2)
    return product.view(*product.shape[:-1], *right.shape[-3:-1])
