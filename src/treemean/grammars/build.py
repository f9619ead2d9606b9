"""From a configuration to a grammar.

A new kind begins in `config.py`: see "Adding a grammar" in CONTRIBUTING.md.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from treemean.grammars.config import GrammarConfig
from treemean.grammars.dense.grammar import DenseGrammar
from treemean.grammars.grammar import Grammar
from treemean.grammars.rank.grammar import LowRankGrammar


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


def assemble_grammar(config: GrammarConfig, vocabulary_size: int, tensors: Mapping[str, Tensor]) -> Grammar:
    """Return a grammar with given parameters, in their precision and on their device; nothing is drawn.

    Nothing is allocated for sizes that the tensors do not have. Raises `RuntimeError` or `TypeError` of
    PyTorch if the tensors are not those of such a grammar.
    """
    with torch.device("meta"):  # shapes without numbers
        grammar = build_grammar(config, vocabulary_size)
    grammar.load_state_dict(dict(tensors), assign=True)
    return grammar
