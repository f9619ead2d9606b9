"""From a chart in rank space to trees: from the top down, one choice after the other.

Only what lies on the way is looked at, so that no back-pointers are needed.
"""

from __future__ import annotations

import numpy as np
import torch

from treemean.grammars.charts.gapped import gapped_offsets, wraps
from treemean.grammars.decoding.choices import Choose, Floats, mask_of_span, to_numpy
from treemean.grammars.grammar import Masks, canonical
from treemean.grammars.rank.decoding.chart import RankChart

_CPU = torch.device("cpu")


class RankWalker:
    """Reads trees off a chart.

    Alternatives come in a fixed order, which decides ties if `choose` takes the first: ranks as they are
    numbered; then shorter first parts first; for R3 shorter left parts, then shorter gaps; R5 to R8.
    """

    def __init__(self, chart: RankChart) -> None:
        self.n, self.ranks = chart.n, chart.ranks
        self.offsets = gapped_offsets(self.n)
        self.root = to_numpy(chart.rules.root)
        self.continuous = to_numpy(chart.rules.continuous)
        self.discontinuous = to_numpy(chart.rules.discontinuous)
        views, columns = chart.views, chart.ranks.columns
        self.left, self.right = to_numpy(views.left), to_numpy(views.right)
        self.scores = {width: to_numpy(scores) for width, scores in chart.scores.items()}
        self.columns = columns
        if chart.has_gaps:
            self.gap_left, self.gap_right = to_numpy(views.gap_left), to_numpy(views.gap_right)
            self.attached = to_numpy(views.attached)
            self.wrapped = to_numpy(views.wrapped).reshape(self.n * self.n, -1, self.ranks.r2)
            self.wrapping, self.extended = to_numpy(chart.wrapping.flat), to_numpy(chart.extended.flat)
            self.attachments = to_numpy(chart.attachments.flat)

    def tree(self, sentence: int, length: int, choose: Choose) -> Masks:
        """Return the constituents of several words of one tree of a sentence.

        Parameters
        ----------
        sentence : its number in the batch.
        length : its number of words; one word has no constituents of several.
        choose : takes what the alternatives are worth and returns the number of one.
        """
        masks: list[int] = []
        todo: list[tuple[tuple[int, ...], Floats]] = [((0, length), self.root)]
        while todo:
            span, wanted = todo.pop()
            if len(span) == 4:
                masks.append(mask_of_span(*span[:2]) | mask_of_span(*span[2:]))
                todo += self._divide_gapped(sentence, span, wanted, choose)
            elif span[1] - span[0] > 1:
                masks.append(mask_of_span(*span))
                todo += self._divide(sentence, span[0], span[1], wanted, choose)
        return canonical(masks)

    def _divide(
        self, sentence: int, i: int, j: int, wanted: Floats, choose: Choose
    ) -> list[tuple[tuple[int, ...], Floats]]:
        """Choose the children of a continuous span, whose scores count with `wanted` added."""
        width = j - i
        rank = choose(self.scores[width][i, sentence] + wanted)
        if rank < self.ranks.r1:
            first = np.arange(1, width)
            worth = self.left[i, : width - 1, sentence, rank]
            worth = worth + self.right[i + first, width - first - 1, sentence, rank]
            k = i + 1 + choose(worth)
            return [
                ((i, k), self._continuous_view(self.columns.left, rank)),
                ((k, j), self._continuous_view(self.columns.right, rank)),
            ]
        rank -= self.ranks.r1
        ways = wraps(self.n, width, _CPU)
        inner, outer = ways.inner[:, i].numpy(), ways.outer[:, i].numpy()
        way = choose(self.wrapped[inner, sentence, rank] + self.wrapping[outer, sentence, rank])
        m, length = divmod(int(inner[way]), self.n)
        p = m + length + 1
        return [
            ((m, p), self._continuous_view(self.columns.wrapped, rank)),
            ((i, m, p, j), self.discontinuous[:, rank]),
        ]

    def _divide_gapped(
        self, sentence: int, span: tuple[int, ...], wanted: Floats, choose: Choose
    ) -> list[tuple[tuple[int, ...], Floats]]:
        """Choose the children of a discontinuous span."""
        i, j, m, e = span
        apart = self.gap_left[i, j - i - 1, sentence] + self.gap_right[m, e - m - 1, sentence]
        scores = np.concatenate([apart, self.attachments[self._slot(span), sentence]])
        rank = choose(scores + wanted)
        if rank < self.ranks.r3:
            return [
                ((i, j), self._continuous_view(self.columns.gap_left, rank)),
                ((m, e), self._continuous_view(self.columns.gap_right, rank)),
            ]
        rank -= self.ranks.r3
        ways = [(0, (i, k), (k, j, m, e)) for k in range(i + 1, j)]
        ways += [(1, (k, j), (i, k, m, e)) for k in range(i + 1, j)]
        ways += [(2, (m, k), (i, j, k, e)) for k in range(m + 1, e)]
        ways += [(3, (k, e), (i, j, m, k)) for k in range(m + 1, e)]
        worth = [
            self.attached[attachment, start, end - start - 1, sentence, rank]
            + self.extended[self._slot(other), sentence, rank]
            for attachment, (start, end), other in ways
        ]
        attachment, child, other = ways[choose(np.array(worth))]
        column = attachment * self.ranks.r4 + rank
        return [
            (child, self._continuous_view(self.columns.attached, column)),
            (other, self.discontinuous[:, self.ranks.r2 + rank]),
        ]

    def _continuous_view(self, use: slice, rank: int) -> Floats:
        return self.continuous[:, use.start + rank]

    def _slot(self, span: tuple[int, ...]) -> int:
        i, j, m, e = span
        width = j - i + e - m
        gaps = self.n - width
        return self.offsets[width] + ((j - i - 1) * gaps + i) * gaps + m - (j - i) - 1
