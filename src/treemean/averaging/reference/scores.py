"""What candidates are worth in a tree of a given size, as integers.

For output trees of one fixed size τ the objective is a sum over constituents (appendix A.2 of the paper):

    Σ_k w_k F_β(T, T_k) = (1 + β²) Σ_{c ∈ C(T)} ĥ_τ(c),    ĥ_τ(c) = Σ_k w_k 1[c ∈ T_k] / (τ + β² |C(T_k)|).

All denominators are brought to a common one, so that values compare exactly, also across sizes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from treemean.averaging.reference.problem import Problem
from treemean.errors import TreemeanError


class Scores:
    """The scores ĥ_τ of one problem, scaled to integers by one factor for all sizes τ.

    Attributes
    ----------
    problem : the problem.
    smallest, largest : the sizes that trees can have: trivial constituents only, and binary trees.
    hits : (m, G) integers; the hits of candidates, summed over individuals of the same size. G is 1 for
        uniform problems.

    >>> from treemean.averaging.weights import make_weights
    >>> from treemean.averaging.reference.problem import make_problem
    >>> from treemean.trees import Tree
    >>> tree = Tree("a b c".split(), [({0, 1, 2}, ""), ({0, 1}, "")])
    >>> scores = Scores(make_problem([tree, tree], make_weights(None, 2)))
    >>> scores.objective(scores.value([0])), scores.objective(scores.value([]))
    (Fraction(1, 1), Fraction(8, 9))
    """

    def __init__(self, problem: Problem) -> None:
        if problem.n < 1:
            raise TreemeanError("a sentence without words has no average")
        self.problem = problem
        self.smallest = problem.trivial_count
        self.largest = 2 * problem.n - 1
        groups = sorted(set(problem.sizes))
        members = [[k for k, size in enumerate(problem.sizes) if size == group] for group in groups]
        self.hits = tuple(tuple(sum(row[k] for k in group) for group in members) for row in problem.hits)
        self._trivial_hits = [sum(problem.trivial_hits[k] for k in group) for group in members]
        denominators = [
            [size + problem.beta2 * group for group in groups]
            for size in range(self.smallest, self.largest + 1)
        ]
        common = math.lcm(*(d.numerator for row in denominators for d in row))
        self._factors = [[common // d.numerator * d.denominator for d in row] for row in denominators]
        self._unit = (1 + problem.beta2) / (problem.total * common)

    def factors(self, size: int) -> list[int]:
        """Return by what the hits of each group of individuals count in a tree of `size` constituents."""
        return self._factors[size - self.smallest]

    def base(self, size: int) -> int:
        """Return what the trivial constituents are worth in a tree of `size` constituents."""
        return sum(hits * factor for hits, factor in zip(self._trivial_hits, self.factors(size)))

    def candidates(self, size: int) -> tuple[int, ...]:
        """Return what every candidate is worth in a tree of `size` constituents: ĥ_τ, scaled."""
        factors = self.factors(size)
        return tuple(sum(hits * factor for hits, factor in zip(row, factors)) for row in self.hits)

    def value(self, chosen: Iterable[int], size: int | None = None) -> int:
        """Return the scaled objective of a tree with the chosen candidates.

        `size` is given where the tree has constituents that are no candidates.
        """
        listed = list(chosen)
        size = self.smallest + len(listed) if size is None else size
        factors = self.factors(size)
        return self.base(size) + sum(
            factor * sum(self.hits[c][group] for c in listed) for group, factor in enumerate(factors)
        )

    def objective(self, value: int) -> Fraction:
        """Return the weighted mean of F_β that a scaled value stands for."""
        return value * self._unit

    def relaxation(self, *, binary: bool = False) -> Fraction:
        """Return an upper bound of the objective: what could be reached if nothing were in conflict.

        `binary` bounds binary trees only. O(n m (G + log m)) for m candidates.
        """
        best = 0
        for size in range(self.largest if binary else self.smallest, self.largest + 1):
            heaviest = sorted(self.candidates(size), reverse=True)[: size - self.smallest]
            best = max(best, self.base(size) + sum(heaviest))
        return self.objective(best)


def highest_hits(problem: Problem) -> list[int]:
    """Return the most that each individual gives to one constituent, a word or a candidate."""
    weights = [trivial // problem.trivial_count for trivial in problem.trivial_hits]
    return [max([weight, *(row[k] for row in problem.hits)]) for k, weight in enumerate(weights)]
