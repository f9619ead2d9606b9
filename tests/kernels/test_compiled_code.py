"""What kernels become for a Hopper GPU: no asynchronous matrix products, see docs/measurements/gpu.md."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[1] / "compiled_kernels.py"


def launched(*cases: str) -> dict[str, list[str]]:
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    done = subprocess.run(
        [sys.executable, str(PROGRAM), *cases], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_no_kernel_in_rank_space_has_asynchronous_products() -> None:
    found = launched("published ranks")
    assert {"large_forward", "large_backward", "attach_forward", "wrapped_backward"} <= set(found["launched"])
    assert found["asynchronous"] == []


def test_no_kernel_over_symbols_has_asynchronous_products() -> None:
    found = launched("published symbols")
    assert {"attach", "hidden_gradients", "advance", "retreat"} <= set(found["launched"])
    assert found["asynchronous"] == []


@pytest.mark.slow
def test_nor_with_other_sizes() -> None:
    found = launched("few ranks", "16 ranks", "64 ranks", "rules", "many symbols")
    assert found["asynchronous"] == []


def test_asynchronous_products_would_be_found() -> None:
    assert launched("hazard")["asynchronous"] == ["two_products"]
