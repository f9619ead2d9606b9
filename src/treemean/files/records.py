"""Data from JSON files back into the dataclasses that they were, checked on the way."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import is_dataclass
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

Record = TypeVar("Record")


def record(kind: type[Record], data: Any) -> Record:
    """Make a dataclass from what `asdict` returned, also by way of JSON, where keys are texts.

    Raises `ValueError`, which names the place, unless there are exactly its fields, each of its type. Whole
    numbers are counts and must not be negative.

    >>> from dataclasses import make_dataclass
    >>> record(make_dataclass("Sums", [("count", int)]), {"count": -1})
    Traceback (most recent call last):
    ValueError: count cannot be -1
    """
    return cast(Record, _value(kind, data, ""))


def _value(kind: Any, data: Any, name: str) -> Any:
    origin, options = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):  # with None, always
        (given,) = (option for option in options if option is not types.NoneType)
        return None if data is None else _value(given, data, name)
    if is_dataclass(kind) and isinstance(data, Mapping):
        hints = get_type_hints(kind)
        if unmatched := sorted(hints.keys() ^ data.keys()):
            raise ValueError(f"missing or unknown: {', '.join(_inside(name, key) for key in unmatched)}")
        return cast(Any, kind)(**{key: _value(hints[key], data[key], _inside(name, key)) for key in hints})
    if origin is dict and isinstance(data, Mapping):
        return {int(key): _value(options[1], item, _inside(name, key)) for key, item in data.items()}
    if not _fits(origin or kind, data):
        raise ValueError(f"{name or 'the whole'} cannot be {data!r}")
    return data


def _fits(kind: Any, data: Any) -> bool:
    if is_dataclass(kind) or kind is dict:
        return False
    if kind in (int, float) and isinstance(data, bool):
        return False
    if kind is int:
        return isinstance(data, int) and data >= 0
    return isinstance(data, int | float if kind is float else kind)


def _inside(name: str, key: Any) -> str:
    return f"{name}.{key}" if name else str(key)
