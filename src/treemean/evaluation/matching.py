"""Which sets of words two trees of the same sentence share, for a whole treebank at once.

In one tree, a set of words is known by its first word and its size: sets that share a word are nested, so
that two of the same size are equal. The three numbers (sentence, first word, size) therefore name a set, in
canonical order they ascend, and a set of the other treebank with the same name is the only one that can be
equal; comparing the bits decides. No sets are sorted or hashed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treemean.trees import Treebank, bitsets
from treemean.trees.bitsets import Ints


@dataclass(frozen=True)
class DistinctSets:
    """The different sets among some constituents of a treebank, in canonical order.

    Parameters
    ----------
    nodes : int64, the upper constituent of each set.
    copies : int64, how many of the chosen constituents have this set.
    names : int64, strictly ascending; sentence, first word and size in one number.
    """

    nodes: Ints
    copies: Ints
    names: Ints


def set_names(treebank: Treebank, sizes: Ints, firsts: Ints, sentences: Ints) -> Ints:
    """Return one number for (sentence, first word, size), ascending in canonical order."""
    longest = int(treebank.lengths.max(initial=0))
    return (treebank.word_offsets[sentences] + firsts) * (longest + 1) + longest - sizes


def distinct_sets(treebank: Treebank, chosen: NDArray[np.bool_]) -> DistinctSets:
    """Return the different sets among the chosen constituents (bool[C])."""
    nodes = np.flatnonzero(chosen)
    names = set_names(treebank, treebank.sizes[nodes], treebank.firsts[nodes], treebank.sentence_of[nodes])
    begins = np.flatnonzero(np.diff(names, prepend=-1))
    return DistinctSets(nodes[begins], np.diff(begins, append=len(nodes)), names[begins])


def each_set(treebank: Treebank, nodes: Ints) -> DistinctSets:
    """Return some constituents one by one, to be looked for in trees; they may cross, and names repeat."""
    names = set_names(treebank, treebank.sizes[nodes], treebank.firsts[nodes], treebank.sentence_of[nodes])
    return DistinctSets(nodes, np.ones(len(nodes), dtype=np.int64), names)


def find_sets(of: DistinctSets, of_bank: Treebank, among: DistinctSets, among_bank: Treebank) -> Ints:
    """Return for every set of one treebank the place of the equal set of the other, -1 if there is none.

    Both treebanks must have the same sentence lengths. O(m log m) and one comparison of bits for each set.
    """
    place = np.searchsorted(among.names, of.names)
    hit = np.flatnonzero(place < len(among.names))
    hit = hit[among.names[place[hit]] == of.names[hit]]
    equal = _equal_bits(of_bank, of.nodes[hit], among_bank, among.nodes[place[hit]])
    result = np.full(len(of.names), -1, dtype=np.int64)
    result[hit[equal]] = place[hit[equal]]
    return result


def _equal_bits(a: Treebank, a_nodes: Ints, b: Treebank, b_nodes: Ints) -> NDArray[np.bool_]:
    """Tell for pairs of constituents of the same sentences whether they have the same words."""
    equal = np.ones(len(a_nodes), dtype=bool)
    width = bitsets.widths(a.lengths)[a.sentence_of[a_nodes]]
    a_start, b_start = _bit_starts(a, a_nodes), _bit_starts(b, b_nodes)
    for w in np.unique(width).tolist():
        rows = np.flatnonzero(width == w)
        for word in range(w):
            equal[rows] &= a.bits[a_start[rows] + word] == b.bits[b_start[rows] + word]
    return equal


def _bit_starts(treebank: Treebank, nodes: Ints) -> Ints:
    """Return where the bits of some constituents begin."""
    sentence = treebank.sentence_of[nodes]
    width = bitsets.widths(treebank.lengths)[sentence]
    return treebank.bit_offsets[sentence] + (nodes - treebank.constituent_offsets[sentence]) * width
