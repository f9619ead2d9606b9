"""Votes on labels, functions and tags, one set of words after the other, as the definition says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TypeVar

from treemean.averaging.frequencies import Chain, Frequencies, summed, tells_something
from treemean.averaging.weights import Weights
from treemean.trees import Constituent, Tree

Text = TypeVar("Text", bound=Hashable)


class Voters:
    """Some trees over one sentence, all of whom have a say, and how often labels occur in their treebanks."""

    def __init__(self, trees: Sequence[Tree], weights: Weights, frequencies: Sequence[Frequencies]) -> None:
        self.trees, self.weights, self.frequencies = trees, weights, frequencies
        self.chains: Counter[Chain] = Counter()
        for counted in frequencies:
            self.chains.update(counted.chains)
        self._tell_functions = [tells_something(counted.functions) for counted in frequencies]
        self._functions = summed(
            counted.functions for counted, tells in zip(frequencies, self._tell_functions) if tells
        )

    def weight_of(self, mask: int) -> int:
        """Return the weight of the trees that have a set of words."""
        return sum(w for w, tree in zip(self.weights.of_set(mask), self.trees) if mask in tree.masks)

    def support(self, mask: int) -> float:
        """Return the share of the weight that has a set of words."""
        total = sum(self.weights.of_set(mask))
        return self.weight_of(mask) / total if total else 0.0

    def constituents(self, mask: int, chain: Chain | None = None) -> list[Constituent]:
        """Return the constituents over a set of words, from top to bottom; their labels are voted on, too."""
        if chain is None:
            votes: Counter[Chain] = Counter()
            for weight, tree in zip(self.weights.of_set(mask), self.trees):
                if mask in tree.masks:
                    votes[chain_over(mask, tree)] += weight
            chain = _winner(votes, self.chains)
        found = []
        for place, label in enumerate(chain):
            before = chain[:place].count(label)
            weight_behind, functions = 0, Counter[str]()
            for weight, tree, tells in zip(self.weights.of_set(mask), self.trees, self._tell_functions):
                with_label = [c for c in tree.constituents if c.mask == mask and c.label == label]
                if len(with_label) > before:
                    weight_behind += weight
                    if tells:
                        functions[with_label[before].function] += weight
            function = _winner(functions, self._functions) if functions else ""
            total = sum(self.weights.of_set(mask))
            labelled = weight_behind / total if total else 0.0
            found.append(
                Constituent(
                    mask, label, function, {"support": self.support(mask), "support_labelled": labelled}
                )
            )
        return found

    def of_words(
        self, told: Callable[[Tree], Sequence[str]], counted: Callable[[Frequencies], Counter[str]]
    ) -> tuple[str, ...] | None:
        """Return what is said of words, such as tags; None if nobody says anything."""
        heard = [
            k
            for k, counts in enumerate(self.frequencies)
            if self.weights.continuous[k] and tells_something(counted(counts))
        ]
        if not heard:
            return None
        often = summed(counted(self.frequencies[k]) for k in heard)
        result = []
        for position in range(len(self.trees[0].words)):
            votes: Counter[str] = Counter()
            for k in heard:
                votes[told(self.trees[k])[position]] += self.weights.continuous[k]
            result.append(_winner(votes, often))
        return tuple(result)


def chain_over(mask: int, tree: Tree) -> Chain:
    """Return the labels over a set of words, from top to bottom.

    >>> chain_over(0b11, Tree(["a", "b"], [({0, 1}, "S"), ({0, 1}, "VP")]))
    ('S', 'VP')
    """
    return tuple(c.label for c in tree.constituents if c.mask == mask)


def _winner(votes: Mapping[Text, int], often: Mapping[Text, int]) -> Text:
    """Return what has most weight, of equal ones the more frequent, then the alphabetically first."""
    return min(votes, key=lambda text: (-votes[text], -often.get(text, 0), text))
