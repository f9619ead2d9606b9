"""The majority average: every set of words that has more than half of the weight.

Two such sets share an individual, in which they are nested or disjoint, so together they are a tree.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from treemean.averaging.exact import with_method
from treemean.averaging.hits import count_hits
from treemean.averaging.request import Request
from treemean.errors import TreemeanError
from treemean.trees import Treebank, bitsets
from treemean.trees.strings import CodedStrings
from treemean.trees.treebank import offsets_of


def majority(runs: Sequence[Treebank], weights: Sequence[float]) -> Treebank:
    """Return the majority average of aligned treebanks; `weights` add up to the number of runs.

    Words, tags and ids are those of the first run, labels those with most weight. The constituent value
    `support` is the share of the weight that has the constituent. O(C log C) for C constituents in all.
    """
    base = runs[0]
    sentence, first, size, support, label = [], [], [], [], []
    rows = []
    total = sum(weights)
    labels: list[str] = []
    for hits in count_hits(runs, weights):
        # Shares of exactly one half must not pass because of rounding.
        kept = hits.weight / total > 0.5 + 1e-12
        labels = hits.labels
        sentence.append(hits.sentence[kept])
        first.append(bitsets.row_firsts(hits.rows[kept]))
        size.append(bitsets.row_sizes(hits.rows[kept]))
        support.append(hits.weight[kept] / total)
        label.append(hits.label[kept])
        rows += list(hits.rows[kept])
    if not rows:
        return base
    sentences = np.concatenate(sentence)
    order = np.lexsort([-np.concatenate(size), np.concatenate(first), sentences])
    codes = np.concatenate(label)[order]
    return base.with_columns(
        constituent_offsets=offsets_of(np.bincount(sentences, minlength=len(base))),
        labels=CodedStrings(codes, CodedStrings.of(labels).vocabulary),
        functions=CodedStrings.constant("", len(codes)),
        bits=np.concatenate([rows[i] for i in order]),
        sentence_values={},
        constituent_values={"support": np.concatenate(support)[order].round(12)},
    )


def majority_method(runs: Sequence[Treebank], request: Request) -> Treebank:
    """Return the majority average of aligned treebanks, as a method of `treemean.average`."""
    if request.goal != "average" or request.hits is not None:
        raise TreemeanError("the majority method knows neither binary trees nor hits nor sums")
    if request.weights.continuous != request.weights.discontinuous:
        raise TreemeanError("the majority method knows one weight per individual only")
    result = majority(runs, request.weights.continuous)
    return result.with_columns(metadata=with_method(runs[0], "majority"))
