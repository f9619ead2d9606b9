"""What is known about the label of a candidate without gold: who gives it, and what others say of the set."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from treemean.fitting.candidates import Candidates, Floats, Labelling
from treemean.trees.bitsets import Ints

Columns = dict[str, NDArray[np.generic]]

#: So many proposals a label must have to get a column of its own, and so many labels have one.
LEAST_PROPOSALS, MOST_LABELS = 20, 50

_LABEL = "label: "  # what names of such columns begin with; no other name does


def label_features(candidates: Candidates, labelling: Labelling, like: Sequence[str] = ()) -> Columns:
    """Return the features of labels; for `like` see `features_of`."""
    share = candidates.counts / candidates.runs
    of_set = labelling.sets.counts[labelling.set_of]
    other = strongest_other(candidates, labelling)
    over = np.bincount(labelling.set_of, minlength=len(labelling.sets))[labelling.set_of]
    length, place = chain_places(candidates, labelling)
    known = [name.removeprefix(_LABEL) for name in like if name.startswith(_LABEL)]
    code = {text: number for number, text in enumerate(labelling.texts)}
    return {
        **{f"label vote of run {k + 1}": candidates.votes[:, k] for k in range(candidates.runs)},
        "label votes": share,
        "label votes squared": share**2,
        "one label vote": candidates.counts == 1,
        "all label votes": candidates.counts == candidates.runs,
        "share of the set's votes": candidates.counts / of_set,
        "labels over the set": np.log(over),
        "strongest other label": other / candidates.runs,
        "lead over the strongest other label": share - other / candidates.runs,
        "copies above": labelling.copy,
        "labels of the chain": length,
        "place in the chain": place,
        "one word": candidates.sizes == 1,
        "whole sentence": candidates.sizes == candidates.lengths[candidates.sentence],
        **{
            _LABEL + text: labelling.label == code.get(text, -1)
            for text in (known if like else frequent_labels(candidates, labelling))
        },
    }


def strongest_other(candidates: Candidates, labelling: Labelling) -> Ints:
    """Return for every candidate the most votes that another label of the same set has, 0 if there is none.

    Copies of its own label are others, too.
    """
    first, second = (np.zeros(len(labelling.sets), dtype=np.int64) for _ in range(2))
    np.maximum.at(first, labelling.set_of, candidates.counts)
    strongest = candidates.counts == first[labelling.set_of]
    number = np.bincount(labelling.set_of[strongest], minlength=len(labelling.sets))
    np.maximum.at(second, labelling.set_of[~strongest], candidates.counts[~strongest])
    alone = strongest & (number[labelling.set_of] == 1)
    return np.where(alone, second[labelling.set_of], first[labelling.set_of])


def chain_places(candidates: Candidates, labelling: Labelling) -> tuple[Floats, Floats]:
    """Return how many labels the chains have in which a candidate stands, and how many are above it there.

    Both are means over the runs that propose it.
    """
    length, above = (np.zeros(len(candidates)) for _ in range(2))
    for nodes, places in zip(candidates.nodes, candidates.places, strict=True):
        if not len(nodes):
            continue
        # Constituents of one set follow each other, from top to bottom.
        begins = np.flatnonzero(np.diff(labelling.set_of[places], prepend=-1))
        labels = np.diff(begins, append=len(nodes))
        np.add.at(length, places, np.repeat(labels, labels))
        np.add.at(above, places, np.arange(len(nodes)) - np.repeat(begins, labels))
    return length / candidates.counts, above / candidates.counts


def frequent_labels(candidates: Candidates, labelling: Labelling) -> list[str]:
    """Return the labels with the most proposals, at most `MOST_LABELS`; of equal ones by the alphabet.

    Labels that cannot be shown have no column: names of features are shown, and kept in files.
    """
    proposals = np.bincount(labelling.label, weights=candidates.counts, minlength=len(labelling.texts))
    order = np.argsort(-proposals, kind="stable")[:MOST_LABELS].tolist()
    return [
        labelling.texts[code]
        for code in order
        if proposals[code] >= LEAST_PROPOSALS and labelling.texts[code].isprintable()
    ]
