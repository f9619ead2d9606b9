"""Numbers of sentences as people write them: `3,7-9`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treemean.errors import InvalidOption

_RANGE = re.compile(r"([0-9]{1,18})(?:-([0-9]{1,18}))?", re.ASCII)
_EXAMPLE = "numbers and ranges counted from 1, as in 3,7-9"


@dataclass(frozen=True)
class Ranges:
    """A set of numbers from 1 on, kept as ranges: ascending pairs of first and last number, far apart.

    >>> Ranges.parse("7-9, 3,8").spans
    ((3, 3), (7, 9))
    """

    spans: tuple[tuple[int, int], ...]

    @classmethod
    def parse(cls, text: str) -> Ranges:
        """Read numbers and ranges separated by commas; raise `InvalidOption` that tells what is wrong."""
        spans = []
        for part in (part.strip() for part in text.split(",")):
            match = _RANGE.fullmatch(part)
            if match is None:
                what = f"{part!r} in {text!r}" if part and part != text else repr(text)
                raise InvalidOption(f"{what} is no range; ranges are {_EXAMPLE}")
            first, last = int(match[1]), int(match[2] or match[1])
            if first < 1:
                raise InvalidOption(f"{part!r}: there is no sentence 0; ranges are {_EXAMPLE}")
            if last < first:
                raise InvalidOption(f"{part!r} ends before it begins; {last}-{first} would be a range")
            spans.append((first, last))
        return cls._merged(spans)

    @classmethod
    def of(cls, numbers: Iterable[int]) -> Ranges:
        """Make ranges of whole numbers, in any order.

        >>> Ranges.of([2, 1, 5]).spans
        ((1, 2), (5, 5))
        """
        listed = list(numbers)
        if listed and min(listed) < 1:
            raise InvalidOption(f"there is no sentence {min(listed)}; sentences are counted from 1")
        return cls._merged((number, number) for number in listed)

    @classmethod
    def _merged(cls, spans: Iterable[tuple[int, int]]) -> Ranges:
        merged: list[tuple[int, int]] = []
        for first, last in sorted(spans):
            if merged and first <= merged[-1][1] + 1:
                merged[-1] = merged[-1][0], max(merged[-1][1], last)
            else:
                merged.append((first, last))
        return cls(tuple(merged))

    def __str__(self) -> str:
        return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in self.spans)

    @property
    def last(self) -> int:
        """The largest number; 0 if there is none."""
        return self.spans[-1][1] if self.spans else 0

    def first_above(self, number: int) -> int | None:
        """Return the smallest number of the set that exceeds `number`, None if there is none.

        >>> Ranges.parse("3,7-9").first_above(7)
        8
        """
        return next((max(first, number + 1) for first, last in self.spans if last > number), None)

    def among(self, first: int, count: int) -> NDArray[np.bool_]:
        """Return for each of the numbers `first`, `first` + 1, … whether it is in the set.

        >>> Ranges.parse("3,7-9").among(6, 4).tolist()
        [False, True, True, True]
        """
        chosen = np.zeros(count, dtype=bool)
        for start, end in self.spans:
            chosen[max(start - first, 0) : max(end - first + 1, 0)] = True
        return chosen
