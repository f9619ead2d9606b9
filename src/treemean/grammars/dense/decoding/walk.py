"""From a chart over symbols to trees: from the top down, one choice after the other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from treemean.grammars.charts.gapped import gapped_offsets
from treemean.grammars.charts.logarithms import log
from treemean.grammars.decoding.choices import Choose, Floats, mask_of_span, to_numpy
from treemean.grammars.dense.decoding.chart import DenseChart
from treemean.grammars.grammar import Masks, canonical

#: A span and its symbol: of fan-out one if the span has two ends, of fan-out two if it has four.
Node = tuple[tuple[int, ...], int]

#: Pairs of spans that can be the two children of a span.
Ways = Sequence[tuple[tuple[int, ...], tuple[int, ...]]]


class DenseWalker:
    """Reads trees off a chart.

    At each node all pairs of children compete, in a fixed order, which decides ties if `choose` takes the
    first: R2 before R3, R4 before R5-R8; then places as they begin; then symbols as they are numbered.
    """

    def __init__(self, chart: DenseChart) -> None:
        self.n, self.offsets = chart.n, gapped_offsets(chart.n)
        self.nonterminals = chart.rules.nonterminals
        self.continuous = to_numpy(chart.continuous)
        rules = {
            name: to_numpy(log(tensor)) for name, tensor in chart.rules.tensors().items() if name != "words"
        }
        self.root, self.side_by_side = rules["root"], rules["side_by_side"]
        self.wrapping, self.apart, self.attaching = rules["wrapping"], rules["apart"], rules["attaching"]
        self.has_gaps = chart.has_gaps
        if self.has_gaps:
            self.discontinuous = to_numpy(chart.discontinuous.flat)

    def tree(self, sentence: int, length: int, choose: Choose) -> Masks:
        """Return the constituents of several words of one tree of a sentence; see `RankWalker.tree`."""
        if length < 2:
            return []
        masks: list[int] = []
        own = sentence if len(self.root) > 1 else 0
        symbols = self.continuous[0, length - 1, sentence, : self.nonterminals]
        todo: list[Node] = [((0, length), choose(self.root[own] + symbols))]
        while todo:
            span, symbol = todo.pop()
            if len(span) == 4:
                masks.append(mask_of_span(*span[:2]) | mask_of_span(*span[2:]))
                todo += self._divide_gapped(sentence, own, span, symbol, choose)
            elif span[1] - span[0] > 1:
                masks.append(mask_of_span(*span))
                todo += self._divide(sentence, own, span, symbol, choose)
        return canonical(masks)

    def _divide(
        self, sentence: int, own: int, span: tuple[int, ...], symbol: int, choose: Choose
    ) -> list[Node]:
        i, j = span
        splits = [((i, k), (k, j)) for k in range(i + 1, j)]
        forms = [self._pairs(sentence, splits, self.side_by_side[own, symbol])]
        wraps: Ways = []
        if self.has_gaps:
            places = [(m, p) for m in range(i + 1, j) for p in range(m + 1, j)]
            wraps = [((m, p), (i, m, p, j)) for m, p in places]
            forms.append(self._pairs(sentence, wraps, self.wrapping[own, symbol]))
        return self._pick([*splits, *wraps], forms, choose)

    def _divide_gapped(
        self, sentence: int, own: int, span: tuple[int, ...], symbol: int, choose: Choose
    ) -> list[Node]:
        i, j, m, e = span
        places: list[Ways] = [
            [((i, k), (k, j, m, e)) for k in range(i + 1, j)],
            [((k, j), (i, k, m, e)) for k in range(i + 1, j)],
            [((m, k), (i, j, k, e)) for k in range(m + 1, e)],
            [((k, e), (i, j, m, k)) for k in range(m + 1, e)],
        ]
        both: Ways = [((i, j), (m, e))]
        forms = [self._pairs(sentence, both, self.apart[own, symbol])]
        for attachment, ways in enumerate(places):
            forms.append(self._pairs(sentence, ways, self.attaching[own, symbol, attachment]))
            both = [*both, *ways]
        return self._pick(both, forms, choose)

    def _pairs(self, sentence: int, ways: Ways, rule: Floats) -> Floats:
        """Return what all pairs of children [way, first, second] are worth."""
        if not ways:
            return np.empty((0, *rule.shape))
        first = np.stack([self._symbols(sentence, span) for span, _ in ways])
        second = np.stack([self._symbols(sentence, span) for _, span in ways])
        worth: Floats = first[:, :, None] + second[:, None] + rule
        return worth

    def _symbols(self, sentence: int, span: tuple[int, ...]) -> Floats:
        if len(span) == 2:
            found: Floats = self.continuous[span[0], span[1] - span[0] - 1, sentence]
            return found
        i, j, m, e = span
        width = j - i + e - m
        gaps = self.n - width
        slot = self.offsets[width] + ((j - i - 1) * gaps + i) * gaps + m - (j - i) - 1
        found = self.discontinuous[slot, sentence]
        return found

    @staticmethod
    def _pick(ways: Ways, forms: list[Floats], choose: Choose) -> list[Node]:
        chosen = choose(np.concatenate([worth.ravel() for worth in forms]))
        before = 0
        for worth in forms:
            if chosen < worth.size:
                way, first, second = (int(x) for x in np.unravel_index(chosen, worth.shape))
                return [(ways[before + way][0], first), (ways[before + way][1], second)]
            chosen -= worth.size
            before += len(worth)
        raise AssertionError("one of the alternatives was chosen")
