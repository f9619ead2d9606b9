"""All derivations of tiny grammars, one by one, from the forms of the rules as they are written down.

Nothing here knows spans or charts: a derivation of a set of words chooses a rule and any division of the
words among its children, and the rule's form says whether the children's words, put together, are that set.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations, pairwise
from typing import NamedTuple

from treemean.grammars.dense.rules import DenseRules
from treemean.grammars.rank.grammar import Factors
from treemean.trees import bitsets

Words = tuple[int, ...]
Blocks = tuple[Words, ...]
Symbol = tuple[int, int]  # fan-out, number; preterminals are numbered after nonterminals

#: What a rule makes of the blocks of its two children, or None if they have the wrong fan-out.
FORMS = {
    "R2": lambda u, v: (u[0] + v[0],) if (len(u), len(v)) == (1, 1) else None,
    "R3": lambda u, b: (b[0] + u[0] + b[1],) if (len(u), len(b)) == (1, 2) else None,
    "R4": lambda u, v: (u[0], v[0]) if (len(u), len(v)) == (1, 1) else None,
    "R5": lambda u, b: (u[0] + b[0], b[1]) if (len(u), len(b)) == (1, 2) else None,
    "R6": lambda u, b: (b[0] + u[0], b[1]) if (len(u), len(b)) == (1, 2) else None,
    "R7": lambda u, b: (b[0], u[0] + b[1]) if (len(u), len(b)) == (1, 2) else None,
    "R8": lambda u, b: (b[0], b[1] + u[0]) if (len(u), len(b)) == (1, 2) else None,
}


class Derivation(NamedTuple):
    probability: float
    tree: frozenset[int]  # constituents of several words


@dataclass
class TinyGrammar:
    """Rules with probabilities; `words[position][symbol]` are those of the preterminals."""

    root: dict[Symbol, float]
    words: list[dict[Symbol, float]]
    rules: dict[Symbol, list[tuple[str, Symbol, Symbol, float]]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def derivations(self) -> list[Derivation]:
        """Return all derivations of the sentence."""

        @cache
        def derive(symbol: Symbol, words: Words) -> list[Derivation]:
            if len(words) == 1:
                probability = self.words[words[0]].get(symbol)
                return [] if probability is None else [Derivation(probability, frozenset())]
            found = []
            for form, first, second, probability in self.rules.get(symbol, []):
                for left, right in divisions(words):
                    if FORMS[form](blocks(left), blocks(right)) != blocks(words):
                        continue
                    for a in derive(first, left):
                        for b in derive(second, right):
                            tree = a.tree | b.tree | {bitsets.mask_of(words)}
                            found.append(Derivation(probability * a.probability * b.probability, tree))
            return found

        everything = tuple(range(len(self.words)))
        return [
            Derivation(chance * d.probability, d.tree)
            for symbol, chance in self.root.items()
            for d in derive(symbol, everything)
        ]


@cache
def blocks(words: Words) -> Blocks:
    """Return the maximal runs of words.

    >>> blocks((0, 1, 3))
    ((0, 1), (3,))
    """
    return tuple(tuple(range(*span)) for span in bitsets.spans_of(bitsets.mask_of(words)))


@cache
def divisions(words: Words) -> list[tuple[Words, Words]]:
    """Return all ways to give some words to one child and the others to another."""
    ways = []
    for size in range(1, len(words)):
        for some in combinations(words, size):
            ways.append((some, tuple(w for w in words if w not in some)))
    return ways


def from_dense(rules: DenseRules, sentence: int, length: int) -> TinyGrammar:
    """Spell out the rules of one sentence."""
    own = sentence if len(rules.root) > 1 else 0
    count = rules.nonterminals
    words = rules.words[sentence, :length].exp().tolist()
    grammar = TinyGrammar(
        root={(1, a): p for a, p in enumerate(rules.root[own].tolist())},
        words=[{(1, count + t): p for t, p in enumerate(row)} for row in words],
    )
    forms = {"R2": rules.side_by_side[own], "R3": rules.wrapping[own], "R4": rules.apart[own]}
    forms |= {f"R{5 + k}": rules.attaching[own, :, k] for k in range(4)}
    for form, table in forms.items():
        parent_fan_out, second_fan_out = (
            (1 if form in ("R2", "R3") else 2),
            (1 if form in ("R2", "R4") else 2),
        )
        for a, row in enumerate(table.tolist()):
            for first, second, p in entries(row):
                rule = (form, (1, first), (second_fan_out, second), p)
                grammar.rules[parent_fan_out, a].append(rule)
    return grammar


def from_factors(factors: Factors, ranks: tuple[int, ...], sentence: int, length: int) -> TinyGrammar:
    """Spell out the rules of a TN grammar: one for each parent, rank, attachment and pair of children."""
    r1, r2, r3, r4 = ranks
    f = Factors(*(part.tolist() for part in factors[:-1]), words=factors.words)
    count = len(f.root)
    words = factors.words[sentence, :length].exp().tolist()
    grammar = TinyGrammar(
        root={(1, a): p for a, p in enumerate(f.root)},
        words=[{(1, count + t): p for t, p in enumerate(row)} for row in words],
    )

    def add(parent: Symbol, form: str, weight: float, first: list, second: list, fan_out: int) -> None:
        for u, p in enumerate(first):
            for v, q in enumerate(second):
                grammar.rules[parent].append((form, (1, u), (fan_out, v), weight * p * q))

    for a, choices in enumerate(f.parents):
        for r in range(r1):
            add((1, a), "R2", choices[r], f.left[r], f.right[r], 1)
        for r in range(r2):
            add((1, a), "R3", choices[r1 + r], f.continuous_child[r], f.discontinuous_child[r], 2)
    for a, choices in enumerate(f.gapped_parents):
        for r in range(r3):
            add((2, a), "R4", choices[r], f.left[r1 + r], f.right[r1 + r], 1)
        for r in range(r4):
            first, second = f.continuous_child[r2 + r], f.discontinuous_child[r2 + r]
            for k in range(4):
                add((2, a), f"R{5 + k}", choices[r3 + r] * f.attachment[r][k], first, second, 2)
    return grammar


def entries(table: list[list[float]]) -> Iterator[tuple[int, int, float]]:
    for row, values in enumerate(table):
        for column, value in enumerate(values):
            yield row, column, value


def is_well_nested(tree: Iterable[int]) -> bool:
    """Tell whether no two disjoint constituents interleave, as words a < b < a < b.

    >>> is_well_nested([0b1111, 0b1001, 0b0110]), is_well_nested([0b1111, 0b0101, 0b1010])
    (True, False)
    """
    for one, other in combinations(tree, 2):
        if one & other:
            continue
        owners = [1 if one >> p & 1 else 2 for p in bitsets.positions_of(one | other)]
        changes = sum(a != b for a, b in pairwise(owners))
        if changes > 2:
            return False
    return True


def is_binary(tree: Iterable[int]) -> bool:
    """Tell whether every constituent is two of the others or words, put together."""
    sets = set(tree)
    for mask in sets:
        inner = [other for other in sets if other != mask and other & mask == other]
        words = [1 << p for p in bitsets.positions_of(mask)]
        if not any(mask & ~part in words or mask & ~part in sets for part in [*inner, *words]):
            return False
    return True
