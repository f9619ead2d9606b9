"""The steps of R5-R8: which parts of charts are multiplied and added, found once for each size of batch."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import torch
from torch import Tensor

from treemean.grammars.charts import strides
from treemean.grammars.charts.gapped import Gapped
from treemean.grammars.spans import ATTACHMENTS


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
