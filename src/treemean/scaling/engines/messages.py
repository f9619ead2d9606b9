"""What travels between processes: JSON, and nothing that runs when it is read.

A call is the name of a function and what all its tasks share. Values are written like this:

    None, truth values, numbers, texts, lists     as JSON has them; NaN and infinities as NaN, Infinity
    dictionaries with texts as keys               as JSON has them
    {"$": "tuple", "of": […]}                     tuples; likewise "frozenset"
    {"$": "counter", "of": [[key, count], …]}     counters; likewise "dictionary", for other keys
    {"$": "bytes", "of": "aGVq"}                  bytes, as Base64
    {"$": "array", "type": "int64", "of": […]}    arrays of one dimension
    {"$": "treemean.module:Class", "of": {…}}     dataclasses by their fields, tuples with names likewise

Only classes of this package are built again, and only dataclasses and named tuples: from their fields, as
anybody would build them.
"""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache, lru_cache
from importlib import import_module
from typing import Any

import numpy as np

_MARK = "$"
_PACKAGE = "treemean"


class NotPlain(TypeError):
    """A value that cannot be sent to another process."""


def dumps(value: Any) -> bytes:
    """Return a value as bytes.

    >>> dumps({"names": ("a", "b")})
    b'{"names":{"$":"tuple","of":["a","b"]}}'
    >>> loads(dumps({"names": ("a", "b")}))
    {'names': ('a', 'b')}
    """
    return json.dumps(encoded(value), ensure_ascii=False, separators=(",", ":")).encode(
        "utf-8", "surrogatepass"
    )


def loads(data: bytes) -> Any:
    """Return what `dumps` was given; raises `ValueError` for anything else."""
    try:
        return decoded(json.loads(data.decode("utf-8", "surrogatepass")))
    except RecursionError as error:
        raise ValueError("not a plain value: nested too deeply") from error


def dump_call(function: Callable[[Any, Any], Any], shared: Any) -> bytes:
    """Return a function, by its name, and what its tasks share."""
    name = f"{function.__module__}:{function.__qualname__}"
    try:
        found = _named(name)
    except (ImportError, AttributeError):
        found = None
    if found is not function or function.__module__ == "__main__":
        raise NotPlain(f"other processes cannot import {name}: give a function of a module")
    return dumps([name, shared])


@lru_cache(maxsize=2)
def load_call(data: bytes) -> tuple[Callable[[Any, Any], Any], Any]:
    """Return the function and the shared value of a call; that of the last ones is kept."""
    name, shared = loads(data)
    function: Callable[[Any, Any], Any] = _named(name)
    return function, shared


def _named(name: str) -> Any:
    module, _, inside = name.partition(":")
    if not inside.isidentifier():
        raise AttributeError(f"{name} is not the name of something in a module")
    return getattr(import_module(module), inside)


def encoded(value: Any) -> Any:
    """Return a value as JSON-ready data."""
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if type(value) is list:
        return [encoded(one) for one in value]
    if type(value) is tuple:
        return {_MARK: "tuple", "of": [encoded(one) for one in value]}
    if isinstance(value, Counter):
        return {_MARK: "counter", "of": _pairs(value)}
    if isinstance(value, Mapping):
        if all(type(key) is str for key in value) and _MARK not in value:
            return {key: encoded(one) for key, one in value.items()}
        return {_MARK: "dictionary", "of": _pairs(value)}
    if type(value) is bytes:
        return {_MARK: "bytes", "of": base64.b64encode(value).decode("ascii")}
    if isinstance(value, set | frozenset):
        return {_MARK: "frozenset", "of": sorted((encoded(one) for one in value), key=repr)}
    if isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "iufb":
        return {_MARK: "array", "type": value.dtype.name, "of": value.tolist()}
    kind = type(value)
    name = f"{kind.__module__}:{kind.__qualname__}"
    if name.startswith(f"{_PACKAGE}."):
        if is_dataclass(value):
            own = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
            return {_MARK: name, "of": {field: encoded(one) for field, one in own.items()}}
        if isinstance(value, tuple) and hasattr(value, "_asdict"):
            return {_MARK: name, "of": {field: encoded(one) for field, one in value._asdict().items()}}
    raise NotPlain(f"a {kind.__name__} is not sent to other processes")


def _pairs(value: Mapping[Any, Any]) -> list[list[Any]]:
    return [[encoded(key), encoded(one)] for key, one in value.items()]


def decoded(data: Any) -> Any:
    """Return what `encoded` was given; raises `ValueError` for anything else."""
    try:
        return _decoded(data)
    except (KeyError, TypeError, AttributeError, ImportError) as error:
        raise ValueError(f"not a plain value: {error!r}") from error


def _decoded(data: Any) -> Any:
    if isinstance(data, list):
        return [_decoded(one) for one in data]
    if not isinstance(data, dict):
        return data
    if _MARK not in data:
        return {key: _decoded(one) for key, one in data.items()}
    kind, of = data[_MARK], data["of"]
    if kind == "tuple":
        return tuple(_decoded(one) for one in of)
    if kind == "frozenset":
        return frozenset(_decoded(one) for one in of)
    if kind == "counter":
        return Counter({_decoded(key): count for key, count in of})
    if kind == "dictionary":
        return {_decoded(key): _decoded(one) for key, one in of}
    if kind == "bytes":
        return base64.b64decode(of, validate=True)
    if kind == "array":
        return np.array(of, dtype=np.dtype(data["type"]))
    return _class(kind)(**{field: _decoded(one) for field, one in of.items()})


def name_of(kind: type) -> str:
    """Return module and name of a class, or of the nearest above it that this package has."""
    ours = next(base for base in kind.__mro__ if base.__module__.startswith(f"{_PACKAGE}."))
    return f"{ours.__module__}:{ours.__qualname__}"


def class_of(name: str) -> type:
    """Return a class of this package by module and name; raises `TypeError` for anything else."""
    found = _named(name) if name.startswith(f"{_PACKAGE}.") else None
    if not isinstance(found, type):
        raise TypeError(f"{name} is not a class of {_PACKAGE}")
    return found


@cache
def _class(name: str) -> Any:
    found = class_of(name)
    if not is_dataclass(found) and not hasattr(found, "_asdict"):
        raise TypeError(f"{name} is no class of plain fields")
    return found
