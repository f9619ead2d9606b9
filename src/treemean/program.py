"""How the programs of the package begin and end: signals, warnings, and errors of the system in one line."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from treemean.errors import reason_of

#: Exit codes of a program that was ended by Ctrl-C, or by a request to end.
INTERRUPTED, TERMINATED = 130, 143
#: The exit code of a program that did a part of its work and will go on when it is called again.
STOPPED = 75
#: Standard output, as the system knows it.
_OUTPUT = 1

_PACKAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")
_show_in_full = warnings.showwarning


def begin() -> None:
    """Prepare the process of a program: a request to end ends it in order, warnings are lines for people."""
    signal.signal(signal.SIGTERM, _terminate)
    warnings.showwarning = _show_warning


@contextmanager
def starting() -> Iterator[None]:
    """Let signals end the program at once while it imports what it needs.

    Nothing is lost then; and packages that are interrupted while they are imported may say that they are
    missing or broken.
    """
    before = {}
    for number, code in ((signal.SIGINT, INTERRUPTED), (signal.SIGTERM, TERMINATED)):
        if signal.getsignal(number) != signal.SIG_IGN:
            before[number] = signal.signal(number, lambda *_, code=code: os._exit(code))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def describe_system_error(error: OSError) -> str:
    """Return what the system says, and of which file.

    Errors of open files do not name them. Whether it is standard output is found by writing an empty line.

    >>> describe_system_error(FileNotFoundError(2, "No such file or directory", "a.txt"))
    'a.txt: No such file or directory'
    """
    name = error.filename
    if name is None:
        try:
            os.write(_OUTPUT, b"\n")
        except OSError:
            name = "standard output"
            abandon_output()
    reason = reason_of(error)
    return reason if name is None else f"{os.fsdecode(name)}: {reason}"


def abandon_output() -> None:
    """Send to nowhere what is left for standard output: Python would try to write it once more at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), _OUTPUT)


def _terminate(*_: object) -> None:
    """End in order: what is open is closed, and unfinished files are removed."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # once is enough
    sys.exit(TERMINATED)


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Show what the package warns of as one plain line, and everything else as Python does."""
    if issubclass(category, RuntimeWarning) and os.path.abspath(filename).startswith(_PACKAGE):
        print(f"warning: {message}", file=file or sys.stderr, flush=True)
    else:
        _show_in_full(message, category, filename, lineno, file, line)
