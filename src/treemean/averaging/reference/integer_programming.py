"""The average by integer programming, with the solver HiGHS of SciPy: an independent road to the optimum.

A variable per candidate says whether it is in the tree; two that conflict are not both in. For trees of one
size the objective is linear. For individuals of one size Dinkelbach's iteration leads from linear problems to
the ratio, otherwise there is a problem for every size of the tree (appendix A.2 of the paper).
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from treemean.averaging.reference.labelled import LabelledProblem, LabelledSolution, solution_of
from treemean.averaging.reference.problem import Problem
from treemean.averaging.reference.pruning import prune
from treemean.averaging.reference.scores import Scores
from treemean.averaging.reference.solution import Solution, make_solution
from treemean.errors import MissingDependency, Unsolved
from treemean.names import Direction
from treemean.trees import compatible

# HiGHS computes in floating point: what it calls infeasible or optimal holds up to about this.
_TOLERANCE = 1e-6
# What SciPy reports if nothing satisfies the constraints.
_IMPOSSIBLE = 2


def solve(problem: Problem, *, time_limit: float | None = None, binary: Direction | None = None) -> Solution:
    """Find the average by integer programming; needs SciPy.

    Parameters
    ----------
    time_limit : seconds, beyond which the best tree so far is returned, not proven to be optimal; HiGHS looks
        at its clock now and then only.
    binary : find the best binary tree, and divide what is left undivided like this.

    Trees are compared exactly, but that nothing better was missed is HiGHS's word, which computes in floating
    point: it holds up to about a millionth of the weight of a constituent. `nodes` counts linear problems.

    >>> problem = Problem(3, (0b011, 0b110), ((1, 1, 0), (0, 0, 1)), (4, 4, 4), (5, 5, 5), 3)
    >>> solve(problem).chosen, solve(problem).objective
    ((0,), Fraction(14, 15))
    """
    scores = Scores(problem)
    pruned = prune(problem, binary=bool(binary))
    programme = _Programme(
        [problem.candidates[c] for c in pruned.kept], math.inf if time_limit is None else time_limit
    )

    def solved(weights: Sequence[Fraction | int], most: int | None = None) -> list[int]:
        chosen = programme.heaviest([float(weights[c]) for c in pruned.kept], most)
        return sorted([*pruned.forced, *(pruned.kept[v] for v in chosen)])

    fewest = scores.smallest + len(pruned.forced)
    if binary:
        best = solved(_scaled(scores.candidates(scores.largest)))
    elif problem.is_uniform:
        best = _by_ratio(scores, solved, pruned.forced)
    else:
        best = sorted(pruned.forced)
        for size in range(fewest, scores.largest + 1):
            # A tree with fewer constituents than this size is worth more than the scores say: no harm.
            tree = solved(_scaled(scores.candidates(size)), size - fewest)
            best = max(best, tree, key=scores.value)
    note = f"stopped after {time_limit} seconds (time_limit)"
    return make_solution(
        scores, best, proven=not programme.stopped, nodes=programme.solved, note=note, binary=binary
    )


def solve_labelled(
    problem: LabelledProblem, *, time_limit: float | None = None, binary: Direction | None = None
) -> LabelledSolution:
    """Find the joint average of labelled trees likewise: one variable for every chain over every set."""
    count = len(problem.candidates)
    masks = [mask for mask, _ in problem.candidates]
    # Every set of several words of a binary tree has a label anyway.
    anyway = [bool(binary) and mask & (mask - 1) != 0 for mask in masks]
    costs = [len(chain) - free for (_, chain), free in zip(problem.candidates, anyway)]
    fixed = 2 * problem.words - 1 if binary else problem.words
    hits = [problem.hits(c) for c in range(count)]
    programme = _Programme(masks, math.inf if time_limit is None else time_limit, costs, problem.everything)

    def score(candidate: int, size: int) -> Fraction:
        return sum(
            (h / (size + problem.beta2 * s) for h, s in zip(hits[candidate], problem.sizes)), Fraction(0)
        )

    first = programme.heaviest([float(sum(h)) for h in hits], None)
    if not first:
        raise Unsolved(f"no tree was found within {time_limit} seconds (time_limit)")
    best = solution_of(problem, first, binary)
    if len(set(problem.sizes)) == 1:
        while True:  # Dinkelbach's iteration
            value = best.objective * problem.weights.total / (1 + problem.beta2)
            gains = [
                float((sum(h) - value * cost) / max(problem.weights.total, 1)) for h, cost in zip(hits, costs)
            ]
            tree = solution_of(problem, programme.heaviest(gains, None), binary)
            if tree.objective <= best.objective:
                break
            best = tree
    else:
        most = sum(max(cost for cost, m in zip(costs, masks) if m == mask) for mask in set(masks))
        for size in range(fixed, fixed + most + 1):
            scores = [score(c, size) for c in range(count)]
            unit = max([*scores, Fraction(1, 10**9)])
            found = programme.heaviest([float(s / unit) for s in scores], size - fixed)
            if found:
                best = max(best, solution_of(problem, found, binary), key=lambda tree: tree.objective)
    stopped = programme.stopped
    note = f"stopped after {time_limit} seconds (time_limit)" if stopped else ""
    return replace(best, optimal=not stopped, nodes=programme.solved, note=note)


def _by_ratio(scores: Scores, solved: Any, forced: Sequence[int]) -> list[int]:
    """Improve a tree by the heaviest one against its own value, until there is none better."""
    problem = scores.problem
    best = sorted(forced)
    while True:
        size = scores.smallest + len(best)
        hits = sum(problem.trivial_hits) + sum(problem.summed_hits[c] for c in best)
        value = Fraction(hits) / (size + problem.beta2 * problem.sizes[0])
        unit = max((*problem.summed_hits, 1))
        tree = solved([(h - value) / unit for h in problem.summed_hits])
        if scores.value(tree) <= scores.value(best):
            return best
        best = tree


def _scaled(weights: Sequence[int]) -> list[Fraction]:
    largest = max((abs(w) for w in weights), default=0) or 1
    return [Fraction(w, largest) for w in weights]


class _Programme:
    """Variables for sets of words, of which no two in conflict can be chosen."""

    def __init__(
        self, masks: Sequence[int], seconds: float, costs: Sequence[int] = (), mandatory: int | None = None
    ) -> None:
        """Prepare; of variables for the same set one can be chosen, of those for `mandatory` one must be."""
        try:
            from scipy import optimize, sparse
        except ImportError as error:
            raise MissingDependency(
                "the method integer-programming needs SciPy: pip install 'treemean[solve]'"
            ) from error
        self._optimize = optimize
        self._deadline = time.perf_counter() + seconds
        self.solved = 0
        self.stopped = False
        conflicts = [
            (i, j)
            for i, j in combinations(range(len(masks)), 2)
            if masks[i] == masks[j] or not compatible(masks[i], masks[j])
        ]
        self._costs = np.array([*costs] or [1] * len(masks), dtype=np.float64)
        self._mandatory = np.array([mask == mandatory for mask in masks], dtype=bool)
        rows = np.repeat(np.arange(len(conflicts)), 2)
        columns = np.array(conflicts, dtype=np.int64).reshape(-1)
        self._conflicts = sparse.csr_array(
            (np.ones(len(columns)), (rows, columns)), shape=(len(conflicts), len(masks))
        )

    def heaviest(self, weights: Sequence[float], most: int | None) -> list[int]:
        """Return the sets of the heaviest choice, of at most so many; nothing when the time is over."""
        gains = np.array(weights)
        seconds = self._deadline - time.perf_counter()
        if seconds <= 0:
            self.stopped = True
        must = self._mandatory.any()
        if self.stopped or (not must and (not (gains > 0).any() or most == 0)):
            return []
        optimize = self._optimize
        constraints = [optimize.LinearConstraint(self._conflicts, -np.inf, 1)]
        if most is not None:
            constraints.append(optimize.LinearConstraint(self._costs[None, :], -np.inf, most))
        if must:
            constraints.append(optimize.LinearConstraint(self._mandatory[None, :].astype(float), 1, 1))
        options = {"mip_rel_gap": 0.0} | ({"time_limit": seconds} if math.isfinite(seconds) else {})
        result = optimize.milp(
            -gains, constraints=constraints, integrality=1, bounds=optimize.Bounds(0, 1), options=options
        )
        self.solved += 1
        impossible = must and result.status == _IMPOSSIBLE
        self.stopped = not result.success and not impossible
        if result.x is None:
            return []
        return [
            v
            for v, x in enumerate(result.x.tolist())
            if x > 1 - _TOLERANCE and (gains[v] > 0 or self._mandatory[v])
        ]
