"""What is seen of training while it goes on."""

from __future__ import annotations

import math
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treemean.printing import harmless

if TYPE_CHECKING:
    from treemean.training import Progress

#: After so many seconds without output, a line reports how far training is.
_SECONDS = 60.0
#: So old may a page with curves be.
_PAGE_SECONDS = 15.0


def watching(runs: int) -> Lines | Bars:
    """Return a context with something to call with progress: bars where somebody watches, lines elsewhere."""
    return Bars(runs) if sys.stderr.isatty() else Lines()


class Reporting:
    """Passes on what happens in training, and keeps a page with the curves of all runs up to date.

    Parameters
    ----------
    watch : what is called with all that happens.
    folder : of the runs, in which the page stands.
    """

    def __init__(self, watch: Lines | Bars, folder: Path) -> None:
        self._watch, self._folder = watch, folder
        self._written = -math.inf

    def __call__(self, event: Progress) -> None:
        """Pass an event on; after an epoch, or if the page is old, write it anew."""
        self._watch(event)
        if event.kind == "epoch" or time.monotonic() - self._written >= _PAGE_SECONDS:
            from treemean.reporting.learning import write_learning_page

            write_learning_page(self._folder)
            self._written = time.monotonic()


class Lines:
    """A line for each epoch, and in long ones for each minute."""

    def __init__(self) -> None:
        self._told = time.monotonic()

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *details: Any) -> None:
        pass

    def __call__(self, event: Progress) -> None:
        """Report what happened in a run; of steps only those a minute after the last report."""
        if event.kind != "step" or time.monotonic() - self._told >= _SECONDS:
            self._told = time.monotonic()
            self.say(event.describe())

    def say(self, message: str) -> None:
        """Tell something else."""
        from treemean.cli.output import say

        say(message)

    stage = say


class Bars:
    """A bar for each run that is at work.

    Parameters
    ----------
    runs : how many there are in all.
    """

    def __init__(self, runs: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as RichProgress

        self._runs = runs
        self._tasks: dict[int, Any] = {}
        self._stage: Any = None
        self._bars = RichProgress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[details]}"),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
        )

    def __enter__(self) -> Bars:
        self._bars.__enter__()
        return self

    def __exit__(self, *details: Any) -> None:
        self._end_stage()
        self._bars.__exit__(*details)

    def __call__(self, event: Progress) -> None:
        """Show a moment of a run."""
        from treemean.training.progress import clock, short

        self._end_stage()
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

    def stage(self, message: str) -> None:
        """Tell that something begins, and let a bar move until something else does."""
        self.say(message)
        self._end_stage()
        self._stage = self._bars.add_task(harmless(message), total=None, details="")

    def _end_stage(self) -> None:
        if self._stage is not None:
            self._bars.remove_task(self._stage)
            self._stage = None
