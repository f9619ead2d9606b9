"""Measuring: machines are noisy, so speed is stated as a ratio of best times within one run."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path


def best_time(action: Callable[[], object], repeats: int = 3) -> float:
    """Return the shortest of several times, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


def data_folder() -> Path | None:
    """Return the folder with real data, or None if it is absent."""
    default = Path(__file__).parents[1].parent / "shared" / "data"
    folder = Path(os.environ.get("TREEMEAN_DATA", default))
    return folder if folder.is_dir() else None
