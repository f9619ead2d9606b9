"""Charts over symbols in log space, for choosing trees, by any semiring."""

from __future__ import annotations

import torch
from torch import Tensor

from treemean.grammars.charts import strides
from treemean.grammars.charts.gapped import Gapped, wraps
from treemean.grammars.charts.logarithms import log
from treemean.grammars.decoding.semirings import Semiring
from treemean.grammars.dense.rules import DenseRules


class DenseChart:
    """What every symbol over every span is worth, in log space and float64, for a batch of sentences.

    Parameters
    ----------
    rules : of the grammar.
    semiring : how alternatives combine.

    Spans are combined with the rules once, as in `dense.torch`. Takes O(n³ NT S) time without gaps, with gaps
    O(n⁵ D² + n⁴ D S); nothing is differentiable.
    """

    @torch.no_grad()
    def __init__(self, rules: DenseRules, semiring: Semiring) -> None:
        rules = rules.double()
        self.rules, self.semiring = rules, semiring
        self.batch, self.n, preterminals = rules.words.shape
        self.has_gaps = rules.has_gaps and self.n > 2
        nonterminals, gapped, children = rules.nonterminals, rules.discontinuous, rules.side_by_side.shape[-1]
        n, batch, new = self.n, self.batch, rules.words.new_empty
        self.continuous = rules.words.new_full((n, n, batch, children), -torch.inf)
        self._side_by_side = log(rules.side_by_side).permute(0, 3, 2, 1).flatten(2)  # [right, (left, parent)]
        self._second = new(n, n, batch, children, nonterminals)
        if self.has_gaps:
            self.discontinuous = Gapped(n, batch, gapped, rules.words)
            self._apart = log(rules.apart).permute(0, 3, 2, 1).flatten(2)
            self._wrapping = log(rules.wrapping).permute(0, 2, 3, 1).flatten(2)  # [inner, (outer, parent)]
            self._attaching = log(rules.attaching).permute(2, 0, 3, 4, 1).flatten(3)
            self._beyond = new(n, n, batch, children, gapped)
            self._wrapped = new(n, n, batch, gapped, nonterminals)
            self._attached = new(4, n, n, batch, gapped, gapped)
        self._keep(1, rules.words.transpose(0, 1), slice(children - preterminals, children))
        for width in range(2, n + 1):
            self._fill_continuous(width, slice(0, nonterminals))
            if self.has_gaps and width < n:
                self._fill_discontinuous(width)

    def _keep(self, width: int, symbols: Tensor, which: slice) -> None:
        """Keep the symbols [i, K, ...] of the spans of one width, and what the rules make of them."""
        count = len(symbols)
        self.continuous[:count, width - 1, :, which] = symbols

        def through(rules: Tensor, chart: Tensor) -> None:
            product = self.semiring.product(symbols, rules[:, which])
            chart[:count, width - 1] = product.view_as(chart[:count, width - 1])

        through(self._side_by_side, self._second)
        if self.has_gaps:
            through(self._apart, self._beyond)
            through(self._wrapping, self._wrapped)
            for rules, chart in zip(self._attaching, self._attached):
                through(rules, chart)

    def _fill_continuous(self, width: int, which: slice) -> None:
        semiring = self.semiring
        firsts = strides.first_parts(self.continuous, width)
        seconds = strides.second_parts(self._second, width)
        symbols = semiring.any_of(semiring.product(firsts, seconds), 1)
        if self.has_gaps and width > 2:
            ways = wraps(self.n, width, symbols.device)
            inner = self._wrapped.flatten(0, 1)[ways.inner]
            wrapped = semiring.any_of(semiring.product(self.discontinuous.flat[ways.outer], inner), 0)
            symbols = semiring.either(symbols, wrapped)
        self._keep(width, symbols, which)

    def _fill_discontinuous(self, width: int) -> None:
        semiring, chart = self.semiring, self.discontinuous.at(width)
        left = strides.left_of_gaps(self.continuous, width).transpose(0, 1)  # [a-1, i, K, S]
        right = strides.right_of_gaps(self._beyond, width).transpose(0, 1)  # [a-1, m', K, S, D]
        chart[:] = semiring.product(left[:, :, None], right[:, None])
        for taken in range(1, width - 1):
            places = strides.attaching_places(self.n, width, taken)
            added = strides.attached_spans(self._attached, width, taken)
            for (parents, children), child in zip(places, added):
                both = semiring.product(self.discontinuous.at(width - taken)[children], child)
                chart[parents] = semiring.either(chart[parents], both)
