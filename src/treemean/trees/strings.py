"""Columns of text in Arrow's layout: UTF-8 bytes with offsets, and codes into such a vocabulary."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int32]
_SHOWN = 5  # texts of a column that is printed


class Strings:
    """A column of texts: `data` holds all UTF-8 bytes, text i is `data[offsets[i]:offsets[i + 1]]`.

    >>> Strings.of(["de", "kat"])[1]
    'kat'
    """

    def __init__(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> None:
        self.data, self.offsets = data, offsets

    @classmethod
    def of(cls, texts: Iterable[str]) -> Strings:
        """Make a column from texts."""
        return cls.of_bytes([text.encode("utf-8") for text in texts])

    @classmethod
    def of_bytes(cls, raw: Sequence[bytes]) -> Strings:
        """Make a column from texts in UTF-8."""
        offsets = np.zeros(len(raw) + 1, dtype=np.int64)
        np.cumsum(np.fromiter(map(len, raw), np.int64, len(raw)), out=offsets[1:])
        return cls(np.frombuffer(b"".join(raw), dtype=np.uint8), offsets)

    @classmethod
    def blank(cls, count: int) -> Strings:
        """Make a column of `count` empty texts."""
        return cls(np.empty(0, dtype=np.uint8), np.zeros(count + 1, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Strings: ...
    def __getitem__(self, index: int | slice) -> str | Strings:
        if isinstance(index, slice):
            return self.take(np.arange(len(self))[index])
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError(index)
        return self.data[self.offsets[index] : self.offsets[index + 1]].tobytes().decode("utf-8")

    def __repr__(self) -> str:
        return f"<Strings: {_shown(self)}>"

    def same_bytes(self, other: Strings) -> bool:
        """Tell whether two columns hold the same texts in the same layout; equal texts may lie elsewhere."""
        return self is other or (
            np.array_equal(self.offsets, other.offsets) and np.array_equal(self.data, other.data)
        )

    @cached_property
    def texts(self) -> list[str]:
        """All texts as Python strings, kept."""
        return self.tolist()

    def tolist(self) -> list[str]:
        """Return all texts."""
        return [raw.decode("utf-8") for raw in self.to_bytes()]

    def to_bytes(self) -> list[bytes]:
        """Return all texts in UTF-8."""
        base = int(self.offsets[0])
        raw = self.data[base : self.offsets[-1]].tobytes()
        bounds = (self.offsets - base).tolist()
        return [raw[a:b] for a, b in pairwise(bounds)]

    def begins(self, other: Strings) -> bool:
        """Tell whether the other column begins with the texts of this one.

        >>> Strings.of(["a"]).begins(Strings.of(["a", "b"]))
        True
        """
        if self is other:
            return True
        end, start = self.offsets[-1], other.offsets[0]
        return (
            len(self) <= len(other)
            and self.offsets[0] == start
            and np.array_equal(self.offsets, other.offsets[: len(self.offsets)])
            and np.array_equal(self.data[start:end], other.data[start:end])
        )

    def slice(self, start: int, stop: int) -> Strings:
        """Return texts start to stop - 1, sharing the bytes."""
        offsets = self.offsets[start : stop + 1]
        return Strings(self.data[offsets[0] : offsets[-1]], offsets - offsets[0])

    def take(self, indices: NDArray[Any]) -> Strings:
        """Return the texts at `indices`, copied."""
        lengths = (self.offsets[1:] - self.offsets[:-1])[indices]
        offsets = np.zeros(len(indices) + 1, dtype=np.int64)
        np.cumsum(lengths, out=offsets[1:])
        source = np.repeat(self.offsets[:-1][indices] - offsets[:-1], lengths)
        return Strings(self.data[source + np.arange(offsets[-1])], offsets)

    @staticmethod
    def concatenate(columns: Sequence[Strings]) -> Strings:
        """Put columns one after the other."""
        offsets = np.concatenate([[0], *[np.diff(c.offsets) for c in columns]]).cumsum().astype(np.int64)
        data = [c.data[c.offsets[0] : c.offsets[-1]] for c in columns]
        return Strings(np.concatenate(data) if data else np.empty(0, np.uint8), offsets)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Strings):
            return NotImplemented
        return (
            len(self) == len(other)
            and np.array_equal(np.diff(self.offsets), np.diff(other.offsets))
            and np.array_equal(
                self.data[self.offsets[0] : self.offsets[-1]],
                other.data[other.offsets[0] : other.offsets[-1]],
            )
        )

    __hash__ = None  # type: ignore[assignment]


class CodedStrings:
    """A column of texts that repeat: 32-bit codes into a vocabulary without repetitions.

    >>> CodedStrings.of(["np", "vp", "np"]).codes.tolist()
    [0, 1, 0]
    """

    def __init__(self, codes: Codes, vocabulary: Strings) -> None:
        self.codes, self.vocabulary = codes, vocabulary

    @classmethod
    def of(cls, texts: Iterable[str]) -> CodedStrings:
        """Make a column from texts; the vocabulary is in order of first appearance."""
        index: dict[str, int] = {}
        codes = [index.setdefault(text, len(index)) for text in texts]
        return cls(np.array(codes, dtype=np.int32), Strings.of(index))

    @classmethod
    def constant(cls, text: str, count: int) -> CodedStrings:
        """Make a column that says the same `count` times."""
        return cls(np.zeros(count, dtype=np.int32), Strings.of([text]))

    def __len__(self) -> int:
        return len(self.codes)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> CodedStrings: ...
    def __getitem__(self, index: int | slice) -> str | CodedStrings:
        if isinstance(index, slice):
            return CodedStrings(self.codes[index], self.vocabulary)
        return self.texts[int(self.codes[index])]

    def __repr__(self) -> str:
        return f"<CodedStrings: {_shown(self)}>"

    @property
    def texts(self) -> list[str]:
        """The vocabulary as Python strings, made once for all columns that share it."""
        return self.vocabulary.texts

    def tolist(self) -> list[str]:
        """Return all texts."""
        texts = self.texts
        return [texts[code] for code in self.codes.tolist()]

    def decode(self, start: int, stop: int) -> tuple[str, ...]:
        """Return the texts start to stop - 1."""
        texts = self.texts
        return tuple(texts[code] for code in self.codes[start:stop].tolist())

    def slice(self, start: int, stop: int) -> CodedStrings:
        """Return entries start to stop - 1, sharing everything."""
        return CodedStrings(self.codes[start:stop], self.vocabulary)

    def take(self, indices: NDArray[Any]) -> CodedStrings:
        """Return the entries at `indices` (or under a Boolean mask)."""
        return CodedStrings(self.codes[indices], self.vocabulary)

    def where(self, predicate: Callable[[str], bool]) -> NDArray[np.bool_]:
        """Return which entries satisfy a predicate, which is asked once per vocabulary item."""
        return np.array([predicate(text) for text in self.texts], dtype=bool)[self.codes]

    def map(self, change: Callable[[str], str]) -> CodedStrings:
        """Return the column with every text changed; `change` is called once per vocabulary item."""
        changed = CodedStrings.of(change(text) for text in self.texts)
        return CodedStrings(changed.codes[self.codes], changed.vocabulary)

    def compact(self) -> CodedStrings:
        """Return the same column with a vocabulary of just the texts that occur."""
        used, codes = np.unique(self.codes, return_inverse=True)
        return CodedStrings(codes.astype(np.int32), self.vocabulary.take(used))

    @staticmethod
    def concatenate(columns: Sequence[CodedStrings]) -> CodedStrings:
        """Put columns one after the other, with one vocabulary."""
        if not columns:
            return CodedStrings.of([])
        longest = max((column.vocabulary for column in columns), key=len)
        if all(column.vocabulary.begins(longest) for column in columns):
            return CodedStrings(np.concatenate([column.codes for column in columns]), longest)
        index: dict[bytes, int] = {}  # decoding the texts would take most of the time
        codes = []
        previous: tuple[Strings, Codes] | None = None
        for column in columns:
            if previous is None or previous[0] is not column.vocabulary:
                texts = column.vocabulary.to_bytes()
                new = [text for text in texts if text not in index] if index else texts
                index.update(zip(dict.fromkeys(new), range(len(index), len(index) + len(new))))
                table = np.fromiter(map(index.__getitem__, texts), np.int32, len(texts))
                previous = column.vocabulary, table
            codes.append(previous[1][column.codes])
        return CodedStrings(np.concatenate(codes), Strings.of_bytes(list(index)))

    def differs(self, other: CodedStrings) -> NDArray[np.bool_]:
        """Return where two columns of the same length have different texts.

        >>> CodedStrings.of(["np", "vp"]).differs(CodedStrings.of(["np", "np"])).tolist()
        [False, True]
        """
        # Files of the same words have the same vocabularies: then no text need be looked at.
        if self.vocabulary.same_bytes(other.vocabulary):
            return np.not_equal(self.codes, other.codes)
        both = CodedStrings.concatenate([self, other]).codes
        return np.not_equal(both[: len(self)], both[len(self) :])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CodedStrings):
            return NotImplemented
        return len(self) == len(other) and not self.differs(other).any()

    __hash__ = None  # type: ignore[assignment]


def _shown(column: Strings | CodedStrings) -> str:
    """Return the first texts of a column, and how many there are.

    >>> CodedStrings.of("a b".split() * 4)
    <CodedStrings: 'a', 'b', 'a', 'b', 'a', … (8)>
    """
    first = ", ".join(map(repr, column[:_SHOWN].tolist()))
    return f"{first}, … ({len(column)})" if len(column) > _SHOWN else first or "none"


def comparable(a: CodedStrings, b: CodedStrings, change: Callable[[str], str]) -> tuple[Codes, Codes]:
    """Return codes of two columns in one vocabulary: equal where the texts are equal once they are changed.

    >>> one, other = CodedStrings.of(["De", "kat"]), CodedStrings.of(["de"])
    >>> [codes.tolist() for codes in comparable(one, other, str.lower)]
    [[0, 1], [0]]
    """
    codes = CodedStrings.concatenate([a.map(change), b.map(change)]).codes
    return codes[: len(a)], codes[len(a) :]
