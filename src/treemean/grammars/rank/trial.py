"""How the kernels of TN grammars are tried."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from treemean.grammars.backends import Trial
from treemean.grammars.config import PUBLISHED, GrammarConfig
from treemean.grammars.gpu.trials import WORDS, apart, drawn
from treemean.grammars.rank import torch as rank_torch

#: The ranks of the tiny grammar, unless the one that asks has more than the published ones.
_RANKS = (2, 1, 2, 1)


def trial_of(build: Callable[[GrammarConfig, int], Any], ranks: Sequence[int]) -> Trial:
    """Return the trial for grammars of some ranks; many ranks are tried as they are.

    Parameters
    ----------
    build : makes a grammar from a configuration and the number of words.
    """
    many = any(own > usual for own, usual in zip(ranks, PUBLISHED["tn-lcfrs"]["ranks"]))
    sizes = tuple(max(rank, 1) for rank in ranks) if many else ()
    return Trial("rank", sizes, partial(difference, build))


def difference(
    build: Callable[[GrammarConfig, int], Any], device: torch.device, ranks: tuple[int, ...]
) -> float:
    """Return how far log Z of a tiny TN grammar, or its gradient, is from that by the vectorised version.

    The way is that of training, from parameters to log Z and back.
    """
    from treemean.grammars.rank import triton
    from treemean.grammars.rank.triton.parameters import rank_rules

    config = GrammarConfig("tn-lcfrs", 2, 3, 2, ranks=ranks or _RANKS, embedding=4, backend="torch")
    grammar = drawn(lambda: build(config, len(WORDS)), device)
    words = torch.tensor([WORDS], device=device)

    def by_kernels() -> Tensor:
        stacked = {name: parameter[None] for name, parameter in grammar.named_parameters()}
        return triton.log_partition(rank_rules(stacked, words[None], config))[0]

    return apart(
        by_kernels, lambda: rank_torch.log_partition(grammar.rules(words)), list(grammar.parameters())
    )
