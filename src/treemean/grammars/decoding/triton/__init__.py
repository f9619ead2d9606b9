"""Choosing trees on a GPU."""

from treemean.grammars.decoding.triton.dense_viterbi import best_dense_derivations
from treemean.grammars.decoding.triton.mbr import best_trees, best_trees_of_spans
from treemean.grammars.decoding.triton.products import KernelMax
from treemean.grammars.decoding.triton.viterbi import best_derivations

__all__ = ["KernelMax", "best_dense_derivations", "best_derivations", "best_trees", "best_trees_of_spans"]
