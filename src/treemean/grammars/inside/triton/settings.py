"""Sizes of tiles, numbers of warps and the like: what is tuned on a device."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """How the kernels divide their work. The defaults are the fastest measured on an H200 at published sizes.

    Parameters
    ----------
    streams : whether independent kernels may run side by side.
    large_* : tiles of the large term (left parts, right parts, ranks a step).
    gradient_* : tiles of its gradient (ranks, parts, pairs a step).
    cells, cell_warps : discontinuous spans per program of the attachments, forward.
    cells_back, cells_back_warps : the same, backward.
    attached_* : tile of the gradients of attached children (own start, start of the other part).
    span_warps : of the kernels with one program per continuous span.
    step : splits that such a program takes at a time.
    """

    streams: bool = True
    large_left: int = 16
    large_right: int = 32
    large_step: int = 32
    large_warps: int = 4
    large_stages: int = 3
    gradient_ranks: int = 128
    gradient_parts: int = 8
    gradient_step: int = 32
    gradient_warps: int = 4
    gradient_stages: int = 3
    cells: int = 64
    cell_warps: int = 2
    cells_back: int = 64
    cells_back_warps: int = 2
    attached_own: int = 8
    attached_other: int = 16
    attached_warps: int = 4
    span_warps: int = 4
    step: int = 8
    pairs: int = 128
    wrapped_step: int = 4


DEFAULT = Settings()
