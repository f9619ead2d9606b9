"""The tree average: one treebank from several of the same sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, overload

from treemean.averaging.alignment import check_aligned, check_weights
from treemean.averaging.majority import majority
from treemean.errors import TreemeanError
from treemean.trees import Tree, Treebank

__all__ = ["METHODS", "Method", "average"]

Method = Literal["majority"]
METHODS = {"majority": majority}


@overload
def average(
    individuals: Sequence[Treebank], weights: Sequence[float] | None = None, *, method: Method = "majority"
) -> Treebank: ...
@overload
def average(
    individuals: Sequence[Tree], weights: Sequence[float] | None = None, *, method: Method = "majority"
) -> Tree: ...
def average(
    individuals: Sequence[Treebank] | Sequence[Tree],
    weights: Sequence[float] | None = None,
    *,
    method: Method = "majority",
) -> Treebank | Tree:
    """Return the average of treebanks over the same sentences, or of trees over the same sentence.

    Parameters
    ----------
    individuals : treebanks (or trees) with the same words in the same order.
    weights : how much say each individual has; equal if not given.
    method : `majority` keeps what more than half of the weight has.

    Every constituent of the result has the value `support`, the share of the weight that has it.

    >>> a = Tree("x y z".split(), [({0, 1, 2}, "S"), ({0, 1}, "A")])
    >>> b = Tree("x y z".split(), [({0, 1, 2}, "S"), ({1, 2}, "B")])
    >>> [c.positions for c in average([a, a, b])]
    [(0, 1, 2), (0, 1)]
    """
    if method not in METHODS:
        raise TreemeanError(f"there is no method {method!r}; known are {', '.join(METHODS)}")
    banks = [i if isinstance(i, Treebank) else Treebank.from_trees([i]) for i in individuals]
    check_aligned(banks)
    result = METHODS[method](banks, check_weights(weights, len(banks)))
    return result[0] if isinstance(individuals[0], Tree) else result
