"""The shorter ways of our interpreter lead where Triton's own lead."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
import triton.language as tl
from interpreter import ARITHMETIC, COMPARISONS, DIVISIONS, LOGIC, REFLECTED, USUAL
from triton.language.semantic import IncompatibleTypeErrorImpl
from triton.runtime.interpreter import TensorHandle, interpreter_semantic

pytestmark = pytest.mark.skipif(torch.cuda.is_available(), reason="kernels are compiled")

KINDS = (tl.int1, tl.int32, tl.int64, tl.float32, tl.float64)
#: Of numbers, lines and tiles.
SHAPES = ((), (4,), (1, 4), (2, 1), (2, 4))
CONSTANTS = (3, -2, 0, 2**31, 0.1, 1e-40, float("inf"), tl.constexpr(5), tl.constexpr(0.5))
OPERATORS = [*ARITHMETIC, *REFLECTED, *DIVISIONS, *LOGIC, *COMPARISONS]


def tile(kind: Any, shape: tuple[int, ...], seed: int) -> Any:
    """Draw small numbers, of which many are equal, none of them zero."""
    drawn = np.random.default_rng(seed).integers(1, 5, shape or (1,)) * (1, -1)[seed % 2]
    data = (
        (drawn > 2)
        if kind is tl.int1
        else drawn.astype({"fp32": "f4", "fp64": "f8"}.get(kind.name, kind.name))
    )
    return tl.tensor(TensorHandle(data, kind), tl.block_type(kind, list(shape)) if shape else kind)


def outcome(function: Any, *operands: Any) -> Any:
    """Return what a call gives, or that it fails."""
    try:
        with np.errstate(all="ignore"):
            found = function(*operands)
    except (TypeError, ValueError, AssertionError, IncompatibleTypeErrorImpl):
        return "refused"
    many = found if isinstance(found, tuple) else (found,)
    return [(str(x.type), x.dtype.name, list(map(int, x.shape)), repr(x.handle.data.tolist())) for x in many]


@pytest.mark.parametrize("name", OPERATORS)
def test_operators(name: str) -> None:
    short, usual = getattr(tl.tensor, name), USUAL[name]
    for kind, shape in product(KINDS, SHAPES):
        left = tile(kind, shape, 1)
        for other_kind, other_shape in product(KINDS, SHAPES):
            right = tile(other_kind, other_shape, 2)
            assert outcome(short, left, right) == outcome(usual, left, right), (left.type, right.type)
        for constant in CONSTANTS:
            assert outcome(short, left, constant) == outcome(usual, left, constant), (left.type, constant)


@pytest.mark.parametrize("element", [tl.float32, tl.float64, tl.int1])
def test_places_in_memory(element: Any) -> None:
    pointer = tl.pointer_type(element)
    for shape, other in product(SHAPES, SHAPES):
        place = TensorHandle(np.full(shape or (1,), 1000, np.uint64), pointer)
        left = tl.tensor(place, tl.block_type(pointer, list(shape)) if shape else pointer)
        for kind in (tl.int32, tl.int64, tl.float32):
            right = tile(kind, other, 1)
            assert outcome(tl.tensor.__add__, left, right) == outcome(USUAL["__add__"], left, right)


def test_one_shape_for_two() -> None:
    for shape, other in product(SHAPES, SHAPES):
        both = tile(tl.int32, shape, 1), tile(tl.float32, other, 2)
        found = outcome(interpreter_semantic.broadcast_impl_value, *both)
        assert found == outcome(USUAL["broadcast"], interpreter_semantic, *both)
