"""Choosing trees on a GPU."""

from treemean.grammars.decoding.triton.mbr import best_trees
from treemean.grammars.decoding.triton.products import KernelMax
from treemean.grammars.decoding.triton.viterbi import best_derivations

__all__ = ["KernelMax", "best_derivations", "best_trees"]
