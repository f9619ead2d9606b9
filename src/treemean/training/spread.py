"""Runs of an ensemble, spread over processes, GPUs and machines by an engine."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from treemean.errors import InvalidOption
from treemean.training.folders import NoModel, RunFolder, RunResult, checksum_of
from treemean.training.runs import train_runs
from treemean.training.sections import TrainingConfig
from treemean.training.single import prepare_folder, train
from treemean.training.together import Job, train_together

if TYPE_CHECKING:
    from treemean.scaling.engines import Engine


def train_spread(
    config: TrainingConfig,
    folder: str | os.PathLike[str],
    engine: Engine,
    *,
    runs: int | None = None,
    stack: int = 1,
    done: Callable[[int, int], None] | None = None,
) -> list[RunResult]:
    """Train runs 1 to K as `train_runs` does, each by whatever process of an engine is free.

    What a lost process or machine had done is in its checkpoint, from which another goes on; finished runs
    are not done again. All processes must see the folder and the data.

    Parameters
    ----------
    runs : K; `run.runs` of the configuration if not given.
    stack : how many runs a process trains together; more than one is for GPUs, see `train_together`.
    done : is called with the number of finished runs, and of all runs.
    """
    count = config.run.runs if runs is None else runs
    if count < 1 or stack < 1:
        raise InvalidOption(
            f"the number of runs ({count}), and of runs that a process trains together ({stack}), must be "
            "1 or more"
        )
    data = prepare_folder(config, folder)  # once, and not by all processes
    checksum = checksum_of(config, data.facts)
    waiting = [run for run in range(1, count + 1) if not RunFolder(folder, run).is_over(checksum)]
    stacks = [tuple(waiting[start : start + stack]) for start in range(0, len(waiting), stack)]
    over = count - len(waiting)
    on_gpu = config.training.device.startswith(("auto", "cuda"))  # where there are some
    for number, _ in engine.map(_train_stack, (config, os.fspath(folder)), stacks, gpu=on_gpu):
        over += len(stacks[number])
        if done is not None:
            done(over, count)
    return train_runs(config, folder, runs=count, parallel=1, together=False)  # all are over: their results


def _train_stack(shared: tuple[TrainingConfig, str], runs: tuple[int, ...]) -> None:
    """Train some runs; those that end without a model are named at the end."""
    config, folder = shared
    try:
        if len(runs) > 1:
            train_together([Job(config, folder, run) for run in runs])
        else:
            train(config, folder, run=runs[0])
    except NoModel:
        return
