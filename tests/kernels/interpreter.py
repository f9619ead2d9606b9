"""Triton's interpreter, mended and made several times as fast; what kernels compute in it stays the same.

The interpreter takes its time for every operation of every program of a kernel, hardly any of it for the
numbers: types are worked out, constants wrapped, functions of the language replaced and put back. Here the
language is replaced once, what depends on types alone is kept, and operators on two operands of one type are
one call of NumPy. Everything else goes the interpreter's own way. `test_interpreter.py` compares the two.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import triton.language as tl
from triton.runtime import interpreter
from triton.runtime.interpreter import TensorHandle

Operator = Callable[[Any, Any], Any]


def _quotient(left: Any, right: Any) -> Any:
    """Divide integers as C does."""
    return (left - np.fmod(left, right)) // right


INTEGERS, FLOATS = ("int32", "int64"), ("fp32", "fp64")
#: The type that the interpreter gives to numbers that are combined with tiles of a type.
KIND_OF_CONSTANTS = {"int32": "int32", "int64": "int32", "fp32": "fp32"}
#: Operators that mean the same for arrays, where both sides are of one of some types.
ARITHMETIC = {"__add__": np.add, "__sub__": np.subtract, "__mul__": np.multiply}
REFLECTED = {"__radd__": np.add, "__rsub__": np.subtract, "__rmul__": np.multiply}
DIVISIONS = {"__floordiv__": _quotient, "__mod__": np.fmod}
LOGIC = {"__and__": np.bitwise_and, "__or__": np.bitwise_or}
COMPARISONS = {
    "__lt__": np.less,
    "__le__": np.less_equal,
    "__gt__": np.greater,
    "__ge__": np.greater_equal,
    "__eq__": np.equal,
    "__ne__": np.not_equal,
}
#: What the interpreter does where something shorter is done in its place; filled by `mend`.
USUAL: dict[str, Any] = {}


def mend() -> None:
    """Change the interpreter of this process."""
    _mend_arithmetic()
    _keep_what_depends_on_types()
    _patch_language_once()
    _shorten_operators()


def _mend_arithmetic() -> None:
    """Treat what is no number as compiled code does: the larger of that and a number is the number.

    And do not compute integers again in 64 bits to see whether they overflow: at the sizes of tests none
    comes near that.
    """
    for name, choose in (("create_maxnumf", np.fmax), ("create_minnumf", np.fmin)):
        setattr(interpreter.InterpreterBuilder, name, lambda self, a, b, f=choose: self.binary_op(a, b, f))
    builder = interpreter.interpreter_builder
    builder.options = replace(builder.options, sanitize_overflow=False)


def _keep_what_depends_on_types() -> None:
    """Make shapes, and types of NumPy, once for all tiles that have them."""
    numpy_type = interpreter._get_np_dtype
    numpy_types: dict[str, Any] = {}

    def get_np_dtype(kind: Any) -> Any:
        scalar = kind.scalar
        if scalar.name not in numpy_types:
            numpy_types[scalar.name] = numpy_type(scalar)
        return numpy_types[scalar.name]

    @cache
    def shape_and_size(shape: tuple[int, ...]) -> tuple[Any, Any]:
        return tl.tuple([tl.constexpr(size) for size in shape]), tl.constexpr(math.prod(shape))

    def initialise_tensor(self: Any, handle: Any, kind: Any) -> None:
        self.handle, self.type, self.dtype = handle, kind, kind.scalar
        self.shape, self.numel = shape_and_size(_sizes(kind))

    initialise = tl.block_type.__init__
    parts: dict[Any, dict[str, Any]] = {}

    def initialise_type(self: Any, element: Any, shape: Any) -> None:
        key = (element.name, *(x.value if isinstance(x, tl.constexpr) else x for x in shape))
        if key not in parts:
            initialise(self, element, shape)
            parts[key] = {name: getattr(self, name) for name in ("shape", "numel", "name")}
        self.element_ty = element
        self.__dict__.update(parts[key])

    interpreter._get_np_dtype = get_np_dtype
    tl.tensor.__init__ = initialise_tensor
    tl.block_type.__init__ = initialise_type
    usual = USUAL["broadcast"] = tl.semantic.TritonSemantic.broadcast_impl_value
    tl.semantic.TritonSemantic.broadcast_impl_value = lambda self, *both: (
        _broadcast(*both) or usual(self, *both)
    )


def _sizes(kind: Any) -> tuple[int, ...]:
    """Return the shape of a tile as integers; a single number has none."""
    return tuple(kind.shape.values) if kind.is_block() else ()


def _broadcast(left: Any, right: Any) -> tuple[Any, Any] | None:
    """Give tiles, or a tile and a number, one shape, unless they differ in the number of axes."""
    own, its = _sizes(left.type), _sizes(right.type)
    if own == its:
        return left, right
    shape = _joint_shape(own, its)
    return shape and (_as_large_as(left, own, shape), _as_large_as(right, its, shape))


@cache
def _joint_shape(own: tuple[int, ...], its: tuple[int, ...]) -> tuple[int, ...] | None:
    return None if own and its and len(own) != len(its) else np.broadcast_shapes(own, its)


def _as_large_as(tile: Any, own: tuple[int, ...], shape: tuple[int, ...]) -> Any:
    if own == shape:
        return tile
    handle = TensorHandle(np.broadcast_to(tile.handle.data, shape), tile.handle.dtype.scalar)
    return tl.tensor(handle, tl.block_type(tile.dtype, list(shape)))


def _patch_language_once() -> None:
    """Replace the functions of the language for good: nothing is compiled in a process of these tests.

    Loops may be bounded by one-element arrays, which NumPy 2.4 takes for integers no more.
    """
    interpreter._patch_lang(SimpleNamespace(__globals__={"tl": tl, "core": tl.core}))
    tl.tensor.__index__ = lambda self: int(self.handle.data.item())
    nothing = interpreter._LangPatchScope()
    interpreter._patch_lang = lambda function: nothing


def _shorten_operators() -> None:
    """Let NumPy alone compute what is of one type on both sides."""
    numbers = (*INTEGERS, *FLOATS)
    for operators, kinds, is_logical in (
        (ARITHMETIC, numbers, False),
        (REFLECTED, numbers, False),
        (DIVISIONS, INTEGERS, False),
        (LOGIC, ("int1",), False),
        (COMPARISONS, numbers, True),
    ):
        for name, function in operators.items():
            usual = USUAL[name] = getattr(tl.tensor, name)
            if operators is REFLECTED:
                function = _turned(function)
            setattr(tl.tensor, name, _shortened(usual, function, kinds, is_logical))
    tl.tensor.__add__ = _with_pointers(tl.tensor.__add__)


def _turned(function: Operator) -> Operator:
    return lambda left, right: function(right, left)


def _shortened(usual: Operator, function: Operator, kinds: tuple[str, ...], is_logical: bool) -> Operator:
    def call(self: Any, other: Any) -> Any:
        name = self.dtype.name
        if isinstance(other, tl.constexpr):
            other = other.value
        if name not in kinds:
            return usual(self, other)
        if isinstance(other, tl.tensor):
            if other.dtype.name != name or (kind := _common(self.type, other.type)) is None:
                return usual(self, other)
            theirs = other.handle.data
        elif _is_constant(other, name):
            kind, theirs = self.type, self.handle.data.dtype.type(other)
        else:
            return usual(self, other)
        kind = kind.with_element_ty(tl.int1) if is_logical else kind
        return tl.tensor(TensorHandle(function(self.handle.data, theirs), kind.scalar), kind)

    return call


def _with_pointers(usual: Operator) -> Operator:
    def add(self: Any, other: Any) -> Any:
        pointer = self.dtype
        if not (pointer.is_ptr() and isinstance(other, tl.tensor) and other.dtype.name in INTEGERS):
            return usual(self, other)
        kind = _common(self.type, other.type.with_element_ty(pointer))
        if kind is None:
            return usual(self, other)
        width = max(1, pointer.element_ty.primitive_bitwidth // 8)
        data = self.handle.data + width * other.handle.data.astype(np.uint64)
        return tl.tensor(TensorHandle(data, self.handle.dtype), kind)

    return add


def _common(own: Any, its: Any) -> Any:
    """Return the type of what an operator makes of two tiles or numbers, unless they differ in axes."""
    if own is its or not its.is_block():
        return own
    if not own.is_block():
        return its
    mine, theirs = own.shape.values, its.shape.values
    if mine == theirs:
        return own
    shape = _joint_shape(tuple(mine), tuple(theirs))
    return shape and tl.block_type(own.scalar, list(shape))


def _is_constant(value: Any, name: str) -> bool:
    """Say whether a number becomes one of a type without being rounded on the way."""
    if type(value) not in (int, float) or name not in KIND_OF_CONSTANTS:
        return False
    return interpreter.interpreter_semantic.to_tensor_type(value).name == KIND_OF_CONSTANTS[name]
