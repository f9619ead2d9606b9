"""Engines: what maps a function over tasks, on the processes of one machine or on a cluster.

A function is pure: it takes what all tasks share and one task, and returns a result that is the same wherever
and however often it runs. So an engine may give a task to somebody else when a process or a machine is lost.
It is a function of a module; what it takes and gives are plain values, which travel as JSON (`messages`).
No job knows which engine runs it.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, Protocol, TypeVar

from treemean.errors import TreemeanError
from treemean.names import EngineName
from treemean.scaling.engines import messages

Shared = TypeVar("Shared")
Task = TypeVar("Task")
Result = TypeVar("Result")

#: How often a task is given to a process that then dies, before it is thought to be the reason.
ATTEMPTS = 5


class Engine(Protocol):
    """Maps functions over tasks. Used in a `with` statement, at whose end all processes are gone."""

    name: EngineName
    workers: int

    def map(
        self,
        function: Callable[[Shared, Task], Result],
        shared: Shared,
        tasks: Sequence[Task],
        *,
        gpu: bool = False,
    ) -> Iterator[tuple[int, Result]]:
        """Yield the number of each task and its result, in the order in which they are done.

        The first error that the function raises is raised here. `gpu` says that tasks want a GPU where the
        engine has some.
        """
        ...

    def resources(self) -> dict[str, Any]:
        """Return what there is to work with, JSON-ready, for people to read."""
        ...

    def __enter__(self) -> Engine: ...

    def __exit__(self, *details: object) -> None: ...


def available_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def visible_gpus() -> list[str]:
    """Return what the GPUs that this process sees are called by `CUDA_VISIBLE_DEVICES`."""
    if find_spec("torch") is None:
        return []
    import torch

    told = os.environ.get("CUDA_VISIBLE_DEVICES")
    count = torch.cuda.device_count()
    return told.split(",")[:count] if told else [str(number) for number in range(count)]


# ---- tasks in other processes ------------------------------------------------------------------------


@dataclass(frozen=True)
class Failure:
    """An error of a task, as it travels from a worker.

    Parameters
    ----------
    message : what the error says.
    kind : its class; one of ours by module and name, so that it is raised as itself.
    known : what else an error of ours knows, such as file, line and sentence.
    trace : the traceback of an error that is not ours.
    """

    message: str
    kind: str
    known: Mapping[str, Any] = field(default_factory=dict)
    trace: str = ""

    @staticmethod
    def of(error: BaseException) -> Failure:
        """Describe an error."""
        if isinstance(error, TreemeanError):
            return Failure(str(error), messages.name_of(type(error)), _plain(vars(error)))
        return Failure(str(error), type(error).__name__, trace="".join(traceback.format_exception(error)))

    def raise_here(self) -> None:
        """Raise the error in the process that reads it."""
        if self.trace:
            raise RuntimeError(f"a worker failed with {self.kind}: {self.message}\n{self.trace}")
        kind = messages.class_of(self.kind)
        if not issubclass(kind, TreemeanError):
            raise ValueError(f"{self.kind} is no error of ours")
        error = kind.__new__(kind)  # constructors differ, and would put the place before the message again
        error.args = (self.message,)
        vars(error).update(self.known)
        raise error


def _plain(known: Mapping[str, Any]) -> dict[str, Any]:
    """Return what can be sent."""
    return {name: value for name, value in known.items() if isinstance(value, str | int | None)}


def attempt(call: bytes, task: bytes) -> bytes:
    """Run a task where it is, and return its result, or how it failed; all in plain values (`messages`)."""
    try:
        function, shared = messages.load_call(call)
        return messages.dumps([function(shared, messages.loads(task)), None])
    except Exception as error:
        return messages.dumps([None, Failure.of(error)])


def result_of(answer: bytes) -> Any:
    """Return the result in the answer of a worker, or raise its error."""
    result, failure = messages.loads(answer)
    if failure is not None:
        failure.raise_here()
    return result
