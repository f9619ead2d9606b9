"""The paper's dynamic programme over constituents of bounded fan-out (appendices A.1 and A.2).

H(c, τ) is the highest sum of hits of τ constituents inside a set of words c of fan-out at most F. A set is
divided at alternation points j into the words o_j of its odd and e_j of its even pieces, both again of
fan-out at most F; c itself is then included or excluded, so that trees need not be binary.

What is searched, exactly: trees that *can be binarised* with fan-out at most F. With binary output, with
F = 1, or with F at least half the number of words that is every tree of fan-out at most F. Else it is not:
the five sets {0,3} {1,5} {2,7} {4,8} {6,9} over ten words are a tree of fan-out 2, but the union of any two
has fan-out 3 or more, so no division of the sentence leads to all five. The appendix discards such unions
because they are not in the output; but a set that is divided and then excluded is not in the output either.
See docs/theory.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from treemean.averaging.reference.problem import Problem
from treemean.averaging.reference.scores import Scores
from treemean.averaging.reference.sizes import best_of_sizes
from treemean.averaging.reference.solution import Solution
from treemean.errors import InvalidOption, Unsolved
from treemean.names import Direction
from treemean.trees.bitsets import fan_out_of, positions_of


def solve(
    problem: Problem,
    *,
    max_fan_out: int | None = None,
    limit: int = 2_000_000,
    binary: bool | Direction = False,
) -> Solution:
    """Find the best tree that can be binarised with a bounded fan-out.

    Parameters
    ----------
    max_fan_out : the bound F; that of the candidates if not given.
    limit : how many divisions of sets a table may need at most; beyond, `Unsolved` is raised.
    binary : search binary trees (a named way of dividing means the same); all constituents are then of
        fan-out at most F, added ones as well.

    The solution is proven optimal where the bound is no restriction: there are only continuous candidates,
    or 2F ≥ n. `nodes` counts divisions of sets. O(n^{4F+1}); O(n^{4F-1}) for binary output; O(n^{4F+2}) for
    individuals of different sizes.

    >>> problem = Problem(3, (0b011, 0b110), ((1, 1, 0), (0, 0, 1)), (4, 4, 4), (5, 5, 5), 3)
    >>> solve(problem).chosen, solve(problem).objective
    ((0,), Fraction(14, 15))
    """
    scores = Scores(problem)
    widest = max((fan_out_of(mask) for mask in problem.candidates), default=1)
    bound = widest if max_fan_out is None else max_fan_out
    if bound < 1:
        raise InvalidOption(f"the fan-out must be at least 1, not {bound}")
    bound = min(bound, (problem.n + 1) // 2)  # no set of words has a higher one
    if count_divisions(problem.n, bound) > limit:
        raise Unsolved(
            f"dynamic programming over {problem.n} words with fan-out {bound} may need more divisions than "
            f"the limit of {limit}; a lower max_fan_out needs fewer"
        )
    index = {mask: c for c, mask in enumerate(problem.candidates)}
    tables = _Tables(problem.n, bound)

    def heaviest(weights: Sequence[int]) -> list[list[int]]:
        found = tables.heaviest_trees(dict(zip(problem.candidates, weights)))
        return [[index[mask] for mask in tree] for tree in found]

    added: tuple[int, ...] = ()
    size = None
    if binary:
        size = scores.largest
        masks = tables.heaviest_binary_tree(dict(zip(problem.candidates, scores.candidates(size))))
        chosen = tuple(sorted(index[mask] for mask in masks if mask in index))
        added = tuple(sorted(mask for mask in masks if mask not in index))
    else:
        chosen = tuple(sorted(best_of_sizes(scores, heaviest)))
    objective = scores.objective(scores.value(chosen, size))
    unrestricted = widest == 1 or 2 * bound >= problem.n
    upper_bound = objective if unrestricted else scores.relaxation(binary=bool(binary))
    optimal = objective == upper_bound
    note = "" if optimal else f"only trees that can be binarised with fan-out at most {bound} were searched"
    return Solution(chosen, objective, upper_bound, optimal, tables.nodes, note, added)


def count_divisions(n: int, fan_out: int) -> int:
    """Return an upper bound of the divisions of sets that a table needs.

    >>> count_divisions(3, 1)
    12
    """
    sets = sum(math.comb(n + 1, 2 * f) for f in range(1, fan_out + 1))
    return sets * sum(math.comb(max(n - 1, 0), points) for points in range(1, 2 * fan_out))


class _Tables:
    """The dynamic programme over n words and fan-out at most F, for any scores of constituents.

    Single words and the whole sentence are in every tree, so they are neither scored nor counted: where the
    appendix counts τ constituents, a table here counts those of 2 to n - 1 words.
    """

    def __init__(self, n: int, fan_out: int) -> None:
        self.everything = (1 << n) - 1
        self.fan_out = fan_out
        self.nodes = 0
        edges = range(n + 1)
        self.sets = sorted(
            (
                sum((1 << end) - (1 << start) for start, end in zip(ends[::2], ends[1::2]))
                for f in range(1, fan_out + 1)
                for ends in combinations(edges, 2 * f)
            ),
            key=int.bit_count,
        )

    def divisions(self, mask: int) -> Iterator[tuple[int, int]]:
        """Yield (o_j, e_j) for all alternation points j, if both have fan-out at most F.

        The first word is always in o_j, so every division comes once.
        """
        prefixes = [0]
        for position in positions_of(mask):
            prefixes.append(prefixes[-1] | 1 << position)
        last = len(prefixes) - 1
        for count in range(1, min(2 * self.fan_out, last)):
            for points in combinations(range(1, last), count):
                odd = 0
                for point in points:
                    odd ^= prefixes[point]
                if count % 2 == 0:
                    odd ^= mask
                even = mask ^ odd
                if fan_out_of(odd) <= self.fan_out and fan_out_of(even) <= self.fan_out:
                    self.nodes += 1
                    yield odd, even

    def heaviest_trees(self, scores: Mapping[int, int]) -> list[list[int]]:
        """Return for every number q of constituents, ascending, those of a heaviest tree.

        Only constituents that have a score are included: others add nothing to the sum (and, counted, lower
        the objective). So H(c, q) is known for q from 0 to some highest number.
        """
        # weight[c][q] is H(c, q); the choice behind it is (o_j, s, whether c is included).
        weight: dict[int, list[int]] = {}
        choice: dict[int, list[tuple[int, int, bool]]] = {}
        for c in self.sets:
            excluded: list[int] = []
            choices: list[tuple[int, int, bool]] = []
            for odd, even in self.divisions(c):
                for s, odd_weight in enumerate(weight[odd]):
                    for q, even_weight in enumerate(weight[even], s):
                        total = odd_weight + even_weight
                        if q == len(excluded):
                            excluded.append(total)
                            choices.append((odd, s, False))
                        elif total > excluded[q]:
                            excluded[q], choices[q] = total, (odd, s, False)
            weight[c], choice[c] = excluded or [0], choices
            if c in scores:
                included = [total + scores[c] for total in excluded]
                best, ways = excluded[:1], choices[:1]
                for q, total in enumerate(included, 1):
                    odd, s, _ = choices[q - 1]
                    if q < len(excluded) and excluded[q] >= total:
                        best.append(excluded[q])
                        ways.append(choices[q])
                    else:
                        best.append(total)
                        ways.append((odd, s, True))
                weight[c], choice[c] = best, ways
        return [self._trace(q, choice) for q in range(len(weight[self.everything]))]

    def _trace(self, q: int, choice: Mapping[int, Sequence[tuple[int, int, bool]]]) -> list[int]:
        """Follow the choices behind H(everything, q) down to the words."""
        tree = []
        todo = [(self.everything, q)]
        while todo:
            c, number = todo.pop()
            if c & (c - 1) == 0:
                continue
            odd, s, included = choice[c][number]
            if included:
                tree.append(c)
            todo += [(odd, s), (c ^ odd, number - s - included)]
        return tree

    def heaviest_binary_tree(self, scores: Mapping[int, int]) -> list[int]:
        """Return the constituents of 2 to n - 1 words of a heaviest binary tree; all sets may be included."""
        weight: dict[int, int] = {}
        choice: dict[int, int] = {}
        for c in self.sets:
            weight[c] = scores.get(c, 0)
            if c & (c - 1):
                choice[c], heaviest = max(
                    ((odd, weight[odd] + weight[even]) for odd, even in self.divisions(c)),
                    key=lambda pair: pair[1],
                )
                weight[c] += heaviest
        tree = []
        todo = [self.everything]
        while todo:
            c = todo.pop()
            if c & (c - 1):
                if c != self.everything:
                    tree.append(c)
                todo += [choice[c], c ^ choice[c]]
        return tree
