"""Averaging without weights, as docs/theory.md states it."""

from __future__ import annotations

from collections.abc import Sequence

from treemean.averaging.reference.problem import Problem, make_problem
from treemean.averaging.weights import Weights
from treemean.trees import Tree


def equal_weights(trees: Sequence[Tree]) -> Problem:
    """State the problem of averaging trees with equal weights and β = 1."""
    ones = (1,) * len(trees)
    return make_problem(trees, Weights(ones, ones))
