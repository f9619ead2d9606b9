"""Storage of the vectorised inside algorithm in rank space; the same shapes hold values and their gradients.

K is the number of sentences of all grammars of a stack, E · B, with the grammar as the slower index. It comes
next to last everywhere, so that elementwise work runs over long contiguous rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import torch
from torch import Tensor

from treemean.grammars.charts import strides
from treemean.grammars.rank.rules import Ranks
from treemean.grammars.spans import ATTACHMENTS


@dataclass
class Views:
    """The views of continuous spans by their use, each [start, length - 1, K, rank].

    Those of attached children are [attachment, start, length - 1, K, r4].
    """

    left: Tensor
    right: Tensor
    wrapped: Tensor
    gap_left: Tensor
    gap_right: Tensor
    attached: Tensor

    @classmethod
    def empty(cls, n: int, batch: int, ranks: Ranks, like: Tensor) -> Views:
        """Make room for all spans of `n` words."""

        def chart(rank: int) -> Tensor:
            return like.new_empty(n, n, batch, rank)

        return cls(
            left=chart(ranks.r1),
            right=chart(ranks.r1),
            wrapped=chart(ranks.r2),
            gap_left=chart(ranks.r3),
            gap_right=chart(ranks.r3),
            attached=like.new_empty(ATTACHMENTS, n, n, batch, ranks.r4),
        )

    @classmethod
    def zeros(cls, n: int, batch: int, ranks: Ranks, like: Tensor) -> Views:
        """Make room for all spans of `n` words, to add to."""
        views = cls.empty(n, batch, ranks, like)
        for chart in views._charts():
            chart.zero_()
        return views

    def _charts(self) -> list[Tensor]:
        return [self.left, self.right, self.wrapped, self.gap_left, self.gap_right, *self.attached]

    def write(self, width: int, views: Tensor) -> None:
        """Store the views [start, K, C] of all spans of one width."""
        column = 0
        for chart in self._charts():
            rank = chart.shape[-1]
            chart[: len(views), width - 1] = views[..., column : column + rank]
            column += rank

    def read(self, width: int) -> Tensor:
        """Return the views [start, K, C] of all spans of one width."""
        return torch.cat([chart[: len(chart) - width + 1, width - 1] for chart in self._charts()], -1)


class Gapped:
    """Something about every discontinuous span: [slot, K, size], and by width [a-1, i, m', K, size].

    a is the length of the left part, i its start, and m' = m-a-1 where m is the start of the right part.
    """

    def __init__(self, n: int, batch: int, size: int, like: Tensor) -> None:
        self.n = n
        self.offsets = gapped_offsets(n)
        self.flat = like.new_empty(self.offsets[-1], batch, size)

    @classmethod
    def zeros(cls, n: int, batch: int, size: int, like: Tensor) -> Gapped:
        """Make room for all spans of `n` words, to add to."""
        chart = cls(n, batch, size, like)
        chart.flat.zero_()
        return chart

    def at(self, width: int) -> Tensor:
        """Return the part of one total width, from 2 to n-1, as a view."""
        gaps = self.n - width
        start, end = self.offsets[width], self.offsets[width + 1]
        return self.flat[start:end].view(width - 1, gaps, gaps, *self.flat.shape[1:])


@lru_cache(maxsize=256)
def gapped_offsets(n: int) -> list[int]:
    """Return where the slots of each total width begin in `Gapped`; the last entry is the number of slots."""
    offsets = [0, 0, 0]
    for width in range(2, n):
        offsets.append(offsets[-1] + (width - 1) * (n - width) ** 2)
    return offsets


@dataclass(frozen=True)
class Wraps:
    """All ways to put a continuous span into the gap of another to make the spans (i, i+width).

    Parameters
    ----------
    outer : [way, i] slots of the discontinuous children in `Gapped`.
    left, inner, right : [way, i] the three parts as start · n + length - 1.
    """

    outer: Tensor
    left: Tensor
    inner: Tensor
    right: Tensor


@lru_cache(maxsize=2048)
def wraps(n: int, width: int, device: torch.device) -> Wraps:
    """Return the (width-1)(width-2)/2 ways for each of the n-width+1 spans of one width."""
    offsets = torch.tensor(gapped_offsets(n), device=device)
    starts = torch.arange(n - width + 1, device=device)
    left, gap = torch.meshgrid(*(2 * [torch.arange(1, width, device=device)]), indexing="ij")
    possible = left + gap < width
    left, gap = left[possible][:, None], gap[possible][:, None]
    outer = width - gap
    slot = offsets[outer] + ((left - 1) * (n - outer) + starts) * (n - outer) + starts + gap - 1
    return Wraps(
        outer=slot,
        left=starts * n + left - 1,
        inner=(starts + left) * n + gap - 1,
        right=(starts + left + gap) * n + outer - left - 1,
    )


def apply_matrix(x: Tensor, matrix: Tensor) -> Tensor:
    """Multiply [..., K, r] by each grammar's matrix, (E, r, c)."""
    runs, rows, columns = matrix.shape
    if runs == 1:
        return x @ matrix[0]
    grouped = x.reshape(-1, runs, x.shape[-2] // runs, rows).transpose(0, 1)
    product = torch.bmm(grouped.reshape(runs, -1, rows), matrix)
    return (
        product.view(runs, -1, x.shape[-2] // runs, columns).transpose(0, 1).reshape(*x.shape[:-1], columns)
    )


def matrix_gradient(x: Tensor, grad: Tensor, runs: int) -> Tensor:
    """Return the gradient (E, r, c) of each grammar's matrix from its operand and the product's gradient."""
    rows, columns = x.shape[-1], grad.shape[-1]
    if runs == 1:
        return (x.reshape(-1, rows).T @ grad.reshape(-1, columns))[None]
    shape = (-1, runs, x.shape[-2] // runs)
    left = x.reshape(*shape, rows).permute(1, 3, 0, 2).reshape(runs, rows, -1)
    right = grad.reshape(*shape, columns).transpose(0, 1).reshape(runs, -1, columns)
    return torch.bmm(left, right)


def valid_gaps(like: Tensor, gaps: int) -> Tensor:
    """Return which [i, m'] leave a gap of at least one word, as factors [i, m', 1, 1]."""
    return like.new_ones(gaps, gaps).triu_()[..., None, None]


class Layout(NamedTuple):
    """Where a view lies in a tensor; taking it this way is one call instead of one per axis."""

    size: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int

    @classmethod
    def of(cls, view: Tensor) -> Layout:
        """Remember the layout of a view."""
        return cls(tuple(view.shape), view.stride(), int(view.storage_offset()))

    def take(self, tensor: Tensor) -> Tensor:
        """Return the same view of another tensor."""
        return tensor.as_strided(self.size, self.stride, self.offset)


class Attaching(NamedTuple):
    """One of R5-R8 with attached children of one length, for all parents of one total width.

    Parameters
    ----------
    parents, children : [a-1, i, m', row] in `Gapped.flat`: the spans, and their children with a gap.
    added : the attached children in [attachment, start, split - 1, length - 1, K, r4]; size 1 along `axis`.
    """

    parents: Layout
    children: Layout
    added: Layout
    axis: int


@lru_cache(maxsize=256)
def attachings(n: int, batch: int, rank: int) -> dict[int, list[Attaching]]:
    """Return all steps of R5-R8 by total width."""
    like = torch.empty(0, device="meta")
    chart = Gapped(n, batch, rank, like)
    parts = like.new_empty(ATTACHMENTS, n, n, n, batch, rank)
    steps: dict[int, list[Attaching]] = {}
    for width in range(2, n):
        steps[width] = []
        for taken in range(1, width - 1):
            places = strides.attaching_places(n, width, taken)
            for (parents, children), added in zip(places, strides.attached_parts(parts, width, taken)):
                step = Attaching(
                    parents=Layout.of(chart.at(width)[parents]),
                    children=Layout.of(chart.at(width - taken)[children]),
                    added=Layout.of(added),
                    axis=2 if parents.stop is None else 1,
                )
                steps[width].append(step)
    return steps
