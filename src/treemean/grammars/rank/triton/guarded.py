"""TN grammars by kernels: log Z, posteriors and trees, under a guard."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from treemean.grammars.charts.weights import SpanWeights
from treemean.grammars.config import GrammarConfig
from treemean.grammars.gpu.mbr import best_trees
from treemean.grammars.gpu.posteriors import Posteriors
from treemean.grammars.grammar import Masks
from treemean.grammars.nan_policy import Guard, is_capturing
from treemean.grammars.rank import triton
from treemean.grammars.rank.triton.parameters import rank_rules
from treemean.grammars.rank.triton.posteriors import compact_posteriors


class Kernels:
    """What kernels make of one grammar. A result that the guard refuses is None.

    Parameters
    ----------
    parameters : of a `LowRankGrammar`, by name.
    config : of the grammar.
    guard : looks at all results, unless they become part of a CUDA graph.
    """

    def __init__(self, parameters: Mapping[str, Tensor], config: GrammarConfig, guard: Guard) -> None:
        self._stacked = {name: parameter[None] for name, parameter in parameters.items()}
        self._config, self._guard = config, guard

    def log_prob(self, words: Tensor, lengths: Tensor, weights: SpanWeights | None = None) -> Tensor | None:
        """Return log Z (B,), differentiable; with weights of spans, if there are any."""
        rules = rank_rules(self._stacked, words[None], self._config)
        log_z = triton.log_partition(rules, lengths[None], weights)[0]
        if is_capturing(log_z) or self._guard.accepts_log_z(log_z.detach(), lengths):
            return log_z
        return None

    @torch.no_grad()
    def posteriors(self, words: Tensor, lengths: Tensor) -> Posteriors | None:
        """Return span posteriors."""
        found = compact_posteriors(rank_rules(self._stacked, words[None], self._config), lengths[None])
        if is_capturing(found.log_z) or self._guard.accepts_posteriors(found.constituents()):
            return found
        return None

    def log_prob_and_mbr(self, words: Tensor, lengths: Tensor) -> tuple[Tensor, list[Masks]] | None:
        """Return log Z (B,), and the trees with the largest sums of posteriors."""
        found = self.posteriors(words, lengths)
        return None if found is None else (found.log_z, best_trees(found, lengths))
