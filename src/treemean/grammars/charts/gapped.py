"""Where discontinuous spans lie in charts, and what wraps into what, for values and for their gradients.

K is the number of sentences. It comes next to last, so that elementwise work runs over long contiguous rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor


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


def valid_gaps(like: Tensor, gaps: int) -> Tensor:
    """Return which [i, m'] leave a gap of at least one word, as factors [i, m', 1, 1]."""
    return like.new_ones(gaps, gaps).triu_()[..., None, None]
