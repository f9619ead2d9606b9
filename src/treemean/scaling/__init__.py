"""Millions of sentences: jobs over shards, by processes of a machine or a cluster; see docs/scaling.md."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from treemean.scaling.api import average, convert, evaluate, parse
    from treemean.scaling.conversion import Conversion
    from treemean.scaling.engines import Engine, open_engine
    from treemean.scaling.jobs import Done

__all__ = ["Conversion", "Done", "Engine", "average", "convert", "evaluate", "open_engine", "parse"]

_HOMES = {
    "api": ("average", "convert", "evaluate", "parse"),
    "conversion": ("Conversion",),
    "engines": ("Engine", "open_engine"),
    "jobs": ("Done",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Load a name when it is first used: engines are also wanted where the rest cannot be imported."""
    if name not in _HOME_OF:
        raise AttributeError(f"module 'treemean.scaling' has no attribute {name!r}")
    return getattr(import_module(f"treemean.scaling.{_HOME_OF[name]}"), name)
