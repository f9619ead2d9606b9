"""The words that a model knows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

from treemean.errors import InvalidOption

#: What stands for every word that a model does not know; its number is 0.
UNKNOWN = "<unk>"


class Vocabulary:
    """Numbers for words; 0 is every unknown word.

    Parameters
    ----------
    words : the known words, in the order of their numbers from 1.

    >>> vocabulary = Vocabulary.most_frequent("the cat the dog".split(), 2)
    >>> vocabulary.numbers("the dog barks".split()), len(vocabulary)
    ([1, 0, 0], 3)
    """

    def __init__(self, words: Sequence[str]) -> None:
        self.words = tuple(words)
        if len(self._numbers) != len(self.words) or UNKNOWN in self._numbers:
            raise InvalidOption(f"a vocabulary has every word once, and not {UNKNOWN}")

    @classmethod
    def from_json(cls, words: Any) -> Vocabulary:
        """Make it from what was read from a file; raise `InvalidOption` unless that is a list of words."""
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise InvalidOption("a vocabulary is a list of texts")
        return cls(words)

    @classmethod
    def most_frequent(cls, words: Iterable[str], size: int) -> Vocabulary:
        """Keep the `size` most frequent words, of equally frequent ones the alphabetically first."""
        counts = Counter(words)
        counts.pop(UNKNOWN, None)
        return cls(sorted(counts, key=lambda word: (-counts[word], word))[:size])

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words, 1)}

    def __len__(self) -> int:
        """Count the numbers: the words, and one for all others."""
        return len(self.words) + 1

    def __contains__(self, word: str) -> bool:
        return word in self._numbers

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and self.words == other.words

    def __hash__(self) -> int:
        return hash(self.words)

    def numbers(self, words: Iterable[str]) -> list[int]:
        """Return the number of every word."""
        return [self._numbers.get(word, 0) for word in words]
