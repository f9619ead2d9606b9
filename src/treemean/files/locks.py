"""Locks on open files that other processes respect; a lock ends with its file closed or its process gone."""

from __future__ import annotations

import sys
import time
from importlib import import_module
from typing import IO, Any

#: Seconds between two looks whether a lock is free.
_PATIENCE = 0.01


def try_lock(file: IO[Any]) -> bool:
    """Lock a file as long as it is open, if nobody else has; return whether that could be done."""
    return _locked_on_windows(file) if sys.platform == "win32" else _locked_on_unix(file)


def lock(file: IO[Any]) -> None:
    """Wait until nobody else has locked a file, and lock it as long as it is open."""
    while not try_lock(file):
        time.sleep(_PATIENCE)


def _locked_on_unix(file: IO[Any]) -> bool:
    fcntl: Any = import_module("fcntl")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _locked_on_windows(file: IO[Any]) -> bool:
    msvcrt: Any = import_module("msvcrt")
    file.seek(0)
    try:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # a byte that need not be there
    except PermissionError:
        return False
    return True
