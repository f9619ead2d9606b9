"""How the programs of the package begin and end: signals, warnings, and errors of the system in one line."""

from __future__ import annotations

import io
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

from treemean.errors import TreemeanError, reason_of
from treemean.printing import harmless, harmless_message

#: Exit codes of a program that was ended by Ctrl-C, or by a request to end.
INTERRUPTED, TERMINATED = 130, 143
#: The exit code of a program that did a part of its work and will go on when it is called again.
STOPPED = 75
#: The standard streams, as the system knows them.
_INPUT, _OUTPUT, _ERRORS = 0, 1, 2
#: Widths of a terminal that lines are laid out for, whatever the environment says.
_NARROWEST, _WIDEST = 20, 10_000

_PACKAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")
_show_in_full = warnings.showwarning


def begin() -> None:
    """Prepare the process of a program, whatever its surroundings are.

    A request to end ends it in order, and warnings are lines for people. Standard streams that are closed
    become streams that say so when they are used; what an encoding cannot express is written out; and a width
    of the terminal that cannot be right is not believed.
    """
    signal.signal(signal.SIGTERM, _terminate)
    warnings.showwarning = _show_warning
    _open_closed_streams()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    for name in ("COLUMNS", "LINES", "TERMINAL_WIDTH"):
        if name in os.environ and not _is_size(os.environ[name], _NARROWEST if name != "LINES" else 1):
            del os.environ[name]


def _open_closed_streams() -> None:
    """Put something in the place of closed standard streams: otherwise files that are opened take it.

    Input and output are opened the wrong way round, so that whoever uses them is told. Errors go nowhere:
    there is no place where to tell of them.
    """
    if sys.stdin is None:
        sys.stdin = os.fdopen(_opened_as(_INPUT, os.O_WRONLY), "r")
    if sys.stdout is None:
        sys.stdout = os.fdopen(_opened_as(_OUTPUT, os.O_RDONLY), "w")
    if sys.stderr is None:
        sys.stderr = os.fdopen(_opened_as(_ERRORS, os.O_WRONLY), "w")


def _opened_as(number: int, mode: int) -> int:
    """Open nothing under the number of a stream, or under another one if that is taken meanwhile."""
    opened = os.open(os.devnull, mode)
    try:
        os.fstat(number)
    except OSError:
        os.dup2(opened, number)
        os.close(opened)
        return number
    return opened


def _is_size(text: str, least: int) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 9 and least <= int(text) <= _WIDEST


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


def run(work: Callable[[], int | None], complain: Callable[[str], None]) -> int:
    """Do the work of a program and return its exit code; what a user can cause ends in one clear line.

    Parameters
    ----------
    work : may return an exit code.
    complain : tells an error.
    """
    try:
        try:
            return work() or 0
        finally:
            sys.stdout.flush()  # as long as it can be told that this fails
    except TreemeanError as error:
        complain(str(error))
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader of our output went away
        abandon_output()
    except OSError as error:  # a folder that cannot be made, a full disk
        complain(describe_system_error(error))
    except (MemoryError, RuntimeError, ImportError) as error:
        if not is_lack_of_memory(error):
            raise
        complain(describe_lack_of_memory(error))
    return 1


def complain(message: str) -> None:
    """Tell of an error in one line, and what it quotes in lines below."""
    print(f"error: {harmless_message(message)}", file=sys.stderr, flush=True)


def is_lack_of_memory(error: BaseException) -> bool:
    """Tell whether memory ran out; of PyTorch and of libraries that cannot be loaded only the text tells."""
    told = ("allocate memory", "out of memory", "failed to map segment", "can't start new thread")
    return isinstance(error, MemoryError) or any(text in str(error) for text in told)


def describe_lack_of_memory(error: BaseException) -> str:
    """Return what to tell when memory ran out.

    >>> describe_lack_of_memory(MemoryError())
    'there is not enough memory for this'
    """
    details = str(error).strip().splitlines()
    return "there is not enough memory for this" + (f" ({details[0]})" if details else "")


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
    with suppress(OSError, ValueError):  # closed streams have another number
        sys.stdout.flush()


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
        print(f"warning: {harmless(str(message))}", file=file or sys.stderr, flush=True)
    else:
        _show_in_full(message, category, filename, lineno, file, line)
