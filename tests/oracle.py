"""The average by its definition: every tree is tried, in exact arithmetic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from treemean.averaging.problem import Problem, make_problem
from treemean.averaging.request import squared_beta
from treemean.averaging.weights import Weights, WeightsLike, make_weights
from treemean.trees import Tree, compatible


def problem_of(trees: Sequence[Tree], weights: WeightsLike = None, beta: float = 1.0) -> Problem:
    """State the problem, without individuals that have no say."""
    integers = make_weights(weights, len(trees))
    heard = [k for k in range(len(trees)) if integers.continuous[k] or integers.discontinuous[k]]
    return make_problem(
        [trees[k] for k in heard],
        Weights(
            tuple(integers.continuous[k] for k in heard), tuple(integers.discontinuous[k] for k in heard)
        ),
        squared_beta(beta),
    )


def compatible_subsets(masks: Sequence[int]) -> list[tuple[int, ...]]:
    """Return all sets of indices whose masks are pairwise compatible."""
    subsets: list[tuple[int, ...]] = [()]
    for index, mask in enumerate(masks):
        subsets += [(*s, index) for s in subsets if all(compatible(mask, masks[i]) for i in s)]
    return subsets


def ranking(problem: Problem) -> list[tuple[Fraction, tuple[int, ...]]]:
    """Return all trees of proposed constituents, better ones first, equal ones in canonical order."""
    valued = [(problem.objective(s), s) for s in compatible_subsets(problem.candidates)]
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


def mean_f_beta(inner: set[int], trees: Sequence[Tree], weights: Sequence[int], beta2: Fraction) -> Fraction:
    """Return the weighted mean F_β of a tree with these sets of 2 to n - 1 words, as it is defined."""
    n = len(trees[0].words)
    trivial = {1 << i for i in range(n)} | {(1 << n) - 1}
    tree = inner | trivial
    total = Fraction(0)
    for other, weight in zip(trees, weights):
        gold = inner_masks(other) | trivial
        total += weight * (1 + beta2) * Fraction(len(tree & gold)) / (len(tree) + beta2 * len(gold))
    return total / sum(weights)


def all_trees(words: int) -> Iterator[set[int]]:
    """Yield every tree over some words, as its sets of 2 to words - 1 words."""
    for family in _families((1 << words) - 1):
        yield set(family) - {(1 << words) - 1}


def _families(mask: int) -> Iterator[tuple[int, ...]]:
    """Yield all trees over the words of a mask, with the mask itself."""
    if mask & (mask - 1) == 0:
        yield ()
        return
    for parts in _partitions(mask):
        if len(parts) > 1:
            for below in _products(parts):
                yield (mask, *below)


def _products(parts: Sequence[int]) -> Iterator[tuple[int, ...]]:
    if not parts:
        yield ()
        return
    for first in _families(parts[0]):
        for rest in _products(parts[1:]):
            yield first + rest


def _partitions(mask: int) -> Iterator[list[int]]:
    """Yield all ways to divide a mask into parts."""
    if mask == 0:
        yield []
        return
    low = mask & -mask
    rest = mask ^ low
    subset = rest
    while True:
        for others in _partitions(rest ^ subset):
            yield [low | subset, *others]
        if subset == 0:
            return
        subset = (subset - 1) & rest
