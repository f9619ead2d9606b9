"""Ending a run in an orderly way before it is finished, to go on with it later."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from treemean.errors import InvalidOption, TreemeanError

#: Tells whether training should stop as soon as its state can be kept.
Stop = Callable[[], bool]


class Stopped(TreemeanError):
    """Training was stopped on request; everything is kept, and the same call goes on with it."""

    def __init__(self) -> None:
        super().__init__("training was stopped on request; the same command goes on with it")


@contextmanager
def telling_how_to_go_on(say: Callable[[str], None]) -> Iterator[None]:
    """Tell whoever interrupts training, by keyboard or by a request to end, that nothing is lost by it."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):  # the latter: see `program`
        say("interrupted; the same command goes on from the last checkpoint")
        raise


class Deadline:
    """A `Stop` after some time.

    Parameters
    ----------
    seconds : from now; what is under way then is still brought to an end, and kept, which takes a while.

    >>> Deadline(0.0)(), Deadline(3600.0)()
    (True, False)
    """

    def __init__(self, seconds: float) -> None:
        if not seconds >= 0:  # true for NaN
            raise InvalidOption(f"training can stop after 0 seconds or more, not after {seconds:g}")
        self._end = time.monotonic() + seconds

    def __call__(self) -> bool:
        """Tell whether the time is over."""
        return time.monotonic() >= self._end
