"""How many values the columns of a Parquet file have, from its footer alone.

PyArrow tells it, too, but ends the process where some parts of a footer are damaged, and reading without
knowing it may take any amount of memory. A footer is a Thrift structure in the compact protocol.
"""

from __future__ import annotations

import hashlib
import struct
from typing import IO

#: Larger footers are not looked at; those of ten million sentences have a few megabytes.
LARGEST = 1 << 24
_MAGIC = b"PAR1"
_DEEPEST = 32
#: Types of the compact protocol.
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12
_INTEGERS = (4, 5, 6)
#: Where the number of values stands: row groups, their columns, the description of one, and in it this.
_VALUES = (4, 1, 3, 5)
#: What footers said, by their checksums: jobs over shards open the same large files again and again.
_known: dict[bytes, int] = {}
_MOST_KNOWN = 256


def largest_column(file: IO[bytes]) -> int:
    """Return how many values a column has at most in one group of rows.

    Raises `ValueError` if there is no footer, or one that cannot be.
    """
    size = file.seek(0, 2)
    file.seek(max(0, size - 8))
    length, magic = struct.unpack("<I4s", file.read(8).rjust(8, b"\0"))
    if magic != _MAGIC or length > size - 8:
        raise ValueError("there is no footer at its end")
    if length > LARGEST:
        raise ValueError(f"its footer has {length} bytes; at most {LARGEST} are read")
    file.seek(size - 8 - length)
    data = file.read(length)
    key = hashlib.blake2b(data).digest()
    if key not in _known:
        if len(_known) == _MOST_KNOWN:
            _known.clear()
        _known[key] = _largest_of(data)
    return _known[key]


def _largest_of(data: bytes) -> int:
    footer = _Footer(data)
    try:
        footer.read_struct(())
    except IndexError:
        raise ValueError("its footer ends too early") from None
    return footer.largest


class _Footer:
    """Goes through a footer once."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0
        self.largest = 0

    def _byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def _number(self) -> int:
        value = shift = 0
        while (byte := self._byte()) & 0x80:
            value |= (byte & 0x7F) << shift
            shift += 7
            if shift > 63:
                raise ValueError("a number in its footer is too long")
        return value | byte << shift

    def _signed(self) -> int:
        value = self._number()
        return value >> 1 ^ -(value & 1)

    def read_struct(self, path: tuple[int, ...]) -> None:
        """Read a structure; `path` are the numbers of the fields above it."""
        if len(path) > _DEEPEST:
            raise ValueError("its footer is nested too deeply")
        field = 0
        while header := self._byte():
            field = field + (header >> 4) if header >> 4 else self._signed()
            kind = header & 0xF
            if kind not in (_TRUE, _FALSE):  # which are told by the type alone
                self._read(kind, (*path, field))

    def _read(self, kind: int, path: tuple[int, ...]) -> None:
        if kind in _INTEGERS:
            value = self._signed()
            if path == _VALUES:
                self.largest = max(self.largest, value)
        elif kind == _BINARY:
            length = self._number()  # which moves on by itself
            self._at += length
        elif kind == _STRUCT:
            self.read_struct(path)
        elif kind in (_LIST, _SET):
            self._read_list(path)
        elif kind == _MAP:
            if count := self._number():
                kinds = self._byte()
                for _ in range(count):
                    self._read(kinds >> 4, (*path, 0))
                    self._read(kinds & 0xF, (*path, 0))
        elif kind == _DOUBLE:
            self._at += 8
        elif kind in (_BYTE, _TRUE, _FALSE):
            self._at += 1
        else:
            raise ValueError("a type in its footer is not known")
        if self._at > len(self._data):
            raise IndexError

    def _read_list(self, path: tuple[int, ...]) -> None:
        header = self._byte()
        count = header >> 4 if header >> 4 != 0xF else self._number()
        if len(path) > _DEEPEST:
            raise ValueError("its footer is nested too deeply")
        for _ in range(count):
            kind = header & 0xF
            # A list in a list is no field of its own; nothing that we look for is in one.
            self._read(kind, (*path, 0) if kind in (_LIST, _SET, _MAP) else path)
