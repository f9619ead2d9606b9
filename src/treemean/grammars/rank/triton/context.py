"""What all launches of one pass share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
import triton.language as tl
from torch import Tensor

from treemean.grammars.gpu import indexing
from treemean.grammars.gpu.streams import Streams
from treemean.grammars.gpu.tiles import power
from treemean.grammars.rank.rules import Ranks
from treemean.grammars.rank.triton.charts import Shape
from treemean.grammars.rank.triton.settings import Settings


@contextmanager
def tensor_cores() -> Iterator[None]:
    """Let float32 matrix products run on tensor cores; operands should be rounded to nearest beforehand."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest" if indexing.EXACT.value else "high")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def use_full_precision() -> None:
    """Compute products of scores and rules in float32 from now on; call it before any kernel has run.

    This is to measure what tensor cores cost in precision. Products of discontinuous spans stay pairs of
    bfloat16, with 16 binary digits.
    """
    indexing.EXACT = tl.constexpr(True)


def nearest_tf32(x: Tensor) -> Tensor:
    """Round to the nearest numbers that tensor cores keep whole.

    >>> nearest_tf32(torch.tensor([1.0 + 2**-12, 1.0 + 3 * 2**-12])).sub(1).mul(2**10).tolist()
    [0.0, 1.0]
    """
    x = x.contiguous()
    if indexing.EXACT.value:
        return x
    rounded = ((x.view(torch.int32) + 0x1000) & -0x2000).view(torch.float32)
    return torch.where(x.isnan(), x, rounded)  # see `indexing.nearest_tf32`


def product_parts() -> int:
    """Return in how many parts the operands of a product of scores and rules are written.

    Tensor cores keep 11 binary digits. Three products, of rounded numbers and of what rounding took away,
    have twice as many; trained grammars need them, in which few ranks decide and nothing averages out.
    """
    return 1 if indexing.EXACT.value else 3


def split_rules(rules: Tensor) -> Tensor:
    """Return rules (E, ranks, C) to be multiplied with scores in parts, (E, parts · ranks, C)."""
    high = nearest_tf32(rules)
    if product_parts() == 1:
        return high
    return torch.cat([high, high, nearest_tf32(rules - high)], 1)


@dataclass(frozen=True)
class KernelRules:
    """The rules in the form that the kernels take; ranks r2 and r4 padded to ``half``."""

    continuous: Tensor  # (E, parts · (r1 + r2), C), see `split_rules`
    from_pairs: Tensor  # (E, 2 half, r3): scores of two continuous children to views
    from_attached: Tensor  # (E, half, 2 half): scores by attachment to views
    root: Tensor  # (E, r1 + r2)


@dataclass(frozen=True)
class Constants:
    """Sizes that are compiled into kernels, named as their parameters are."""

    R1: int
    R3: int
    H: int  # ranks of wrapping, and of attachment: `Shape.half`
    COLUMNS: int  # of the views of a span
    WRAPPED: int  # where its views as what is wrapped begin
    ATTACHED: int  # as what is attached
    GAP_LEFT: int  # as the left part of a discontinuous span

    @classmethod
    def of(cls, shape: Shape) -> Constants:
        """Return those of a pass."""
        ranks, columns = shape.ranks, shape.ranks.columns
        return cls(
            R1=ranks.r1,
            R3=ranks.r3,
            H=shape.half,
            COLUMNS=ranks.views,
            WRAPPED=columns.wrapped.start,
            ATTACHED=columns.attached.start,
            GAP_LEFT=columns.gap_left.start,
        )


class Context:
    """Sizes, columns, settings and streams of a pass.

    Parameters
    ----------
    shape : sizes, with padded ranks.
    unpadded : the ranks of the grammar.
    floor : see `RankRules`.
    settings : tiles and warps.
    device : where the tensors are.
    """

    def __init__(
        self, shape: Shape, unpadded: Ranks, floor: float, settings: Settings, device: torch.device
    ) -> None:
        self.shape, self.unpadded, self.floor = shape, unpadded, floor
        self.settings = settings.fitted(power(max(shape.ranks.r1, shape.ranks.r3)), shape.half)
        self.streams = Streams(device, settings.streams)
        self.gaps = shape.ranks.has_gaps
        self.columns = shape.ranks.views
        self.constants = Constants.of(shape)
        self.device = device

    def lift(self) -> Tensor:
        """Return what the floor adds to the views of a span whose largest score is 1: (1, 1, C)."""
        lift = torch.zeros(self.columns, device=self.device)
        columns, half = self.shape.ranks.columns, self.shape.half
        for use in (columns.left, columns.right, columns.gap_left, columns.gap_right):
            lift[use] = self.floor
        if self.gaps:
            lift[columns.wrapped][: self.unpadded.r2] = self.floor
            lift[columns.attached].view(4, half)[:, : self.unpadded.r4] = self.floor
        return lift.view(1, 1, -1)
