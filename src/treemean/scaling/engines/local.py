"""The engine of one machine: processes that are handed one task at a time.

Every worker has a pipe of its own. When one is killed, the driver finds the pipe closed, starts another
worker and gives it the same task. When the driver is killed, workers notice within a moment and end.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from typing import Any

from treemean.errors import TreemeanError
from treemean.names import EngineName
from treemean.scaling.engines import messages
from treemean.scaling.engines.engine import (
    ATTEMPTS,
    Result,
    Shared,
    Task,
    available_cores,
    result_of,
    visible_gpus,
)
from treemean.scaling.engines.worker import CALL, TASK

#: Seconds that a process takes to be gone once its pipe is closed.
_MOMENT = 2.0
#: How many tasks of a stream are held for every worker: some are done before it is their turn.
_AHEAD = 3


class LocalEngine:
    """Maps functions over tasks with processes of this machine; see `engine.Engine`."""

    name: EngineName = "local"

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._idle: list[_Worker] = []
        self._busy: dict[Connection, _Worker] = {}

    def map(
        self,
        function: Callable[[Shared, Task], Result],
        shared: Shared,
        tasks: Sequence[Task],
        *,
        gpu: bool = False,
    ) -> Iterator[tuple[int, Result]]:
        """Yield numbers and results of tasks; a single worker is this process itself."""
        devices = visible_gpus() if gpu else []
        if self.workers == 1 and len(devices) < 2:
            for index, task in enumerate(tasks):
                yield index, function(shared, task)
            return
        following = enumerate(tasks)
        yield from self._map(
            messages.dump_call(function, shared), lambda: next(following, None), f" of {len(tasks)}", devices
        )

    def stream(
        self, function: Callable[[Shared, Task], Result], shared: Shared, tasks: Iterable[Task]
    ) -> Iterator[Result]:
        """Yield the results of tasks in their order; no more tasks are taken ahead than keep workers busy."""
        following = enumerate(tasks)
        done: dict[int, Result] = {}
        given = 0

        def take() -> tuple[int, Task] | None:
            # The first result that is missing comes from a busy worker: there is always one to wait for.
            return next(following, None) if len(self._busy) + len(done) < _AHEAD * self.workers else None

        for number, result in self._map(messages.dump_call(function, shared), take):
            done[number] = result
            while given in done:
                yield done.pop(given)
                given += 1

    def _map(
        self,
        call: bytes,
        take: Callable[[], tuple[int, Any] | None],
        of_all: str = "",
        devices: Sequence[str] = (),
    ) -> Iterator[tuple[int, Any]]:
        """Hand out tasks; where there are devices, every worker has one of its own.

        `take` gives the next task with its number, None if there is none, or none for now.
        """
        at_once = min(self.workers, len(devices)) if devices else self.workers
        again: list[tuple[int, Any]] = []
        attempts: Counter[int] = Counter()
        try:
            while True:
                while len(self._busy) < at_once and (task := again.pop() if again else take()) is not None:
                    worker = self._free_worker(devices)
                    self._busy[worker.connection] = worker
                    worker.begin(*task, call)
                if not self._busy:
                    return
                for connection in wait(list(self._busy)):
                    assert isinstance(connection, Connection)
                    worker = self._busy.pop(connection)
                    try:
                        answer = connection.recv_bytes()
                    except (EOFError, OSError):
                        reason = worker.end(lost=True)
                        attempts[worker.number] += 1
                        if attempts[worker.number] == ATTEMPTS:
                            raise TreemeanError(
                                f"task {worker.number + 1}{of_all} ended its process {ATTEMPTS} times "
                                f"({reason}); too little memory is the usual reason: give fewer workers"
                            ) from None
                        again.append((worker.number, worker.task))
                        continue
                    self._idle.append(worker)
                    yield worker.number, result_of(answer)
        finally:
            for worker in self._busy.values():  # nobody waits for their results any more
                worker.end()
            self._busy = {}

    def _free_worker(self, devices: Sequence[str]) -> _Worker:
        """Return a worker that is idle, or a new one, with a device that nobody else uses."""
        free = [device for device in devices if all(w.device != device for w in self._busy.values())]
        for worker in self._idle:
            if worker.device in free if devices else worker.device is None:
                self._idle.remove(worker)
                return worker
        return _Worker(free[0] if free else None)

    def resources(self) -> dict[str, Any]:
        """Return how many cores and GPUs there are."""
        return {"cores": available_cores(), "gpus": len(visible_gpus())}

    def __enter__(self) -> LocalEngine:
        return self

    def __exit__(self, *details: object) -> None:
        for worker in [*self._idle, *self._busy.values()]:
            worker.end()
        self._idle, self._busy = [], {}


class _Worker:
    """A process at the other end of a pipe; it sees one GPU only, if it is given one."""

    def __init__(self, device: str | None = None) -> None:
        self.connection, theirs = Pipe()
        self.device = device
        self.number = -1
        self.task: Any = None
        self._call = b""
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "treemean.scaling.engines.worker", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                env={
                    **os.environ,
                    "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
                    **({} if device is None else {"CUDA_VISIBLE_DEVICES": device}),
                },
            )

    def begin(self, number: int, task: Any, call: bytes) -> None:
        """Give the worker a task; one that is dead already is found out when its answer is read."""
        self.number, self.task = number, task
        message = TASK + messages.dumps(task)
        try:
            if call != self._call:
                self.connection.send_bytes(CALL + call)
                self._call = call
            self.connection.send_bytes(message)
        except OSError:
            return

    def end(self, *, lost: bool = False) -> str:
        """End the process, whatever it does: what it was writing has no name yet. Return how it ended.

        One that was lost is given a moment to be gone by itself.
        """
        self.connection.close()
        try:
            code = self._process.wait(_MOMENT if lost else 0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        return f"signal {-code}" if code < 0 else f"exit code {code}"
