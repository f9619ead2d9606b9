"""Choosing trees on a GPU."""

from treemean.grammars.decoding.triton.mbr import best_trees

__all__ = ["best_trees"]
