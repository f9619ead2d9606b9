"""The inside algorithm over symbols as it is defined: one sentence and one span at a time, in log space.

Slow, in float64, and the measure of the vectorised version. Rules of probability zero get gradient zero.
"""

from __future__ import annotations

import math
from itertools import combinations

import torch
from torch import Tensor

from treemean.grammars.charts.logarithms import log, log_sum
from treemean.grammars.charts.marks import Marks, posteriors_by_marks
from treemean.grammars.charts.weights import SpanWeights
from treemean.grammars.dense.rules import DenseRules
from treemean.grammars.spans import SpanPosteriors, full_lengths


def log_partition(
    rules: DenseRules, lengths: Tensor | None = None, weights: SpanWeights | None = None
) -> Tensor:
    """Return log Z of each sentence, (B,) in float64; -inf for one word.

    Takes O(n⁵) steps for a sentence if there are gaps, else O(n³), each over all rules of one form.
    """
    batch, n, _ = rules.words.shape
    lengths = full_lengths(lengths, batch, n, rules.words.device)
    values = [
        _log_partition(rules, sentence, length, weights.of(sentence, length) if weights is not None else {})
        for sentence, length in enumerate(lengths.tolist())
    ]
    return torch.stack(values)


def span_posteriors(rules: DenseRules, lengths: Tensor | None = None) -> SpanPosteriors:
    """Return the span posteriors of a batch: derivatives of log Z by logarithms of factors on the spans."""
    batch, n, _ = rules.words.shape
    return posteriors_by_marks(
        lambda sentence, length, marks: _log_partition(rules, sentence, length, marks),
        full_lengths(lengths, batch, n, rules.words.device),
        n,
        rules.has_gaps,
    )


def _log_partition(rules: DenseRules, sentence: int, n: int, marks: Marks) -> Tensor:
    """Return log Z of the first `n` words of a sentence; `marks` are logarithms of factors on spans."""
    own = sentence if len(rules.root) > 1 else 0
    root, side_by_side = log(rules.root[own].double()), log(rules.side_by_side[own].double())
    wrapping, apart = log(rules.wrapping[own].double()), log(rules.apart[own].double())
    r5, r6, r7, r8 = log(rules.attaching[own].double()).unbind(1)
    nothing = root.new_zeros(())

    def apply(rule: Tensor, first: Tensor, second: Tensor) -> Tensor:
        """Sum over the children of rules [parent, first, second]."""
        return log_sum((rule + first[:, None] + second).flatten(1), 1)

    def add(terms: list[Tensor], span: tuple[int, ...]) -> Tensor:
        return log_sum(torch.stack(terms), 0) + marks.get(span, nothing)

    no_nonterminal = root.new_full((rules.nonterminals,), -math.inf)
    no_preterminal = root.new_full((rules.words.shape[-1],), -math.inf)
    one: dict[tuple[int, int], Tensor] = {}
    two: dict[tuple[int, int, int, int], Tensor] = {}
    for i in range(n):
        one[i, i + 1] = torch.cat([no_nonterminal, rules.words[sentence, i].double()])
    for width in range(2, n + 1):
        for i in range(n - width + 1):
            j = i + width
            terms = [apply(side_by_side, one[i, k], one[k, j]) for k in range(i + 1, j)]
            gaps = combinations(range(i + 1, j), 2) if rules.has_gaps else ()
            terms += [apply(wrapping, one[m, p], two[i, m, p, j]) for m, p in gaps]
            symbols = add(terms, (i, j))
            one[i, j] = torch.cat([symbols, no_preterminal])
            if width == n:
                return log_sum(root + symbols, 0)
        for i, j, m, e in combinations(range(n + 1), 4) if rules.has_gaps else ():
            if j - i + e - m != width:
                continue
            terms = [apply(apart, one[i, j], one[m, e])]
            terms += [apply(r5, one[i, k], two[k, j, m, e]) for k in range(i + 1, j)]
            terms += [apply(r6, one[k, j], two[i, k, m, e]) for k in range(i + 1, j)]
            terms += [apply(r7, one[m, k], two[i, j, k, e]) for k in range(m + 1, e)]
            terms += [apply(r8, one[k, e], two[i, j, m, k]) for k in range(m + 1, e)]
            two[i, j, m, e] = add(terms, (i, j, m, e))
    return 0.0 * rules.root.double().sum() - math.inf  # one word; -inf that has gradients
