"""Imitations of unsupervised parsers: binary trees that are partly right and disagree with each other.

A parser is imitated by forgetting: some constituents of a tree are forgotten, and what is left is completed
to a binary tree at random. This is done twice. What is forgotten (most of what is discontinuous) and made up
the first time is common to all runs, as are the mistakes that parsers of one kind share; the second time
every run goes its own way, some of them more forgetful than others.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from random import Random

from treemean.trees import Constituent, Tree, Treebank
from treemean.trees.bitsets import fan_out_of, first_of
from treemean.trees.transforms import remove_punctuation

_SHARED_MEMORY, _SHARED_MEMORY_FOR_GAPS = 0.93, 0.17
_BEST_RUN, _WORST_RUN = 0.65, 0.56
_STRAY = 0.1
"""How often two parts are joined that leave a new gap between them."""


def noisy_parses(gold: Treebank, *, runs: int = 5, seed: int = 0) -> list[Treebank]:
    """Make imitations of several unsupervised parsers.

    Parameters
    ----------
    gold : the correct trees.
    runs : how many parsers; the first is the best, the last the worst.
    seed : the same seed gives the same trees, on all machines.

    Returns
    -------
    One treebank per run: binary trees of fan-out 1 or 2 with the label `NT`, without tags and punctuation,
    with the ids of `gold` in the same order.
    """
    bare = remove_punctuation(gold, by="tag", drop_empty=False)
    shared = _perturbed(bare, Random(f"{seed} shared"), _SHARED_MEMORY, _SHARED_MEMORY_FOR_GAPS)
    memories = [_BEST_RUN + (_WORST_RUN - _BEST_RUN) * run / max(runs - 1, 1) for run in range(runs)]
    return [_perturbed(shared, Random(f"{seed} run {run}"), m, m) for run, m in enumerate(memories)]


def _perturbed(bank: Treebank, random: Random, memory: float, memory_for_gaps: float) -> Treebank:
    return Treebank.from_trees(_perturb(tree, random, memory, memory_for_gaps) for tree in bank)


def _perturb(tree: Tree, random: Random, memory: float, memory_for_gaps: float) -> Tree:
    """Forget constituents of a tree and complete the rest to a binary tree.

    Constituents are remembered with the probability `memory`, those with one gap with `memory_for_gaps`,
    those with more gaps never.
    """
    if not tree.words:
        return tree
    everything = (1 << len(tree.words)) - 1
    kept = [everything]
    for mask in dict.fromkeys(c.mask for c in tree.constituents):
        chance = {1: memory, 2: memory_for_gaps}.get(fan_out_of(mask), 0.0)
        if random.random() < chance and mask != everything:
            kept.append(mask)
    masks = [*kept, *_completion(len(tree.words), kept, random)]
    constituents = [
        Constituent(mask, "NT") for mask in sorted(masks) if mask & (mask - 1) or mask == everything
    ]
    return Tree(tree.words, constituents, id=tree.id)


def _completion(words: int, kept: Sequence[int], random: Random) -> list[int]:
    """Return sets that make a tree binary, drawn at random."""
    added = []
    tops = [1 << position for position in range(words)]
    for mask in sorted(kept, key=int.bit_count):
        parts = sorted((top for top in tops if top & mask), key=first_of)
        tops = [top for top in tops if not top & mask]
        while len(parts) > 2:
            a, b = _pair(parts, random)
            parts = sorted([part for part in parts if part not in (a, b)] + [a | b], key=first_of)
            added.append(a | b)
        tops.append(mask)
    return added


def _pair(parts: Sequence[int], random: Random) -> tuple[int, int]:
    """Choose two parts to join: two that leave no new gap or, now and then, any two that leave one gap."""
    pairs = list(combinations(parts, 2))
    gaps = [fan_out_of(a | b) for a, b in pairs]
    limit = 2 if random.random() < _STRAY else min(gaps)
    chosen = [pair for pair, fan_out in zip(pairs, gaps) if fan_out <= max(limit, min(gaps))]
    return chosen[int(random.random() * len(chosen))]
