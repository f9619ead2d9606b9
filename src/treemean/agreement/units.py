"""What runs propose, and who proposes it.

A *unit* is what counts once in a sentence: a set of words, or with labels a set and a label; of labelled
copies (NP over NP) each is a unit of its own. So a tree is a plain set of units, and what two trees share is
counted without regard to chains. Its *shape* is a unit without its sentence: units of different sentences of
the same length can have the same one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treemean.evaluation import Protocol
from treemean.evaluation.counting import ranks, scored_constituents
from treemean.fitting.candidates import group, rows_of
from treemean.trees import Treebank, bitsets
from treemean.trees.bitsets import Bits, Ints
from treemean.trees.strings import CodedStrings

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Units:
    """The units of S sentences and K runs, sentence by sentence, from left to right, large ones first.

    Columns
    -------
    lengths : int64[S], the words of each sentence.
    sentence : int64[U], ascending; the sentence of each unit.
    shape : int64[U], equal for equal units of sentences of the same length.
    has : bool[U, K], which runs have it.
    bits : uint64[U, W], its words; position p is bit p % 64 of column p // 64.
    labels : U texts, empty where labels do not count.
    copy : int64[U], of how many equal labels over the same words it is the last; 1 where labels do not count.
    """

    lengths: Ints
    sentence: Ints
    shape: Ints
    has: Flags
    bits: Bits
    labels: list[str]
    copy: Ints

    def shared(self, chosen: Flags | None = None) -> Floats:
        """Return how many units each pair of runs shares, in all sentences or some (bool[S]): float64[K, K].

        Whole numbers; what a run shares with itself is what it has.
        """
        has = self.has if chosen is None else self.has[chosen[self.sentence]]
        counts = has.astype(np.float64)
        return counts.T @ counts

    def per_sentence(self, which: Flags) -> Floats:
        """Return how many of some units (bool[U, …]) each sentence has: float64[S, …]."""
        result = np.zeros((len(self.lengths), *which.shape[1:]))
        np.add.at(result, self.sentence, which)
        return result


def find_units(runs: Sequence[Treebank], protocol: Protocol) -> Units:
    """Return the units of runs over the same sentences, of constituents that a protocol scores.

    O(Q log Q) for Q constituents of all runs.
    """
    everything = Treebank.concatenate(runs)
    scored = scored_constituents(everything, protocol, is_gold=False)
    if not protocol.labelled:
        scored &= ~everything.repeats
    nodes = np.flatnonzero(scored)
    tree = everything.sentence_of[nodes]
    bits = rows_of(everything, nodes, max(1, bitsets.width(int(everything.lengths.max(initial=0)))))
    labels = _alphabetical(everything.labels)[nodes] if protocol.labelled else np.zeros_like(nodes)
    copy = ranks(group([*bits.T, labels, tree])[0])

    shape, _ = group([copy, labels, *bits.T, everything.lengths[tree]])
    run, sentence = np.divmod(tree, max(1, len(runs[0])))
    order = [shape, -everything.sizes[nodes], everything.firsts[nodes], sentence]
    unit, first = group(order)
    has = np.zeros((len(first), len(runs)), dtype=bool)
    has[unit, run] = True
    return Units(
        runs[0].lengths,
        sentence[first],
        shape[first],
        has,
        bits[first],
        everything.labels.take(nodes[first]).tolist() if protocol.labelled else [""] * len(first),
        copy[first] + 1,
    )


def _alphabetical(column: CodedStrings) -> Ints:
    """Return the place of every text in the alphabet, so that no order depends on which run came first."""
    place = {text: number for number, text in enumerate(sorted(column.texts))}
    return np.array([place[text] for text in column.texts], dtype=np.int64)[column.codes]
