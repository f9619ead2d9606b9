"""Functions for workers, in a module that takes no time to import: each of their processes imports it."""

from __future__ import annotations

import os

from treemean.errors import TreemeanError


def leave(code: int, _: None) -> None:
    os._exit(code)


def refuse(what: str, task: int) -> None:
    raise TreemeanError(f"{what} {task}")


def divide(number: float, by: float) -> float:
    return number / by
