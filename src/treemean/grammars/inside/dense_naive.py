"""The inside algorithm over symbols as it is defined: span by span, in log space, in float64.

Slow, and the measure of the vectorised version. Rules of probability zero get gradient zero.
"""

from __future__ import annotations

import math
from itertools import combinations

import torch
from torch import Tensor

from treemean.grammars.inside.dense_rules import DenseRules
from treemean.grammars.inside.logarithms import log, log_sum
from treemean.grammars.inside.marks import posteriors_by_marks
from treemean.grammars.inside.rules import full_lengths
from treemean.grammars.spans import SpanPosteriors


def log_partition(rules: DenseRules, lengths: Tensor | None = None) -> Tensor:
    """Return log Z of each sentence, (B,) in float64; -inf for one word.

    Takes O(n⁵) steps for grammars with gaps and O(n³) for others, each over all rules of one form.
    """
    return _log_partition(rules, lengths, {})


def span_posteriors(rules: DenseRules, lengths: Tensor | None = None) -> SpanPosteriors:
    """Return the span posteriors of a batch: derivatives of log Z by logarithms of factors on the spans."""
    batch, n, _ = rules.words.shape
    return posteriors_by_marks(
        lambda marks: _log_partition(rules, lengths, marks),
        full_lengths(lengths, batch, n, rules.words.device),
        n,
        rules.has_gaps,
    )


def _log_partition(rules: DenseRules, lengths: Tensor | None, marks: dict[tuple[int, ...], Tensor]) -> Tensor:
    """Return log Z; `marks` are (B,) logarithms of factors on spans."""
    rules = rules.double()
    batch, n, preterminals = rules.words.shape
    lengths = full_lengths(lengths, batch, n, rules.words.device)
    root, side_by_side, wrapping = log(rules.root), log(rules.side_by_side), log(rules.wrapping)
    apart, attaching = log(rules.apart), log(rules.attaching)
    nonterminals, gapped = rules.nonterminals, rules.discontinuous

    def apply(rule: Tensor, first: Tensor, second: Tensor) -> Tensor:
        """Sum over the children of rules (R, parent, first, second)."""
        return log_sum((rule + first[:, None, :, None] + second[:, None, None, :]).flatten(2), 2)

    def add(terms: list[Tensor], size: int) -> Tensor:
        never = torch.full((batch, size), -math.inf, dtype=torch.float64)
        return log_sum(torch.stack([never, *terms]), 0)

    def mark(*span: int) -> Tensor:
        return marks.get(span, rules.words.new_zeros(1))[:, None]

    no_nonterminal = torch.full((batch, nonterminals), -math.inf, dtype=torch.float64)
    no_preterminal = torch.full((batch, preterminals), -math.inf, dtype=torch.float64)
    one: dict[tuple[int, int], Tensor] = {}
    two: dict[tuple[int, int, int, int], Tensor] = {}
    for i in range(n):
        one[i, i + 1] = torch.cat([no_nonterminal, rules.words[:, i]], 1)
    result = torch.full((batch,), -math.inf, dtype=torch.float64) + 0.0 * rules.root.sum()  # has gradients
    for width in range(2, n + 1):
        for i in range(n - width + 1):
            j = i + width
            terms = [apply(side_by_side, one[i, k], one[k, j]) for k in range(i + 1, j)]
            if gapped:
                inside = combinations(range(i + 1, j), 2)
                terms += [apply(wrapping, one[m, p], two[i, m, p, j]) for m, p in inside]
            score = add(terms, nonterminals) + mark(i, j)
            one[i, j] = torch.cat([score, no_preterminal], 1)
            if i == 0:
                result = torch.where(lengths == width, log_sum(root + score, 1), result)
        for i, j, m, e in combinations(range(n + 1), 4) if gapped else ():
            if j - i + e - m != width:
                continue
            r5, r6, r7, r8 = attaching.unbind(2)
            terms = [apply(apart, one[i, j], one[m, e])]
            terms += [apply(r5, one[i, k], two[k, j, m, e]) for k in range(i + 1, j)]
            terms += [apply(r6, one[k, j], two[i, k, m, e]) for k in range(i + 1, j)]
            terms += [apply(r7, one[m, k], two[i, j, k, e]) for k in range(m + 1, e)]
            terms += [apply(r8, one[k, e], two[i, j, m, k]) for k in range(m + 1, e)]
            two[i, j, m, e] = add(terms, gapped) + mark(i, j, m, e)
    return result
