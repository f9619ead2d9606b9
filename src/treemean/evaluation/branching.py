"""How trees branch: to the left, to the right, how deep, how binary, how discontinuous."""

from __future__ import annotations

from dataclasses import asdict, astuple, dataclass

import numpy as np

from treemean.evaluation.matching import set_names
from treemean.trees import Treebank, bitsets
from treemean.trees.bitsets import Ints


@dataclass(frozen=True)
class Branching:
    """Statistics of the shapes of trees; equal sets (unary chains) count once. Shares are in percent.

    Parameters
    ----------
    right : share of the constituents of three words or more that are one word and, after it, one
        constituent of all the other words.
    left : likewise, a constituent that begins with the same word and lacks only one word.
    binary_trees : share of the trees in which every constituent of several words divides into two.
    binarity : constituents of several words, as a share of the number that binary trees have.
    depth : mean number, over words, of constituents of several words that a word is in.
    discontinuous : share of the constituents of several words, the whole sentences apart, with a gap.

    A share of nothing is 0.
    """

    right: float
    left: float
    binary_trees: float
    binarity: float
    depth: float
    discontinuous: float

    def to_dict(self) -> dict[str, float]:
        """Return the statistics by name."""
        return asdict(self)


@dataclass(frozen=True)
class BranchingCounts:
    """What `Branching` is made of; whole numbers, which can be added up over parts of a treebank."""

    right: int = 0
    left: int = 0
    large: int = 0
    binary_trees: int = 0
    trees: int = 0
    several: int = 0
    to_split: int = 0
    sizes: int = 0
    words: int = 0
    gapped: int = 0
    inner: int = 0

    def __add__(self, other: BranchingCounts) -> BranchingCounts:
        return BranchingCounts(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    @property
    def statistics(self) -> Branching:
        """The shares."""
        return Branching(
            right=_share(self.right, self.large),
            left=_share(self.left, self.large),
            binary_trees=_share(self.binary_trees, self.trees),
            binarity=_share(self.several, self.to_split),
            depth=self.sizes / max(1, self.words),
            discontinuous=_share(self.gapped, self.inner),
        )


def branching_statistics(treebank: Treebank) -> Branching:
    """Measure how the trees of a treebank branch.

    >>> from treemean.trees import Tree
    >>> tree = Tree("a b c d".split(), [({0, 1, 2, 3}, "S"), ({1, 2, 3}, "X"), ({2, 3}, "Y")])
    >>> branching_statistics(Treebank.from_trees([tree])).right
    100.0
    """
    return count_branching(treebank).statistics


def count_branching(treebank: Treebank) -> BranchingCounts:
    """Count how the trees of a treebank branch."""
    several = (treebank.sizes > 1) & ~treebank.repeats
    sentence = treebank.sentence_of[several]
    size, fan_out = treebank.sizes[several], treebank.fan_outs[several]
    inner = size < treebank.lengths[sentence]
    to_split = int(np.maximum(treebank.lengths - 1, 0).sum())
    per_tree = np.bincount(sentence, minlength=len(treebank))

    large = np.flatnonzero(several & (treebank.sizes > 2))
    right = _has_rest(treebank, large, _second_words(treebank)[large])
    left = _has_rest(treebank, large, treebank.firsts[large])
    return BranchingCounts(
        right=right,
        left=left,
        large=len(large),
        binary_trees=int((per_tree == np.maximum(treebank.lengths - 1, 0)).sum()),
        trees=len(treebank),
        several=len(size),
        to_split=to_split,
        sizes=int(size.sum()),
        words=len(treebank.words),
        gapped=int((fan_out[inner] > 1).sum()),
        inner=int(inner.sum()),
    )


def _has_rest(treebank: Treebank, nodes: Ints, firsts: Ints) -> int:
    """Count the constituents that have a child with all their words but one, beginning at a given word.

    A set that shares a word with a constituent and is smaller by one lies inside it, so that sentence, first
    word and size are enough to find it.
    """
    known = set_names(treebank, treebank.sizes, treebank.firsts, treebank.sentence_of)
    wanted = set_names(treebank, treebank.sizes[nodes] - 1, firsts, treebank.sentence_of[nodes])
    return int(np.isin(wanted, known).sum())


def _second_words(treebank: Treebank) -> Ints:
    """Return the second position of each constituent, -1 for one word."""
    second = np.full(len(treebank.labels), -1, dtype=np.int64)
    for nodes, rows in treebank.rows():
        first = bitsets.row_firsts(rows)
        rest = rows.copy()
        rest[np.arange(len(rows)), first >> 6] &= ~(np.uint64(1) << (first & 63).astype(np.uint64))
        second[nodes] = bitsets.row_firsts(rest)
    return second


def _share(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 0.0
