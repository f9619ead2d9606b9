"""Trees and tables of spans to average, and their average by definition, for small problems."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from hypothesis import strategies as st

from averaging_oracles import inner_masks
from instances import flattened, mixed_trees
from span_instances import POSTERIORS, random_spans
from treemean import SpanTable, Tree, Treebank, average
from treemean.averaging.request import squared_beta
from treemean.averaging.weights import Weights, make_weights
from treemean.trees import SpanRow, compatible

Family = tuple[int, ...]
Individual = Tree | SpanRow


@dataclass(frozen=True)
class Naive:
    """Trees and rows of tables over n words, with weights: every tree is looked at, and nothing is clever.

    `shares` are how much of every set of 2 to n - 1 words each individual has, `worths` what that counts.
    """

    n: int
    shares: Sequence[Mapping[int, Fraction]]
    sizes: Sequence[int]
    weights: Weights
    beta2: Fraction
    worths: Sequence[Mapping[int, Fraction]]

    @classmethod
    def of(
        cls,
        individuals: Sequence[Individual],
        weights: object = None,
        beta: float = 1.0,
        worths: Sequence[Mapping[int, Fraction]] | None = None,
    ) -> Naive:
        shares = [shares_of(one) for one in individuals]
        n = len(individuals[0].words)
        sizes = [
            min(round(one.expected), max(n - 2, 0)) if isinstance(one, SpanRow) else len(inner_masks(one))
            for one in individuals
        ]
        integers = make_weights(weights, len(individuals))  # type: ignore[arg-type]
        return cls(n, shares, sizes, integers, squared_beta(beta), worths or shares)

    @property
    def fixed(self) -> int:
        """How many constituents all have: the single words, and the whole sentence."""
        return self.n + 1 if self.n > 1 else self.n

    @property
    def candidates(self) -> list[int]:
        heard = [k for k in range(len(self.shares)) if self.weights.has_say(k)]
        return sorted({mask for k in heard for mask in self.shares[k]})

    def families(self) -> list[Family]:
        """Return every set of proposed constituents that do not cross."""
        found: list[Family] = [()]
        for mask in self.candidates:
            found += [(*f, mask) for f in found if all(compatible(mask, other) for other in f)]
        return found

    def common(self, k: int, family: Family) -> Fraction:
        worth = self.worths[k]
        return Fraction(sum(self.weights.of_set(mask)[k] * worth.get(mask, 0) for mask in family))

    def objective(self, family: Family, size: int | None = None) -> Fraction:
        """Return the weighted mean of F_β; `size` if the tree has more than is in the family."""
        total = Fraction(0)
        mine = self.fixed + (len(family) if size is None else size)
        for k, theirs in enumerate(self.sizes):
            common = self.weights.continuous[k] * self.fixed + self.common(k, family)
            total += (1 + self.beta2) * common / (mine + self.beta2 * (self.fixed + theirs))
        return total / self.weights.total

    def sum(self, family: Family) -> Fraction:
        return Fraction(sum(self.common(k, family) for k in range(len(self.sizes)))) / self.weights.total

    def support(self, mask: int) -> float:
        """Return the share of the weight that has a set."""
        weights = self.weights.of_set(mask)
        share = Fraction(sum(w * shares.get(mask, 0) for w, shares in zip(weights, self.shares)))
        return float(share / sum(weights))

    def average_f1(self, family: Family) -> float:
        """Return the weighted mean of F1, whatever β, typed weights and hits say."""
        plain = Weights(self.weights.continuous, self.weights.continuous)
        return float(
            Naive(self.n, self.shares, self.sizes, plain, Fraction(1), self.shares).objective(family)
        )

    def first(self) -> Family:
        """Return the best tree; of several that with the fewest constituents, then with the smallest ones."""
        return min(self.families(), key=lambda family: (-self.objective(family), len(family), family))


def shares_of(individual: Individual) -> dict[int, Fraction]:
    """Return how much of every set of 2 to n - 1 words an individual has."""
    if isinstance(individual, SpanRow):
        return {mask: Fraction(str(posterior)) for mask, posterior in individual.spans}
    return dict.fromkeys(inner_masks(individual), Fraction(1))


def table_of(*rows: SpanRow, label: str = "") -> SpanTable:
    return SpanTable.from_rows(rows, label)


def row_of(n: int, spans: Sequence[tuple[int, float]], expected: float, id: str = "") -> SpanRow:
    """Return the spans of a sentence with the words that `tree_of` gives."""
    return SpanRow([f"w{i}" for i in range(n)], id, spans, expected)


def as_row(tree: Tree) -> SpanRow:
    """Return the constituents of a tree as spans, each with posterior 1."""
    masks = inner_masks(tree)
    return SpanRow(tree.words, tree.id, [(mask, 1.0) for mask in masks], float(len(masks)))


def of_one_sentence(individuals: Sequence[Individual]) -> list[Treebank | SpanTable]:
    """Return trees and rows as treebanks and tables of one sentence."""
    return [table_of(one) if isinstance(one, SpanRow) else Treebank.from_trees([one]) for one in individuals]


def averaged(individuals: Sequence[Individual], weights: object = None, **options: object) -> Tree:
    """Return the average of one sentence."""
    given = of_one_sentence(individuals)
    return average(given, weights, **options)[0]  # type: ignore[arg-type, return-value]


def family_of(tree: Tree) -> Family:
    return tuple(sorted(inner_masks(tree)))


@st.composite
def mixtures(
    draw: st.DrawFn, max_words: int = 8, max_trees: int = 4, max_tables: int = 3, max_spans: int = 7
) -> list[Individual]:
    """Draw trees, and tables after them, over the same words: at least one of the two."""
    rng = random.Random(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.one_of(st.integers(1, max_words), st.integers(3, max_words)))
    tables = draw(st.integers(0, max_tables))
    count = draw(st.integers(0 if tables else 1, max_trees))
    trees = mixed_trees(
        n, max(count, 1), rng.randint(1, 2), rng.randint(0, 3), rng, rng.choice([0.0, 0.8, 1.0])
    )
    trees = [flattened(tree, rng.choice([0.0, 0.3]), rng) for tree in trees]
    known = sorted({mask for tree in trees for mask in inner_masks(tree)})
    rows: list[Individual] = []
    for _ in range(tables):
        spans = dict(random_spans(n, max_spans, rng))
        spans |= {mask: rng.choice(POSTERIORS) for mask in known if rng.random() < 0.5}
        expected = rng.choice([sum(spans.values()), rng.uniform(0, n), max(n - 2.0, 0.0)])
        rows.append(row_of(n, list(spans.items()), expected))
    return [*trees[:count], *rows]


@st.composite
def weights_for(draw: st.DrawFn, count: int) -> object:
    numbers = st.lists(st.sampled_from([0, 1, 1, 2, 3, 5.95, 1.38, 0.25]), min_size=count, max_size=count)
    some = numbers.filter(any)
    typed = st.fixed_dictionaries({"continuous": some, "discontinuous": numbers})
    return draw(st.one_of(st.none(), some, typed))


BETAS = st.sampled_from([1.0, 1.0, 0.5, 2.0, 0.0, 0.7, 31.6])
