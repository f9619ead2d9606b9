"""Numbers and names from JSON files, which may be damaged or come from anywhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treemean.errors import FormatError


def real(data: Mapping[str, Any], name: str) -> float:
    """Return a finite number."""
    return float(_reals([data[name]], name)[0])


def reals(data: Mapping[str, Any], name: str) -> NDArray[np.float64]:
    """Return a list of finite numbers as an array.

    >>> reals({"weights": [1, 0.5]}, "weights").tolist()
    [1.0, 0.5]
    >>> reals({"weights": [1, float("nan")]}, "weights")
    Traceback (most recent call last):
        ...
    treemean.errors.FormatError: 'weights' holds something other than finite numbers
    """
    return _reals(_list(data, name), name)


def flag(data: Mapping[str, Any], name: str) -> bool:
    """Return true or false."""
    value = data[name]
    if not isinstance(value, bool):
        raise FormatError(f"{name!r} is neither true nor false")
    return value


def wholes(data: Mapping[str, Any], name: str) -> NDArray[np.int64]:
    """Return a list of whole numbers as an array."""
    values = _list(data, name)
    if not all(type(value) is int and abs(value) < 2**62 for value in values):
        raise FormatError(f"{name!r} holds something other than whole numbers")
    return np.array(values, dtype=np.int64)


def texts(data: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """Return a list of names that can be shown on a terminal."""
    values = _list(data, name)
    if not all(isinstance(value, str) and value.isprintable() for value in values):
        raise FormatError(f"{name!r} holds something other than printable names")
    return tuple(values)


def _list(data: Mapping[str, Any], name: str) -> list[Any]:
    values = data[name]
    if not isinstance(values, list):
        raise FormatError(f"{name!r} is not a list")
    return values


def _reals(values: list[Any], name: str) -> NDArray[np.float64]:
    numbers = all(type(value) in (int, float) and abs(value) < 1e300 for value in values)
    if not numbers:  # NaN is not smaller than anything either
        raise FormatError(f"{name!r} holds something other than finite numbers")
    return np.array(values, dtype=np.float64)
