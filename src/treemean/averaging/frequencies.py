"""How often labels, functions and tags occur in a treebank: what decides between votes of equal weight."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from treemean import _core
from treemean.averaging.arguments import columns_of
from treemean.trees import Individual, Treebank

#: The labels over one set of words, from top to bottom.
Chain = tuple[str, ...]


@dataclass
class Frequencies:
    """Counts over one individual's treebank, which may be read in pieces.

    Attributes
    ----------
    chains : of the labels over one set of words.
    functions : of the functions of constituents.
    tags, word_functions : of the tags and functions of words.
    """

    chains: Counter[Chain] = field(default_factory=Counter)
    functions: Counter[str] = field(default_factory=Counter)
    tags: Counter[str] = field(default_factory=Counter)
    word_functions: Counter[str] = field(default_factory=Counter)

    def add(self, treebank: Treebank) -> None:
        """Count one more piece of the treebank.

        >>> from treemean.trees import Tree
        >>> frequencies = Frequencies()
        >>> frequencies.add(Treebank.from_trees([Tree(["a", "b"], [({0, 1}, "S"), ({0, 1}, "VP")])]))
        >>> frequencies.chains
        Counter({('S', 'VP'): 1})
        """
        texts = treebank.labels.texts
        single, longer = _core.count_chains(
            np.ascontiguousarray(treebank.word_offsets, dtype=np.int64),
            np.ascontiguousarray(treebank.constituent_offsets, dtype=np.int64),
            np.ascontiguousarray(treebank.bits, dtype=np.uint64),
            (
                np.ascontiguousarray(treebank.labels.codes, dtype=np.int32),
                np.arange(len(texts), dtype=np.int32),
            ),
        )
        for code, count in enumerate(single.tolist()):
            if count:
                self.chains[(texts[code],)] += count
        for codes, count in longer:
            self.chains[tuple(texts[code] for code in codes)] += count
        for counter, column in (
            (self.functions, treebank.functions),
            (self.tags, treebank.tags),
            (self.word_functions, treebank.word_functions),
        ):
            if len(column.texts) == 1:
                counter[column.texts[0]] += len(column)
                continue
            counts = np.bincount(column.codes, minlength=len(column.texts)).tolist()
            for text, count in zip(column.texts, counts, strict=True):
                if count:
                    counter[text] += count


def count_labels(pieces: Iterable[Sequence[Individual]]) -> list[Frequencies]:
    """Return the frequencies of each individual, given aligned pieces of all of them.

    Tables of spans are counted only where all individuals are such tables: else they have no say on labels.
    """
    found: list[Frequencies] = []
    for piece in pieces:
        found = found or [Frequencies() for _ in piece]
        some_trees = any(isinstance(individual, Treebank) for individual in piece)
        for frequencies, individual in zip(found, piece, strict=True):
            if isinstance(individual, Treebank) or not some_trees:
                frequencies.add(columns_of(individual))
    return found


def summed(counters: Iterable[Counter[str]]) -> Counter[str]:
    """Return the counts of several individuals together."""
    total: Counter[str] = Counter()
    for counter in counters:
        total.update(counter)
    return total


def tells_something(counter: Counter[str]) -> bool:
    """Tell whether some text is not empty."""
    return any(counter.keys() - {""})
