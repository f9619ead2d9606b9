"""Exhaustive search over all compatible sets of candidates: the paper's search without halving (appendix B).

Little but the definition is used, so this is the method to believe. Exponential.
"""

from __future__ import annotations

from treemean.averaging.reference.problem import Problem
from treemean.averaging.reference.pruning import prune as prune_candidates
from treemean.averaging.reference.scores import Scores
from treemean.averaging.reference.solution import Solution, make_solution
from treemean.names import Direction
from treemean.trees import compatible


def solve(
    problem: Problem, *, prune: bool = True, limit: int = 1_000_000, binary: Direction | None = None
) -> Solution:
    """Search all compatible sets of candidates.

    Parameters
    ----------
    prune : whether to decide candidates by the bounds of section 2.4 first.
    limit : how many sets to look at; beyond, the best so far is returned, not proven to be optimal.
    binary : find the best binary tree, and divide what is left undivided like this.

    Of equally good sets the one with the fewest candidates is returned, and of those the one with the
    lexicographically smallest indices. `nodes` counts sets. O(2^|V| |V|) for |V| candidates.

    >>> problem = Problem(3, (0b011, 0b110), ((1, 0), (0, 1)), (4, 4), (5, 5), 2)
    >>> solve(problem).chosen, solve(problem).objective
    ((0,), Fraction(9, 10))
    """
    scores = Scores(problem)
    pruned = prune_candidates(
        problem, zero_hit=prune, all_hit=prune, lower_bound=prune, value_bound=prune, binary=bool(binary)
    )
    kept, forced = pruned.kept, pruned.forced
    masks = [problem.candidates[c] for c in kept]
    later_compatible = [
        sum(1 << j for j in range(i + 1, len(masks)) if compatible(mask, masks[j]))
        for i, mask in enumerate(masks)
    ]
    size = scores.largest if binary else None
    best: tuple[int, int, list[int]] | None = None
    nodes = 0
    # Each entry is a compatible set and, as a bit mask, those later candidates that are compatible with it.
    stack: list[tuple[list[int], int]] = [([], (1 << len(kept)) - 1)]
    while stack and nodes < limit:
        chosen, compatible_ones = stack.pop()
        nodes += 1
        tree = sorted([*forced, *chosen])
        value = scores.value(tree, size)
        if best is None or value >= best[0]:
            rank = value, -len(tree), [-c for c in tree]
            best = rank if best is None else max(best, rank)
        left = compatible_ones
        while left:
            i = left.bit_length() - 1
            left ^= 1 << i
            stack.append(([*chosen, kept[i]], compatible_ones & later_compatible[i]))
    found = [] if best is None else [-c for c in best[2]]
    note = f"stopped after {limit} sets of {len(kept)} candidates (limit)"
    return make_solution(scores, found, proven=not stack, nodes=nodes, note=note, binary=binary)
