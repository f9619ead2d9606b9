"""Which constituent of one tree is above which; `nesting` does that for all trees of a treebank at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from treemean.errors import InvalidTree
from treemean.trees import bitsets


def interleave(owners: Sequence[int]) -> bool:
    """Tell whether two owners alternate at least a-b-a-b, given the owners of parts from left to right."""
    left = Counter(owners)
    unfinished: list[int] = []  # in the order of their first parts; what began last must end first
    seen = set()
    for owner in owners:
        if owner not in seen:
            seen.add(owner)
            unfinished.append(owner)
        elif unfinished[-1] != owner:
            return True
        left[owner] -= 1
        if not left[owner]:
            unfinished.pop()
    return False


def find_parents(
    n: int, masks: Sequence[int], describe: Callable[[int], str]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the parent of every constituent and of every word; raise `InvalidTree` if some overlap.

    Larger sets are laid down first, so that every word remembers the smallest set so far that holds it.
    A set fits if all its words remember the same one. O(sum of sizes), in NumPy for each set.
    """
    owner = np.full(n, -1, dtype=np.int64)
    parents = [-1] * len(masks)
    order = sorted(range(len(masks)), key=lambda i: -masks[i].bit_count())
    for index in order:
        mask = masks[index]
        spans = bitsets.spans_of(mask)
        parent = int(owner[spans[0][0]])
        for start, end in spans:
            if (owner[start:end] != parent).any():
                other = next(int(o) for o in owner[start:end] if o != parent)
                crossed = next(
                    o for o in (parent, other) if o >= 0 and not bitsets.compatible(masks[o], mask)
                )
                raise InvalidTree(f"{describe(index)} and {describe(crossed)} overlap")
            owner[start:end] = index
        parents[index] = parent
    return tuple(parents), tuple(owner.tolist())
