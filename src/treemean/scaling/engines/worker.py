"""A process of the local engine: takes tasks from a pipe, and ends with the process that started it.

A message begins with a letter: `C` and a call, which is what the tasks that follow are for; `T` and a task,
which is answered by what `attempt` returns.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from multiprocessing.connection import Connection

from treemean.scaling.engines.engine import attempt

CALL, TASK = b"C", b"T"
_BETWEEN_LOOKS = 0.05


def main() -> None:
    """Work until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to all; the driver decides
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    connection = Connection(int(sys.argv[1]))
    call = b""
    while True:
        try:
            message = connection.recv_bytes()
            if message[:1] == CALL:
                call = message[1:]
            else:
                connection.send_bytes(attempt(call, message[1:]))
        except (EOFError, OSError):
            return


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_BETWEEN_LOOKS)
    os._exit(1)


if __name__ == "__main__":
    main()
