"""What is seen of training while it goes on."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

from treemean.printing import harmless

if TYPE_CHECKING:
    from treemean.training import Progress

#: After how long nothing was told a line tells how far training is.
_SECONDS = 60.0


def watching(runs: int) -> Lines | Bars:
    """Return a context with something to call with progress: bars where somebody watches, lines elsewhere."""
    return Bars(runs) if sys.stderr.isatty() else Lines()


class Lines:
    """A line for each epoch, and in long ones for each minute."""

    def __init__(self) -> None:
        self._told = time.monotonic()

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *details: Any) -> None:
        pass

    def __call__(self, event: Progress) -> None:
        """Tell what happened in a run; of steps only those a minute after what was told before."""
        if event.kind != "step" or time.monotonic() - self._told >= _SECONDS:
            self._told = time.monotonic()
            self.say(event.describe())

    def say(self, message: str) -> None:
        """Tell something else."""
        from treemean.cli.output import say

        say(message)


class Bars:
    """A bar for each run that is at work.

    Parameters
    ----------
    runs : how many there are in all.
    """

    def __init__(self, runs: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as RichProgress

        self._runs = runs
        self._tasks: dict[int, Any] = {}
        self._bars = RichProgress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[details]}"),
            console=Console(stderr=True),
        )

    def __enter__(self) -> Bars:
        self._bars.__enter__()
        return self

    def __exit__(self, *details: Any) -> None:
        self._bars.__exit__(*details)

    def __call__(self, event: Progress) -> None:
        """Show a moment of a run."""
        from treemean.training.progress import clock, short

        if event.run not in self._tasks:
            self._tasks[event.run] = self._bars.add_task("", total=1, details="")
        task = self._tasks[event.run]
        if event.kind == "step":
            details = f"loss {short(event.loss, 2)}  perplexity {short(event.perplexity)}  "
            details += f"{event.words_per_second:,.0f} words/s  {clock(event.seconds_left)} left"
            description = f"run {event.run}/{self._runs}, epoch {event.epoch}/{event.epochs}"
            self._bars.update(
                task, description=description, completed=event.step, total=event.steps, details=details
            )
        else:
            self.say(event.describe())
        if event.kind == "end":
            self._bars.remove_task(self._tasks.pop(event.run))

    def say(self, message: str) -> None:
        """Tell something above the bars."""
        self._bars.console.print(harmless(message), markup=False, highlight=False)
