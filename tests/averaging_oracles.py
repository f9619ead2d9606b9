"""The average by definition, for small problems: every tree is looked at, and nothing is clever."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from hypothesis import strategies as st

from strategies import trees_over
from treemean.averaging.reference.problem import Problem, make_problem
from treemean.averaging.reference.solution import Solution
from treemean.averaging.request import squared_beta
from treemean.averaging.weights import Weights, WeightsLike, make_weights
from treemean.trees import Constituent, Tree, compatible
from treemean.trees.bitsets import fan_out_of

Family = frozenset[int]


@cache
def all_trees(words: int) -> tuple[Family, ...]:
    """Return every tree over a set of words (a mask): its constituents of two words or more, itself included.

    1, 1, 4, 26, 236, 2752 of them for 1 to 6 words.
    """
    if words & (words - 1) == 0:
        return (frozenset(),)
    return tuple(
        frozenset([words]).union(*subtrees)
        for parts in partitions(words)
        if len(parts) > 1
        for subtrees in _choices([all_trees(part) for part in parts])
    )


def partitions(words: int) -> Iterator[tuple[int, ...]]:
    """Yield every way to divide a set into parts."""
    if not words:
        yield ()
        return
    first = words & -words
    rest = words ^ first
    subset = rest
    while True:
        for others in partitions(rest ^ subset):
            yield (first | subset, *others)
        if not subset:
            return
        subset = (subset - 1) & rest


def _choices(options: Sequence[Sequence[Family]]) -> Iterator[tuple[Family, ...]]:
    if not options:
        yield ()
        return
    for choice in options[0]:
        for others in _choices(options[1:]):
            yield (choice, *others)


@dataclass(frozen=True)
class Case:
    """Trees to average, with weights, and the problem they make."""

    trees: tuple[Tree, ...]
    weights: Weights
    beta2: Fraction

    @property
    def problem(self) -> Problem:
        return make_problem(self.trees, self.weights, self.beta2)

    @property
    def n(self) -> int:
        return len(self.trees[0].words)

    def objective(self, family: AbstractSet[int]) -> Fraction:
        """Return the weighted mean of F_β of a tree, from the definition, with sets."""
        trivial = {1 << p for p in range(self.n)} | {(1 << self.n) - 1}
        output = trivial | family
        result = Fraction(0)
        for k, tree in enumerate(self.trees):
            individual = trivial | tree.masks
            worth = {False: self.weights.continuous[k], True: self.weights.discontinuous[k]}
            common = sum(worth[fan_out_of(c) > 1] for c in output & individual)
            result += common / (len(output) + self.beta2 * len(individual))
        return (1 + self.beta2) * result / self.weights.total

    def best(self, *, binary: bool = False, fan_out: int | None = None) -> Fraction:
        """Return the highest objective of all trees over the words, binary ones or of bounded fan-out."""
        return max(
            self.objective(family)
            for family in all_trees((1 << self.n) - 1)
            if (not binary or len(family) == self.n - 1)
            and (fan_out is None or all(fan_out_of(c) <= fan_out for c in family))
        )


def problem_of(trees: Sequence[Tree], weights: WeightsLike = None, beta: float = 1.0) -> Problem:
    """State the problem, without individuals that have no say."""
    integers = make_weights(weights, len(trees))
    heard = [k for k in range(len(trees)) if integers.continuous[k] or integers.discontinuous[k]]
    kinds = (tuple(kind[k] for k in heard) for kind in (integers.continuous, integers.discontinuous))
    return make_problem([trees[k] for k in heard], Weights(*kinds), squared_beta(beta))


def compatible_subsets(problem: Problem) -> list[tuple[int, ...]]:
    """Return every compatible set of candidates."""
    masks = problem.candidates
    subsets: list[tuple[int, ...]] = [()]
    for index, mask in enumerate(masks):
        subsets += [(*s, index) for s in subsets if all(compatible(mask, masks[i]) for i in s)]
    return subsets


def ranking(problem: Problem) -> list[tuple[Fraction, tuple[int, ...]]]:
    """Return all trees of proposed constituents, better ones first, equal ones in canonical order."""
    valued = [(problem.objective(s), s) for s in compatible_subsets(problem)]
    return sorted(valued, key=lambda pair: (-pair[0], len(pair[1]), pair[1]))


def chosen_in(tree: Tree, problem: Problem) -> tuple[int, ...]:
    """Return which candidates a tree has; it must not have other constituents of 2 to n - 1 words."""
    inner = inner_masks(tree)
    assert inner <= set(problem.candidates)
    return tuple(i for i, mask in enumerate(problem.candidates) if mask in inner)


def inner_masks(tree: Tree) -> set[int]:
    """Return the sets of 2 to n - 1 words of a tree."""
    everything = (1 << len(tree.words)) - 1
    return {mask for mask in tree.masks if mask & (mask - 1) and mask != everything}


def family_of(problem: Problem, solution: Solution) -> Family:
    """Return the constituents of two words or more of a solution."""
    everything = (1 << problem.n) - 1
    inner = {problem.candidates[c] for c in solution.chosen} | set(solution.added)
    return frozenset(inner | ({everything} if problem.n > 1 else set()))


def check(case: Case, solution: Solution) -> None:
    """Check that a solution is a tree, worth what it says, with an upper bound above it."""
    problem = case.problem
    family = family_of(problem, solution)
    Tree(
        ("",) * problem.n, [([p for p in range(problem.n) if c >> p & 1], "") for c in family] or [([0], "")]
    )
    assert list(solution.chosen) == sorted(set(solution.chosen))
    assert not set(solution.added) & set(problem.candidates)
    assert solution.objective == case.objective(family)
    assert solution.objective <= solution.upper_bound
    assert solution.optimal == (solution.objective == solution.upper_bound) == (solution.note == "")


def perturbed(tree: Tree, rng: random.Random, *, binary: bool) -> Tree:
    """Return a tree that differs from another one in a constituent or two."""
    n = len(tree.words)
    everything = (1 << n) - 1
    masks = {m for m in tree.masks if m & (m - 1) and m != everything}
    for _ in range(rng.randint(0, 2)):
        if masks:
            masks.discard(rng.choice(sorted(masks)))
    fitting = [
        family - {everything}
        for family in all_trees(everything)
        if masks <= family and (not binary or len(family) == n - 1)
    ]
    return Tree(tree.words, [Constituent(m) for m in (everything, *rng.choice(fitting))])


@st.composite
def cases(
    draw: st.DrawFn,
    min_words: int = 3,
    max_words: int = 5,
    max_individuals: int = 6,
    *,
    binary: bool | None = None,
    plain: bool = False,
    max_fan_out: int | None = None,
) -> Case:
    """Draw trees to average: independent ones, variants of one tree, or a mixture of two such families.

    Parameters
    ----------
    binary : whether the trees are binary; None leaves it to chance.
    plain : equal weights and β = 1 only. Else there may be weights, typed weights, zeros and any β.
    """
    # Longer sentences are drawn more often: short ones leave little to decide.
    words = ("",) * draw(st.sampled_from([*range(min_words, max_words + 1), max_words, max_words]))
    count = draw(st.sampled_from(range(1, max_individuals + 1)))
    binary = draw(st.booleans()) if binary is None else binary
    shape = {"binary": binary or None, "unaries": draw(st.booleans()), "max_fan_out": max_fan_out}
    rng = random.Random(draw(st.integers(0, 2**32 - 1)))
    bases = [draw(trees_over(words, **shape)) for _ in range(draw(st.sampled_from([1, 2, count])))]
    trees = []
    for k in range(count):
        base = bases[k % len(bases)]
        keep = len(bases) >= count or max_fan_out is not None or rng.random() < 0.3
        trees.append(base if keep else perturbed(base, rng, binary=binary))
    numbers = st.lists(st.integers(0, 4), min_size=count, max_size=count)
    kind = "plain" if plain else draw(st.sampled_from(["plain", "weights", "typed"]))
    continuous = discontinuous = (1,) * count
    if kind != "plain":
        continuous = discontinuous = tuple(draw(numbers.filter(any)))
    if kind == "typed":
        discontinuous = tuple(draw(numbers))
    beta2 = Fraction(1) if plain else draw(st.sampled_from([Fraction(1), Fraction(1, 4), Fraction(4)]))
    return Case(tuple(trees), Weights(continuous, discontinuous), beta2)
