"""What a method of averaging returns: a tree, and how good it is known to be."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from treemean.averaging.reference.problem import Problem
from treemean.averaging.reference.scores import Scores
from treemean.names import Direction
from treemean.trees import Constituent, Tree
from treemean.trees.binarise import binarise


@dataclass(frozen=True)
class Solution:
    """A tree for a `Problem`.

    Attributes
    ----------
    chosen : indices of the candidates that the tree has, ascending.
    objective : the weighted mean of F_β of the tree, all its constituents counted.
    upper_bound : what no tree can exceed (no binary tree, where binary output was asked for).
    optimal : whether it is proven that no such tree is better; then `upper_bound` is `objective`.
    nodes : how many things were searched; what they are depends on the method.
    note : why the solution is not known to be optimal, else empty.
    added : constituents of the tree that are not candidates, as masks, ascending (binary output).
    """

    chosen: tuple[int, ...]
    objective: Fraction
    upper_bound: Fraction
    optimal: bool
    nodes: int = 0
    note: str = ""
    added: tuple[int, ...] = ()


def make_solution(
    scores: Scores,
    chosen: Iterable[int],
    *,
    proven: bool,
    nodes: int,
    note: str = "",
    binary: Direction | None = None,
) -> Solution:
    """Evaluate a tree, binarise it if wished, and say how good it is known to be.

    Parameters
    ----------
    proven : whether the method guarantees the optimum. If not, the tree may still turn out optimal because
        it reaches the bound that ignores conflicts.
    note : why it is not proven.
    """
    added: tuple[int, ...] = ()
    size = None
    if binary:
        chosen, added = complete(scores.problem, chosen, binary)
        size = scores.largest
    chosen = tuple(sorted(chosen))
    objective = scores.objective(scores.value(chosen, size))
    upper_bound = objective if proven else scores.relaxation(binary=binary is not None)
    optimal = objective == upper_bound
    return Solution(chosen, objective, upper_bound, optimal, nodes, "" if optimal else note, added)


def complete(
    problem: Problem, chosen: Iterable[int], direction: Direction
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Binarise the tree with the chosen candidates.

    Returns the candidates of the binary tree, and its other constituents of 2 to n - 1 words as masks.

    >>> problem = Problem(4, (0b0110,), ((1,),), (5,), (6,), 1)
    >>> complete(problem, [0], "right")
    ((0,), (14,))
    """
    everything = (1 << problem.n) - 1
    constituents = [Constituent(mask) for mask in (everything, *(problem.candidates[c] for c in chosen))]
    tree = binarise(Tree(("",) * problem.n, constituents), direction)
    inner = {mask for mask in tree.masks if mask & (mask - 1) and mask != everything}
    index = {mask: c for c, mask in enumerate(problem.candidates)}
    return (
        tuple(sorted(index[mask] for mask in inner if mask in index)),
        tuple(sorted(mask for mask in inner if mask not in index)),
    )
