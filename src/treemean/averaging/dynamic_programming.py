"""The paper's dynamic programme over constituents of bounded fan-out (appendices A.1 and A.2).

H(c, τ) is the highest sum of hits of τ constituents inside a set of words c of fan-out at most F. A set is
divided at alternation points j into the words o_j of its odd and e_j of its even pieces, both again of
fan-out at most F; c itself is then included or excluded, so that trees need not be binary.

What is searched, exactly: trees that *can be binarised* with fan-out at most F. With binary output, with
F = 1, or without a limit on F that is every tree of fan-out at most F. For F ≥ 2 it is not: the five sets
{0,3} {1,5} {2,7} {4,8} {6,9} over ten words are a tree of fan-out 2, but the union of any two has fan-out 3,
so no division of the sentence leads to all five. The appendix discards such unions because they are not in
the output; a set that is passed through but excluded is not in the output either. docs/theory.md has more.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from treemean.averaging import greedy
from treemean.averaging.problem import Problem
from treemean.averaging.scores import Scores
from treemean.averaging.sizes import best_of_sizes
from treemean.averaging.solution import Binarising, Solution, make_solution
from treemean.errors import TreemeanError
from treemean.trees.bitsets import fan_out_of, mask_of, positions_of


def solve(
    problem: Problem,
    *,
    fan_out: int | None = None,
    limit: int = 2_000_000,
    binary: bool = False,
) -> Solution:
    """Find the best tree that can be binarised within a fan-out.

    Parameters
    ----------
    fan_out : the bound F; that of the candidates if not given.
    limit : how many divisions of sets may be needed at most; beyond, the greedy tree is returned with a note.
    binary : search binary trees of fan-out at most F; what is added is part of the search.

    The solution is optimal if the bound is no restriction: all candidates are continuous and so is the
    output, or F is half the number of words. `nodes` counts divisions of sets.
    O(n^{4F+1}); O(n^{4F-1}) for binary output; O(n^{4F+2}) for individuals of different sizes.

    >>> problem = Problem(3, (0b011, 0b110), ((1, 1, 0), (0, 0, 1)), (4, 4, 4), (5, 5, 5), 3)
    >>> solve(problem).chosen, solve(problem).objective
    ((0,), Fraction(14, 15))
    """
    scores = Scores(problem)
    widest = max((fan_out_of(mask) for mask in problem.candidates), default=1)
    bound = widest if fan_out is None else fan_out
    if bound < 1:
        raise TreemeanError(f"the fan-out must be at least 1, not {bound}")
    unrestricted = widest <= bound and (bound == 1 or 2 * bound >= problem.n)
    needed = _count_divisions(problem.n, bound)
    if needed > limit:
        note = f"up to {needed} divisions are more than the limit of {limit}: greedy, not searched"
        chosen = greedy.choose(scores, binary=binary)
        return make_solution(scores, chosen, proven=False, nodes=0, note=note, binary="right" if binary else None)
    note = f"best of the trees that can be binarised with fan-out at most {bound}"
    ...
