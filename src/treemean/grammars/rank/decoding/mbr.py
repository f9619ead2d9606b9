"""The tree that maximises the sum of its spans' posteriors (minimum Bayes risk).

It is the best derivation of a grammar of one symbol in which everything is free, and every span weighs what
its posterior says. Takes O(n³) time without gaps and O(n⁵) with gaps, vectorised over sentences.
"""

from __future__ import annotations

from torch import Tensor

from treemean.grammars.decoding.choices import best
from treemean.grammars.decoding.semirings import MAX
from treemean.grammars.grammar import Masks
from treemean.grammars.rank.decoding.chart import LogRankRules, RankChart
from treemean.grammars.rank.decoding.walk import RankWalker
from treemean.grammars.rank.rules import Ranks
from treemean.grammars.spans import SpanPosteriors, full_lengths


def best_trees(posteriors: SpanPosteriors, lengths: Tensor | None = None) -> list[Masks]:
    """Return, for each sentence, the binary tree of fan-out at most two with the largest sum of posteriors.

    Of equal trees the first is taken: side by side before wrapping, shorter first parts first.

    >>> import torch
    >>> posteriors = SpanPosteriors(torch.zeros(1, 4, 4))
    >>> posteriors.continuous[0, 1, 3] = 0.8
    >>> best_trees(posteriors)
    [[7, 6]]
    """
    like = posteriors.continuous
    batch, n = len(like), like.shape[1] - 1
    lengths = full_lengths(lengths, batch, n, like.device)
    posteriors.check_finite()
    ranks = Ranks(1, 1, 1, 1) if posteriors.discontinuous else Ranks(1)
    rules = LogRankRules(
        views=like.new_zeros(batch, n, ranks.views),
        continuous=like.new_zeros(ranks.r1 + ranks.r2, ranks.views),
        discontinuous=like.new_zeros(ranks.r3 + ranks.r4, ranks.r2 + ranks.r4),
        root=like.new_zeros(ranks.r1 + ranks.r2),
        ranks=ranks,
    )
    walker = RankWalker(RankChart(rules, MAX, posteriors))
    return [walker.tree(sentence, length, best) for sentence, length in enumerate(lengths.tolist())]
