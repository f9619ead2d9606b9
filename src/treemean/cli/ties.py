"""Files of values for `treemean average --ties FILE`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from treemean.errors import FormatError, MismatchError

Key = tuple[int, ...] | tuple[tuple[int, ...], str]


class TiesFile:
    """A JSON Lines file: for every sentence a list of [[positions], value] or [[positions], label, value]."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._lines = self._read()
        self._count = 0

    def take(self, count: int) -> list[dict[Key, float]]:
        """Return the values of the next sentences, as `average` takes them."""
        found = []
        for _ in range(count):
            line = next(self._lines, None)
            if line is None:
                seen = f"{self._count} sentence{'s' * (self._count != 1)}"
                raise MismatchError(f"{self._path} ends after {seen}, but the runs go on")
            found.append(line)
            self._count += 1
        return found

    def finish(self, sentences: int) -> None:
        """Raise `MismatchError` if there are values for more sentences."""
        if next(self._lines, None) is not None:
            raise MismatchError(f"{self._path} goes on after the last of {sentences} sentences")

    def _read(self) -> Iterator[dict[Key, float]]:
        from treemean.files.source import open_sources

        for source in open_sources(self._path):
            for number, line in source.lines():
                try:
                    yield dict(map(_entry, json.loads(line)))
                except (ValueError, TypeError, RecursionError) as error:
                    message = f"not a list of [[positions], value] or [[positions], label, value]: {error}"
                    raise FormatError(message, path=self._path, line=number) from error


def _entry(entry: Any) -> tuple[Key, float]:
    positions, *label, value = entry
    if isinstance(value, bool) or not isinstance(value, int | float) or len(label) > 1:
        raise ValueError(f"{json.dumps(entry)} does not end with a number")
    if not isinstance(positions, list) or not all(type(p) is int and p >= 0 for p in positions):
        raise ValueError(f"{json.dumps(positions)} is no list of positions")
    if label and not isinstance(label[0], str):
        raise ValueError(f"{json.dumps(label[0])} is no label")
    return ((tuple(positions), label[0]) if label else tuple(positions)), value
