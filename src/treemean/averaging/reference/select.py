"""Selective averaging: the best of the individuals themselves (minimum Bayes risk over the inputs)."""

from __future__ import annotations

from treemean.averaging.reference.problem import Problem
from treemean.averaging.reference.scores import Scores
from treemean.averaging.reference.solution import Solution, make_solution
from treemean.errors import Unsolved
from treemean.names import Direction


def solve(problem: Problem, *, binary: Direction | None = None) -> Solution:
    """Choose the individual that agrees best with all of them.

    A problem knows an individual by its hits. One whose tree does not follow from them (it has no weight, or
    no weight for one kind of constituents, or its hits are no tree) cannot be chosen; if that holds for
    all, `Unsolved` is raised. `binary` makes the chosen tree binary, dividing what is left undivided
    like this. `nodes` counts individuals. Of equally good trees the one with fewest constituents is taken,
    then the one with the lexicographically smallest indices, so that the order of individuals is no matter.

    >>> problem = Problem(3, (0b011, 0b110), ((1, 1, 0), (0, 0, 1)), (4, 4, 4), (5, 5, 5), 3)
    >>> solve(problem).chosen, solve(problem).objective
    ((0,), Fraction(14, 15))
    """
    scores = Scores(problem)
    trees = []
    for k, size in enumerate(problem.sizes):
        tree = [c for c, hits in enumerate(problem.hits) if hits[k]]
        if problem.trivial_hits[k] and problem.trivial_count + len(tree) == size and problem.is_tree(tree):
            trees.append(tree)
    if not trees:
        raise Unsolved("select: no individual's tree follows from its hits")
    output_size = scores.largest if binary else None
    chosen = min(trees, key=lambda tree: (-scores.value(tree, output_size), len(tree), tree))
    note = "select: only the individuals were compared"
    return make_solution(scores, chosen, proven=False, nodes=len(trees), note=note, binary=binary)
