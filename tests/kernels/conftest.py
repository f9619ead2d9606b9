"""Kernels run in Triton's interpreter where there is no GPU; that is decided when they are imported."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

INTERPRETED = not torch.cuda.is_available()
if INTERPRETED:
    os.environ["TRITON_INTERPRET"] = "1"
triton = pytest.importorskip("triton")


def _mend_interpreter() -> None:
    """Let loops be bounded by the interpreter's one-element arrays, let it treat what is no number as in
    compiled code (the larger of that and a number is the number), and spare it needless work.

    NumPy 2.4 takes no one-element array for an integer any more. A function of ours that a kernel calls need
    not replace all functions of the language once more, as the kernel has done so. And integers are not
    computed again in 64 bits to see whether they overflow: at the sizes of tests none comes near that, and it
    took more than half of all time.
    """
    from triton.runtime import interpreter

    patch, plain_call = interpreter._patch_lang_tensor, interpreter.InterpretedFunction.__call__

    def patch_and_mend(tensor: Any, scope: Any) -> None:
        patch(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: int(self.handle.data.item()))

    def call(self: Any, *arguments: Any, **options: Any) -> Any:
        if self.fn.__module__.startswith("treemean."):
            return self.rewrite()(*arguments, **options)
        return plain_call(self, *arguments, **options)

    interpreter._patch_lang_tensor = patch_and_mend
    interpreter.InterpretedFunction.__call__ = call
    for name, choose in (("create_maxnumf", np.fmax), ("create_minnumf", np.fmin)):
        setattr(interpreter.InterpreterBuilder, name, lambda self, a, b, f=choose: self.binary_op(a, b, f))
    builder = interpreter.interpreter_builder
    builder.options = replace(builder.options, sanitize_overflow=False)


if INTERPRETED:
    _mend_interpreter()


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
