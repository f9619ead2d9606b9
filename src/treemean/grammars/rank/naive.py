"""The inside algorithm in rank space as it is defined: one sentence and one span at a time, in log space.

Slow, in float64, and the measure of all others. Entries of the rules that are exactly zero get gradient zero.
"""

from __future__ import annotations

import math
from itertools import combinations

import torch
from torch import Tensor

from treemean.grammars.charts.logarithms import log, log_sum
from treemean.grammars.charts.marks import Marks, posteriors_by_marks
from treemean.grammars.charts.weights import SpanWeights
from treemean.grammars.rank.rules import RankRules
from treemean.grammars.spans import SpanPosteriors, full_lengths


def log_partition(
    rules: RankRules, lengths: Tensor | None = None, weights: SpanWeights | None = None
) -> Tensor:
    """Return log Z of each sentence, (B,) in float64, or (E, B) for a stack; -inf for one word.

    Takes O(n⁴ (r2 + r3) + n⁵ r4) steps for a sentence, each a few calls into PyTorch. `weights` number the
    sentences of a stack one grammar after the other.
    """
    if rules.is_stacked:
        runs, batch = rules.views.shape[:2]
        per_run = [None] * runs if lengths is None else list(lengths)
        own = [None] * runs if weights is None else weights.by_run(runs, batch)
        return torch.stack([log_partition(r, k, w) for r, k, w in zip(rules.unstack(), per_run, own)])
    batch, n, _ = rules.views.shape
    lengths = full_lengths(lengths, batch, n, rules.views.device)
    values = [
        _log_partition(rules, sentence, length, weights.of(sentence, length) if weights is not None else {})
        for sentence, length in enumerate(lengths.tolist())
    ]
    return torch.stack(values)


def span_posteriors(rules: RankRules, lengths: Tensor | None = None) -> SpanPosteriors:
    """Return the span posteriors of a batch, in float64.

    They are the derivatives of log Z by the logarithm of a factor put on all views of a span.
    """
    batch, n, _ = rules.views.shape
    return posteriors_by_marks(
        lambda sentence, length, marks: _log_partition(rules, sentence, length, marks),
        full_lengths(lengths, batch, n, rules.views.device),
        n,
        rules.ranks.has_gaps,
    )


def _log_partition(rules: RankRules, sentence: int, n: int, marks: Marks) -> Tensor:
    """Return log Z of the first `n` words of a sentence; `marks` are logarithms of factors on spans."""
    ranks, columns = rules.ranks, rules.ranks.columns
    to_continuous, to_discontinuous = log(rules.continuous.double()), log(rules.discontinuous.double())
    root = log(rules.root.double())
    nothing = root.new_zeros(())

    def add(terms: list[Tensor], size: int) -> Tensor:
        return log_sum(torch.stack([root.new_full((size,), -math.inf), *terms]), 0)

    def views_of(scores: Tensor, matrix: Tensor, span: tuple[int, ...]) -> Tensor:
        views = log_sum(scores[:, None] + matrix, 0)
        if rules.floor > 0:
            least = math.log(rules.floor) + scores.detach().amax()
            views = log_sum(torch.stack([views, least.expand_as(views)]), 0)
        return views + marks.get(span, nothing)

    one: dict[tuple[int, int], Tensor] = {}
    two: dict[tuple[int, int, int, int], Tensor] = {}
    for i in range(n):
        one[i, i + 1] = log(rules.views[sentence, i].double()) + rules.scales[sentence, i].double()

    def offer(use: slice, i: int, j: int) -> Tensor:
        return one[i, j][use]

    def attach(attachment: int, i: int, j: int) -> Tensor:
        return offer(columns.attached, i, j)[attachment * ranks.r4 : (attachment + 1) * ranks.r4]

    def wrapping(i: int, j: int, m: int, e: int) -> Tensor:
        return two[i, j, m, e][: ranks.r2]

    def extended(i: int, j: int, m: int, e: int) -> Tensor:
        return two[i, j, m, e][ranks.r2 :]

    for width in range(2, n + 1):
        for i in range(n - width + 1):
            j = i + width
            side_by_side = [offer(columns.left, i, k) + offer(columns.right, k, j) for k in range(i + 1, j)]
            gaps = combinations(range(i + 1, j), 2) if ranks.has_gaps else ()
            wrapped = [offer(columns.wrapped, m, p) + wrapping(i, m, p, j) for m, p in gaps]
            scores = torch.cat([add(side_by_side, ranks.r1), add(wrapped, ranks.r2)])
            one[i, j] = views_of(scores, to_continuous, (i, j))
            if width == n:
                return log_sum(scores + root, 0) + marks.get((i, j), nothing)
        for i, j, m, e in combinations(range(n + 1), 4) if ranks.has_gaps else ():
            if j - i + e - m != width:
                continue
            apart = offer(columns.gap_left, i, j) + offer(columns.gap_right, m, e)
            attached = [attach(0, i, k) + extended(k, j, m, e) for k in range(i + 1, j)]
            attached += [attach(1, k, j) + extended(i, k, m, e) for k in range(i + 1, j)]
            attached += [attach(2, m, k) + extended(i, j, k, e) for k in range(m + 1, e)]
            attached += [attach(3, k, e) + extended(i, j, m, k) for k in range(m + 1, e)]
            scores = torch.cat([apart, add(attached, ranks.r4)])
            two[i, j, m, e] = views_of(scores, to_discontinuous, (i, j, m, e))
    return 0.0 * rules.root.double().sum() - math.inf  # one word; -inf that has gradients
