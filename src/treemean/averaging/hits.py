"""Counting: which sets of words the individuals propose, and with how much weight."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treemean.trees import Treebank
from treemean.trees.bitsets import Bits, Ints
from treemean.trees.strings import CodedStrings


@dataclass(frozen=True)
class Hits:
    """The different sets of words of equally wide sentences, m of them, by sentence.

    Attributes
    ----------
    sentence : int64[m], the sentence of each set.
    rows : uint64[m, width], the sets.
    weight : float64[m], the summed weight of the individuals that have the set.
    label : int32[m], the code of the label with most weight (the alphabetically first of equal ones).
    labels : the vocabulary of `label`.
    """

    sentence: Ints
    rows: Bits
    weight: NDArray[np.float64]
    label: NDArray[np.int32]
    labels: list[str]


def count_hits(runs: Sequence[Treebank], weights: Sequence[float]) -> Iterator[Hits]:
    """Yield the hits of aligned treebanks, one `Hits` for each width of bitsets.

    A set counts once per individual, however long its unary chain. O(C log C) for C constituents in all.
    """
    joined = CodedStrings.concatenate([run.labels for run in runs])
    alphabetical = np.argsort(np.argsort(np.array(joined.texts, dtype=object)))
    labels = sorted(joined.texts)
    codes = np.split(alphabetical[joined.codes], np.cumsum([len(run.labels) for run in runs])[:-1])
    for groups in zip(*[run.rows() for run in runs], strict=True):
        kept = [~run.repeats[nodes] for run, (nodes, _) in zip(runs, groups, strict=True)]
        sentence = np.concatenate([r.sentence_of[g[0]][k] for r, g, k in zip(runs, groups, kept)])
        rows = np.concatenate([rows[k] for (_, rows), k in zip(groups, kept)])
        label = np.concatenate([c[g[0]][k] for c, g, k in zip(codes, groups, kept)])
        weight = np.repeat(np.asarray(weights, dtype=np.float64), [int(k.sum()) for k in kept])
        yield _merge(sentence, rows, label, weight, labels)


def _merge(
    sentence: Ints, rows: Bits, label: NDArray[np.int64], weight: NDArray[np.float64], labels: list[str]
) -> Hits:
    order = np.lexsort([label, *rows.T[::-1], sentence])
    sentence, rows, label, weight = sentence[order], rows[order], label[order], weight[order]
    new_set = np.ones(len(sentence), dtype=bool)
    new_set[1:] = (sentence[1:] != sentence[:-1]) | (rows[1:] != rows[:-1]).any(axis=1)
    new_label = new_set.copy()
    new_label[1:] |= label[1:] != label[:-1]
    sets, variants = np.flatnonzero(new_set), np.flatnonzero(new_label)
    of_variant = np.cumsum(new_set)[variants] - 1
    by_label = np.add.reduceat(weight, variants) if len(variants) else weight
    # Of each set's labels the one with most weight comes first, and then the alphabetically first.
    best = np.lexsort([label[variants], -by_label, of_variant])
    first = np.ones(len(best), dtype=bool)
    first[1:] = of_variant[best][1:] != of_variant[best][:-1]
    return Hits(
        sentence[sets],
        rows[sets],
        np.add.reduceat(weight, sets) if len(sets) else weight,
        label[variants][best][first].astype(np.int32),
        labels,
    )
