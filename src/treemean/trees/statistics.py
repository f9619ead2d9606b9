"""What a treebank looks like in numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import compress
from typing import Any

import numpy as np

from treemean.trees import nesting
from treemean.trees.alike import as_treebank
from treemean.trees.html import Cell, html_table
from treemean.trees.strings import CodedStrings, Strings
from treemean.trees.tree import Tree
from treemean.trees.treebank import Treebank


@dataclass(frozen=True)
class Statistics:
    """Counts of a treebank. Constituents are counted from two words on, each set of words once.

    Attributes
    ----------
    sentences, words, word_types : how many.
    lengths : words per sentence -> sentences.
    constituents : of two words or more, without repeated sets (unary chains).
    unaries : constituents left out above: over one word, or with the words of the one above.
    fan_outs : fan-out -> constituents.
    children : number of children -> constituents.
    discontinuous_sentences, ill_nested_sentences : sentences with at least one discontinuous constituent,
        and with two that interleave.
    heights : height of the root -> sentences.
    labels, tags, functions : text -> how often (all constituents, or all words).
    """

    sentences: int
    words: int
    word_types: int
    lengths: dict[int, int]
    constituents: int
    unaries: int
    fan_outs: dict[int, int]
    children: dict[int, int]
    discontinuous_sentences: int
    ill_nested_sentences: int
    heights: dict[int, int]
    labels: dict[str, int]
    tags: dict[str, int]
    functions: dict[str, int]

    @property
    def discontinuous(self) -> int:
        """The number of discontinuous constituents."""
        return sum(count for fan_out, count in self.fan_outs.items() if fan_out > 1)

    @property
    def binary(self) -> int:
        """The number of constituents with exactly two children."""
        return self.children.get(2, 0)

    def __repr__(self) -> str:
        return (
            f"<Statistics: {self.sentences} sentences, {self.words} words, {self.constituents} constituents, "
            f"{self.discontinuous} of them discontinuous>"
        )

    def _repr_html_(self) -> str:
        """Return the table that notebooks show."""
        names = ("sentences", "words", "word_types", "constituents", "unaries", "discontinuous", "binary")
        rows: list[list[Cell]] = [[name.replace("_", " "), getattr(self, name)] for name in names]
        rows.append(["discontinuous sentences", self.discontinuous_sentences])
        return html_table(["", "count"], rows)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready data."""
        return asdict(self) | {"discontinuous": self.discontinuous, "binary": self.binary}


class StatisticsCounter:
    """Collects statistics batch by batch, in memory that does not grow with the number of sentences.

    >>> counter = StatisticsCounter()
    >>> counter.add(Treebank.empty())
    >>> counter.result().sentences
    0
    """

    def __init__(self) -> None:
        self._single: Counter[str] = Counter()
        self._tables: dict[str, Counter[Any]] = {
            name: Counter()
            for name in ("lengths", "fan_outs", "children", "heights", "labels", "tags", "functions")
        }
        # The words of the last vocabulary that occurred, and those of vocabularies that began otherwise.
        self._vocabulary = Strings.of([])
        self._used = np.zeros(0, dtype=bool)
        self._types: set[bytes] = set()

    def add(self, batch: Treebank) -> None:
        """Take in a batch."""
        counted = ~batch.repeats & (batch.sizes > 1)
        depths = nesting.depths_of(batch)
        parents = nesting.parents_of(batch, depths)
        self._single["sentences"] += len(batch)
        self._single["words"] += len(batch.words)
        self._single["constituents"] += int(counted.sum())
        self._single["unaries"] += int((~counted).sum())
        self._single["discontinuous_sentences"] += int(
            np.count_nonzero(np.bincount(batch.sentence_of[batch.fan_outs > 1]))
        )
        self._single["ill_nested_sentences"] += len(nesting.ill_nested_sentences(batch, parents))
        # The children of a chain are those of its lowest constituent, behind which no repetition stands.
        lowest = np.append(~batch.repeats[1:], True)[: len(batch.labels)] & (batch.sizes > 1)
        for name, numbers in (
            ("lengths", batch.lengths),
            ("fan_outs", batch.fan_outs[counted]),
            ("heights", nesting.heights_of(batch, depths)),
            ("children", nesting.child_counts_of(batch, parents)[lowest]),
        ):
            counts = np.bincount(numbers)
            self._tables[name].update({int(value): int(counts[value]) for value in np.flatnonzero(counts)})
        for name in ("labels", "tags", "functions"):
            column = getattr(batch, name)
            counts = np.bincount(column.codes, minlength=len(column.texts))
            self._tables[name].update({t: int(c) for t, c in zip(column.texts, counts) if c})
        self._add_types(batch.words)

    def _add_types(self, words: CodedStrings) -> None:
        """Take in the words of a batch. Vocabularies that begin alike, as those of one file do, are one."""
        used = np.bincount(words.codes, minlength=len(words.vocabulary)) > 0
        if not self._vocabulary.begins(words.vocabulary):
            self._types.update(compress(self._vocabulary.to_bytes(), self._used.tolist()))
            self._vocabulary, self._used = words.vocabulary, used
            return
        used[: len(self._used)] |= self._used
        self._vocabulary, self._used = words.vocabulary, used

    def result(self) -> Statistics:
        """Return what was counted so far."""
        tables: dict[str, Any] = {name: dict(sorted(table.items())) for name, table in self._tables.items()}
        for name in ("labels", "tags", "functions"):
            tables[name] = dict(self._tables[name].most_common())
        single: dict[str, Any] = {
            name: self._single[name]
            for name in (
                "sentences",
                "words",
                "constituents",
                "unaries",
                "discontinuous_sentences",
                "ill_nested_sentences",
            )
        }
        types = self._types.union(compress(self._vocabulary.to_bytes(), self._used.tolist()))
        return Statistics(word_types=len(types), **single, **tables)


def statistics(treebank: Tree | Treebank | Iterable[Tree]) -> Statistics:
    """Count what a treebank consists of."""
    counter = StatisticsCounter()
    counter.add(as_treebank(treebank))
    return counter.result()
