"""Runs that are really killed, at any moment, and disks that are really full."""

from __future__ import annotations

import errno
import os
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

import treemean.training.checkpoints
from commands import python
from parser_instances import tiny_config, write_instance
from training_instances import CONTINUOUS, ended, in_child, interrupted, metrics, model_bytes
from treemean.errors import FormatError, TreemeanError
from treemean.training import train

torch.set_num_threads(1)


def outcome(folder: Path) -> tuple:
    """Return the bytes of the model and the metrics without times."""
    return model_bytes(folder), metrics(folder)


def dying_at(number: int, after: bool):
    """Return a process's work: train, and be killed right before or after the n-th file gets its name."""

    def work(config, folder):
        replace, count = os.replace, 0

        def counted(*paths):
            nonlocal count
            count += 1
            if count == number and not after:
                os.kill(os.getpid(), signal.SIGKILL)
            replace(*paths)
            if count == number:
                os.kill(os.getpid(), signal.SIGKILL)

        os.replace = counted
        train(config, folder)

    return work


def test_killed_between_any_two_files(tmp_path):
    """Every file that a run writes takes its name in one step: try to die before and after each of them."""
    config = tiny_config(tmp_path, "checkpoint.steps=6", *CONTINUOUS)
    train(config, tmp_path / "whole")
    kills = 0
    for number in range(1, 30):
        code = ended(in_child(lambda n=number: dying_at(2 + n % 7, n % 2 == 0)(config, tmp_path / "parts")))
        if code == 0:
            break
        assert code == -signal.SIGKILL
        kills += 1
    assert kills > 6
    assert outcome(tmp_path / "parts") == outcome(tmp_path / "whole")


def test_killed_at_random_moments(tmp_path):
    config = tiny_config(tmp_path, *CONTINUOUS)
    train(config, tmp_path / "whole")
    moments = random.Random(5)
    for _ in range(6):
        child = in_child(lambda: train(config, tmp_path / "parts"))
        time.sleep(moments.uniform(0.0, 0.2))
        os.kill(child, signal.SIGKILL)
        if ended(child) == 0:
            break
    train(config, tmp_path / "parts")
    assert outcome(tmp_path / "parts") == outcome(tmp_path / "whole")


@pytest.mark.slow
def test_the_program_is_killed_and_started_again(tmp_path):
    config = write_instance(tmp_path)
    command = ["-m", "treemean.training", str(config), "--run", "1", "--folder"]
    python(*command, tmp_path / "whole")
    moments = random.Random(7)
    for _ in range(5):
        process = subprocess.Popen(
            [sys.executable, *command, str(tmp_path / "parts")], stdout=subprocess.PIPE
        )
        assert process.stdout is not None
        process.stdout.readline()  # it has begun to learn
        time.sleep(moments.uniform(0.0, 0.5))
        process.kill()
        process.communicate()
    python(*command, tmp_path / "parts")
    assert outcome(tmp_path / "parts") == outcome(tmp_path / "whole")


def test_a_full_disk_is_told_and_nothing_is_lost(tmp_path, monkeypatch):
    config = tiny_config(tmp_path, *CONTINUOUS)
    train(config, tmp_path / "whole")
    write, count = treemean.training.checkpoints.write_tensors, 0

    def full(tensors, path):
        nonlocal count
        count += 1
        if count == 4:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        return write(tensors, path)

    monkeypatch.setattr(treemean.training.checkpoints, "write_tensors", full)
    with pytest.raises(TreemeanError, match=r"step \d+ cannot be written: .*No space left.*Nothing is lost"):
        train(config, tmp_path / "parts")
    monkeypatch.undo()
    train(config, tmp_path / "parts")
    assert outcome(tmp_path / "parts") == outcome(tmp_path / "whole")


def test_files_that_must_not_grow_are_told(tmp_path, capfd):
    """A limit of the operating system in place of a full disk: every file over it fails half-way."""
    config = tiny_config(tmp_path, *CONTINUOUS)
    train(config, tmp_path / "whole")

    def limited(limit, after):
        def watch(event):
            if event.kind == "step" and event.step > after:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        def work():
            sys.dont_write_bytecode = True  # it would be cut off, too, and kept
            if not after:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            train(config, tmp_path / "parts", progress=watch)

        return work

    for limit, after in (
        (4_000, 0),
        (20_000, 0),
        (20_000, 3),
    ):  # the corpus, the first checkpoint, a later one
        assert ended(in_child(limited(limit, after))) == 1, (limit, after)
        assert "File too large" in capfd.readouterr().err
    train(config, tmp_path / "parts")
    assert outcome(tmp_path / "parts") == outcome(tmp_path / "whole")


def test_a_damaged_corpus_is_refused(tmp_path):
    config = tiny_config(tmp_path, *CONTINUOUS)
    interrupted(config, tmp_path / "out", 1)
    path = tmp_path / "out" / "corpus" / "numbers.npz"
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(FormatError, match=r"the prepared corpus is damaged \(numbers.npz is not as it was"):
        train(config, tmp_path / "out")
