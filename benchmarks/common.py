"""What all benchmarks share: data, times, a budget, and parts that may fail alone. Needs no PyTorch."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Sequence
from pathlib import Path

from treemean.reporting.tables import Cell, Table

ROOT = Path(__file__).parents[1]
_failed: list[str] = []


def data_folder() -> Path | None:
    """Return the folder with real data, or None if it is absent."""
    folder = Path(os.environ.get("TREEMEAN_DATA", ROOT.parent / "shared" / "data"))
    return folder if folder.is_dir() else None


def times(
    task: Callable[[], object], repeats: int, clock: Callable[[], float] = time.perf_counter
) -> list[float]:
    """Return the seconds of some repetitions, ascending: the first was disturbed least by other work."""
    found = []
    for _ in range(repeats):
        start = clock()
        task()
        found.append(clock() - start)
    return sorted(found)


def show(columns: Sequence[str], rows: Sequence[Sequence[Cell]], title: str = "") -> None:
    """Print a table."""
    print(f"{Table(columns, rows, title).to_markdown()}\n", flush=True)


class Budget:
    """Seconds that a program may take."""

    def __init__(self, seconds: float) -> None:
        self._start, self._seconds = time.monotonic(), seconds

    def left(self) -> float:
        return self._seconds - (time.monotonic() - self._start)

    def __str__(self) -> str:
        return f"[{time.monotonic() - self._start:.0f} s]"


def fail(name: str) -> None:
    """Take note that a part failed."""
    print(f"FAILED: {name}", flush=True)
    _failed.append(name)


def exit_if_failed() -> None:
    """End with an error that names the parts that failed, if some did."""
    if _failed:
        sys.exit(f"failed: {', '.join(_failed)}")


def run_part(module: str, part: str, seconds: float, options: Namespace, limit: float | None = None) -> int:
    """Call a program for one part in a process of its own; return its exit code, -1 if it was ended.

    Parameters
    ----------
    seconds : of which it is told; after `limit` it is ended.
    options : all else that it is told.
    """
    given = vars(options) | {"part": part, "seconds": round(seconds)}
    words = [word for override in given.pop("override") for word in ("--override", override)]
    for name, value in given.items():
        words += [f"--{name}", *map(str, value if isinstance(value, list) else [value])]
    try:
        return subprocess.run([sys.executable, "-m", module, *words], timeout=limit, check=False).returncode
    except subprocess.TimeoutExpired:
        return -1
