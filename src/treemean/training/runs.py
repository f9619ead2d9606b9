"""Several runs of one shared initialisation, one after the other or side by side."""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterable
from pathlib import Path

from treemean.errors import InvalidOption, TreemeanError
from treemean.training.distributed import World
from treemean.training.folders import RESOLVED, NoModel, RunFolder, RunResult, all_of, checksum_of
from treemean.training.progress import Progress, Watcher
from treemean.training.sections import TrainingConfig
from treemean.training.single import MakeLearner, prepare_folder, train
from treemean.training.stopping import Stop
from treemean.training.together import Job, can_be_together, train_together


def train_runs(
    config: TrainingConfig,
    folder: str | os.PathLike[str],
    *,
    runs: int | None = None,
    parallel: int | None = None,
    progress: Watcher | None = None,
    world: World | None = None,
    make_learner: MakeLearner | None = None,
    together: bool | None = None,
    stop: Stop | None = None,
) -> list[RunResult]:
    """Train runs 1 to K, which differ only in the order of the sentences; finished ones stay as they are.

    Parameters
    ----------
    runs : K; `run.runs` of the configuration if not given.
    parallel : how many at a time, each in a process of its own; `run.parallel` if not given.
    progress : is called with what happens in any of them.
    world, make_learner : see `train`; not for runs side by side, nor together.
    together : whether they take each step together in one process, see `train_together`; if not given, that
        is so where it is fastest: on a GPU, if runs meet lengths in the same order.
    stop : tells when to end early, by raising `Stopped`; not for runs side by side.

    Results do not depend on `parallel` if each run has the same number of threads (`training.threads`), nor,
    beyond rounding, on `together`.

    Runs that end without a model do not keep others from being trained; at the end `NoModel` names them.
    """
    count = config.run.runs if runs is None else runs
    at_once = config.run.parallel if parallel is None else parallel
    if count < 1 or at_once < 1:
        raise InvalidOption(
            f"the number of runs ({count}), and of runs side by side ({at_once}), must be 1 or more"
        )
    numbers = range(1, count + 1)
    alone = make_learner is None and (world is None or world.size == 1) and at_once == 1
    if together or (together is None and alone and count > 1 and can_be_together(config)):
        if not alone:
            raise InvalidOption(
                "runs that are trained together share one process: leave out `together`, or leave out "
                "`world` and `make_learner` and set `parallel` (run.parallel) to 1"
            )
        return train_together([Job(config, folder, run) for run in numbers], progress=progress, stop=stop)
    if at_once > 1:
        if stop is not None:
            raise InvalidOption(
                "runs side by side cannot be stopped by `stop`: leave it out, and end the process; "
                "nothing is lost"
            )
        if make_learner is not None or (world is not None and world.size > 1):
            raise InvalidOption(
                "runs side by side are separate processes, which take neither `world` nor `make_learner`: "
                "leave these out, or set `parallel` (run.parallel) to 1"
            )
        _side_by_side(config, Path(folder), numbers, at_once, progress)
    results, failures = [], []
    for run in numbers:
        try:
            results.append(
                train(
                    config,
                    folder,
                    run=run,
                    progress=progress,
                    world=world,
                    make_learner=make_learner,
                    stop=stop,
                )
            )
        except NoModel as error:
            failures.append(error)  # no reason to leave out the others
    return all_of(results, failures)


def _side_by_side(
    config: TrainingConfig, folder: Path, numbers: Iterable[int], at_once: int, progress: Watcher | None
) -> None:
    """Train the runs that are not over in processes of their own; raise one error for all that failed."""
    data = prepare_folder(config, folder)
    checksum = checksum_of(config, data.facts)
    waiting = [run for run in numbers if not RunFolder(folder, run).is_over(checksum)]
    failures = []
    environment = dict(os.environ)
    if not config.training.threads:
        environment.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // at_once)))
    # what happens in a run, or the number of one that ended
    told: queue.Queue[Progress | int] = queue.Queue()
    at_work: dict[int, subprocess.Popen[str]] = {}
    try:
        while waiting or at_work:
            while waiting and len(at_work) < at_once:
                run = waiting.pop(0)
                at_work[run] = _start(folder, run, environment, told)
            event = told.get()
            if isinstance(event, Progress):
                if progress is not None:
                    progress(event)
                continue
            process = at_work.pop(event)
            if process.wait() != 0:
                failures.append(f"run {event} failed: {_last_words(folder, event)}")
    finally:
        for process in at_work.values():
            process.terminate()  # what it has done so far is in its checkpoint
        for process in at_work.values():
            process.wait()
    if failures:
        raise TreemeanError("; ".join(failures))


def _start(
    folder: Path, run: int, environment: dict[str, str], told: queue.Queue[Progress | int]
) -> subprocess.Popen[str]:
    """Start the process of a run, and a thread that passes on what it tells."""
    path = RunFolder(folder, run).path
    path.mkdir(parents=True, exist_ok=True)
    # -P: files in the current folder of a user must not be taken for modules
    command = [sys.executable, "-P", "-m", "treemean.training", str(folder / RESOLVED)]
    command += ["--folder", str(folder), "--run", str(run), "--events"]
    with open(_log(folder, run), "w") as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment)

    def pass_on() -> None:
        assert process.stdout is not None
        try:
            with process.stdout:
                for line in process.stdout:
                    told.put(Progress.from_json(line))
        finally:
            told.put(run)

    threading.Thread(target=pass_on, daemon=True).start()
    return process


def _log(folder: Path, run: int) -> Path:
    return RunFolder(folder, run).path / "log.txt"


def _last_words(folder: Path, run: int) -> str:
    lines = _log(folder, run).read_text(errors="replace").strip().splitlines()
    return (
        lines[-1].removeprefix("error: ") if lines else f"it was ended from outside (see {_log(folder, run)})"
    )
