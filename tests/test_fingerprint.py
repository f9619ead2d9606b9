"""What a soak test knows kernels and their results by."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

pytest.importorskip("triton")

from benchmarks.kernels.fingerprint import bits_in_short, fingerprint

SOURCE = """'''A module.'''

def double(x):
    '''Twice.'''
    return 2 * x  # really
"""


def test_code_counts_and_words_about_it_do_not(tmp_path: Path) -> None:
    (tmp_path / "triton").mkdir()
    module = tmp_path / "triton" / "kernels.py"

    def of(text: str) -> str:
        module.write_text(text)
        return fingerprint(tmp_path)

    first = of(SOURCE)
    assert (
        of(SOURCE.replace("Twice.", "Two times.").replace("  # really", "").replace("A mod", "Mod")) == first
    )
    assert of(SOURCE.replace("2 * x", "x * 2")) != first
    of(SOURCE)
    (tmp_path / "naive.py").write_text("FOUR = 4")
    assert fingerprint(tmp_path) == first
    module.rename(module.with_name("others.py"))
    assert fingerprint(tmp_path) != first


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.float64, torch.int64, torch.int8])
def test_every_bit_counts(dtype: torch.dtype) -> None:
    tensor = torch.arange(60).reshape(3, 20).to(dtype)
    first = bits_in_short(tensor)
    assert bits_in_short(tensor.clone()) == first
    bytes_of = tensor.view(torch.uint8)
    for place in range(bytes_of.numel()):
        flat = bytes_of.flatten().clone()
        flat[place] ^= 1 << place % 8
        assert bits_in_short(flat.view(dtype)) != first
    swapped = tensor.flip(0)
    assert bits_in_short(swapped) != first
    assert bits_in_short(swapped.flip(0)) == first


def test_zeros_of_both_signs_and_nan() -> None:
    assert bits_in_short(torch.tensor([0.0])) != bits_in_short(torch.tensor([-0.0]))
    assert bits_in_short(torch.tensor([torch.nan])) == bits_in_short(torch.tensor([torch.nan]))
