"""One TN grammar by kernels, which otherwise take several at once: log Z, posteriors and trees."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from treemean.grammars.charts.weights import SpanWeights
from treemean.grammars.config import GrammarConfig
from treemean.grammars.gpu.mbr import best_trees
from treemean.grammars.gpu.posteriors import Posteriors
from treemean.grammars.grammar import Masks
from treemean.grammars.rank import triton
from treemean.grammars.rank.triton.parameters import rank_rules
from treemean.grammars.rank.triton.posteriors import compact_posteriors


class Kernels:
    """What kernels make of one grammar.

    Parameters
    ----------
    parameters : of a `LowRankGrammar`, by name.
    config : of the grammar.
    """

    def __init__(self, parameters: Mapping[str, Tensor], config: GrammarConfig) -> None:
        self._stacked = {name: parameter[None] for name, parameter in parameters.items()}
        self._config = config

    def log_prob(self, words: Tensor, lengths: Tensor, weights: SpanWeights | None = None) -> Tensor:
        """Return log Z (B,), differentiable; with weights of spans, if there are any."""
        rules = rank_rules(self._stacked, words[None], self._config)
        return triton.log_partition(rules, lengths[None], weights)[0]

    @torch.no_grad()
    def posteriors(self, words: Tensor, lengths: Tensor) -> Posteriors:
        """Return span posteriors."""
        return compact_posteriors(rank_rules(self._stacked, words[None], self._config), lengths[None])

    def log_prob_and_mbr(self, words: Tensor, lengths: Tensor) -> tuple[Tensor, list[Masks]]:
        """Return log Z (B,), and the trees with the largest sums of posteriors."""
        found = self.posteriors(words, lengths)
        return found.log_z, best_trees(found, lengths)
