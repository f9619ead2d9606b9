"""Dividing constituents about which nobody has an opinion, for binary trees and values of one's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from treemean.averaging.ties import TiesLike, values_of
from treemean.averaging.weights import Weights
from treemean.trees import Constituent, Tree, Treebank
from treemean.trees.binarise import MARK
from treemean.trees.bitsets import fan_out_of


def divided_by_values(
    result: Treebank, added: NDArray[np.bool_], runs: Sequence[Treebank], weights: Weights, ties: TiesLike
) -> Treebank:
    """Return binary trees in which what was added is replaced by what has the highest sum of values.

    Neighbouring children of a constituent are joined, in the order of their first words; of equally good ways
    the one that joins from the right is taken.

    Parameters
    ----------
    added : which constituents of the result were added, because nobody has an opinion.
    """
    asked = values_of(ties, len(result))
    trees = []
    for s, tree in enumerate(result):
        here = added[result.constituent_offsets[s] : result.constituent_offsets[s + 1]]
        trees.append(
            _divided(tree, here, [run[s] for run in runs], weights, asked[s]) if here.any() else tree
        )
    return Treebank.from_trees(trees)


def _divided(
    tree: Tree,
    added: NDArray[np.bool_],
    individuals: Sequence[Tree],
    weights: Weights,
    value: Callable[[Constituent], float],
) -> Tree:
    kept = tree.replace(constituents=[c for c, extra in zip(tree.constituents, added) if not extra])
    found = list(kept.constituents)
    for above, children in zip(kept.constituents, kept.children, strict=True):
        masks = [1 << c.index if c.is_word else kept.constituents[c.index].mask for c in children]
        for mask in best_division(masks, lambda words: value(Constituent(words))):
            kind = weights.continuous if fan_out_of(mask) == 1 else weights.discontinuous
            has = sum(w for w, individual in zip(kind, individuals, strict=True) if mask in individual.masks)
            support = has / sum(kind) if sum(kind) else 0.0
            label = above.label.removesuffix(MARK) + MARK
            found.append(Constituent(mask, label, "", {"support": support, "support_labelled": 0.0}))
    return tree.replace(constituents=found)


def best_division(children: Sequence[int], value: Callable[[int], float]) -> list[int]:
    """Return the sets that divide some children into twos, with the highest sum of values. O(m³).

    >>> best_division([1, 2, 4, 8], lambda mask: mask == 0b0110)
    [14, 6]
    """

    @cache
    def joined(begin: int, end: int) -> int:
        return sum(children[begin:end])  # disjoint masks

    @cache
    def best(begin: int, end: int) -> tuple[float, int]:
        if end - begin < 2:
            return 0.0, begin + 1
        # Early divisions first: of equal ones that from the right stays.
        ways = ((worth(begin, cut) + worth(cut, end), -cut) for cut in range(begin + 1, end))
        total, cut = max(ways)
        return total, -cut

    @cache
    def worth(begin: int, end: int) -> float:
        return (float(value(joined(begin, end))) if end - begin > 1 else 0.0) + best(begin, end)[0]

    found, todo = [], [(0, len(children))] if len(children) > 2 else []
    while todo:
        begin, end = todo.pop()
        cut = best(begin, end)[1]
        for part in ((begin, cut), (cut, end)):
            if part[1] - part[0] > 1:
                found.append(joined(*part))
                todo.append(part)
    return found
