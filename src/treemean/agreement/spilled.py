"""What grows with the number of sentences, kept in temporary files that nobody else sees."""

from __future__ import annotations

import json
import tempfile
import weakref
from array import array
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from typing import IO, Any

import numpy as np

from treemean.agreement.chance import Chance, f1_of
from treemean.agreement.units import Floats, Units
from treemean.errors import TreemeanError, reason_of
from treemean.fitting.candidates import group
from treemean.trees import bitsets

#: So many files share the shapes of units; each is read by itself, so that as little memory is needed.
_FILES = 32


def _temporary(owner: object) -> IO[bytes]:
    """Return a file without a name, which is gone with its owner."""
    file: IO[bytes] = tempfile.TemporaryFile(prefix="treemean-")  # noqa: SIM115 (it stays open)
    weakref.finalize(owner, _forget, file)
    return file


def _forget(file: IO[bytes]) -> None:
    """Close a file; what a full disk did not take is not wanted any more."""
    with suppress(OSError):
        file.close()


@contextmanager
def _naming_the_place() -> Iterator[None]:
    """Tell where temporary files are if one cannot be written."""
    try:
        yield
    except OSError as error:
        raise TreemeanError(
            f"temporary files in {tempfile.gettempdir()}: {reason_of(error)}; TMPDIR can name another folder"
        ) from error


class Spill:
    """Records by number, JSON-ready each; memory holds eight bytes of a record."""

    def __init__(self) -> None:
        self._file = _temporary(self)
        self._starts = array("q")
        self._end = 0

    def add(self, record: Any) -> None:
        """Keep the next record."""
        self._starts.append(self._end)
        with _naming_the_place():
            self._end += self._file.write(json.dumps(record).encode() + b"\n")

    def __getitem__(self, number: int) -> Any:
        with _naming_the_place():  # what is left to write is written now
            self._file.seek(self._starts[number])
            return json.loads(self._file.readline())


class ChanceSums:
    """Finds what `agreement_by_chance` finds, from units that come batch by batch.

    How often a shape occurs is known only at the end. Shapes of a batch go to files, each to one that its
    digest chooses, so that equal ones are in the same file.
    """

    def __init__(self, runs: int) -> None:
        self._runs = runs
        self._sentences: dict[int, int] = {}
        self._shared: dict[int, Floats] = {}
        self._row = np.dtype([("key", "<u8"), ("more", "<u8"), ("length", "<i8"), ("times", "<i8", (runs,))])
        self._files = [_temporary(self) for _ in range(_FILES)]

    def add(self, units: Units) -> None:
        """Add the units of further sentences."""
        for length, count in zip(*np.unique(units.lengths, return_counts=True), strict=True):
            self._sentences[int(length)] = self._sentences.get(int(length), 0) + int(count)
        length_of_unit = units.lengths[units.sentence]
        for length in np.unique(length_of_unit).tolist():
            has = units.has[length_of_unit == length].astype(np.float64)
            self._shared[length] = self._shared.get(length, np.zeros((self._runs,) * 2)) + has.T @ has
        _, first, place = np.unique(units.shape, return_index=True, return_inverse=True)
        rows = np.zeros(len(first), dtype=self._row)
        rows["length"] = length_of_unit[first]
        np.add.at(rows["times"], place, units.has)
        keys = b"".join(_key(units, unit, length) for unit, length in zip(first, rows["length"], strict=True))
        rows["key"], rows["more"] = np.frombuffer(keys, dtype="<u8").reshape(-1, 2).T
        with _naming_the_place():
            for number, file in enumerate(self._files):
                file.write(rows[rows["key"] % _FILES == number].tobytes())

    def result(self) -> Chance:
        """Return what is reached, and what would be by chance."""
        together: dict[int, Floats] = {}
        for file in self._files:
            with _naming_the_place():
                file.seek(0)
                rows = np.frombuffer(file.read(), dtype=self._row)
            shape, first = group([rows["more"], rows["key"]])
            times = np.zeros((len(first), self._runs))
            np.add.at(times, shape, rows["times"])
            lengths = rows["length"][first]
            for length in np.unique(lengths).tolist():
                own = times[lengths == length]
                together[length] = together.get(length, np.zeros((self._runs,) * 2)) + own.T @ own
        shared = np.zeros((self._runs, self._runs))
        found = np.zeros((self._runs, self._runs))
        for length in sorted(self._sentences):
            if self._sentences[length] > 1 and length in self._shared:
                shared += (together[length] - self._shared[length]) / (self._sentences[length] - 1)
                found += self._shared[length]
        alone = sum(count for count in self._sentences.values() if count == 1)
        amounts = np.diag(found)
        compared = sum(self._sentences.values()) - alone
        return Chance(compared, alone, f1_of(found, amounts), f1_of(shared, amounts))


def _key(units: Units, unit: int, length: int) -> bytes:
    """Return 16 bytes that tell a shape from any other."""
    words = units.bits[unit, : bitsets.width(int(length))].astype("<u8").tobytes()
    label = f"{length} {units.copy[unit]} {units.labels[unit]}".encode("utf-8", "surrogatepass")
    return blake2b(words + label, digest_size=16).digest()
