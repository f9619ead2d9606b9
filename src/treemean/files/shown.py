"""Text that goes to a terminal in place of a file."""

from __future__ import annotations

import codecs
from typing import TextIO

from treemean.printing import harmless


class ShownStream:
    """Takes the bytes of a file and shows them, without what terminals obey. Not for pipes and files.

    Parameters
    ----------
    terminal : where they are shown.
    """

    def __init__(self, terminal: TextIO) -> None:
        self._terminal = terminal
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")

    def write(self, data: bytes) -> int:
        """Show a piece."""
        self._terminal.write(harmless(self._decoder.decode(data), lines=True))
        return len(data)

    def flush(self) -> None:
        """Bring everything to the terminal."""
        self._terminal.flush()
