"""Which constituent is above which, for all trees of a treebank at once, in NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from treemean.trees import bitsets
from treemean.trees.bitsets import Ints
from treemean.trees.treebank import Treebank, gather

#: How many words are looked at together: as many as a processor has at hand.
_CELLS = 1 << 17
#: Up to so many discontinuous children of one constituent are compared with each other in NumPy.
_FEW = 32


def parents_of(bank: Treebank) -> Ints:
    """Return the parent of every constituent as an index into all constituents, -1 for roots.

    In canonical order the parent of a set is the last set before it that holds its first word. So all first
    sets of the sentences are laid down, then all second ones, and so on, and every word remembers the last.
    O(words times constituents of each sentence).

    >>> from treemean.trees import Tree
    >>> parents_of(Treebank.from_trees([Tree(["a", "b", "c"], [(range(3), "S"), ({0, 2}, "X")])])).tolist()
    [-1, 0]
    """
    parents = np.full(len(bank.labels), -1, dtype=np.int64)
    widths = bitsets.widths(bank.lengths)
    for width in np.unique(widths[bank.constituent_counts > 0]).tolist():
        # Sentences of similar size together: those that have no more constituents drop out at the end.
        chosen = np.flatnonzero((widths == width) & (bank.constituent_counts > 0))
        chosen = chosen[np.argsort(-bank.constituent_counts[chosen], kind="stable")]
        size = max(_CELLS // (64 * width), 1)
        for start in range(0, len(chosen), size):
            _lay_down(bank, chosen[start : start + size], width, parents)
    return parents


def _lay_down(bank: Treebank, chosen: Ints, width: int, parents: Ints) -> None:
    """Find the parents in some sentences of one width, those with most constituents first."""
    counts = bank.constituent_counts[chosen]
    nodes = bank.constituent_offsets[:-1][chosen]
    places = bank.bit_offsets[:-1][chosen][:, None] + np.arange(width)
    sentences = np.arange(len(chosen))
    owner = np.full((len(chosen), 64 * width), -1, dtype=np.int32)
    # How many sentences have at least 1, 2, … constituents.
    lives = np.cumsum(np.bincount(counts)[::-1])[::-1][1:].tolist()
    for rank, live in enumerate(lives):
        rows = bank.bits[places[:live]]
        parents[nodes[:live]] = owner[sentences[:live], bank.firsts[nodes[:live]]]
        raw = rows.astype("<u8", copy=False).view(np.uint8)
        held = np.unpackbits(raw, axis=1, bitorder="little").view(bool)
        np.copyto(owner[:live], np.int32(rank), where=held)
        nodes[:live] += 1
        places[:live] += width
    # What was remembered are numbers within the sentences.
    all_nodes = gather(bank.constituent_offsets, chosen)
    inner = all_nodes[parents[all_nodes] >= 0]
    parents[inner] += bank.constituent_offsets[:-1][bank.sentence_of[inner]]


def heights_of(bank: Treebank, parents: Ints) -> Ints:
    """Return for every sentence the longest way from its root down to a word; 0 where there are no words."""
    height = np.ones(len(parents), dtype=np.int64)
    depths = depths_of(parents)
    by_depth = np.argsort(depths, kind="stable")
    bounds = np.searchsorted(depths[by_depth], np.arange(int(depths.max(initial=0)) + 2))
    for depth in range(len(bounds) - 2, 0, -1):
        nodes = by_depth[bounds[depth] : bounds[depth + 1]]
        np.maximum.at(height, parents[nodes], height[nodes] + 1)
    result = np.zeros(len(bank), dtype=np.int64)
    rooted = bank.constituent_counts > 0
    result[rooted] = height[bank.constituent_offsets[:-1][rooted]]
    return result


def depths_of(parents: Ints) -> Ints:
    """Return for every constituent the number of constituents above it. O(constituents · log depth)."""
    depths = (parents >= 0).astype(np.int64)
    above = np.where(parents >= 0, parents, np.arange(len(parents)))
    while True:  # twice as far up every time
        further = above[above]
        if np.array_equal(further, above):
            return depths
        depths = depths + depths[above]
        above = further


def child_counts_of(bank: Treebank, parents: Ints) -> Ints:
    """Return the number of children, words and constituents, of every constituent."""
    below = parents >= 0
    constituents = np.bincount(parents[below], minlength=len(parents))
    covered = np.bincount(parents[below], weights=bank.sizes[below], minlength=len(parents))
    counts: Ints = constituents + bank.sizes - covered.astype(np.int64)
    return counts


def ill_nested_sentences(bank: Treebank, parents: Ints) -> Ints:
    """Return the sentences in which two disjoint constituents interleave (a … b … a … b).

    If two do, then so do two children of one constituent, and both are discontinuous. Of these a and b, where
    a begins first, they interleave if a has a word between the first and the last one of b.
    """
    gapped = np.flatnonzero((bank.fan_outs > 1) & (parents >= 0))
    gapped = gapped[np.argsort(parents[gapped], kind="stable")]
    above = parents[gapped]
    starts = np.flatnonzero(np.r_[True, above[1:] != above[:-1]]) if len(above) else np.empty(0, np.int64)
    sizes = np.diff(np.r_[starts, len(above)])
    found: set[int] = set()
    for start, size in zip(starts[sizes > _FEW].tolist(), sizes[sizes > _FEW].tolist()):
        sentence = int(bank.sentence_of[gapped[start]])
        if size > _FEW and sentence not in found and not bank[sentence].is_well_nested:
            found.add(sentence)
    pairs = []
    for distance in range(1, min(_FEW, len(above))):
        left = np.flatnonzero(above[distance:] == above[:-distance])
        if not len(left):
            break
        pairs.append(np.stack([gapped[left], gapped[left + distance]]))
    if pairs:
        first, second = np.concatenate(pairs, axis=1)
        found.update(bank.sentence_of[first[_interleave(bank, first, second)]].tolist())
    return np.array(sorted(found), dtype=np.int64)


def _interleave(bank: Treebank, first: Ints, second: Ints) -> NDArray[np.bool_]:
    """Tell of pairs of disjoint sets, of which the first ones begin first, whether they interleave."""
    widths = bitsets.widths(bank.lengths)[bank.sentence_of]
    offsets = np.concatenate([[0], np.cumsum(widths)])
    result = np.zeros(len(first), dtype=bool)
    for width in np.unique(widths[first]):
        chosen = np.flatnonzero(widths[first] == width)
        for part in np.array_split(chosen, len(chosen) * int(width) // _CELLS + 1):
            a = bank.bits[offsets[first[part], None] + np.arange(width)]
            b = bank.bits[offsets[second[part], None] + np.arange(width)]
            result[part] = (a & _hulls(b)).any(axis=1)
    return result


def _hulls(rows: bitsets.Bits) -> bitsets.Bits:
    """Return all positions from the first to the last one of each row."""
    bits = np.unpackbits(rows.astype("<u8", copy=False).view(np.uint8), axis=1, bitorder="little")
    from_first = np.maximum.accumulate(bits, axis=1)
    to_last = np.maximum.accumulate(bits[:, ::-1], axis=1)[:, ::-1]
    packed = np.packbits(from_first & to_last, axis=1, bitorder="little")
    return packed.view("<u8").astype(np.uint64, copy=False)
