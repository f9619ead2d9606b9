"""A process of the local engine: takes tasks from a pipe, and ends with the process that started it."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from treemean.scaling.engines.engine import Failure, attempt

_BETWEEN_LOOKS = 0.05


def main() -> None:
    """Work until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to all; the driver decides
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    connection = Connection(int(sys.argv[1]))
    known: bytes = b""
    function: Callable[[Any, Any], Any]
    shared: Any = None
    while True:
        try:
            call, task = connection.recv()
        except (EOFError, OSError):
            return
        if call != known:
            known = b""
            try:
                # From the driver that started this process, through a pipe that nobody else has, as
                # multiprocessing itself does. What comes from files is never unpickled.
                function, shared = pickle.loads(call)
            except Exception as error:  # a function that this process cannot import
                connection.send((None, Failure(error)))
                continue
            known = call
        connection.send(attempt(function, shared, task))


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_BETWEEN_LOOKS)
    os._exit(1)


if __name__ == "__main__":
    main()
