"""The earlier average of continuous binary trees (Shayegh et al., 2023): a CYK chart over spans.

Output trees are continuous and binary, hence all of one size, so the best one has the highest sum of hits.
"""

from __future__ import annotations

from treemean.averaging.reference.problem import Problem
from treemean.averaging.reference.scores import Scores
from treemean.averaging.reference.solution import Solution
from treemean.names import Direction
from treemean.trees.bitsets import fan_out_of


def solve(problem: Problem, *, binary: Direction | None = None) -> Solution:
    """Find the best continuous binary tree.

    It is the best of all binary trees if no candidate is discontinuous: every compatible set of continuous
    candidates can be binarised continuously. Individuals need not be binary, nor continuous. `nodes` counts
    divisions of spans. The tree is binary anyway; `binary` says that `optimal` and `upper_bound` shall speak
    of binary trees only, not of all trees. O(n³).

    >>> problem = Problem(3, (0b011, 0b110), ((1, 1, 0), (0, 0, 1)), (4, 4, 4), (5, 5, 5), 3)
    >>> solve(problem).chosen, solve(problem).added
    ((0,), ())
    """
    scores = Scores(problem)
    n = problem.n
    index = {mask: c for c, mask in enumerate(problem.candidates)}
    worth = dict(zip(problem.candidates, scores.candidates(scores.largest)))

    def span(start: int, end: int) -> int:
        return (1 << end) - (1 << start)

    best = {(i, i + 1): 0 for i in range(n)}
    split: dict[tuple[int, int], int] = {}
    nodes = 0
    for length in range(2, n + 1):
        for start in range(n - length + 1):
            end = start + length
            middle = max(range(start + 1, end), key=lambda m: best[start, m] + best[m, end])
            split[start, end] = middle
            best[start, end] = best[start, middle] + best[middle, end] + worth.get(span(start, end), 0)
            nodes += length - 1

    inner: list[int] = []
    todo = [(0, n)]
    while todo:
        start, end = todo.pop()
        if end - start < 2:
            continue
        if end - start < n:
            inner.append(span(start, end))
        todo += [(start, split[start, end]), (split[start, end], end)]
    chosen = tuple(sorted(index[mask] for mask in inner if mask in index))
    objective = scores.objective(scores.value(chosen, scores.largest))
    continuous = all(fan_out_of(mask) == 1 for mask in problem.candidates)
    # Of all trees, binary or not, the tree is the best only if it reaches what nothing can exceed.
    proven = continuous and binary is not None
    upper_bound = objective if proven else scores.relaxation(binary=binary is not None)
    return Solution(
        chosen,
        objective,
        upper_bound,
        optimal=objective == upper_bound,
        nodes=nodes,
        note="" if objective == upper_bound else "only continuous binary trees were searched",
        added=tuple(sorted(mask for mask in inner if mask not in index)),
    )
