"""Random rules for tests."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from treemean.grammars.inside.dense_rules import DenseRules
from treemean.grammars.inside.rules import RankRules, Ranks


def random_rank_rules(
    batch: int, n: int, ranks: Ranks, *, seed: int = 0, sharp: float = 1.0, floor: float = 0.0
) -> RankRules:
    """Draw rules in float64 as a grammar of many symbols would give them; `sharp` says how peaked."""
    draw = torch.Generator().manual_seed(seed)

    def random(*shape: int) -> Tensor:
        return (sharp * torch.randn(*shape, generator=draw, dtype=torch.float64)).softmax(-1)

    symbols = 2 * sum(ranks)
    parents, gapped_parents = (random(symbols, ranks.r1 + ranks.r2), random(symbols, ranks.r3 + ranks.r4))
    return RankRules(
        views=torch.rand(batch, n, ranks.views, generator=draw, dtype=torch.float64) ** 2 + 0.01,
        scales=-5 + 2 * torch.randn(batch, n, generator=draw, dtype=torch.float64),
        continuous=(random(ranks.views, symbols) @ parents).T.contiguous(),
        discontinuous=(random(ranks.r2 + ranks.r4, symbols) @ gapped_parents).T.contiguous(),
        root=random(1, symbols)[0] @ parents,
        ranks=ranks,
        floor=floor,
    )


def random_dense_rules(
    batch: int,
    n: int,
    nonterminals: int,
    preterminals: int,
    discontinuous: int,
    *,
    per_sentence: bool = False,
    seed: int = 0,
    sharp: float = 1.0,
) -> DenseRules:
    """Draw normalised rules in float64."""
    draw = torch.Generator().manual_seed(seed)
    sets, symbols = batch if per_sentence else 1, nonterminals + preterminals

    def random(parents: int, *shapes: tuple[int, ...]) -> list[Tensor]:
        sizes = [math.prod(shape) for shape in shapes]
        logits = sharp * torch.randn(sets, parents, sum(sizes), generator=draw, dtype=torch.float64)
        return [p.view(sets, parents, *s) for p, s in zip(logits.softmax(-1).split(sizes, -1), shapes)]

    side_by_side, wrapping = random(nonterminals, (symbols, symbols), (symbols, discontinuous))
    apart, attaching = random(discontinuous, (symbols, symbols), (4, symbols, discontinuous))
    words = torch.randn(batch, n, preterminals, generator=draw, dtype=torch.float64)
    return DenseRules(
        words=words.log_softmax(-1) - 2 * torch.rand(batch, n, 1, generator=draw, dtype=torch.float64),
        root=random(1, (nonterminals,))[0][:, 0],
        side_by_side=side_by_side,
        wrapping=wrapping,
        apart=apart,
        attaching=attaching,
    )
