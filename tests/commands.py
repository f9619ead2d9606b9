"""The command line, as a user runs it: inside this process, which is quick, or in one of its own."""

from __future__ import annotations

import contextlib
import io
import os
import resource
import signal
import subprocess
import sys
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock


def run(
    *arguments: object, cwd: Path | None = None, code: int = 0, text: str | None = None, columns: int = 120
) -> subprocess.CompletedProcess[str]:
    """Run `treemean` with arguments; it must end with an exit code, and never with a traceback.

    It runs in this process, so that packages are imported and commands are built once for all tests. What
    is about processes takes `run_in_process`: signals, pipes, what is imported, what may depend on a process.

    Parameters
    ----------
    arguments : made strings.
    cwd : the current folder of the command.
    code : the exit code that is expected.
    text : what it reads as its standard input.
    columns : the width of the terminal, which has no colours.
    """
    from treemean.cli import main

    words = ["treemean", *map(str, arguments)]
    streams = [_stream(text or ""), _stream(), _stream()]
    with (
        contextlib.chdir(cwd or "."),
        mock.patch.dict(os.environ, _terminal(columns)),
        mock.patch.object(sys.modules["__main__"], "__package__", None),  # or usage would name pytest
        mock.patch("typer.main.get_command", _built()),
        mock.patch.multiple(sys, argv=words, stdin=streams[0], stdout=streams[1], stderr=streams[2]),
        _signals_and_warnings_of_a_program(),
    ):
        try:
            main()
            ended = 0
        except SystemExit as end:
            ended = end.code or 0
    said = [_text(stream) for stream in streams[1:]]
    return _checked(subprocess.CompletedProcess(words, ended, *said), code)


def run_in_process(
    *arguments: object, cwd: Path | None = None, code: int = 0, columns: int = 120
) -> subprocess.CompletedProcess[str]:
    """Do the same in a process of its own."""
    environment = {**os.environ, **_terminal(columns)}
    return _checked(python("-m", "treemean", *arguments, code=code, cwd=cwd, env=environment), code)


def python(*arguments: object, code: int = 0, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run Python in a process of its own, which must end with an exit code."""
    return program(sys.executable, *arguments, code=code, **options)


def program(*words: object, code: int = 0, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a program, which must end with an exit code."""
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False, **options)
    assert done.returncode == code, done.stderr
    return done


def without_room(size: int) -> dict[str, Any]:
    """Return options of a program whose files cannot have more bytes, as on a full disk.

    What Python compiles would be cut off, too, and kept; `make coverage` would have no room for its counts.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    return {
        "env": environment,
        "preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
    }


def _checked(result: subprocess.CompletedProcess[str], code: int) -> subprocess.CompletedProcess[str]:
    assert result.returncode == code, result.stderr
    assert "Traceback" not in result.stderr
    return result


@contextlib.contextmanager
def started(*words: object, **options: Any) -> Iterator[subprocess.Popen[str]]:
    """Start a program that a test will interrupt; it does not outlive the test, however that ends.

    Programs inherit that SIGINT is ignored if the tests themselves run in the background of a shell.
    """
    options["preexec_fn"] = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen(list(map(str, words)), text=True, **options) as process:
        try:
            yield process
        finally:
            process.kill()


@cache
def _built() -> Any:
    """Return what builds all commands from their functions, which takes longer than most of them."""
    import typer.main

    return cache(typer.main.get_command)


def _terminal(columns: int) -> dict[str, str]:
    return {"COLUMNS": str(columns), "NO_COLOR": "1", "TERM": "dumb"}


def _stream(text: str = "") -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8", write_through=True)


def _text(stream: io.TextIOWrapper) -> str:
    """Return what was written, although the command may have closed it."""
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode()


@contextlib.contextmanager
def _signals_and_warnings_of_a_program() -> Iterator[None]:
    """Let warnings be what they are outside of tests, and undo what a program does as it begins."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    handlers = [signal.getsignal(number) for number in numbers]
    with warnings.catch_warnings():
        warnings.resetwarnings()
        for category in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning):
            warnings.simplefilter("ignore", category)
        try:
            yield
        finally:
            for number, handler in zip(numbers, handlers):
                signal.signal(number, handler)
