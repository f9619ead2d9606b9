"""Training one run, from a configuration to a model."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Generator
from contextlib import nullcontext

import torch
from torch import Tensor

from treemean.errors import InvalidOption
from treemean.grammars import Grammar, build_grammar
from treemean.grammars.memory import told_if_too_little
from treemean.parsing.model import use_device
from treemean.training.corpus import Data, prepare
from treemean.training.distributed import World
from treemean.training.folders import (
    RunFolder,
    RunResult,
    check_folder,
    check_runs,
    checksum_of,
    folder_locked,
    mark_folder,
)
from treemean.training.learner import EagerLearner, Learner, Request
from treemean.training.loop import Loop
from treemean.training.progress import Watcher
from treemean.training.sections import TrainingConfig
from treemean.training.stopping import Stop

_SMALLER = "choose fewer symbols or ranks, a smaller embedding or a smaller data.vocabulary"
_LESS = "Set batches.at_once to fewer sentences; the run goes on from its last checkpoint"
#: Makes what computes the steps of a run, from a grammar that is already on its device.
MakeLearner = Callable[[Grammar, TrainingConfig, World], Learner]


def train(
    config: TrainingConfig,
    folder: str | os.PathLike[str],
    *,
    run: int = 1,
    progress: Watcher | None = None,
    world: World | None = None,
    make_learner: MakeLearner | None = None,
    stop: Stop | None = None,
) -> RunResult:
    """Train one run, or continue an interrupted one, or return the result of a finished one.

    Parameters
    ----------
    config : see `load_config`.
    folder : of all runs of this configuration; this one gets the folder `run01` or the like in it.
    run : its number, from 1. Runs start from the same parameters and differ in the order of sentences.
    progress : is called with every event.
    world : the processes that train it together; see `distributed.world`.
    make_learner : makes what computes the steps; if not given, see `learner_for`.
    stop : tells when to end early.

    Raises `TreemeanError` if the folder holds runs of another configuration or other data, `NoModel` if the
    run is over but has no model, and `Stopped` if it was asked to stop before the run was finished.
    """
    if run < 1:
        raise InvalidOption(f"runs are counted from 1, so there is no run {run}")
    here = world or World()
    data = prepare_folder(config, folder, here)
    place, checksum = RunFolder(folder, run), checksum_of(config, data.facts)
    finished = place.result(checksum)
    here.wait()  # all have looked before the first one may finish
    if finished is not None:
        return finished
    if config.training.threads:
        torch.set_num_threads(config.training.threads)
    with place.locked(config) if here.is_main else nullcontext(), torch.random.fork_rng(devices=[]):
        learner = (make_learner or learner_for)(initial_grammar(config, len(data.vocabulary)), config, here)
        result = _drive(Loop(config, data, learner, place, here, progress, stop).steps(), learner)
        if here.is_main:
            place.finish(result, checksum)
            shutil.rmtree(place.checkpoint)  # large, and of no use any more
    here.wait()
    return result


def _drive(steps: Generator[Request, Tensor, RunResult], learner: Learner) -> RunResult:
    """Make the steps that a loop asks for, one after the other."""
    try:
        request = next(steps)
        while True:
            with told_if_too_little(len(request.words), request.words.shape[1], _LESS):
                outcome = learner.step(request)
            request = steps.send(outcome)
    except StopIteration as end:
        result: RunResult = end.value
        return result
    finally:
        steps.close()


def prepare_folder(
    config: TrainingConfig, folder: str | os.PathLike[str], world: World | None = None
) -> Data:
    """Make or check the folder of some runs and return their data."""
    here = world or World()
    with folder_locked(folder) if here.is_main else nullcontext():
        if here.is_main:
            check_folder(config, folder)
            prepare(config.data, folder)
        here.wait()
        data = prepare(config.data, folder)
        _check_data(config, data)
        if here.is_main:
            check_runs(folder, checksum_of(config, data.facts))
            mark_folder(config, folder)
    return data


def _check_data(config: TrainingConfig, data: Data) -> None:
    """Raise `InvalidOption` if some data cannot be used as a configuration asks for."""
    if config.training.select == "f1" and data.gold is None:
        raise InvalidOption(
            'training.select = "f1" needs gold trees in data.development; without them select by "likelihood"'
        )
    shortest = int(data.train.lengths.min())
    if shortest > config.batches.first_limit:
        raise InvalidOption(
            f"nothing would be learnt in the first epoch: batches.first_limit lets sentences of up to "
            f"{config.batches.first_limit} words through, and the shortest one to train on has {shortest}: "
            "raise batches.first_limit"
        )


def initial_grammar(config: TrainingConfig, vocabulary_size: int) -> Grammar:
    """Return the grammar that all runs of a configuration start from, on the device of the configuration.

    The numbers are drawn on the CPU, so that they are the same on all devices. Raises `InvalidOption` if they
    cannot fit into memory: the system would end the process without a word.
    """
    _check_memory(config, vocabulary_size)
    torch.manual_seed(config.run.init_seed)
    grammar = build_grammar(config.grammar, vocabulary_size)
    if config.training.precision == "float64":
        grammar = grammar.double()
    return grammar.to(device_of(config)).train()


def _check_memory(config: TrainingConfig, vocabulary_size: int) -> None:
    """Raise `InvalidOption` if parameters, gradients and the moments of Adam are larger than all memory."""
    try:
        with torch.device("meta"):  # shapes without numbers
            grammar = build_grammar(config.grammar, vocabulary_size)
        numbers = sum(parameter.numel() for parameter in grammar.parameters())
    except (RuntimeError, TypeError) as error:  # sizes beyond 64 bits
        raise InvalidOption(
            f"there can be no grammar of this size ({str(error).splitlines()[0]}): {_SMALLER}"
        ) from error
    needed = 4 * numbers * (8 if config.training.precision == "float64" else 4)
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if needed > memory:
        raise InvalidOption(
            f"a grammar of this size has {numbers:,} parameters and needs {needed / 2**30:,.0f} GiB to be "
            f"trained; this machine has {memory / 2**30:,.0f} GiB: {_SMALLER}"
        )


def device_of(config: TrainingConfig) -> str:
    """Return the device of a configuration; `auto` is a GPU where there is one."""
    if config.training.device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    use_device(config.training.device)
    return config.training.device


def learner_for(grammar: Grammar, config: TrainingConfig, world: World) -> Learner:
    """Return the fastest learner: on one GPU that of CUDA graphs, elsewhere the plain one."""
    if world.size > 1 or not device_of(config).startswith("cuda"):
        return eager_learner(grammar, config, world)
    from treemean.training.gpu import StackedLearner

    return StackedLearner([grammar], [config]).run(0)


def eager_learner(grammar: Grammar, config: TrainingConfig, world: World) -> Learner:
    """Return the plain learner."""
    return EagerLearner(grammar, config, seed=config.run.init_seed + world.rank, world=world)
