"""The joint average of labelled trees, stated by definition, and solved by looking at every tree.

L(T) is the multiset of T's labelled constituents, with the single words. Given trees T_1 … T_K with weights
w_k, find the tree T with the highest weighted mean of

    F_β(T, T_k) = (1 + β²) |L(T) ∩ L(T_k)| / (|L(T)| + β² |L(T_k)|)

among all trees whose chain of labels over each set of words is one that some T_k has there (or, without unary
chains, a single label that some T_k has there). The whole sentence always has a chain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product

from treemean.averaging.frequencies import Chain
from treemean.averaging.reference.labels import chain_over
from treemean.averaging.weights import Weights
from treemean.errors import Unsolved
from treemean.names import Direction, Unaries
from treemean.trees import Constituent, Tree, compatible
from treemean.trees.binarise import binarise

#: How many trees are looked at before a sentence is called too hard.
_MOST_TREES = 1_000_000
#: The label of a constituent that was added to make a tree binary; no input has it.
_ADDED = "\0"


@dataclass(frozen=True)
class LabelledProblem:
    """One sentence to average with its labels.

    Attributes
    ----------
    words : how many there are.
    trees : the individuals' trees.
    weights : of these.
    beta2 : β².
    candidates : sets of words with chains, by set as binary numbers and then in order of preference.
    """

    words: int
    trees: tuple[Tree, ...]
    weights: Weights
    beta2: Fraction
    candidates: tuple[tuple[int, Chain], ...]

    @property
    def everything(self) -> int:
        """The whole sentence."""
        return (1 << self.words) - 1

    @cached_property
    def labelled(self) -> tuple[Counter[tuple[int, str]], ...]:
        """The labelled constituents of every individual, without the words."""
        return tuple(Counter((c.mask, c.label) for c in tree.constituents) for tree in self.trees)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """|L(T_k)|."""
        return tuple(self.words + counter.total() for counter in self.labelled)

    def hits(self, candidate: int) -> tuple[int, ...]:
        """Return what a candidate has in common with each individual, times its weight."""
        mask, chain = self.candidates[candidate]
        mine = Counter((mask, label) for label in chain)
        return tuple(
            w * (mine & theirs).total() for w, theirs in zip(self.weights.of_set(mask), self.labelled)
        )

    def objective(self, chosen: Sequence[tuple[int, Chain]]) -> Fraction:
        """Return the weighted mean of F_β of the tree with these sets and chains, by definition."""
        mine = Counter((mask, label) for mask, chain in chosen for label in chain)
        size = self.words + mine.total()
        result = Fraction(0)
        for k, (theirs, their_size) in enumerate(zip(self.labelled, self.sizes)):
            common = self.words * self.weights.continuous[k]
            common += sum(
                count * self.weights.of_set(mask)[k] for (mask, _), count in (mine & theirs).items()
            )
            result += (1 + self.beta2) * common / (size + self.beta2 * their_size)
        return result / self.weights.total


@dataclass(frozen=True)
class LabelledSolution:
    """A tree for a `LabelledProblem`.

    Attributes
    ----------
    chosen : sets with their chains, all that the tree has but what was added.
    added : sets that were added to make it binary.
    objective, optimal, nodes, note : as in `Solution`.
    """

    chosen: tuple[tuple[int, Chain], ...]
    objective: Fraction
    added: tuple[int, ...] = ()
    optimal: bool = True
    nodes: int = 0
    note: str = ""


def make_labelled_problem(
    trees: Sequence[Tree], weights: Weights, beta2: Fraction, unaries: Unaries, often: Counter[Chain]
) -> LabelledProblem:
    """State the problem; `often` is how often chains occur in the whole treebank, for ties."""
    candidates = []
    for mask in sorted(set().union(*(tree.masks for tree in trees))):
        chains = {chain_over(mask, tree) for tree in trees if mask in tree.masks}
        if unaries == "none":
            chains = {(label,) for chain in chains for label in chain}
        candidates += [(mask, chain) for chain in sorted(chains, key=lambda c: (-often[c], c))]
    return LabelledProblem(len(trees[0].words), tuple(trees), weights, beta2, tuple(candidates))


def solve(problem: LabelledProblem, *, binary: Direction | None = None) -> LabelledSolution:
    """Look at every tree.

    Of equally good trees the one with the fewest labelled constituents is returned, and of those the one with
    the lexicographically smallest indices of candidates. `nodes` counts trees.
    """
    best: tuple[tuple[Fraction, int, tuple[int, ...]], LabelledSolution] | None = None
    nodes = 0
    for indices in all_trees(problem):
        nodes += 1
        if nodes > _MOST_TREES:
            raise Unsolved(f"there are more than {_MOST_TREES} trees to look at")
        found = solution_of(problem, indices, binary)
        # A tree with no more than what must be in it is not binary; then other rules decide between equals.
        length = sum(len(chain) for _, chain in found.chosen) + len(found.added)
        key = (-found.objective, length, indices)
        if best is None or key < best[0]:
            best = key, found
    if best is None:
        raise Unsolved("no individual has a constituent over the whole sentence")
    solution = best[1]
    return LabelledSolution(solution.chosen, solution.objective, solution.added, nodes=nodes)


def solution_of(
    problem: LabelledProblem, indices: Sequence[int], binary: Direction | None
) -> LabelledSolution:
    """Return the tree with some candidates, made binary if wished, and what it is worth."""
    chosen = tuple(problem.candidates[c] for c in indices)
    added: tuple[int, ...] = ()
    if binary:
        tree = Tree(("",) * problem.words, [Constituent(mask) for mask, _ in chosen])
        added = tuple(sorted(binarise(tree, binary).masks - tree.masks))
    objective = problem.objective([*chosen, *((mask, (_ADDED,)) for mask in added)])
    return LabelledSolution(chosen, objective, added)


def all_trees(problem: LabelledProblem) -> Iterator[tuple[int, ...]]:
    """Yield the candidates of every tree, as ascending indices."""
    by_mask: dict[int, list[int]] = {}
    for c, (mask, _) in enumerate(problem.candidates):
        by_mask.setdefault(mask, []).append(c)
    whole = by_mask.pop(problem.everything, [])
    masks = sorted(by_mask)

    def families(at: int, taken: list[int]) -> Iterator[list[int]]:
        if at == len(masks):
            yield taken
            return
        yield from families(at + 1, taken)
        if all(compatible(masks[at], other) for other in taken):
            yield from families(at + 1, [*taken, masks[at]])

    for family in families(0, []):
        for choice in product(*(by_mask[mask] for mask in family), whole):
            yield tuple(sorted(choice))
