"""The majority rule: every candidate that has more than half of the hits it could have."""

from __future__ import annotations

from treemean.averaging.reference.problem import Problem
from treemean.averaging.reference.scores import Scores, highest_hits
from treemean.averaging.reference.solution import Solution, make_solution
from treemean.names import Direction


def solve(problem: Problem, *, binary: Direction | None = None) -> Solution:
    """Keep the candidates with more than half of the weight.

    For three binary trees with equal weights this is the average. With typed weights, individual k gives a
    candidate at most t_k (the highest it gives to anything, a word included), and `half` is that of Σ t_k:
    two candidates above it share an individual, so they are compatible. `binary` makes the tree binary,
    dividing what is left undivided like this. `nodes` counts candidates.

    >>> problem = Problem(3, (0b011, 0b110), ((1, 1, 0), (0, 0, 1)), (4, 4, 4), (5, 5, 5), 3)
    >>> solve(problem).chosen
    (0,)
    """
    scores = Scores(problem)
    total = sum(highest_hits(problem))
    chosen = [c for c, hits in enumerate(problem.summed_hits) if 2 * hits > total]
    note = "majority: optimality is not examined"
    nodes = len(problem.candidates)
    return make_solution(scores, chosen, proven=False, nodes=nodes, note=note, binary=binary)
