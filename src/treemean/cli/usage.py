"""What is said about arguments that are missing or wrong, in our words and not in those of a library."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal, get_args, get_origin

from treemean.errors import nearest

_WANTED = {int: "a whole number", float: "a number"}


def missing(left: str, text: str, kind: Any, example: str) -> str:
    """Return what to say where a parameter is missing.

    Parameters
    ----------
    left, text : how the help shows it, and what it says about it.
    kind : its type, which may be a choice.
    example : a command that has it, or nothing.

    >>> missing("RUN...", "Treebanks of the [cyan]same[/cyan] sentences.", str, "treemean stats a.dbr")
    'RUN... is missing. Treebanks of the same sentences. Example: treemean stats a.dbr'
    """
    plain = re.sub(r"\[/?[a-z]+\]", "", text)  # without the markup of the help
    told = f"{left.strip('[]')} is missing. {plain}"
    if get_origin(kind) is Literal:
        told += f" One of {', '.join(map(str, get_args(kind)))}."
    return f"{told} Example: {example}" if example else told


def wrong_value(kind: Any, least: float | None, most: float | None, given: str | None) -> str | None:
    """Return what is wrong with a value that its parameter does not take; None if we do not know.

    Parameters
    ----------
    kind : the type of the parameter.
    least, most : the bounds of a number.
    given : the value as it was typed, None if unknown.

    >>> wrong_value(Literal["ins", "sign"], None, None, "singn")
    "'singn' is none of ins, sign. Did you mean sign?"
    >>> wrong_value(int, 1, None, "0"), wrong_value(int, 1, None, "x"), wrong_value(float, 0, 1, "2")
    ("'0' is not 1 or more", "'x' is not a whole number", "'2' is not between 0 and 1")
    """
    if given is None:
        return None
    if get_origin(kind) is Literal:
        choices = [*map(str, get_args(kind))]
        return f"{given!r} is none of {', '.join(choices)}{nearest(given, choices)}"
    if kind not in _WANTED:
        return None
    try:
        kind(given)
    except ValueError:
        return f"{given!r} is not {_WANTED[kind]}"
    if least is None:
        return None
    return f"{given!r} is not {f'{least:g} or more' if most is None else f'between {least:g} and {most:g}'}"


def typed_value(names: Sequence[str], arguments: Sequence[str], message: str) -> str | None:
    """Return the value that was typed for an option; of an argument only the library's message tells it.

    >>> typed_value(["--jobs"], ["a.dbr", "--jobs", "x"], ""), typed_value(["--jobs"], ["--jobs=0"], "")
    ('x', '0')
    >>> typed_value([], ["all"], "'al' is not one of 'all', 'main'.")
    'al'
    """
    for place in reversed(range(len(arguments))):
        name, equals, value = arguments[place].partition("=")
        if name in names:
            return value if equals else next(iter(arguments[place + 1 :]), None)
    quoted = re.search(r"'([^']*)' is not one of", message)
    return quoted[1] if quoted else None
