"""What kernels become for a Hopper GPU: no asynchronous matrix products, see docs/measurements/gpu.md."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from commands import python

PROGRAM = Path(__file__).parents[1] / "compiled_kernels.py"


def launched(*cases: str) -> dict[str, list[str]]:
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    return json.loads(python(PROGRAM, *cases, env=environment).stdout.splitlines()[-1])


def test_no_kernel_has_asynchronous_products_but_the_one_that_shows_what_is_wrong_with_them() -> None:
    found = launched("published ranks", "published symbols", "hazard")
    in_rank_space = {"large_forward", "large_backward", "attach_forward", "wrapped_backward"}
    over_symbols = {"attach", "hidden_gradients", "advance", "retreat"}
    assert in_rank_space | over_symbols <= set(found["launched"])
    assert found["asynchronous"] == ["two_products"]


@pytest.mark.slow
def test_nor_with_other_sizes() -> None:
    found = launched("few ranks", "16 ranks", "64 ranks", "rules", "many symbols")
    assert found["asynchronous"] == []
