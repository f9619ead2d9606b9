"""Sizes of tiles, numbers of warps and the like: what is tuned on a device."""

from __future__ import annotations

from dataclasses import dataclass, replace

from treemean.grammars.gpu.tiles import synchronous


@dataclass(frozen=True)
class Settings:
    """How the kernels divide their work. The defaults are the fastest measured on an H200 at published sizes.

    Parameters
    ----------
    streams : whether independent kernels may run side by side.
    large_* : tiles of the large term (left parts × columns, right parts, ranks a step).
    gradient_* : tiles of its gradient (parts × columns, ranks, pairs a step).
    cells, cell_warps : discontinuous spans per program of the attachments, forward.
    cells_back, cells_back_warps : the same, backward.
    attached_* : tile of the gradients of attached children (own start, start of the other part).
    span_warps : of the kernels with one program per continuous span.
    step : splits that such a program takes at a time.
    """

    streams: bool = True
    large_lines: int = 64
    large_right: int = 32
    large_step: int = 32
    large_warps: int = 2
    large_stages: int = 3
    gradient_lines: int = 32
    gradient_ranks: int = 128
    gradient_step: int = 32
    gradient_warps: int = 4
    gradient_stages: int = 3
    cells: int = 32
    cell_warps: int = 1
    cells_back: int = 64
    cells_back_warps: int = 4
    attached_own: int = 16
    attached_other: int = 16
    attached_warps: int = 2
    span_warps: int = 4
    step: int = 8
    pairs: int = 128
    wrapped_step: int = 4

    def __post_init__(self) -> None:
        for lines, warps in (
            (self.large_lines, self.large_warps),
            (self.gradient_lines, self.gradient_warps),
        ):
            if not synchronous(lines, warps):
                raise ValueError(
                    f"tiles of {lines} lines for {warps} warps compile to asynchronous products, which may "
                    "be wrong: take fewer lines or fewer warps"
                )

    def fitted(self, ranks: int, half: int) -> Settings:
        """Return settings whose tiles stay as large in registers with other sizes of a grammar.

        Parameters
        ----------
        ranks : the larger of r1 and r3, padded to a power of two.
        half : ranks of wrapping and of attachment, padded.

        >>> DEFAULT.fitted(512, 4) == DEFAULT, DEFAULT.fitted(512, 16).pairs, DEFAULT.fitted(2048, 4).step
        (True, 32, 2)
        """
        more = max(1, half // 4)
        fitted = replace(
            self,
            span_warps=max(self.span_warps, min(ranks // 128, 16)),
            step=max(1, min(self.step, 4096 // ranks)),
            pairs=max(16, self.pairs // more),
            wrapped_step=max(1, self.wrapped_step // more),
            cell_warps=min(self.cell_warps * more, 8),
            attached_other=max(4, self.attached_other // more),
        )
        if half < 16:
            return fitted
        # Tensor cores multiply with the small matrices now, too; the rest is as measured for 16 ranks.
        return replace(
            fitted,
            large_lines=128,
            gradient_lines=64,
            gradient_ranks=64,
            gradient_step=16,
            gradient_warps=2,
            cells_back=16 if half >= 64 else 32,
            cells_back_warps=2 if half >= 64 else self.cells_back_warps,
            attached_warps=2 * self.attached_warps,
        )


DEFAULT = Settings()
