"""Trees that need no grammar: left, right and random branching."""

from __future__ import annotations

import random
from typing import Literal

from treemean.trees import bitsets
from treemean.trees.tree import Constituent
from treemean.trees.treebank import Treebank

Kind = Literal["left", "right", "random"]


def branching(
    treebank: Treebank, kind: Kind, *, seed: int = 0, max_fan_out: int = 1, label: str = "NT"
) -> Treebank:
    """Replace every tree by a binary one that depends on nothing but the sentence's length.

    Parameters
    ----------
    kind : `left` gives (((a b) c) d), `right` gives (a (b (c d))), `random` draws trees.
    seed : of random trees; the same seed gives the same trees whatever machine.
    max_fan_out : of random trees; 1 gives continuous ones.
    """
    draw = random.Random(seed)
    trees = []
    for tree in treebank:
        masks = branching_masks(len(tree.words), kind, draw, max_fan_out)
        trees.append(tree.replace(constituents=[Constituent(mask, label) for mask in masks]))
    return Treebank.from_trees(trees)


def branching_masks(n: int, kind: Kind, draw: random.Random, max_fan_out: int = 1) -> list[int]:
    """Return the constituents of several words of a branching tree over `n` words; one if `n` is 1."""
    everything = (1 << n) - 1
    if n <= 1:
        return [everything] if n else []
    if kind == "left":
        return [everything >> i for i in range(n - 1)]
    if kind == "right":
        return [everything >> i << i for i in range(n - 1)]
    if kind != "random":
        raise ValueError(f"kind must be left, right or random, not {kind!r}")
    return _random_continuous(n, draw) if max_fan_out == 1 else _random_merges(n, draw, max_fan_out)


def _random_continuous(n: int, draw: random.Random) -> list[int]:
    """Split spans at places drawn uniformly, from the top down."""
    masks = []
    todo = [(0, n)]
    while todo:
        start, end = todo.pop()
        if end - start > 1:
            masks.append(((1 << end) - 1) ^ ((1 << start) - 1))
            split = draw.randrange(start + 1, end)
            todo += [(start, split), (split, end)]
    return masks


def _random_merges(n: int, draw: random.Random, max_fan_out: int) -> list[int]:
    """Merge random pairs from the bottom up as long as the fan-out allows it; begin anew when stuck.

    Expected O(n²) draws: a pair is drawn blindly first, and all pairs are listed only after many misses.
    """
    if max_fan_out < 1:
        raise ValueError(f"the fan-out must be at least 1, not {max_fan_out}")
    while True:
        parts = [1 << i for i in range(n)]
        masks: list[int] = []
        while len(parts) > 1:
            pair = _random_pair(parts, draw, max_fan_out)
            if pair is None:
                break
            i, j = pair
            union = parts[i] | parts[j]
            masks.append(union)
            parts[i] = union
            parts[j] = parts[-1]
            parts.pop()
        else:
            return masks


def _random_pair(parts: list[int], draw: random.Random, max_fan_out: int) -> tuple[int, int] | None:
    for _ in range(20):
        i, j = draw.sample(range(len(parts)), 2)
        if bitsets.fan_out_of(parts[i] | parts[j]) <= max_fan_out:
            return i, j
    allowed = [
        (i, j)
        for i in range(len(parts))
        for j in range(i + 1, len(parts))
        if bitsets.fan_out_of(parts[i] | parts[j]) <= max_fan_out
    ]
    return draw.choice(allowed) if allowed else None
