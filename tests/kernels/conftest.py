"""Kernels run in Triton's interpreter where there is no GPU; that is decided when they are imported."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

INTERPRETED = not torch.cuda.is_available()
if INTERPRETED:
    os.environ["TRITON_INTERPRET"] = "1"
triton = pytest.importorskip("triton")


if INTERPRETED:
    from interpreter import mend

    mend()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Where there is a GPU, these tests run there, by `make test-gpu`."""
    here = Path(__file__).parent
    for item in items:
        if not INTERPRETED and here in item.path.parents:
            item.add_marker(pytest.mark.gpu)


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture
def device() -> str:
    return "cpu" if INTERPRETED else "cuda"


@pytest.fixture
def poisoned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fill memory that is reserved without being set with NaN, whichever function reserves it."""

    def poisoning(reserve: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
        def reserve_and_poison(*arguments: Any, **options: Any) -> torch.Tensor:
            tensor = reserve(*arguments, **options)
            return tensor.fill_(float("nan")) if tensor.is_floating_point() else tensor

        return reserve_and_poison

    for owner, name in ((torch, "empty"), (torch, "empty_like"), (torch.Tensor, "new_empty")):
        monkeypatch.setattr(owner, name, poisoning(getattr(owner, name)))
