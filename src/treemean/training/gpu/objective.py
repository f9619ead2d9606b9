"""What E grammars make of E batches, and by what it is differentiated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import torch
from torch import Tensor

from treemean.grammars.charts.weights import SpanWeights
from treemean.grammars.config import GrammarConfig
from treemean.grammars.grammar import Grammar, Loss
from treemean.grammars.rank import torch as rank_torch
from treemean.grammars.rank.grammar import LowRankGrammar
from treemean.grammars.rank.rules import RankRules


class Objective(Protocol):
    """The training objective of several runs as a function of their parameters.

    Attributes
    ----------
    leaves : the tensors by which it is to be differentiated.
    """

    leaves: list[Tensor]

    def loss(
        self,
        words: Tensor,
        lengths: Tensor | None,
        generators: Sequence[torch.Generator] = (),
        weights: SpanWeights | None = None,
    ) -> Loss:
        """Return the objective of each sentence under the grammar of its run, both parts (E, B).

        Parameters
        ----------
        words : (E, B, n), padded with zeros.
        lengths : (E, B), None if all have n words.
        generators : of what the grammars draw, if they do.
        weights : of spans; they number the sentences one run after the other.
        """

    def of_runs(self, gradients: Sequence[Tensor]) -> list[list[Tensor]]:
        """Return gradients by the leaves as those of the parameters of each run."""


def objective_of(grammars: Sequence[Grammar], stacked: Mapping[str, Tensor]) -> Objective:
    """Return the fastest way to compute the objective.

    Parameters
    ----------
    grammars : E grammars of one configuration.
    stacked : their parameters by name, each (E, …), in the same memory.
    """
    first = grammars[0]
    if isinstance(first, LowRankGrammar) and first.by_kernels():
        return FusedObjective(stacked, first.config)
    return PlainObjective(grammars)


class FusedObjective:
    """The objective of TN grammars on a GPU: rules and inside algorithm of all runs at once.

    Attributes
    ----------
    dtype : of the operands of matrix products from parameters to rules; float32 to measure what fp16 costs.
    """

    dtype = torch.float16

    def __init__(self, stacked: Mapping[str, Tensor], config: GrammarConfig) -> None:
        self._parameters = {name: tensor.detach().requires_grad_() for name, tensor in stacked.items()}
        self._config = config
        self.leaves = list(self._parameters.values())

    def loss(
        self,
        words: Tensor,
        lengths: Tensor | None,
        generators: Sequence[torch.Generator] = (),
        weights: SpanWeights | None = None,
    ) -> Loss:
        """Return the objective; see `Objective`."""
        from treemean.grammars.rank import triton
        from treemean.grammars.rank.triton.parameters import rank_rules

        rules = rank_rules(self._parameters, words, self._config, dtype=self.dtype)
        log_z = triton.log_partition(rules, lengths, weights)
        return Loss(-log_z, torch.zeros_like(log_z))

    def of_runs(self, gradients: Sequence[Tensor]) -> list[list[Tensor]]:
        """Return the gradients of each run; see `Objective`."""
        return [list(own) for own in zip(*gradients)]


class PlainObjective:
    """The objective of any grammars, whose rules are computed one grammar after the other."""

    def __init__(self, grammars: Sequence[Grammar]) -> None:
        self._grammars = grammars
        self._parameters = [list(grammar.parameters()) for grammar in grammars]
        self.leaves: list[Tensor] = [parameter for own in self._parameters for parameter in own]

    def loss(
        self,
        words: Tensor,
        lengths: Tensor | None,
        generators: Sequence[torch.Generator] = (),
        weights: SpanWeights | None = None,
    ) -> Loss:
        """Return the objective; see `Objective`."""
        low_rank = [grammar for grammar in self._grammars if isinstance(grammar, LowRankGrammar)]
        if low_rank and low_rank[0].config.backend != "naive":
            rules = stack_rules([grammar.rules(own) for grammar, own in zip(low_rank, words)])
            log_z = rank_torch.log_partition(rules, lengths, weights)
            return Loss(-log_z, torch.zeros_like(log_z))
        own = weights.by_run(*words.shape[:2]) if weights is not None else []
        each = [
            grammar.loss(
                words[run],
                None if lengths is None else lengths[run],
                generator=generators[run] if generators else None,
                weights=own[run] if own else None,
            )
            for run, grammar in enumerate(self._grammars)
        ]
        return Loss(*(torch.stack(parts) for parts in zip(*each)))

    def of_runs(self, gradients: Sequence[Tensor]) -> list[list[Tensor]]:
        """Return the gradients of each run; see `Objective`."""
        each = len(self._parameters[0])
        return [list(gradients[start : start + each]) for start in range(0, len(gradients), each)]


def stack_rules(rules: Sequence[RankRules]) -> RankRules:
    """Return the rules of several grammars along a leading axis."""
    names = ("views", "scales", "continuous", "discontinuous", "root")
    tensors = {name: torch.stack([getattr(one, name) for one in rules]) for name in names}
    return RankRules(**tensors, ranks=rules[0].ranks, floor=rules[0].floor)
