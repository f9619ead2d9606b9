"""Files of values that decide between equally good trees: `treemean average --ties FILE`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from treemean.errors import FormatError, MismatchError
from treemean.files.output import open_output
from treemean.files.source import open_sources

Key = tuple[int, ...] | tuple[tuple[int, ...], str]


class TiesFile:
    """A JSON Lines file: for every sentence a list of [[positions], value] or [[positions], label, value]."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._values = values_of(numbered_lines(path), path)
        self._count = 0

    def take(self, count: int) -> list[dict[Key, float]]:
        """Return the values of the next sentences, as `average` takes them."""
        found = list(islice(self._values, count))
        self._count += len(found)
        if len(found) < count:
            raise MismatchError(_too_short(self._path, self._count))
        return found

    def finish(self, sentences: int) -> None:
        """Raise `MismatchError` if there are values for more sentences."""
        if next(self._values, None) is not None:
            raise MismatchError(f"{self._path} goes on after the last of {sentences} sentences")


def numbered_lines(path: str) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file, with their numbers."""
    for source in open_sources(path):
        yield from source.lines()


def values_of(lines: Iterable[tuple[int, bytes]], path: str) -> Iterator[dict[Key, float]]:
    """Yield what lines say; `path` is where they come from, for messages."""
    for number, line in lines:
        try:
            yield dict(map(_entry, json.loads(line)))
        except (ValueError, TypeError, RecursionError) as error:
            message = f"not a list of [[positions], value] or [[positions], label, value]: {error}"
            raise FormatError(message, path=path, line=number) from error


# ---- pieces for shards -------------------------------------------------------------------------------


def cut_ties(path: str, sizes: Iterable[int], folder: str) -> None:
    """Copy a file of values into a folder, a piece for each shard of so many sentences.

    Lines keep their numbers, for messages. Raises `MismatchError` if there are too few or too many.
    """
    os.makedirs(folder, exist_ok=True)
    lines = numbered_lines(path)
    first = 0
    for size in sizes:
        with open_output(_piece(folder, first)) as stream:
            count = 0
            for number, line in islice(lines, size):
                stream.write(b"%d\t%s\n" % (number, line))
                count += 1
        if count < size:
            raise MismatchError(_too_short(path, first + count))
        first += size
    if next(lines, None) is not None:
        raise MismatchError(f"{path} goes on after the last of {first} sentences")


def read_piece(folder: str, first: int, path: str) -> Iterator[dict[Key, float]]:
    """Yield the values of the shard before which `first` sentences come; `path` is named in messages."""
    with open(_piece(folder, first), "rb") as stream:
        lines = (line.rstrip(b"\n").split(b"\t", 1) for line in stream)
        yield from values_of(((int(number), line) for number, line in lines), path)


def _piece(folder: str, first: int) -> str:
    return os.path.join(folder, f"ties-{first}.tsv")


def _entry(entry: Any) -> tuple[Key, float]:
    positions, *label, value = entry
    if isinstance(value, bool) or not isinstance(value, int | float) or len(label) > 1:
        raise ValueError(f"{json.dumps(entry)} does not end with a number")
    if not isinstance(positions, list) or not all(type(p) is int and p >= 0 for p in positions):
        raise ValueError(f"{json.dumps(positions)} is no list of positions")
    if label and not isinstance(label[0], str):
        raise ValueError(f"{json.dumps(label[0])} is no label")
    return ((tuple(positions), label[0]) if label else tuple(positions)), value


def _too_short(path: object, count: int) -> str:
    return f"{path} ends after {count} sentence{'s' * (count != 1)}, but the runs go on"
