"""From a configuration to a grammar."""

from __future__ import annotations

from treemean.grammars.config import GrammarConfig
from treemean.grammars.dense import DenseGrammar
from treemean.grammars.grammar import Grammar
from treemean.grammars.low_rank import LowRankGrammar


def build_grammar(config: GrammarConfig, vocabulary_size: int) -> Grammar:
    """Return a grammar whose parameters are drawn from PyTorch's global generator.

    >>> import torch
    >>> _ = torch.manual_seed(1)
    >>> config = GrammarConfig("tn-lcfrs", 4, 6, 3, ranks=(4, 2, 4, 2), embedding=8)
    >>> grammar = build_grammar(config, vocabulary_size=10)
    >>> grammar.log_prob(torch.tensor([[1, 2, 3]])).shape
    torch.Size([1])
    """
    return (LowRankGrammar if config.is_low_rank else DenseGrammar)(config, vocabulary_size)
