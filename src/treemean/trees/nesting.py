"""Which constituent is above which, for all trees of a treebank at once, in NumPy."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from treemean.trees import bitsets
from treemean.trees.bitsets import Ints
from treemean.trees.treebank import Treebank, gather

#: How many words are looked at together: as many as a processor has at hand.
_CELLS = 1 << 17
#: Up to so many discontinuous children of one constituent are compared with each other in NumPy.
_FEW = 32
#: Up to so many constituents are tried as the parent of one, where there are discontinuous ones.
_TRIES = 16


def depths_of(bank: Treebank) -> Ints:
    """Return for every constituent the number of constituents above it. O(constituents + words).

    The sets that hold the first word of a set are above each other. Those that begin before it are above the
    set, and so are those that begin with it and come earlier in canonical order.

    >>> from treemean.trees import Tree
    >>> depths_of(Treebank.from_trees([Tree(["a", "b", "c"], [(range(3), "S"), ({0, 2}, "X")])])).tolist()
    [0, 1]
    """
    # A place for every word, and one behind each sentence, where sets end.
    origins = (bank.word_offsets[:-1] + np.arange(len(bank)))[bank.sentence_of]
    size = int(bank.word_offsets[-1]) + len(bank)
    firsts = origins + bank.firsts
    plain = np.flatnonzero(bank.fan_outs == 1)
    begins, ends = firsts[plain], (firsts + bank.sizes)[plain]
    held = np.bincount(begins, minlength=size) - np.bincount(ends, minlength=size)
    if len(plain) < len(firsts):
        begins, ends = _runs_of(bank, np.flatnonzero(bank.fan_outs > 1), origins)
        held += np.bincount(begins, minlength=size)
        held -= np.bincount(ends, minlength=size)
    held = np.cumsum(held) - np.bincount(firsts, minlength=size)  # by sets that begin before
    depths: Ints = held[firsts] + _ranks(firsts)
    return depths


def _runs_of(bank: Treebank, nodes: Ints, origins: Ints) -> tuple[Ints, Ints]:
    """Return where the continuous parts of some constituents begin, and where they end, in any order."""
    widths, offsets = _layout(bank)
    begins, ends = [], []
    for width in _different(widths[nodes]):
        chosen = nodes[widths[nodes] == width]
        rows = bank.bits[offsets[chosen][:, None] + np.arange(width)]
        before, behind = rows << np.uint64(1), rows >> np.uint64(1)
        before[:, 1:] |= rows[:, :-1] >> np.uint64(63)
        behind[:, :-1] |= rows[:, 1:] << np.uint64(63)
        begins += _positions(rows & ~before, origins[chosen])
        ends += _positions(rows & ~behind, origins[chosen] + 1)
    return np.concatenate(begins), np.concatenate(ends)


def _positions(rows: bitsets.Bits, origins: Ints) -> list[Ints]:
    """Return the positions of rows with few bits, each of which counts from an origin, in any order."""
    found = []
    words = np.flatnonzero(rows)
    values = rows.ravel()[words]
    places = origins[words // rows.shape[1]] + words % rows.shape[1] * 64
    while len(values):
        rest = values & (values - np.uint64(1))
        found.append(places + np.bitwise_count((values ^ rest) - np.uint64(1)))
        places, values = places[rest != 0], rest[rest != 0]
    return found


def _unpacked(rows: NDArray[np.uint64]) -> NDArray[np.uint8]:
    raw = rows.astype("<u8", copy=False).view(np.uint8)
    return np.unpackbits(raw, axis=1, bitorder="little")


def _ranks(values: Ints) -> Ints:
    """Return how many entries before each one say the same; those that do stand together.

    >>> _ranks(np.array([3, 3, 3, 5])).tolist()
    [0, 1, 2, 0]
    """
    indices = np.arange(len(values))
    begins = np.append(True, values[1:] != values[:-1])[: len(values)]
    ranks: Ints = indices - np.maximum.accumulate(np.where(begins, indices, 0))
    return ranks


def _layout(bank: Treebank) -> tuple[Ints, Ints]:
    """Return for every constituent how many words of 64 bits it has, and where these begin."""
    widths = bitsets.widths(bank.lengths)[bank.sentence_of]
    return widths, np.cumsum(widths) - widths


def _different(numbers: Ints) -> list[int]:
    """Return the different ones of some small numbers."""
    values: list[int] = np.flatnonzero(np.bincount(numbers)).tolist()
    return values


def parents_of(bank: Treebank, depths: Ints | None = None) -> Ints:
    """Return the parent of every constituent as an index into all constituents, -1 for roots.

    In canonical order the parent of a set is the last set before it that holds its first word. That is the
    last one of its depth, unless there are discontinuous ones in the sentence.

    >>> from treemean.trees import Tree
    >>> parents_of(Treebank.from_trees([Tree(["a", "b", "c"], [(range(3), "S"), ({0, 2}, "X")])])).tolist()
    [-1, 0]
    """
    depths = depths_of(bank) if depths is None else depths
    parents = np.full(len(bank.labels), -1, dtype=np.int64)
    is_gapped = np.zeros(len(bank), dtype=bool)
    is_gapped[bank.sentence_of[bank.fan_outs > 1]] = True
    is_doubtful = is_gapped[bank.sentence_of]
    offsets = _layout(bank)[1]
    small = depths.astype(np.uint16) if int(depths.max(initial=0)) < 1 << 16 else depths  # sorted faster
    by_depth = np.argsort(small, kind="stable")
    levels = [by_depth[a:b] for a, b in pairwise(np.cumsum([0, *np.bincount(depths)]))]
    hard = np.zeros(len(bank), dtype=bool)
    for above, nodes in pairwise(levels):
        last = np.searchsorted(above, nodes) - 1
        parents[nodes] = above[last]
        chosen = np.flatnonzero(is_doubtful[nodes])
        nodes, last = nodes[chosen], last[chosen]
        for _ in range(_TRIES):
            places, words = offsets[above[last]] + bank.firsts[nodes] // 64, bank.firsts[nodes] % 64
            is_wrong = bank.bits[places] >> words.astype(np.uint64) & np.uint64(1) == 0
            nodes, last = nodes[is_wrong], last[is_wrong] - 1
            if not len(nodes):
                break
            parents[nodes] = above[last]
        hard[bank.sentence_of[nodes]] = True  # for those that are left no try was tested
    if hard.any():
        _lay_down_all(bank, np.flatnonzero(hard), parents)
    return parents


def _lay_down_all(bank: Treebank, sentences: Ints, parents: Ints) -> None:
    """Find the parents in some sentences, however many discontinuous constituents are in them.

    All first sets of the sentences are laid down, then all second ones, and so on, and every word remembers
    the last. O(words times constituents of each sentence).
    """
    widths = bitsets.widths(bank.lengths)[sentences]
    for width in _different(widths):
        # Sentences of similar size together: those that have no more constituents drop out at the end.
        chosen = sentences[widths == width]
        chosen = chosen[np.argsort(-bank.constituent_counts[chosen], kind="stable")]
        size = max(_CELLS // (64 * width), 1)
        for start in range(0, len(chosen), size):
            _lay_down(bank, chosen[start : start + size], width, parents)


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
        np.copyto(owner[:live], np.int32(rank), where=_unpacked(rows).view(bool))
        nodes[:live] += 1
        places[:live] += width
    # What was remembered are numbers within the sentences.
    all_nodes = gather(bank.constituent_offsets, chosen)
    inner = all_nodes[parents[all_nodes] >= 0]
    parents[inner] += bank.constituent_offsets[:-1][bank.sentence_of[inner]]


def heights_of(bank: Treebank, depths: Ints) -> Ints:
    """Return for every sentence the longest way from its root down to a word; 0 where there are no words."""
    result = np.zeros(len(bank), dtype=np.int64)
    rooted = np.flatnonzero(bank.constituent_counts > 0)
    if len(rooted):
        result[rooted] = 1 + np.maximum.reduceat(depths, bank.constituent_offsets[:-1][rooted])
    return result


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
    widths, offsets = _layout(bank)
    result = np.zeros(len(first), dtype=bool)
    for width in _different(widths[first]):
        chosen = np.flatnonzero(widths[first] == width)
        for part in np.array_split(chosen, len(chosen) * width // _CELLS + 1):
            a = bank.bits[offsets[first[part], None] + np.arange(width)]
            b = bank.bits[offsets[second[part], None] + np.arange(width)]
            result[part] = (a & _hulls(b)).any(axis=1)
    return result


def _hulls(rows: bitsets.Bits) -> bitsets.Bits:
    """Return all positions from the first to the last one of each row."""
    bits = _unpacked(rows)
    from_first = np.maximum.accumulate(bits, axis=1)
    to_last = np.maximum.accumulate(bits[:, ::-1], axis=1)[:, ::-1]
    packed = np.packbits(from_first & to_last, axis=1, bitorder="little")
    return packed.view("<u8").astype(np.uint64, copy=False)
