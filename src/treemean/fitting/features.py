"""What is known about a candidate without gold: who votes for it, its shape, its rivals, its relatives.

No words are looked at, and nothing belongs to one treebank or parser: the columns are shares of the runs,
shares of the sentence and logarithms of lengths.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treemean.fitting.candidates import Candidates, Flags, Floats, group
from treemean.fitting.geometry import Edges, find_edges, find_families, pair_blocks
from treemean.trees.bitsets import Ints
from treemean.trees.treebank import offsets_of

Columns = dict[str, NDArray[np.generic]]


@dataclass(frozen=True)
class Features:
    """Named columns of numbers: `table` is float64[M, F]."""

    names: tuple[str, ...]
    table: Floats


def features_of(candidates: Candidates) -> Features:
    """Return the features of candidates.

    Time is dominated by the pairs of candidates within sentences.
    """
    edges = find_edges(candidates.bits)
    columns: Columns = {
        **vote_features(candidates),
        **shape_features(candidates, edges),
        **rival_features(candidates),
        **relative_features(candidates, edges),
        **border_features(candidates, edges),
        **span_features(candidates, edges),
    }
    table = np.empty((len(candidates), len(columns)))
    for place, column in enumerate(columns.values()):
        table[:, place] = column
    return Features(tuple(columns), table)


def vote_features(candidates: Candidates) -> Columns:
    """Return who votes for each candidate, and how many do."""
    share = candidates.counts / candidates.runs
    return {
        **{f"vote of run {k + 1}": candidates.votes[:, k] for k in range(candidates.runs)},
        "votes": share,
        "votes squared": share**2,
        "one vote": candidates.counts == 1,
        "two votes": candidates.counts == 2,
        "all votes": candidates.counts == candidates.runs,
    }


def shape_features(candidates: Candidates, edges: Edges) -> Columns:
    """Return lengths, places and gaps."""
    n = candidates.lengths[candidates.sentence]
    size = candidates.sizes
    return {
        "fan-out": candidates.fan_outs,
        "words": np.log(size),
        "two words": size == 2,
        "sentence words": np.log(n),
        "share of the sentence": size / n,
        "words before": edges.start / n,
        "words after": (n - edges.end) / n,
        "words before, log": np.log1p(edges.start),
        "words after, log": np.log1p(n - edges.end),
        "at the start": edges.start == 0,
        "at the end": edges.end == n,
        "first part": np.log1p(edges.first_end - edges.start),
        "last part": np.log1p(edges.end - edges.last_start),
        "gap words": np.log1p(edges.end - edges.start - size),
    }


def rival_features(candidates: Candidates) -> Columns:
    """Return how much is proposed that conflicts with a candidate, lies inside it, or holds it."""
    count = len(candidates)
    votes = candidates.counts / candidates.runs
    gapped = np.where(candidates.discontinuous, votes, 0.0)
    plain = votes - gapped
    sums: Mapping[str, Floats] = {
        name: np.zeros(count)
        for name in (
            "rivals",
            "votes of rivals",
            "votes of discontinuous rivals",
            "votes inside",
            "discontinuous votes inside",
            "votes around",
            "discontinuous votes around",
            "strongest rival",
            "strongest continuous rival",
            "strongest discontinuous rival",
            "strongest with a word more",
            "strongest with a word less",
        )
    }
    for pairs in pair_blocks(candidates):
        size_of_other = candidates.sizes[pairs.other]
        own_size = np.repeat(candidates.sizes[pairs.rows], np.diff(pairs.starts, append=len(pairs.other)))
        other_votes, other_gapped = votes[pairs.other], gapped[pairs.other]
        for name, values in (
            ("rivals", pairs.conflict.astype(np.float64)),
            ("votes of rivals", pairs.conflict * other_votes),
            ("votes of discontinuous rivals", pairs.conflict * other_gapped),
            ("votes inside", pairs.inside * other_votes),
            ("discontinuous votes inside", pairs.inside * other_gapped),
            ("votes around", pairs.around * other_votes),
            ("discontinuous votes around", pairs.around * other_gapped),
        ):
            sums[name][pairs.rows] = np.add.reduceat(values, pairs.starts)
        for name, values in (
            ("strongest rival", pairs.conflict * other_votes),
            ("strongest continuous rival", pairs.conflict * plain[pairs.other]),
            ("strongest discontinuous rival", pairs.conflict * other_gapped),
            ("strongest with a word more", (pairs.around & (size_of_other == own_size + 1)) * other_votes),
            ("strongest with a word less", (pairs.inside & (size_of_other == own_size - 1)) * other_votes),
        ):
            sums[name][pairs.rows] = np.maximum.reduceat(values, pairs.starts)
    rivals = np.log1p(sums["rivals"])
    return {**sums, "rivals": rivals, "lead over the strongest rival": votes - sums["strongest rival"]}


def relative_features(candidates: Candidates, edges: Edges) -> Columns:
    """Return means over the trees that propose a candidate: its parent, its children, its depth there."""
    families = find_families(candidates)
    place, parent = families.place, families.parent
    has_parent = parent >= 0
    above = place[parent]  # meaningless without a parent, and not used there
    size = candidates.sizes[place]
    parent_size = np.where(
        has_parent, candidates.sizes[above], candidates.lengths[candidates.sentence[place]]
    )
    parent_gapped = has_parent & candidates.discontinuous[above]
    is_later = np.where(has_parent, edges.start[above], 0) < edges.start[place]
    largest_child = np.ones(len(place), dtype=np.int64)
    np.maximum.at(largest_child, parent[has_parent], size[has_parent])
    gapped_child = np.zeros(len(place), dtype=bool)
    gapped_child[parent[has_parent & candidates.discontinuous[place]]] = True

    def mean(values: NDArray[np.generic]) -> Floats:
        total = np.bincount(place, weights=values.astype(np.float64), minlength=len(candidates))
        return total / candidates.counts

    added, split_off = parent_size == size + 1, largest_child == size - 1
    share = candidates.counts / candidates.runs
    return {
        "depth": mean(families.depth),
        "words of the parent": mean(np.log(parent_size / size)),
        "parent adds a word": mean(added),
        "parent adds a word, votes": mean(added) * share,
        "parent is discontinuous": mean(parent_gapped),
        "parent starts earlier": mean(is_later),
        "largest child": mean(largest_child / size),
        "word and rest": mean(split_off),
        "word and rest, votes": mean(split_off) * share,
        "child is discontinuous": mean(gapped_child),
    }


def border_features(candidates: Candidates, edges: Edges) -> Columns:
    """Return what else is proposed with the same borders, in the same sentence."""
    votes = candidates.counts / candidates.runs
    gapped: Ints = candidates.discontinuous.astype(np.int64)
    sentence = candidates.sentence

    def others(*keys: Ints, among: Floats = votes) -> Floats:
        number, _ = group([*keys, sentence])
        return np.bincount(number, weights=among)[number] - among if len(number) else votes

    proposed = np.bincount(sentence, minlength=len(candidates.lengths))[sentence]
    return {
        "votes with the same start": others(edges.start),
        "votes with the same end": others(edges.end),
        "votes with the same start and kind": others(edges.start, gapped),
        "votes with the same end and kind": others(edges.end, gapped),
        "votes with the same start and end": others(edges.start, edges.end),
        "votes with the same gap": gapped * others(edges.first_end, edges.last_start, gapped),
        "votes with the same first part": gapped * others(edges.start, edges.first_end, gapped),
        "votes with the same last part": gapped * others(edges.last_start, edges.end, gapped),
        "discontinuous votes of the sentence": others(among=votes * gapped),
        "candidates per word": proposed / candidates.lengths[sentence],
    }


def span_features(candidates: Candidates, edges: Edges) -> Columns:
    """Return the votes for the spans that a candidate makes: its parts, its gap, its hull, its sides."""
    n = candidates.lengths[candidates.sentence]
    longest = int(candidates.lengths.max(initial=0)) + 1
    origin = offsets_of(candidates.lengths + 1)[candidates.sentence]

    def names(start: Ints, end: Ints) -> Ints:
        return (origin + start) * longest + end

    continuous = np.flatnonzero(~candidates.discontinuous)
    known = names(edges.start, edges.end)[continuous]
    order = np.argsort(known)
    known = np.append(known[order], np.iinfo(np.int64).max)
    known_votes = np.append(candidates.counts[continuous][order] / candidates.runs, 0.0)

    def votes(start: Ints, end: Ints) -> Floats:
        wanted = names(start, end)
        at = np.searchsorted(known, wanted)
        found = np.where(known[at] == wanted, known_votes[at], 0.0)
        always: Flags = (end - start == 1) | (end - start == n)
        return np.where(start < end, np.where(always, 1.0, found), 0.0)

    gapped = candidates.discontinuous
    nothing = np.zeros(len(candidates), dtype=np.int64)
    return {
        "votes for the hull": gapped * votes(edges.start, edges.end),
        "votes for the gap": gapped * votes(edges.first_end, edges.last_start),
        "votes for the first part": gapped * votes(edges.start, edges.first_end),
        "votes for the last part": gapped * votes(edges.last_start, edges.end),
        "votes for all before": votes(nothing, edges.start),
        "votes for all after": votes(edges.end, n),
    }
