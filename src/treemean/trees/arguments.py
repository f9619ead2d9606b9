"""Checks of what users pass to functions of trees and treebanks."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any, TypeVar, cast

from treemean.errors import InvalidTree, WrongType, check_type

Function = TypeVar("Function", bound=Callable[..., Any])


def takes(kind: type) -> Callable[[Function], Function]:
    """Let a function raise `WrongType` if its first argument is of another type.

    >>> @takes(str)
    ... def shout(text):
    ...     return text.upper()
    >>> shout(5)
    Traceback (most recent call last):
    treemean.errors.WrongType: the text of shout must be a str, not a int
    """

    def decorate(function: Function) -> Function:
        first = next(iter(inspect.signature(function).parameters))
        name = f"the {first} of {function.__name__}"

        @wraps(function)
        def checked(*args: Any, **kwargs: Any) -> Any:
            if args or first in kwargs:
                check_type(name, args[0] if args else kwargs[first], kind)
            return function(*args, **kwargs)

        return cast(Function, checked)

    return decorate


def per_word(name: str, given: Sequence[str] | None, words: Sequence[str]) -> tuple[str, ...]:
    """Return one text per word, empty ones if none are given."""
    if given is None:
        return ("",) * len(words)
    if isinstance(given, str):
        raise WrongType(f"{name} must be a sequence of strings, not one string")
    found = texts(name, given)
    if len(found) != len(words):
        raise InvalidTree(f"{len(found)} {name} for {len(words)} words")
    return found


def texts(name: str, given: Iterable[str]) -> tuple[str, ...]:
    """Return texts as a tuple; raise `WrongType` if one of them is none."""
    check_type(name, given, Iterable)
    found = tuple(given)
    try:
        "".join(found)  # the fastest way to look at all of them
    except TypeError:
        number, bad = next((n, text) for n, text in enumerate(found, 1) if not isinstance(text, str))
        raise WrongType(f"number {number} of the {name} is {bad!r}, which is no text") from None
    return found
