"""Rule tensors of grammars in rank space: all that an inside algorithm needs to know of a TN grammar.

A TN grammar factors every rule through a *rank*: a parent symbol chooses a rank, and given the rank the
children are chosen independently. Contracting "parent chooses rank" with "rank chooses child" once gives
small matrices from ranks to ranks, and symbols are never seen again. A span is then a vector of *scores*,
one per rank that its symbol could have chosen, and what those matrices make of it, its *views*: how well it
would do as a left child of each rank, as a right child, and so on.

With l, r, c, gl, gr, y the views of continuous spans and w, x those of discontinuous ones, the scores are

- continuous (i, j), ranks r1:  sum over k of  l(i, k) · r(k, j)
- continuous (i, j), ranks r2:  sum over m, p of  c(m, p) · w(i, m, p, j)
- discontinuous (i, j, m, e), ranks r3:  gl(i, j) · gr(m, e)
- discontinuous (i, j, m, e), ranks r4:  sum over k of  y5(i, k) · x(k, j, m, e)  +  y6(k, j) · x(i, k, m, e)
  and of  y7(m, k) · x(i, j, k, e)  +  y8(k, e) · x(i, j, m, k)

and the views are the scores times `continuous` or `discontinuous`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor

from treemean.grammars.spans import ATTACHMENTS


class Columns(NamedTuple):
    """Which columns of the views of a continuous span belong to which use of it."""

    left: slice
    right: slice
    wrapped: slice
    gap_left: slice
    gap_right: slice
    attached: slice


class Ranks(NamedTuple):
    """How many ranks each form of rule has.

    Parameters
    ----------
    r1 : two continuous children side by side (R2).
    r2 : a continuous child wrapped by a discontinuous one (R3).
    r3 : two continuous children with a gap between them (R4).
    r4 : a continuous child attached to one of the four edges of a discontinuous one (R5-R8).

    >>> Ranks(24, 4, 24, 4).views
    116
    >>> Ranks(24, 4, 24, 4).columns.wrapped
    slice(48, 52, None)
    """

    r1: int
    r2: int = 0
    r3: int = 0
    r4: int = 0

    @property
    def views(self) -> int:
        """Number of views of a continuous span."""
        return 2 * self.r1 + self.r2 + 2 * self.r3 + ATTACHMENTS * self.r4

    @property
    def columns(self) -> Columns:
        """Slices of the last axis of `RankRules.views`."""
        ends = [0]
        for size in (self.r1, self.r1, self.r2, self.r3, self.r3, ATTACHMENTS * self.r4):
            ends.append(ends[-1] + size)
        return Columns(*(slice(start, end) for start, end in pairwise(ends)))

    @property
    def has_gaps(self) -> bool:
        """Whether there are discontinuous constituents at all."""
        return self.r3 > 0 and self.r2 > 0


@dataclass
class RankRules:
    """What a TN grammar says about a batch of sentences. All entries are plain probabilities, not logarithms.

    Parameters
    ----------
    views : (B, n, C) what each word offers to its possible parents, divided by exp(scales); columns left |
        right | wrapped | gap-left | gap-right | attached (R5 to R8, each r4 ranks). The floor is already in.
    scales : (B, n) logarithms; no gradient flows through them.
    continuous : (r1 + r2, C) from the scores of a continuous span to its views.
    discontinuous : (r3 + r4, r2 + r4) from the scores of a discontinuous span to its views: as the wrapping
        child of R3 | as the child of R5-R8.
    root : (r1 + r2) from the scores of the whole sentence to its probability.
    ranks : sizes.
    floor : added to every view of a span of several words, times the largest score of that span, which counts
        as a constant when gradients are taken.

    A leading axis E on every tensor holds the rules of E grammars, each with its own B sentences.
    """

    views: Tensor
    scales: Tensor
    continuous: Tensor
    discontinuous: Tensor
    root: Tensor
    ranks: Ranks
    floor: float = 0.0

    @property
    def is_stacked(self) -> bool:
        """Whether the tensors have a leading axis of several grammars."""
        return self.views.dim() == 4

    def unstack(self) -> Iterator[RankRules]:
        """Yield the rules of each grammar of a stack."""
        for parts in zip(self.views, self.scales, self.continuous, self.discontinuous, self.root):
            yield RankRules(*parts, ranks=self.ranks, floor=self.floor)

    def double(self) -> RankRules:
        """Return the same rules in float64."""
        return self._changed(Tensor.double)

    def with_gaps_weighed(
        self, wrapping: float, wrapped_words: float, root_wrapping: float = 1.0
    ) -> RankRules:
        """Return the rules with weights for every gap, for every gap of one word, and for one at the root.

        A gap is a score of one of the r2 ranks; a word fills one by its columns `wrapped`.
        """
        wrapped, r1 = self.ranks.columns.wrapped, self.ranks.r1
        before, inside, after = (
            self.views[..., columns] for columns in (slice(wrapped.start), wrapped, slice(wrapped.stop, None))
        )
        return replace(
            self,
            views=torch.cat([before, inside * wrapped_words, after], -1),
            continuous=torch.cat([self.continuous[..., :r1, :], self.continuous[..., r1:, :] * wrapping], -2),
            root=torch.cat([self.root[..., :r1], self.root[..., r1:] * (wrapping * root_wrapping)], -1),
        )

    def stack(self) -> RankRules:
        """Return the same rules with a leading axis of one grammar."""
        return self._changed(lambda tensor: tensor[None])

    def _changed(self, change: Callable[[Tensor], Tensor]) -> RankRules:
        return RankRules(
            change(self.views),
            change(self.scales),
            change(self.continuous),
            change(self.discontinuous),
            change(self.root),
            ranks=self.ranks,
            floor=self.floor,
        )
