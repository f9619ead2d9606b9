"""The memory of one pass over a batch: charts and their sizes."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import torch
from torch import Tensor

from treemean.grammars.gpu.tiles import check_reach
from treemean.grammars.rank.rules import Ranks


@dataclass(frozen=True)
class Shape:
    """Sizes of a pass over ``runs`` grammars with ``batch`` sentences of ``n`` words each.

    ``ranks`` are padded: r2 and r4 are one power of two, ``half``.

    >>> Shape(1, 2000, 40, Ranks(400, 4, 400, 4))
    Traceback (most recent call last):
    treemean.errors.InvalidOption: 2000 × 40 words at a time are too many for kernels: take fewer sentences
    """

    runs: int
    batch: int
    n: int
    ranks: Ranks

    def __post_init__(self) -> None:
        if self.ranks.has_gaps:
            check_reach(1, self.n, numbers=2 * max(self.half, 2) * self.cells)
        check_reach(self.batch, self.n, numbers=self.rows * self.ranks.views, programs=self.sentences)

    @property
    def sentences(self) -> int:
        """Number of sentences of all runs."""
        return self.runs * self.batch

    @property
    def rows(self) -> int:
        """Continuous spans of all sentences of a run."""
        return self.batch * self.n * (self.n + 1) // 2

    @property
    def cells(self) -> int:
        """Discontinuous spans of a sentence."""
        return comb(self.n + 1, 4)

    @property
    def splits(self) -> int:
        """Ways to choose a span of a sentence and to split it in two."""
        return comb(self.n + 1, 3)

    @property
    def half(self) -> int:
        """Ranks of wrapping, and of attachment; at least one, so that kernels have something to index."""
        return max(self.ranks.r2, 1)

    @property
    def scores(self) -> int:
        """Ranks of a continuous span."""
        return self.ranks.r1 + self.ranks.r2

    def rows_of(self, width: int) -> slice:
        """Return the rows of the spans of one width, within a run.

        >>> Shape(1, 2, 3, Ranks(5)).rows_of(2)
        slice(6, 10, None)
        """
        start = (width - 1) * (2 * self.n - width + 2) // 2 * self.batch
        return slice(start, start + self.batch * (self.n - width + 1))


@dataclass
class Charts:
    """What the inside pass leaves behind; shapes in the comments, E runs, S sentences of all runs."""

    views: Tensor  # (E, rows, C)
    scales: Tensor  # (E, rows)
    scores: Tensor  # (E, rows, parts, r1 + r2): largest 1, see `forward.store_parts`
    ratios: Tensor  # (S, splits)
    coefficients: Tensor  # (S, splits, 4, half)
    parts: Tensor  # (2, S, n(n+1)/2, 2, r3) bfloat16: gap views of right parts, of left parts
    wrapping: Tensor  # (S, cells, half)
    attaching: Tensor  # (S, cells, half)
    attached: Tensor  # (S, cells, half): scores by attachment
    largest: Tensor  # (S, cells): largest score by two continuous children; only with a floor
    row_factors: Tensor  # (E, rows): weights of continuous spans; only if spans are weighed
    factors: Tensor  # (S, cells): weights of discontinuous spans; likewise

    @classmethod
    def allocate(
        cls, shape: Shape, device: torch.device, floor: float, parts: int, *, weighed: bool = False
    ) -> Charts:
        """Reserve memory without setting it."""

        def empty(*size: int, dtype: torch.dtype = torch.float32) -> Tensor:
            return torch.empty(*size, device=device, dtype=dtype)

        r, gaps, s = shape.ranks, shape.ranks.has_gaps, shape.sentences
        cells, splits = shape.cells * gaps, shape.splits
        partners = shape.n * (shape.n + 1) // 2 * gaps
        return cls(
            views=empty(shape.runs, shape.rows, r.views),
            scales=empty(shape.runs, shape.rows),
            scores=empty(shape.runs, shape.rows, parts, shape.scores),
            ratios=empty(s, splits),
            coefficients=empty(s, splits * gaps, 4, shape.half),
            parts=empty(2, s, partners, 2, r.r3, dtype=torch.bfloat16),
            wrapping=empty(s, cells, shape.half),
            attaching=empty(s, cells, shape.half),
            attached=empty(s, cells, shape.half),
            largest=empty(s, cells if floor > 0 else 0),
            row_factors=empty(shape.runs, shape.rows if weighed else 0),
            factors=empty(s, cells if weighed else 0),
        )

    @property
    def weighed(self) -> bool:
        """Whether spans have weights."""
        return self.row_factors.shape[1] > 0
