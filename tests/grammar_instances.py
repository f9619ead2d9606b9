"""Random rules for tests."""

from __future__ import annotations

import torch
from torch import Tensor

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
