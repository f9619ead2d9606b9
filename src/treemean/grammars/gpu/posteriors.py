"""Posteriors of spans as kernels leave them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from treemean.grammars.spans import SpanPosteriors, check_sums


@dataclass
class Posteriors:
    """Posteriors as the kernels leave them, for S sentences of all runs.

    Parameters
    ----------
    continuous : (S, n+1, n+1) as in `SpanPosteriors`.
    cells : (S, cells) of discontinuous spans, in the order of `indexing`; no cells without gaps.
    log_z : (S,).
    """

    continuous: Tensor
    cells: Tensor
    log_z: Tensor

    def constituents(self) -> Tensor:
        """Return the expected number (S,) of constituents of several words of each sentence."""
        return self.continuous.triu(2).sum((1, 2)) + self.cells.sum(1)

    def check_finite(self) -> None:
        """Raise `NumericalError` if a posterior is not finite; see `SpanPosteriors.check_finite`."""
        check_sums(self.constituents())

    @classmethod
    def of_spans(cls, spans: SpanPosteriors) -> Posteriors:
        """Return what is in the common form in this one, in float32; log Z is not known."""
        continuous = spans.continuous.float().contiguous()
        cells = continuous.new_zeros(len(continuous), 0)
        if spans.discontinuous:
            places, sizes = places_of_cells(continuous.shape[1] - 1, continuous.device)
            flat = torch.cat([spans.discontinuous[width].flatten(1) for width in sizes], 1)
            cells = flat[:, places].float()
        return cls(continuous, cells, continuous.new_full((len(continuous),), torch.nan))

    def spans(self) -> SpanPosteriors:
        """Return the posteriors in the common form."""
        n = self.continuous.shape[1] - 1
        if not self.cells.shape[1]:
            return SpanPosteriors(self.continuous)
        places, sizes = places_of_cells(n, self.cells.device)
        flat = self.cells.new_zeros(len(self.cells), sum(sizes.values()))
        flat[:, places] = self.cells
        parts = flat.split_with_sizes(list(sizes.values()), 1)
        charts = {w: part.view(-1, w - 1, n - w, n - w) for w, part in zip(sizes, parts)}
        return SpanPosteriors(self.continuous, charts)


@lru_cache(maxsize=128)
def places_of_cells(n: int, device: torch.device) -> tuple[Tensor, dict[int, int]]:
    """Return where each cell lies in the charts of `SpanPosteriors` one behind the other, and their sizes."""
    sizes = {width: (width - 1) * (n - width) ** 2 for width in range(2, n)}
    starts, start = {}, 0
    for width, size in sizes.items():
        starts[width] = start
        start += size
    places = []
    for left in range(1, n - 1):
        for right in range(1, n - left):
            size = n - left - right
            i, p = torch.triu_indices(size, size)
            places.append(starts[left + right] + ((left - 1) * size + i) * size + p)
    return torch.cat(places).to(device), sizes
