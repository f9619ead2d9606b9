"""Random trees with few words and labels, and unary chains."""

from __future__ import annotations

import random

from treemean.trees import Constituent, Tree, compatible

#: Sets of words that a tree over so many words may have besides the whole sentence.
MASKS = {n: list(range(1, (1 << n) - 1)) for n in range(1, 5)}


def random_tree(n: int, rng: random.Random, chain: int = 2) -> Tree:
    """Return any tree over n words with labels A and B; chains have up to `chain` labels."""

    def over(mask: int) -> list[Constituent]:
        return [Constituent(mask, rng.choice("AB")) for _ in range(rng.randint(1, chain))]

    masks = [m for m in rng.sample(MASKS[n], len(MASKS[n])) if rng.random() < 0.7]
    taken: list[int] = []
    for mask in masks:
        if all(compatible(mask, other) for other in taken):
            taken.append(mask)
    constituents = [c for mask in [(1 << n) - 1, *taken] for c in over(mask)]
    return Tree(list("wxyz")[:n], constituents)
