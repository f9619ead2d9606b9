"""What happens to records that cannot be read: raise at once, or skip, count and set aside."""

from __future__ import annotations

import os
from contextlib import ExitStack
from types import NoneType
from typing import IO

from treemean.errors import FormatError, TreemeanError, check_type
from treemean.files.output import open_output


class Problems:
    """Decides what happens to bad sentences; the readers call `report` for each.

    Parameters
    ----------
    skip : continue after a bad sentence instead of raising its error.
    aside : a file for the skipped sentences, unchanged; it appears when the `with` block ends.

    Attributes
    ----------
    count : how many records were skipped.
    errors : the first hundred errors.
    missing : at most how many sentences follow errors after which the rest of a file cannot be read.
    """

    def __init__(self, *, skip: bool = False, aside: str | os.PathLike[str] | None = None) -> None:
        if aside is not None and not skip:
            raise TreemeanError("only skipped sentences are set aside: skip them as well (--skip-bad)")
        check_type("aside", aside, str, os.PathLike, NoneType)
        self.skip, self.aside = skip, aside
        self.count = self.missing = 0
        self.errors: list[FormatError] = []
        self._stack = ExitStack()
        self._entered = False
        self._stream: IO[bytes] | None = None

    def report(self, error: FormatError, raw: bytes = b"") -> None:
        """Raise the error, or count it and set the record aside."""
        if not self.skip:
            raise error
        self.count += 1
        if len(self.errors) < 100:
            self.errors.append(error)
        if self.aside is not None:
            if not self._entered:  # nobody would close the file, and it would never appear
                raise TreemeanError("to set records aside, use Problems in a `with` statement")
            if self._stream is None:
                self._stream = self._stack.enter_context(open_output(self.aside))
            self._stream.write(raw if raw.endswith(b"\n") else raw + b"\n")

    def __enter__(self) -> Problems:
        self._entered = True
        return self

    def __exit__(self, *details: object) -> None:
        # What was set aside is kept even if a later error ends the run.
        self._stack.close()
