"""Columns of text in Arrow's layout: UTF-8 bytes with offsets, and codes into such a vocabulary."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int32]


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
        raw = [text.encode("utf-8") for text in texts]
        offsets = np.zeros(len(raw) + 1, dtype=np.int64)
        np.cumsum([len(r) for r in raw], out=offsets[1:])
        return cls(np.frombuffer(b"".join(raw), dtype=np.uint8), offsets)

    @classmethod
    def blank(cls, count: int) -> Strings:
        """Make a column of `count` empty texts."""
        return cls(np.empty(0, dtype=np.uint8), np.zeros(count + 1, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> str:
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError(index)
        return self.data[self.offsets[index] : self.offsets[index + 1]].tobytes().decode("utf-8")

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
        base = int(self.offsets[0])
        raw = self.data[base : self.offsets[-1]].tobytes()
        bounds = (self.offsets - base).tolist()
        return [raw[a:b].decode("utf-8") for a, b in pairwise(bounds)]

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

    def __getitem__(self, index: int) -> str:
        return self.texts[int(self.codes[index])]

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
        index: dict[str, int] = {}
        codes = []
        previous: tuple[Strings, Codes] | None = None
        for column in columns:
            if previous is None or previous[0] is not column.vocabulary:
                table = [index.setdefault(text, len(index)) for text in column.texts]
                previous = column.vocabulary, np.array(table, dtype=np.int32)
            codes.append(previous[1][column.codes])
        return CodedStrings(np.concatenate(codes) if codes else np.empty(0, np.int32), Strings.of(index))

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


def comparable(a: CodedStrings, b: CodedStrings, change: Callable[[str], str]) -> tuple[Codes, Codes]:
    """Return codes of two columns in one vocabulary: equal where the texts are equal once they are changed.

    >>> one, other = CodedStrings.of(["De", "kat"]), CodedStrings.of(["de"])
    >>> [codes.tolist() for codes in comparable(one, other, str.lower)]
    [[0, 1], [0]]
    """
    codes = CodedStrings.concatenate([a.map(change), b.map(change)]).codes
    return codes[: len(a)], codes[len(a) :]
