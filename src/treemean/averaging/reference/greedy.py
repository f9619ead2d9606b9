"""The greedy average: candidates by descending hits, as long as they fit and help."""

from __future__ import annotations

from treemean.averaging.reference.problem import Problem
from treemean.averaging.reference.scores import Scores
from treemean.averaging.reference.solution import Solution, make_solution
from treemean.names import Direction
from treemean.trees import compatible


def solve(problem: Problem, *, binary: Direction | None = None) -> Solution:
    """Take candidates greedily; quick, and often but not always optimal.

    `binary` makes the tree binary, dividing what is left undivided like this. `nodes` counts candidates.

    >>> problem = Problem(3, (0b011, 0b110), ((1, 0), (0, 1)), (4, 4), (5, 5), 2)
    >>> solve(problem).chosen
    (0,)
    """
    scores = Scores(problem)
    chosen = choose(scores, binary=binary is not None)
    return make_solution(
        scores,
        chosen,
        proven=False,
        nodes=len(problem.candidates),
        note="greedy: optimality is not examined",
        binary=binary,
    )


def choose(scores: Scores, *, binary: bool = False) -> list[int]:
    """Return the candidates that are compatible with those before and improve the objective.

    The order is by hits, highest first (by worth in a binary tree for binary output); of equal ones the
    smaller mask comes first, so that the order of individuals does not matter. O(m n) comparisons.
    """
    problem = scores.problem
    worth = scores.candidates(scores.largest) if binary else problem.summed_hits
    size = scores.largest if binary else None
    chosen: list[int] = []
    value = scores.value(chosen, size)
    for c in sorted(range(len(worth)), key=lambda c: -worth[c]):
        mask = problem.candidates[c]
        if all(compatible(mask, problem.candidates[other]) for other in chosen):
            improved = scores.value([*chosen, c], size)
            if improved > value:
                chosen.append(c)
                value = improved
    return chosen
