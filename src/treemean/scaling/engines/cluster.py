"""The engine of a cluster: Ray tasks, and Ray actors where there are GPUs.

Ray gives a task to another process when a worker or a whole node is lost. Tasks are plain ones, as actors
cost time and buy nothing here; but a model on a GPU is loaded once, so there every GPU has an actor.
"""

from __future__ import annotations

import logging
import os
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from treemean.errors import MissingDependency, TreemeanError, reason_of
from treemean.names import EngineName
from treemean.scaling.engines import messages
from treemean.scaling.engines.engine import ATTEMPTS, Result, Shared, Task, attempt, result_of

#: How many tasks are handed to the cluster for every worker: one is at work, the others wait beside it.
_AHEAD = 3
#: How often it is tried to start a cluster.
_STARTS = 3
#: Seconds in which a cluster must answer.
_PATIENCE = 10.0


def load_ray() -> Any:
    """Return Ray; raise `MissingDependency` if it is not installed."""
    # Nothing is told to anybody, and a worker without a GPU may still see those of the machine.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
    except ImportError as error:
        raise MissingDependency(f"the engine ray needs Ray ({error}): pip install 'treemean[ray]'") from error
    return ray


def _check_reachable(address: str) -> None:
    """Raise `TreemeanError` if nobody listens at an address; Ray would try for minutes."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if not host or not port.isdigit():  # a name that Ray knows, such as auto
        return
    try:
        socket.create_connection((host, int(port)), timeout=_PATIENCE).close()
    except (OSError, OverflowError) as error:
        raise TreemeanError(f"there is no Ray cluster at {address}: {reason_of(error)}") from error


class RayEngine:
    """Maps functions over tasks with Ray; see `engine.Engine`.

    Without an address a cluster of this machine is started, and stopped at the end. One that is there already
    in this process is used as it is, and stays.
    """

    name: EngineName = "ray"

    def __init__(self, workers: int | None = None, address: str | None = None) -> None:
        self._ray = load_ray()
        self._ours = not self._ray.is_initialized()
        if self._ours:
            self._start(workers, address)
        # Our own cluster has as many cores as workers; on another one only tasks that are handed over count.
        self._ahead = _AHEAD if self._ours and address is None else 1
        self.workers = workers or max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def _start(self, workers: int | None, address: str | None) -> None:
        options: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}
        if address is not None:
            _check_reachable(address)
            options["address"] = address
        else:
            # Results are a few hundred bytes each: no memory has to be set aside for large ones.
            options |= {
                "num_cpus": workers,
                "include_dashboard": False,
                "object_store_memory": 128 << 20,
                "address": "local",
            }
        options["runtime_env"] = {"env_vars": {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}}
        for left in reversed(range(_STARTS)):
            try:
                self._ray.init(**options)
                return
            except Exception as error:  # of whatever class: Ray has no common one
                self._ray.shutdown()
                if address is None and left:  # a machine that is busy, on which Ray gives up after 30 seconds
                    continue
                where = f"there is no Ray cluster at {address}" if address else "Ray could not be started"
                raise TreemeanError(f"{where}: {error}") from error

    def map(
        self,
        function: Callable[[Shared, Task], Result],
        shared: Shared,
        tasks: Sequence[Task],
        *,
        gpu: bool = False,
    ) -> Iterator[tuple[int, Result]]:
        """Yield numbers and results of tasks; no more are handed over than the workers need."""
        ray = self._ray
        call = ray.put(messages.dump_call(function, shared))
        submit, at_once = self._submitter(call, gpu)
        running: dict[Any, int] = {}
        following = iter(range(len(tasks)))
        try:
            while True:
                while len(running) < at_once and (number := next(following, None)) is not None:
                    running[submit(messages.dumps(tasks[number]))] = number
                if not running:
                    return
                done, _ = ray.wait(list(running), num_returns=1)
                for reference in done:
                    number = running.pop(reference)
                    yield number, result_of(self._get(reference, number, len(tasks)))
        finally:
            for reference in running:
                ray.cancel(reference, force=not gpu)

    def _get(self, reference: Any, number: int, count: int) -> bytes:
        ray = self._ray
        try:
            answer: bytes = ray.get(reference)
            return answer
        except ray.exceptions.RayError as error:
            task, kinds = f"task {number + 1} of {count}", ray.exceptions
            if not isinstance(error, (kinds.WorkerCrashedError, kinds.OutOfMemoryError, kinds.RayActorError)):
                raise TreemeanError(f"Ray could not run {task}: {error}") from error
            raise TreemeanError(
                f"{task} ended its process {ATTEMPTS} times; too little memory is the usual reason: give "
                f"fewer workers ({type(error).__name__})"
            ) from error

    def _submitter(self, call: Any, gpu: bool) -> tuple[Callable[[bytes], Any], int]:
        """Return what hands a task to the cluster, and how many tasks are handed over at once."""
        ray = self._ray
        gpus = int(ray.cluster_resources().get("GPU", 0)) if gpu else 0
        if not gpus:
            remote = ray.remote(num_cpus=1, max_retries=ATTEMPTS - 1)(attempt)
            return lambda task: remote.remote(call, task), self._ahead * self.workers
        actor = ray.remote(num_gpus=1, max_restarts=-1, max_task_retries=ATTEMPTS - 1)(_Attempts)
        actors = _Actors(ray, [actor.remote(call) for _ in range(min(gpus, self.workers))])
        return actors.submit, 2 * len(actors)

    def resources(self) -> dict[str, Any]:
        """Return the resources of the cluster, and its nodes."""
        ray = self._ray
        nodes = [node for node in ray.nodes() if node["Alive"]]
        found = {name: amount for name, amount in sorted(ray.cluster_resources().items()) if ":" not in name}
        return {"ray": ray.__version__, "nodes": len(nodes), **found}

    def __enter__(self) -> RayEngine:
        return self

    def __exit__(self, *details: object) -> None:
        if self._ours:
            self._ray.shutdown()


class _Actors:
    """Actors, of which the one with the fewest tasks gets the next: slow ones hold nobody up."""

    def __init__(self, ray: Any, actors: Sequence[Any]) -> None:
        self._ray = ray
        self._tasks: list[tuple[Any, set[Any]]] = [(actor, set()) for actor in actors]

    def __len__(self) -> int:
        return len(self._tasks)

    def submit(self, task: bytes) -> Any:
        """Hand over a task."""
        for _, given in self._tasks:
            if given:
                done, _ = self._ray.wait([*given], num_returns=len(given), timeout=0)
                given.difference_update(done)
        actor, given = min(self._tasks, key=lambda one: len(one[1]))
        reference = actor.run.remote(task)
        given.add(reference)
        return reference


class _Attempts:
    """An actor: keeps what tasks share, and whatever the function keeps in its process, such as a model."""

    def __init__(self, call: bytes) -> None:
        self._call = call

    def run(self, task: bytes) -> bytes:
        return attempt(self._call, task)
