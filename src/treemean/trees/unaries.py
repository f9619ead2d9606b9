"""Unary chains: constituents with the same words one above the other, and constituents over one word."""

from __future__ import annotations

from typing import get_args

import numpy as np

from treemean.errors import TreemeanError
from treemean.names import ChainLabel
from treemean.trees.arguments import takes
from treemean.trees.strings import CodedStrings
from treemean.trees.treebank import Treebank


@takes(Treebank)
def collapse_unaries(treebank: Treebank, *, keep: ChainLabel = "top") -> Treebank:
    """Leave one constituent for each set of words, and none over a single word but the root of a sentence.

    Parameters
    ----------
    keep : which label of a chain stays: the uppermost, the lowest, or all of them joined by `+`. The function
        is always the uppermost one's, as that is the edge to what remains above.

    Vectorised over the treebank.
    """
    if keep not in get_args(ChainLabel):
        raise TreemeanError(f"of a chain 'top', 'bottom' or 'join' is kept, not {keep!r}")
    repeats = treebank.repeats
    heads = np.flatnonzero(~repeats)
    labels = treebank.labels
    if keep == "bottom":
        last = np.append(heads, len(repeats))[1:] - 1
        codes = labels.codes.copy()
        codes[heads] = codes[last]
        labels = CodedStrings(codes, labels.vocabulary)
    elif keep == "join" and repeats.any():
        texts = labels.tolist()
        for index in range(len(texts) - 1, 0, -1):
            if repeats[index]:
                texts[index - 1] += f"+{texts[index]}"
        labels = CodedStrings.of(texts)
    is_root = np.zeros(len(repeats), dtype=bool)
    is_root[treebank.constituent_offsets[:-1][treebank.constituent_counts > 0]] = True
    kept = ~repeats & ((treebank.sizes > 1) | is_root)
    return treebank.with_columns(labels=labels).keep_constituents(kept)
