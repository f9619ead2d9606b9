"""What is known about a candidate without gold: who votes for it, its shape, its rivals, its relatives.

No words are looked at, and nothing belongs to one treebank or parser: the columns are shares of the runs,
shares of the sentence and logarithms of lengths. Only labels, where they count, are those of a treebank.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treemean.fitting.candidates import Candidates, Flags, Floats
from treemean.fitting.candidates.geometry import Edges, find_edges, find_families, pair_blocks
from treemean.fitting.candidates.label_features import Columns, label_features
from treemean.trees.bitsets import Ints
from treemean.trees.treebank import offsets_of


@dataclass(frozen=True)
class Features:
    """Named columns of numbers: `table` is float64[M, F]."""

    names: tuple[str, ...]
    table: Floats


def features_of(candidates: Candidates, like: Sequence[str] = ()) -> Features:
    """Return the features of candidates; of those with labels, the features of their sets and of the labels.

    Time is dominated by the pairs of candidates within sentences.

    Parameters
    ----------
    like : names of the features that a model was fitted to; they tell which labels have a column. If not
        given, the frequent ones have.
    """
    if candidates.labelling is not None:
        of_sets = features_of(candidates.labelling.sets)
        columns = label_features(candidates, candidates.labelling, like)
        names, table = of_sets.names, of_sets.table[candidates.labelling.set_of]
        return Features((*names, *columns), np.column_stack([table, *columns.values()]))
    edges = find_edges(candidates.bits)
    columns = {
        **vote_features(candidates),
        **shape_features(candidates, edges),
        **rival_features(candidates),
        **relative_features(candidates, edges),
        **border_features(candidates, edges),
        **span_features(candidates, edges),
        **(posterior_features(candidates) if candidates.tables else {}),
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


_SUMS_OVER_OTHERS = (
    "rivals",
    "votes of rivals",
    "votes of discontinuous rivals",
    "votes inside",
    "discontinuous votes inside",
    "votes around",
    "discontinuous votes around",
)
_STRONGEST_OTHERS = (
    "strongest rival",
    "strongest continuous rival",
    "strongest discontinuous rival",
    "strongest with a word more",
    "strongest with a word less",
)


def rival_features(candidates: Candidates) -> Columns:
    """Return how much is proposed that conflicts with a candidate, lies inside it, or holds it."""
    votes = candidates.counts
    gapped = votes * candidates.discontinuous
    total, strongest = (
        {name: np.zeros(len(candidates), dtype=np.int64) for name in names}
        for names in (_SUMS_OVER_OTHERS, _STRONGEST_OTHERS)
    )
    for pairs in pair_blocks(candidates):
        other_votes, other_gapped = votes[pairs.other], gapped[pairs.other]
        rivals, gapped_rivals = pairs.conflict * other_votes, pairs.conflict * other_gapped
        inside, around = pairs.inside * other_votes, pairs.around * other_votes
        partners = np.diff(pairs.starts, append=len(pairs.other))
        more = candidates.sizes[pairs.other] - np.repeat(candidates.sizes[pairs.rows], partners)
        for name, values in (
            ("rivals", pairs.conflict.astype(np.int64)),
            ("votes of rivals", rivals),
            ("votes of discontinuous rivals", gapped_rivals),
            ("votes inside", inside),
            ("discontinuous votes inside", pairs.inside * other_gapped),
            ("votes around", around),
            ("discontinuous votes around", pairs.around * other_gapped),
        ):
            total[name][pairs.rows] = np.add.reduceat(values, pairs.starts)
        for name, values in (
            ("strongest continuous rival", rivals - gapped_rivals),
            ("strongest discontinuous rival", gapped_rivals),
            ("strongest with a word more", around * (more == 1)),
            ("strongest with a word less", inside * (more == -1)),
        ):
            strongest[name][pairs.rows] = np.maximum.reduceat(values, pairs.starts)
    number = total.pop("rivals")
    strongest["strongest rival"] = np.maximum(
        strongest["strongest continuous rival"], strongest["strongest discontinuous rival"]
    )
    strongest["lead over the strongest rival"] = votes - strongest["strongest rival"]
    shares = {name: values / candidates.runs for name, values in {**total, **strongest}.items()}
    return {"rivals": np.log1p(number), **shares}


def posterior_features(candidates: Candidates) -> Columns:
    """Return how likely each candidate is by tables of spans, and its rivals, and what shares its borders."""
    own = candidates.posteriors.mean(axis=1)
    total, strongest = np.zeros((2, len(candidates)))
    for pairs in pair_blocks(candidates):
        rivals = pairs.conflict * own[pairs.other]
        total[pairs.rows] = np.add.reduceat(rivals, pairs.starts)
        strongest[pairs.rows] = np.maximum.reduceat(rivals, pairs.starts)
    return {
        **{
            f"posterior in table {number + 1}": candidates.posteriors[:, number]
            for number in range(candidates.tables)
        },
        "posterior": own,
        "posterior, log-odds": np.log((own + 0.01) / (1.01 - own)),
        "largest posterior": candidates.posteriors.max(axis=1),
        "posteriors of rivals": total,
        "posterior of the strongest rival": strongest,
        "lead in posterior": own - strongest,
    }


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
        return total / np.maximum(candidates.counts, 1)  # only a table of spans may have it

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
    gapped: Ints = candidates.discontinuous.astype(np.int64)
    sentence = candidates.sentence
    longest = int(candidates.lengths.max(initial=0)) + 1
    origin = offsets_of(candidates.lengths + 1)[sentence]
    start, end = origin + edges.start, origin + edges.end  # numbers that no two sentences share

    def others(key: Ints, among: Ints = candidates.counts) -> Floats:
        """Return the votes for the other candidates with the same key, as shares of the runs."""
        total = np.bincount(key, weights=among)
        return (total[key] - among) / candidates.runs if len(key) else np.zeros(0)

    def others_between(first: Ints, last: Ints) -> Floats:
        """Return the votes for the other candidates of the same kind between the same two places."""
        _, key = np.unique(((origin + first) * longest + last) * 2 + gapped, return_inverse=True)
        return others(key)

    _, hull = np.unique(start * longest + edges.end, return_inverse=True)
    proposed = np.bincount(sentence, minlength=len(candidates.lengths))[sentence]
    return {
        "votes with the same start": others(start),
        "votes with the same end": others(end),
        "votes with the same start and kind": others(2 * start + gapped),
        "votes with the same end and kind": others(2 * end + gapped),
        "votes with the same start and end": others(hull),
        "votes with the same gap": gapped * others_between(edges.first_end, edges.last_start),
        "votes with the same first part": gapped * others_between(edges.start, edges.first_end),
        "votes with the same last part": gapped * others_between(edges.last_start, edges.end),
        "discontinuous votes of the sentence": others(sentence, among=candidates.counts * gapped),
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
