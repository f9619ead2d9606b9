"""Storage of the views of continuous spans in rank space; the same shapes hold values and their gradients.

K is the number of sentences of all grammars of a stack, E · B, with the grammar as the slower index. It comes
next to last everywhere, so that elementwise work runs over long contiguous rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

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
