"""Trees that need no training, behind the interface of the grammars.

Words are independent of the tree and all equally likely. Trees grow from the top: what a set of words is
divided into depends on nothing but the set, so that posteriors, best tree and entropy follow exactly.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from functools import lru_cache
from itertools import combinations

import torch
from torch import Tensor

from treemean.errors import InvalidOption
from treemean.grammars.grammar import Loss, Masks, TreeModel, canonical, check_batch
from treemean.grammars.rank.decoding import mbr
from treemean.grammars.spans import SpanPosteriors, empty_discontinuous
from treemean.trees import bitsets
from treemean.trees.branching import Kind, branching_masks

#: Name of a baseline: how `trees.branching` calls it, and the largest fan-out.
BASELINES: dict[str, tuple[Kind, int]] = {
    "left": ("left", 1),
    "right": ("right", 1),
    "random": ("random", 1),
    "random-discontinuous": ("random", 2),
}

#: The two parts of a set of words, as masks, and how likely they are.
Divisions = dict[tuple[int, int], float]


class BranchingBaseline(TreeModel):
    """Left, right or random branching.

    Parameters
    ----------
    kind : one of `BASELINES`.
    vocabulary_size : number of words.

    The random baseline of the field is one draw: `sample`. Exact posteriors of random discontinuous trees
    take O(n⁶) steps of Python, once for each length: seconds for 20 words.

    >>> words = torch.zeros(1, 4, dtype=torch.long)
    >>> BranchingBaseline("right", 10).mbr(words)
    [[15, 14, 12]]
    >>> round(BranchingBaseline("random", 10).posteriors(words).of(0, 0b0011), 4)  # 1/3 + 1/3 · 1/2
    0.5
    """

    def __init__(self, kind: str, vocabulary_size: int) -> None:
        super().__init__(vocabulary_size)
        if kind not in BASELINES:
            raise InvalidOption(f"kind must be one of {', '.join(BASELINES)}, not {kind!r}")
        self.kind = kind

    def log_prob(self, words: Tensor, lengths: Tensor | None = None) -> Tensor:
        """Return -length · log V, also for one word."""
        _, lengths = check_batch(words, lengths, self.vocabulary_size)
        return -math.log(self.vocabulary_size) * lengths.to(torch.get_default_dtype())

    def loss(
        self, words: Tensor, lengths: Tensor | None = None, *, generator: torch.Generator | None = None
    ) -> Loss:
        """See `TreeModel.loss`; there is nothing to train."""
        log_prob = self.log_prob(words, lengths)
        return Loss(-log_prob, torch.zeros_like(log_prob))

    def posteriors(self, words: Tensor, lengths: Tensor | None = None) -> SpanPosteriors:
        """See `TreeModel.posteriors`."""
        words, lengths = check_batch(words, lengths, self.vocabulary_size)
        batch, n = words.shape
        gaps = BASELINES[self.kind][1] > 1
        continuous = torch.zeros(batch, n + 1, n + 1)
        charts = empty_discontinuous(batch, n) if gaps else {}
        for sentence, length in enumerate(lengths.tolist()):
            for mask, chance in _chances(self.kind, length).items():
                (i, j), *more = bitsets.spans_of(mask)
                if more:
                    place = (sentence, j - i - 1, i, more[0][0] - (j - i) - 1)
                    charts[mask.bit_count()][place] = chance
                else:
                    continuous[sentence, i, j] = chance
        return SpanPosteriors(continuous, charts).to(words.device)

    def mbr(self, words: Tensor, lengths: Tensor | None = None) -> list[Masks]:
        """See `TreeModel.mbr`; for random branching the best tree, not a draw."""
        return mbr.best_trees(self.posteriors(words, lengths), lengths)

    def viterbi(self, words: Tensor, lengths: Tensor | None = None) -> list[Masks]:
        """See `TreeModel.viterbi`; for random branching the most probable tree, not a draw."""
        _, lengths = check_batch(words, lengths, self.vocabulary_size)
        return [_most_probable(self.kind, length) for length in lengths.tolist()]

    def sample(
        self,
        words: Tensor,
        lengths: Tensor | None = None,
        *,
        count: int = 1,
        generator: torch.Generator | None = None,
    ) -> list[list[Masks]]:
        """See `TreeModel.sample`."""
        _, lengths = check_batch(words, lengths, self.vocabulary_size)
        device = "cpu" if generator is None else generator.device
        draw = random.Random(int(torch.randint(2**62, (1,), generator=generator, device=device)))
        kind, fan_out = BASELINES[self.kind]
        trees = []
        for length in lengths.tolist():
            drawn = [branching_masks(length, kind, draw, fan_out) for _ in range(count)]
            trees.append([canonical(masks) if length > 1 else [] for masks in drawn])
        return trees

    def entropy(self, words: Tensor, lengths: Tensor | None = None) -> Tensor:
        """See `TreeModel.entropy`."""
        _, lengths = check_batch(words, lengths, self.vocabulary_size)
        values = [_entropy(self.kind, length) for length in lengths.tolist()]
        return torch.tensor(values, device=words.device)


@lru_cache(maxsize=1 << 20)
def _divisions(kind: str, mask: int) -> Divisions:
    """Return how a set of several words is divided."""
    positions = list(bitsets.positions_of(mask))
    size = len(positions)
    divisions: Divisions = defaultdict(float)

    def add(start: int, end: int, chance: float) -> None:
        stretch = bitsets.mask_of(positions[start:end])
        rest = mask & ~stretch
        divisions[min(stretch, rest), max(stretch, rest)] += chance

    if kind == "left":
        add(0, size - 1, 1.0)
    elif kind == "right":
        add(0, 1, 1.0)
    elif kind == "random":
        for split in range(1, size):
            add(0, split, 1 / (size - 1))
    else:
        pairs = math.comb(size + 1, 2)
        for start, end in combinations(range(size + 1), 2):
            rest = bitsets.mask_of(positions[:start] + positions[end:])
            if rest and bitsets.fan_out_of(rest) <= BASELINES[kind][1]:
                add(start, end, 1 / pairs)
            else:
                for split in range(1, size):
                    add(0, split, 1 / pairs / (size - 1))
    return dict(divisions)


@lru_cache(maxsize=256)
def _chances(kind: str, n: int) -> dict[int, float]:
    """Return the probability of every set of words to be a constituent."""
    by_size: list[dict[int, float]] = [defaultdict(float) for _ in range(n + 1)]
    by_size[n][(1 << n) - 1] = 1.0
    for size in range(n, 1, -1):
        for mask, chance in by_size[size].items():
            for parts, share in _divisions(kind, mask).items():
                for part in parts:
                    by_size[part.bit_count()][part] += chance * share
    return {mask: min(chance, 1.0) for chances in by_size for mask, chance in chances.items()}


@lru_cache(maxsize=256)
def _entropy(kind: str, n: int) -> float:
    """Return the entropy of the whole tree: of each division, as often as there is one to make."""
    total = 0.0
    for mask, chance in _chances(kind, n).items():
        if mask.bit_count() > 1:
            total -= chance * math.fsum(p * math.log(p) for p in _divisions(kind, mask).values())
    return abs(total)


def _most_probable(kind: str, n: int) -> Masks:
    """Return the most probable tree; of equals the one whose parts have the largest masks."""
    best: dict[int, tuple[float, tuple[int, int]]] = {}

    def value(mask: int) -> float:
        if mask.bit_count() == 1:
            return 0.0
        if mask not in best:
            ways = [
                (math.log(p) + sum(map(value, parts)), parts) for parts, p in _divisions(kind, mask).items()
            ]
            best[mask] = max(ways, key=lambda way: (way[0], way[1]))
        return best[mask][0]

    everything = (1 << n) - 1
    value(everything)
    masks: list[int] = []
    todo = [everything]
    while todo:
        mask = todo.pop()
        if mask.bit_count() > 1:
            masks.append(mask)
            todo += best[mask][1]
    return canonical(masks)
