"""What E grammars make of E batches, computed together as far as that is possible."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from treemean.grammars.grammar import Grammar, Loss
from treemean.grammars.inside import rank_torch
from treemean.grammars.inside.rules import RankRules
from treemean.grammars.low_rank import LowRankGrammar

#: log Z of stacked rules, (E, B).
LogPartition = Callable[[RankRules, Tensor | None], Tensor]


def stacked_loss(
    grammars: Sequence[Grammar],
    words: Tensor,
    lengths: Tensor | None,
    generators: Sequence[torch.Generator] = (),
) -> Loss:
    """Return the training objective of each sentence under the grammar of its run, both parts (E, B).

    Parameters
    ----------
    grammars : E grammars of one configuration.
    words : (E, B, n), padded with zeros.
    lengths : (E, B), None if all have n words.
    generators : of what the grammars draw, if they do.
    """
    low_rank = [grammar for grammar in grammars if isinstance(grammar, LowRankGrammar)]
    if len(low_rank) == len(grammars) and low_rank[0].config.backend != "naive":
        rules = stack_rules([grammar.rules(own) for grammar, own in zip(low_rank, words)])
        log_z = log_partition_for(low_rank[0].config.backend, words.device)(rules, lengths)
        return Loss(-log_z, torch.zeros_like(log_z))
    each = [
        grammar.loss(
            words[run],
            None if lengths is None else lengths[run],
            generator=generators[run] if generators else None,
        )
        for run, grammar in enumerate(grammars)
    ]
    return Loss(*(torch.stack(parts) for parts in zip(*each)))


def stack_rules(rules: Sequence[RankRules]) -> RankRules:
    """Return the rules of several grammars along a leading axis."""
    names = ("views", "scales", "continuous", "discontinuous", "root")
    tensors = {name: torch.stack([getattr(one, name) for one in rules]) for name in names}
    return RankRules(**tensors, ranks=rules[0].ranks, floor=rules[0].floor)


def log_partition_for(backend: str, device: torch.device) -> LogPartition:
    """Return the inside algorithm of a configuration; `auto` is Triton on a GPU."""
    if backend == "triton" or (backend == "auto" and device.type == "cuda"):
        from treemean.grammars.inside import triton

        return triton.log_partition
    return rank_torch.log_partition
