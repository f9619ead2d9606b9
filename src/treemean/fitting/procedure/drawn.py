"""Drawing sentences from treebanks that are too large to be held."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from treemean.trees import Treebank


def draw_sentences(batches: Iterable[Sequence[Treebank]], most: int, seed: int) -> tuple[list[Treebank], int]:
    """Return at most so many sentences of treebanks side by side, in their order, and how many there were.

    Every choice of so many sentences is equally likely. Each sentence draws a number, and those with the
    smallest stay; no more than twice as many are held at a time, and a batch. In whatever batches the
    treebanks come, the same seed gives the same sentences.

    >>> from treemean.trees import Tree
    >>> bank = Treebank.from_trees(Tree([str(n)], [({0}, "")]) for n in range(100))
    >>> (few,), count = draw_sentences([[bank[:70]], [bank[70:]]], 3, seed=1)
    >>> [tree.words[0] for tree in few], count
    (['61', '75', '93'], 100)
    """
    rng = np.random.default_rng(seed)
    held: list[list[Treebank]] = []
    drawn = np.empty(0)
    count = 0
    for batch in batches:
        count += len(batch[0])
        numbers = rng.random(len(batch[0]))
        limit = np.inf if len(drawn) < most else np.partition(drawn, most - 1)[most - 1]
        kept = np.flatnonzero(numbers < limit)
        held.append([part if len(kept) == len(part) else part.take(kept) for part in batch])
        drawn = np.concatenate([drawn, numbers[kept]])
        if len(drawn) > 2 * most:
            held, drawn = _smallest(held, drawn, most)
    held, _ = _smallest(held, drawn, most)
    return (held[0] if held else []), count


def _smallest(
    held: Sequence[Sequence[Treebank]], drawn: np.ndarray[tuple[int], np.dtype[np.float64]], most: int
) -> tuple[list[list[Treebank]], np.ndarray[tuple[int], np.dtype[np.float64]]]:
    """Return the sentences with the smallest numbers, in their order, as one batch."""
    if not held:
        return [], drawn
    kept = np.sort(np.argsort(drawn)[:most])
    whole = [Treebank.concatenate(parts) for parts in zip(*held, strict=True)]
    return [[part.take(kept) for part in whole] if len(kept) < len(drawn) else whole], drawn[kept]
