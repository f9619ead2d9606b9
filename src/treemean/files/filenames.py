"""Which texts can be names of files at all: those that come from files of others may be anything."""

from __future__ import annotations

import os

from treemean.errors import TreemeanError


def can_be_name(name: str) -> bool:
    """Tell whether a file can have a name, or a path, as far as its characters are concerned.

    >>> can_be_name("a.dbr"), can_be_name("a\\0b"), can_be_name("\\ud800")
    (True, False, False)
    """
    try:
        return b"\0" not in os.fsencode(name)
    except UnicodeEncodeError:
        return False


def check_name(name: str) -> None:
    """Raise `TreemeanError` for what cannot be a name, where Python would raise an error of its own."""
    if not can_be_name(name):
        raise TreemeanError(
            f"{name!r}: no file can have this name; it has a zero byte, or a character that cannot be encoded"
        )


def name_as_text(name: str) -> str:
    """Return a name as text that every file can hold: names of files need not be UTF-8.

    >>> name_as_text("caf\\udce9.dbr")
    'caf\\\\xe9.dbr'
    """
    return os.fsencode(name).decode("utf-8", "backslashreplace")
