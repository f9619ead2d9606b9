"""Locks on files hold between processes and between files that one process has open, on every system."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any

import pytest

from treemean.files import locks

HOLDER = """
import sys, time
from treemean.files.locks import lock
file = open(sys.argv[1], "w")
lock(file)
print("held", flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("end", ["kill", "terminate"])
def test_another_process_holds_a_lock_until_it_ends(tmp_path: Path, end: str) -> None:
    path = tmp_path / ".lock"
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE, text=True
    ) as holder:
        try:
            assert holder.stdout is not None
            assert holder.stdout.readline() == "held\n"
            with open(path) as file:
                assert not locks.try_lock(file)
                getattr(holder, end)()
                holder.wait()
                assert locks.try_lock(file)
        finally:
            holder.kill()


def test_a_lock_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / ".lock"
    events = []
    with open(path, "w") as first:
        locks.lock(first)

        def wait() -> None:
            with open(path) as second:
                locks.lock(second)
                events.append("second")

        waiting = threading.Thread(target=wait)
        waiting.start()
        time.sleep(5 * locks._PATIENCE)
        events.append("first")
    waiting.join(10)
    assert events == ["first", "second"]


def test_locks_where_there_is_no_fcntl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There the first byte is locked, by the number of the open file; a refusal is a PermissionError."""
    holder: list[int] = []

    def locking(number: int, mode: str, count: int) -> None:
        assert (mode, count) == ("not waiting", 1)
        if holder:
            raise PermissionError(13, "Permission denied")
        holder.append(number)

    monkeypatch.setattr(locks.sys, "platform", "win32")
    monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(LK_NBLCK="not waiting", locking=locking))
    monkeypatch.setitem(sys.modules, "fcntl", None)

    def opened() -> IO[Any]:
        return open(tmp_path / ".lock", "w")

    with opened() as first, opened() as second:
        assert locks.try_lock(first)
        assert holder == [first.fileno()]
        assert not locks.try_lock(second)
        holder.clear()
        locks.lock(second)
        assert holder == [second.fileno()]


def test_other_trouble_is_told(tmp_path: Path) -> None:
    file = open(tmp_path / ".lock", "w")  # noqa: SIM115 - closed on purpose
    file.close()
    with pytest.raises(ValueError, match="closed"):
        locks.try_lock(file)
