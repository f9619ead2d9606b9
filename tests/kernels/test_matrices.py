"""Products of half precision."""

from __future__ import annotations

import pytest
import torch

from treemean.grammars.gpu import matrices
from treemean.grammars.gpu.matrices import long_product, precision, product


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
@pytest.mark.parametrize("width", [1, 8, 1151, 1152, 1153, 4504])
def test_a_long_product_is_that_of_all_its_pieces(dtype: torch.dtype, width: int, monkeypatch) -> None:
    draw = torch.Generator().manual_seed(0)
    lengths = []

    def watched(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        lengths.append(a.shape[2])
        return product(a, b)

    with precision(dtype):
        columns = width * matrices.parts()
        a, b = (torch.rand(2, rows, columns, generator=draw).to(dtype) for rows in (3, 5))
        monkeypatch.setattr(matrices, "product", watched)
        found = long_product(a, b)
    torch.testing.assert_close(found.double(), a.double() @ b.double().mT, rtol=1e-6, atol=0)
    assert sum(lengths) == columns
    of_first_part = lengths if dtype == torch.float32 else lengths[:-1]
    assert sum(of_first_part) == width
    assert max(of_first_part) <= 1152
