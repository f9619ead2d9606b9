"""From the parameters of TN grammars to rules in rank space on a GPU, with a backward pass of its own."""

from treemean.grammars.rank.triton.parameters.rules import rank_rules

__all__ = ["rank_rules"]
