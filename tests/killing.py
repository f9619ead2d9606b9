"""Killing the processes of a job at random moments, and letting the same command go on."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

#: Seconds without which a job is thought to hang.
PATIENCE = 300


def children_of(parent: int) -> list[int]:
    """Return the processes that a process has started."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:  # gone meanwhile
                continue
            if int(fields[1]) == parent:
                found.append(int(entry.name))
    return found


def start(command: Sequence[object], log: Path) -> subprocess.Popen[bytes]:
    """Start `treemean` with arguments."""
    with open(log, "ab") as stream:
        return subprocess.Popen(
            [sys.executable, "-m", "treemean", *map(str, command)], stdout=stream, stderr=stream
        )


def kill_again_and_again(
    command: Sequence[object],
    folder: Path,
    kills: int,
    rng: random.Random,
    log: Path,
    *,
    workers: bool = True,
) -> int:
    """Run a command until it is done, and kill it, or one of its workers, so many times on the way.

    A kill comes at a moment after the folder has changed so many times as a random number tells, so that all
    stages are hit whatever the speed of the machine. Without `workers` only the driver is killed. Returns how
    many kills there were.
    """
    killed = 0
    while True:
        process = start(command, log)
        wanted = rng.randrange(6)
        while killed < kills and process.poll() is None:
            if not _wait_for_changes(process, folder, wanted):
                break
            time.sleep(rng.random() * 0.02)
            children = children_of(process.pid) if workers else []
            if children and rng.random() < 0.5:
                killed += kill(rng.choice(children))  # the same command notices, and goes on
                wanted = rng.randrange(4)
                continue
            process.kill()
            killed += 1
        code = process.wait(PATIENCE)
        if code == 0:
            return killed
        assert code == -signal.SIGKILL, log.read_text()


def kill(process: int) -> bool:
    """Kill a process; return False if it was gone already."""
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def _wait_for_changes(process: subprocess.Popen[bytes], folder: Path, count: int) -> bool:
    """Wait until names in a folder have changed so many times; return False if the process ended before."""
    seen = _names(folder)
    begun = time.monotonic()
    while count and process.poll() is None:
        assert time.monotonic() - begun < PATIENCE
        now = _names(folder)
        count -= now != seen
        seen = now
        time.sleep(0.001)
    return process.poll() is None


def _names(folder: Path) -> set[str]:
    try:
        return {name for _, folders, files in os.walk(folder) for name in (*folders, *files)}
    except OSError:
        return set()
