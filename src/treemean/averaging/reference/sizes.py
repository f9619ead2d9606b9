"""From the heaviest trees of every size to the best tree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from treemean.averaging.reference.scores import Scores


class Heaviest(Protocol):
    """A search for the heaviest compatible sets of candidates of every cardinality."""

    def __call__(self, weights: Sequence[int]) -> Sequence[Sequence[int]]:
        """Return at index q a set of q candidates of highest total weight; shorter where there is none."""
        ...


def best_of_sizes(
    scores: Scores, heaviest: Heaviest, *, forced: Sequence[int] = (), binary: bool = False
) -> list[int]:
    """Return the best tree, given a search for the heaviest trees of every size.

    Among trees of one size the best is the heaviest. In a uniform problem a candidate's weight is its hit
    count whatever the size, so one search is enough; otherwise there is one per size (appendix A.2 of the
    paper). Of trees that are equally good the first and smallest is taken.

    Parameters
    ----------
    heaviest : the search; it gets the weights of all candidates.
    forced : candidates that the tree has besides those that are searched.
    binary : find the tree whose binarisations are best: all trees then have the same size.
    """
    fewest = scores.smallest + len(forced)
    proposals: Iterable[Sequence[int]]
    if binary:
        proposals = heaviest(scores.candidates(scores.largest))
    elif scores.problem.is_uniform:
        proposals = heaviest(scores.problem.summed_hits)
    else:
        tables = ((q, heaviest(scores.candidates(fewest + q))) for q in range(scores.largest - fewest + 1))
        proposals = (table[q] for q, table in tables if q < len(table))
    size = scores.largest if binary else None
    return max(([*forced, *chosen] for chosen in proposals), key=lambda tree: scores.value(tree, size))
