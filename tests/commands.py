"""The command line, run as a user runs it: in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


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
