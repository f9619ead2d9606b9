"""Several runs in one process that take each step together; what a GPU is used best by."""

from __future__ import annotations

import copy
import os
import shutil
from collections.abc import Generator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import torch
from torch import Tensor

from treemean.errors import InvalidOption
from treemean.grammars import Grammar
from treemean.grammars.memory import told_if_too_little
from treemean.training.corpus import Data
from treemean.training.distributed import World
from treemean.training.folders import NoModel, RunFolder, RunResult, all_of, checksum_of
from treemean.training.gpu import StackedLearner
from treemean.training.learner import Learner, Request
from treemean.training.loop import Loop
from treemean.training.progress import Progress, Watcher
from treemean.training.sections import TrainingConfig
from treemean.training.single import device_of, initial_grammar, prepare_folder
from treemean.training.stopping import Stop, Stopped

_LESS = (
    "Train fewer runs together, or set batches.at_once to fewer sentences; the runs go on from their last "
    "checkpoints"
)


@dataclass(frozen=True)
class Job:
    """A run to be trained: its configuration, the folder of the configuration's runs, and its number."""

    config: TrainingConfig
    folder: str | os.PathLike[str]
    run: int = 1


def can_be_together(config: TrainingConfig) -> bool:
    """Tell whether runs of a configuration are trained together unless something else is asked for.

    That is on a GPU, with batches of one length that all runs meet in the same order.
    """
    alike = config.run.shared_lengths and config.batches.lengths == "equal"
    return alike and device_of(config).startswith("cuda")


def train_together(
    jobs: Sequence[Job], *, progress: Watcher | None = None, stop: Stop | None = None
) -> list[RunResult]:
    """Train runs that take each step together; finished ones are not trained again.

    Parameters
    ----------
    jobs : the runs. They must have the same grammar, vocabulary, batches and moments of the optimiser; they
        may differ in seeds, rates, schedules, averaging, and how long they are.
    progress : is called with what happens in any of them.
    stop : tells when to end early.

    Each run is what it would be alone, to rounding: on the CPU as in tests of a few steps, and on a GPU as
    far as its libraries compute a product of matrices alike whether it comes alone or with others.

    Raises `Stopped` if it was asked to stop before all runs were over, and `NoModel`, which names them, if
    some ended without a model; the others are trained to their end and keep their results.
    """
    data = _data_of(jobs)
    runs = [_Run(job, own) for job, own in zip(jobs, data)]
    waiting = [run for run in runs if not run.is_over]
    if waiting:
        threads = waiting[0].config.training.threads
        if threads:
            torch.set_num_threads(threads)
        with ExitStack() as locks, torch.random.fork_rng(devices=[]):
            for run in waiting:
                locks.enter_context(run.folder.locked(run.config))
            _drive(waiting, progress, stop)
    if not all(run.is_over for run in runs):
        raise Stopped
    results = [run.result for run in runs if run.result is not None]
    return all_of(results, [run.failure for run in runs if run.failure is not None])


class _Run:
    """One of the runs: where it is kept, how it ended, and what it asks for until then."""

    def __init__(self, job: Job, data: Data) -> None:
        self.config, self.data = job.config, data
        self.folder = RunFolder(job.folder, job.run)
        self._checksum = checksum_of(job.config, data.facts)
        self.result: RunResult | None = None
        self.failure: NoModel | None = None
        try:
            self.result = self.folder.result(self._checksum)
        except NoModel as error:
            self.failure = error
        self.asked: Request | None = None
        self._steps: Generator[Request, Tensor, RunResult] | None = None

    @property
    def is_over(self) -> bool:
        """Whether there is nothing more to be trained, with a result or without."""
        return self.result is not None or self.failure is not None

    def begin(self, learner: Learner, progress: Watcher | None, stop: Stop | None) -> None:
        """Begin or go on until the first step."""
        self._steps = Loop(self.config, self.data, learner, self.folder, World(), progress, stop).steps()
        self.go_on(None)

    def go_on(self, outcome: Tensor | None) -> None:
        """Take the outcome of the step that was asked for; then `asked` is the next one, or the run ended."""
        assert self._steps is not None
        self.asked = None
        try:
            self.asked = next(self._steps) if outcome is None else self._steps.send(outcome)
        except Stopped:
            pass  # all is kept, and there is no result
        except NoModel as error:
            self.failure = error  # no reason to end the others
        except StopIteration as end:
            result: RunResult = end.value
            self.folder.finish(result, self._checksum)
            shutil.rmtree(self.folder.checkpoint)  # large, and of no use any more
            self.result = result

    def end(self) -> None:
        """Leave the run as its last checkpoint has it."""
        if self._steps is not None:
            self._steps.close()


def _drive(runs: Sequence[_Run], progress: Watcher | None, stop: Stop | None) -> None:
    """Make the steps that the loops of all runs ask for, those of the same number together."""
    learner = _learner(runs, progress)
    stopping = False  # decided once for all runs, so that they stop after the same step
    try:
        for place, run in enumerate(runs):
            run.begin(learner.run(place), progress, None if stop is None else lambda: stopping)
        while asked := {place: run.asked for place, run in enumerate(runs) if run.asked is not None}:
            stopping = stopping or (stop is not None and stop())
            # Runs that were interrupted at different steps wait for the one that is behind.
            first = min(request.step for request in asked.values())
            ready = {place: request for place, request in asked.items() if request.step == first}
            longest = max(request.words.shape[1] for request in ready.values())
            with told_if_too_little(sum(len(r.words) for r in ready.values()), longest, _LESS):
                outcomes = learner.step(ready)
            for place in ready:
                runs[place].go_on(outcomes[place])
    finally:
        for run in runs:
            run.end()


def _learner(runs: Sequence[_Run], progress: Watcher | None) -> StackedLearner:
    """Bring the beginnings of the runs together, and capture the steps for all lengths there are."""
    initial: dict[int, Grammar] = {}
    grammars = []
    for run in runs:
        seed = run.config.run.init_seed
        if seed not in initial:
            initial[seed] = initial_grammar(run.config, len(run.data.vocabulary))
        grammars.append(copy.deepcopy(initial[seed]))
    learner = StackedLearner(grammars, [run.config for run in runs])

    def tell(number: int, total: int) -> None:
        if progress is not None and number == total:
            message = f"{total} CUDA graphs are captured, one for each length"
            progress(Progress("note", runs[0].folder.run, 1, runs[0].config.training.epochs, message=message))

    lengths = {n for run in runs for n in run.data.train.lengths.tolist()}
    with told_if_too_little(sum(run.config.batches.size for run in runs), max(lengths), _LESS):
        learner.prepare(lengths, tell)
    return learner


def _data_of(jobs: Sequence[Job]) -> list[Data]:
    """Return the data of each run, read once for each folder."""
    by_folder: dict[tuple[str, TrainingConfig], Data] = {}
    found = []
    for job in jobs:
        key = os.fspath(job.folder), job.config
        if key not in by_folder:
            by_folder[key] = prepare_folder(job.config, job.folder)
        found.append(by_folder[key])
    if len({tuple(data.vocabulary.words) for data in found}) > 1:
        raise InvalidOption(
            "runs of different vocabularies cannot be trained together: train them one by one, or on the "
            "same data"
        )
    return found
