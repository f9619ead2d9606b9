"""Every worker that wants a GPU has one of its own. The GPUs are made up: only who sees which is tested."""

from __future__ import annotations

import os
import time

import pytest

from treemean.scaling.engines import local, open_engine


def device_of(shared: str, task: int) -> list[object]:
    """Return what a worker sees; the first tasks take a moment, so that all workers get some."""
    time.sleep(0.2 if task < 4 else 0)
    return [os.environ.get("CUDA_VISIBLE_DEVICES"), os.getpid(), f"{shared} {task}"]


def test_every_worker_has_a_gpu_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "visible_gpus", lambda: ["3", "5"])
    with open_engine("local", workers=3) as engine:
        found = dict(engine.map(device_of, "task", range(8), gpu=True))
        assert [found[number][2] for number in range(8)] == [f"task {number}" for number in range(8)]
        assert {device for device, *_ in found.values()} == {"3", "5"}  # no more workers than GPUs
        assert len({(device, process) for device, process, _ in found.values()}) == 2
        assert os.getpid() not in {process for _, process, _ in found.values()}
        # Tasks that want none are given to other processes, which see what this one does.
        plain = dict(engine.map(device_of, "task", range(4)))
        assert {device for device, *_ in plain.values()} == {os.environ.get("CUDA_VISIBLE_DEVICES")}


def test_a_single_gpu_is_that_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "visible_gpus", lambda: ["0"])
    with open_engine("local", workers=1) as engine:
        assert {process for _, (_, process, _) in engine.map(device_of, "", range(2), gpu=True)} == {
            os.getpid()
        }
