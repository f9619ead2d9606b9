"""Trees that need no grammar: left, right and random branching."""

from __future__ import annotations

import random

from treemean.errors import InvalidOption
from treemean.names import BranchingRule
from treemean.trees import bitsets
from treemean.trees.alike import of_treebanks
from treemean.trees.tree import Constituent
from treemean.trees.treebank import Treebank

Kind = BranchingRule


@of_treebanks
def branching(
    treebank: Treebank, kind: Kind, *, seed: int | random.Random = 0, max_fan_out: int = 1, label: str = "NT"
) -> Treebank:
    """Replace every tree by a binary one that depends on nothing but the sentence's length.

    Parameters
    ----------
    kind : `left` gives (((a b) c) d), `right` gives (a (b (c d))), `random` draws trees.
    seed : of random trees; the same seed gives the same trees whatever machine. Or what draws them: one that
        goes from batch to batch gives the same trees however a treebank is cut into batches.
    max_fan_out : of random trees; 1 gives continuous ones.
    """
    draw = seed if isinstance(seed, random.Random) else random.Random(seed)
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
        raise InvalidOption(f"kind must be left, right or random, not {kind!r}")
    return _random_continuous(n, draw) if max_fan_out == 1 else _random_discontinuous(n, draw, max_fan_out)


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


def _random_discontinuous(n: int, draw: random.Random, max_fan_out: int) -> list[int]:
    """Split sets from the top down: a stretch of their words drawn uniformly, and the rest around it.

    A stretch has no more gaps than the whole. Where the rest would have too many parts, the set is cut into a
    beginning and an end instead, neither of which has more gaps than the whole; so there is always a way on.
    """
    if max_fan_out < 1:
        raise InvalidOption(f"the fan-out must be at least 1, not {max_fan_out}")
    masks = []
    todo = [list(range(n))]
    while todo:
        positions = todo.pop()
        if len(positions) < 2:
            continue
        masks.append(bitsets.mask_of(positions))
        start, end = sorted(draw.sample(range(len(positions) + 1), 2))
        rest = bitsets.mask_of(positions[:start] + positions[end:])
        if not rest or bitsets.fan_out_of(rest) > max_fan_out:
            start, end = 0, draw.randrange(1, len(positions))
        todo += [positions[start:end], positions[:start] + positions[end:]]
    return masks
