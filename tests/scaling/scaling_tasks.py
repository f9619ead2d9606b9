"""Functions for workers, in a module that takes no time to import: each of their processes imports it."""

from __future__ import annotations

import os

from treemean.errors import FormatError, TreemeanError, Unsolved, WrongType


def leave(code: int, _: None) -> None:
    os._exit(code)


def refuse(what: str, task: int) -> None:
    raise TreemeanError(f"{what} {task}")


def divide(number: float, by: float) -> float:
    return number / by


#: Errors with all that they know.
ERRORS: tuple[TreemeanError, ...] = (
    FormatError("odd", path="a.dbr", line=3, sentence="s7"),
    Unsolved("too hard", sentence=4, id="s4"),
    WrongType("not that"),
)


def fail(_: None, task: int) -> None:
    raise ERRORS[task]


class ErrorOfTests(TreemeanError):
    """One of ours by its base, though not of the package."""


def fail_by_another(_: None, task: int) -> None:
    raise ErrorOfTests(f"number {task}")
