"""Where candidates lie, and how they lie to each other and in the trees that propose them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from treemean.fitting.candidates import Candidates, Flags
from treemean.trees.bitsets import Bits, Ints
from treemean.trees.treebank import gather, offsets_of

_CELLS = 1 << 22  # how many words of candidates are looked at in one go
_PAIRS = 1 << 15  # how many pairs; so few stay in the processor's cache, which makes it twice as fast


@dataclass(frozen=True)
class Edges:
    """Where candidates begin and end, int64[M] each; ends are exclusive.

    `first_end` is the end of the first continuous part, `last_start` the start of the last one.
    """

    start: Ints
    first_end: Ints
    last_start: Ints
    end: Ints


def find_edges(bits: Bits) -> Edges:
    """Return the edges of the rows of an (M, W) array of sets that are not empty.

    >>> edges = find_edges(np.array([[0b110010]], dtype=np.uint64))
    >>> edges.start.item(), edges.first_end.item(), edges.last_start.item(), edges.end.item()
    (1, 2, 4, 6)
    """
    found = np.zeros((4, len(bits)), dtype=np.int64)
    step = max(1, _CELLS // (64 * bits.shape[1]))
    for begin in range(0, len(bits), step):
        rows = np.ascontiguousarray(bits[begin : begin + step], dtype="<u8").view(np.uint8)
        flags = np.unpackbits(rows, axis=1, bitorder="little")
        padded = np.zeros((len(flags), flags.shape[1] + 2), dtype=np.int8)
        padded[:, 1:-1] = flags
        steps = np.diff(padded, axis=1)  # 1 where a part starts, -1 where it has ended
        final = steps.shape[1] - 1
        found[:, begin : begin + step] = (
            (steps == 1).argmax(axis=1),
            (steps == -1).argmax(axis=1),
            final - (steps[:, ::-1] == 1).argmax(axis=1),
            final - (steps[:, ::-1] == -1).argmax(axis=1),
        )
    return Edges(*found)


@dataclass(frozen=True)
class Pairs:
    """All pairs of some candidates with those of their sentences, themselves included.

    Parameters
    ----------
    rows : which candidates; they are consecutive.
    starts : int64[len(rows)], where the pairs of each of them begin; every candidate has some.
    other : int64, the candidate at the other side of each pair.
    conflict, inside, around : bool; whether the other one overlaps without being nested, lies inside, or is
        larger and holds this one.
    """

    rows: slice
    starts: Ints
    other: Ints
    conflict: Flags
    inside: Flags
    around: Flags


def pair_blocks(candidates: Candidates) -> Iterator[Pairs]:
    """Yield all pairs within sentences in blocks; time is linear in their number, memory is bounded."""
    per_sentence = np.bincount(candidates.sentence, minlength=len(candidates.lengths))
    offsets = offsets_of(per_sentence)
    partners = per_sentence[candidates.sentence]
    ends = np.cumsum(partners)
    begin = 0
    while begin < len(candidates):
        before = ends[begin] - partners[begin]
        stop = max(begin + 1, int(np.searchsorted(ends, before + _PAIRS, side="right")))
        rows = slice(begin, stop)
        this = np.repeat(np.arange(begin, stop), partners[rows])
        other = gather(offsets, candidates.sentence[rows])
        shared, only_this, only_other = (np.zeros(len(this), dtype=bool) for _ in range(3))
        for column in candidates.bits.T:
            a, b = column[this], column[other]
            shared |= (a & b) != 0
            only_this |= (a & ~b) != 0
            only_other |= (b & ~a) != 0
        yield Pairs(
            rows,
            ends[rows] - partners[rows] - before,
            other,
            shared & only_this & only_other,
            shared & only_this & ~only_other,
            shared & ~only_this & only_other,
        )
        begin = stop


@dataclass(frozen=True)
class Families:
    """Parents and children in the trees that propose candidates; all proposals of all runs, Q in all.

    Tables of spans have no trees.

    Parameters
    ----------
    place : int64[Q], the candidate of each proposal.
    parent : int64[Q], the proposal above it in the same tree; -1 if that is the whole sentence.
    depth : int64[Q], how many proposals are above it.
    """

    place: Ints
    parent: Ints
    depth: Ints


def find_families(candidates: Candidates) -> Families:
    """Find the parent of every proposal in its own tree.

    In canonical order the parent is the last one before that holds all its words, so that all proposals look
    back at the same time, one step after the other, until they have found it. O(Q d) for distances d.
    """
    places = candidates.places[: candidates.runs]
    place = np.concatenate(places)
    run = np.repeat(np.arange(candidates.runs), [len(p) for p in places])
    tree = run * len(candidates.lengths) + candidates.sentence[place]
    parent = np.full(len(place), -1, dtype=np.int64)
    seeking, at = np.arange(len(place)), np.arange(len(place)) - 1
    while len(seeking):
        within = (at >= 0) & (tree[at] == tree[seeking])
        seeking, at = seeking[within], at[within]
        child, above = place[seeking], place[at]
        held = ~((candidates.bits[child] & ~candidates.bits[above]) != 0).any(axis=1)
        parent[seeking[held]] = at[held]
        seeking, at = seeking[~held], at[~held] - 1
    depth = np.zeros(len(place), dtype=np.int64)
    below, ancestor = np.flatnonzero(parent >= 0), parent[parent >= 0]
    while len(below):
        depth[below] += 1
        ancestor = parent[ancestor]
        below, ancestor = below[ancestor >= 0], ancestor[ancestor >= 0]
    return Families(place, parent, depth)
