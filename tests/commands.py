"""The command line, run as a user runs it: in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def run(
    *arguments: object, cwd: Path | None = None, code: int = 0, text: str | None = None, columns: int = 120
) -> subprocess.CompletedProcess[str]:
    """Run `treemean` with arguments; it must end with an exit code, and never with a traceback.

    Parameters
    ----------
    arguments : made strings.
    cwd : the current folder of the command.
    code : the exit code that is expected.
    text : what it reads as its standard input.
    columns : the width of the terminal, which has no colours.
    """
    result = subprocess.run(
        [sys.executable, "-m", "treemean", *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "COLUMNS": str(columns), "NO_COLOR": "1", "TERM": "dumb"},
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == code, result.stderr
    assert "Traceback" not in result.stderr
    return result


@contextmanager
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
