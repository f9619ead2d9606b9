"""Checks of what users pass to functions of trees and treebanks."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from treemean.errors import check_type

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
