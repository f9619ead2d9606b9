"""What is counted in shards beside their trees, and added up; kept as JSON in files and manifests."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from treemean.averaging import Frequencies
from treemean.errors import FormatError
from treemean.trees import Treebank

_TEXTS = ("functions", "tags", "word_functions")
#: So many notes of every kind are kept of a whole treebank; all are counted, and shards keep their own.
MOST_NOTES = 1000


@dataclass
class Sums:
    """What was counted.

    Attributes
    ----------
    words, constituents, sentences : of the trees that were written.
    frequencies : how often their labels, functions and tags occur, which decides ties of a later average.
    counts : whatever else a job counts, by name.
    notes : single sentences that deserve a word (skipped, beyond their budget), by kind; JSON-ready.
    """

    sentences: int = 0
    words: int = 0
    constituents: int = 0
    frequencies: Frequencies = field(default_factory=Frequencies)
    counts: Counter[str] = field(default_factory=Counter)
    notes: dict[str, list[Any]] = field(default_factory=dict)

    def add_trees(self, batch: Treebank) -> None:
        """Count trees that are written."""
        self.sentences += len(batch)
        self.words += len(batch.words)
        self.constituents += len(batch.labels)
        self.frequencies.add(batch)

    def note(self, kind: str, entry: Any) -> None:
        """Count something, and keep a note about it."""
        self.counts[kind] += 1
        self.notes.setdefault(kind, []).append(entry)

    def add(self, other: Sums) -> None:
        """Add what was counted of the shard that follows."""
        self.sentences += other.sentences
        self.words += other.words
        self.constituents += other.constituents
        self.counts.update(other.counts)
        add_frequencies(self.frequencies, other.frequencies)
        for kind, entries in other.notes.items():
            kept = self.notes.setdefault(kind, [])
            kept += entries[: max(0, MOST_NOTES - len(kept))]

    def to_json(self) -> str:
        """Return everything as a line of JSON, the same for the same sums."""
        return json.dumps(self.to_dict(), ensure_ascii=False, sort_keys=True)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready data."""
        return {
            "sentences": self.sentences,
            "words": self.words,
            "constituents": self.constituents,
            "frequencies": frequencies_to_dict(self.frequencies),
            "counts": dict(sorted(self.counts.items())),
            "notes": self.notes,
        }

    @staticmethod
    def from_json(text: str) -> Sums:
        """Make sums from what `to_json` gave."""
        try:
            return Sums.from_dict(json.loads(text))
        except ValueError as error:
            raise FormatError(f"damaged sums of a shard: {error!r}") from error

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Sums:
        """Make sums from what `to_dict` gave."""
        try:
            return Sums(
                data["sentences"],
                data["words"],
                data["constituents"],
                frequencies_from_dict(data["frequencies"]),
                Counter(data["counts"]),
                {kind: list(entries) for kind, entries in data["notes"].items()},
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise FormatError(f"damaged sums of a shard: {error!r}") from error


def add_frequencies(total: Frequencies, more: Frequencies) -> None:
    """Add the counts of one more piece of a treebank."""
    total.chains.update(more.chains)
    for name in _TEXTS:
        getattr(total, name).update(getattr(more, name))


def frequencies_to_dict(found: Frequencies) -> dict[str, Any]:
    """Return frequencies as JSON-ready data, in alphabetical order."""
    return {
        "chains": sorted([list(chain), count] for chain, count in found.chains.items()),
        **{name: dict(sorted(getattr(found, name).items())) for name in _TEXTS},
    }


def frequencies_from_dict(data: Mapping[str, Any]) -> Frequencies:
    """Make frequencies from what `frequencies_to_dict` gave."""
    return Frequencies(
        Counter({tuple(chain): count for chain, count in data["chains"]}),
        *(Counter(data[name]) for name in _TEXTS),
    )
