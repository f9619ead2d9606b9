"""Learners that fail in various ways, and what runs leave behind."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from treemean.training import train
from treemean.training.learner import EagerLearner, Request

#: A grammar that draws numbers while it learns.
COMPOUND = ("grammar.kind=c-pcfg", "grammar.ranks=[]", "grammar.discontinuous=0", "grammar.latent=4")

#: One that takes two thirds of the time, where it does not matter which grammar learns.
CONTINUOUS = ("grammar.kind=tn-pcfg", "grammar.ranks=[4, 0, 0, 0]", "grammar.discontinuous=0")


def model_bytes(folder: Path, run: int = 1) -> list[bytes]:
    place = folder / f"run{run:02d}" / "model"
    return [(place / name).read_bytes() for name in ("model.safetensors", "model.json")]


def metrics(folder: Path, run: int = 1) -> list[dict]:
    lines = (folder / f"run{run:02d}" / "metrics.jsonl").read_text().splitlines()
    timed = ("seconds", "words_per_second")
    return [{k: v for k, v in json.loads(line).items() if k not in timed} for line in lines]


def flip(path: Path, bit: int) -> None:
    """Change a bit of a file."""
    data = bytearray(path.read_bytes())
    data[bit // 8 % len(data)] ^= 1 << bit % 8
    path.write_bytes(data)


class Interrupted(Exception):
    pass


class Failing(EagerLearner):
    """A learner that stops the run at some step, makes steps look bad, or breaks its parameters at one.

    Bad steps are so in full precision, too, unless `mended`.
    """

    def __init__(self, *args, stop=math.inf, bad=(), broken=0, mended=False, **options):
        super().__init__(*args, **options)
        self.count, self.stop, self.bad, self.broken, self.mended = 0, stop, bad, broken, mended
        self.bad_steps = set()

    def step(self, request: Request):
        if request.step not in self.bad_steps:  # otherwise it is asked for once more
            self.count += 1
            if self.count > self.stop:
                raise Interrupted
            if self.count == self.broken:
                with torch.no_grad():
                    next(self.grammar.parameters()).fill_(math.nan)
            if self.count in self.bad:
                self.bad_steps.add(request.step)
        mended = request.exact and self.mended
        bad = request.step in self.bad_steps and not mended
        return self.bad_outcome() if bad else super().step(request)

    def bad_outcome(self):
        return torch.tensor([math.nan, 0.0, math.inf, 0.0], dtype=torch.float64)


def failing(**options):
    return lambda grammar, config, world: Failing(
        grammar, config, seed=config.run.init_seed, world=world, **options
    )


def interrupted(config, folder: Path, steps: int) -> Path:
    """Train until some steps were reported and return the folder of the checkpoint."""
    count = 0

    def watch(event):
        nonlocal count
        count += event.kind == "step"
        if count == steps:
            raise Interrupted

    with pytest.raises(Interrupted):
        train(config, folder, progress=watch)
    return folder / "run01" / "checkpoint"


def in_child(work: Callable[[], object]) -> int:
    """Do some work in a process of its own, and return its number."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except SystemExit as end:
            os._exit(int(end.code or 0))
        except BaseException as error:
            print(error, file=sys.stderr)
            os._exit(1)
    return child


def ended(child: int) -> int:
    """Wait for such a process, and return its exit code."""
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)
