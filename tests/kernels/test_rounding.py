"""Numbers as tensor cores take them: the nearest ones, and what is no number stays none."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from treemean.grammars.gpu import indexing
from treemean.grammars.rank.triton import context

#: Of processors, with and without a sign, and of a GPU, the same.
NANS = torch.tensor([0x7FC00000, -0x400000, 0x7FFFFFFF, -1], dtype=torch.int32).view(torch.float32)


@triton.jit
def round_all(numbers, results, SIZE: tl.constexpr):
    """Write numbers as kernels round them."""
    place = tl.arange(0, SIZE)
    x = tl.load(numbers + place)
    tl.store(results + place, indexing.nearest_tf32(x))


def by_kernels(numbers: torch.Tensor, device: str) -> torch.Tensor:
    results = torch.zeros(len(numbers), device=device)
    round_all[(1,)](numbers.to(device), results, SIZE=len(numbers))
    return results.cpu()


def test_no_number_stays_none(device: str) -> None:
    assert by_kernels(NANS, device).isnan().all()
    assert context.nearest_tf32(NANS.to(device)).isnan().all()


def test_nearest(device: str) -> None:
    numbers = torch.randn(64, generator=torch.Generator().manual_seed(1))
    scale = torch.frexp(numbers).exponent - 11
    expected = torch.ldexp(torch.ldexp(numbers.double(), -scale).round(), scale).float()
    for found in (by_kernels(numbers, device), context.nearest_tf32(numbers.to(device)).cpu()):
        assert torch.equal(found, expected)
