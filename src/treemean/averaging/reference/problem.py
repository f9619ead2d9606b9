"""The problem: individuals' constituents of one sentence, and what a tree over it is worth.

Given trees T_1 … T_K with weights w_k, find the tree T with the highest weighted mean of

    F_β(T, T_k) = (1 + β²) |C(T) ∩ C(T_k)| / (|C(T)| + β² |C(T_k)|),

where C(T) is the set of T's constituents, with the single words and the whole sentence always among them.
Everything here is exact: integers and fractions. It is written to be believed, not to be fast.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from treemean.averaging.weights import Weights
from treemean.trees import Tree, compatible


@dataclass(frozen=True)
class Problem:
    """One sentence to average.

    Attributes
    ----------
    n : the number of words.
    candidates : the sets of 2 to n - 1 words that some individual proposes, as masks, ascending.
    hits : (m, K) integers; what a candidate is worth on the side of each individual: its weight where it has
        the candidate (or weight times the value it gives to it), 0 where it has not.
    trivial_hits : K integers; the worth of the single words and the whole sentence together.
    sizes : K integers, |C(T_k)|.
    total : the sum of weights, by which the objective is divided.
    beta2 : β².
    """

    n: int
    candidates: tuple[int, ...]
    hits: tuple[tuple[int, ...], ...]
    trivial_hits: tuple[int, ...]
    sizes: tuple[int, ...]
    total: int
    beta2: Fraction = Fraction(1)

    @property
    def trivial_count(self) -> int:
        """How many constituents every tree has: the words, and the sentence if it has several."""
        return self.n + 1 if self.n > 1 else self.n

    @property
    def is_uniform(self) -> bool:
        """Whether all individuals have equally many constituents, so that the objective is one ratio."""
        return len(set(self.sizes)) == 1

    @cached_property
    def summed_hits(self) -> tuple[int, ...]:
        """The hit count of every candidate, over all individuals."""
        return tuple(sum(row) for row in self.hits)

    def objective(self, chosen: Iterable[int]) -> Fraction:
        """Return the weighted mean of F_β of the tree with the chosen candidates (indices)."""
        listed = list(chosen)
        size = self.trivial_count + len(listed)
        result = Fraction(0)
        for k, individual_size in enumerate(self.sizes):
            common = self.trivial_hits[k] + sum(self.hits[c][k] for c in listed)
            result += (1 + self.beta2) * common / (size + self.beta2 * individual_size)
        return result / self.total

    def is_tree(self, chosen: Iterable[int]) -> bool:
        """Tell whether the chosen candidates are pairwise compatible."""
        masks = [self.candidates[c] for c in chosen]
        return all(compatible(a, b) for i, a in enumerate(masks) for b in masks[:i])


def make_problem(trees: Sequence[Tree], weights: Weights, beta2: Fraction = Fraction(1)) -> Problem:
    """State the problem of averaging some trees over the same words.

    A tree counts as the set of its constituents' words, with single words and the whole sentence.
    """
    n = len(trees[0].words)
    everything = (1 << n) - 1
    proposed = [{m for m in tree.masks if m & (m - 1) and m != everything} for tree in trees]
    candidates = sorted(set().union(*proposed))
    trivial = n + 1 if n > 1 else n

    def weight(mask: int, k: int) -> int:
        return weights.of_set(mask)[k]

    return Problem(
        n,
        tuple(candidates),
        tuple(tuple(weight(c, k) if c in proposed[k] else 0 for k in range(len(trees))) for c in candidates),
        tuple(w * trivial for w in weights.continuous),
        tuple(trivial + len(p) for p in proposed),
        weights.total,
        beta2,
    )
