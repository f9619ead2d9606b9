"""How much runs would agree by chance: a pair with trees of the same shapes, but of other sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from treemean.agreement.units import Floats, Units


@dataclass(frozen=True, eq=False)
class Chance:
    """Agreement beyond chance, over the sentences that share their length with another one.

    The trees of one run are dealt out anew among the sentences of the same length, so that no sentence keeps
    its own, all ways alike; `expected` is the mean F1 with the other run over all these ways. Sentences that
    are alone in their length have no other tree to compare with, and are left out of all three tables.

    Parameters
    ----------
    sentences : how many sentences are compared; `alone` : how many are left out.
    f1 : float64[K, K], F1 of each pair on these sentences, in percent; NaN for 0 of 0.
    expected : float64[K, K], the same by chance.
    """

    sentences: int
    alone: int
    f1: Floats
    expected: Floats

    @property
    def corrected(self) -> Floats:
        """float64[K, K]: (F1 − expected) / (100 − expected); 1 is full agreement, 0 is chance.

        NaN where there is nothing to compare, or where chance alone agrees fully.
        """
        room = np.where(self.expected < 100, 100 - self.expected, np.nan)
        return np.asarray((self.f1 - self.expected) / room)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready data, with means of each run with the others and of all pairs."""
        tables = {"f1": self.f1, "expected": self.expected, "corrected": self.corrected}
        return {
            "sentences": self.sentences,
            "alone": self.alone,
            **{name: plain(table) for name, table in tables.items()},
            **{f"mean_{name}": plain(with_others(table)) for name, table in tables.items()},
            **{f"overall_{name}": plain(np.array([of_pairs(table)]))[0] for name, table in tables.items()},
        }


def agreement_by_chance(units: Units) -> Chance:
    """Return what pairs of runs agree by, and what they would agree by chance.

    Exact, in O(U K²): of m sentences of a length each tree goes to each other sentence with probability
    1 / (m − 1). Over all pairs of sentences two runs share as many units as the sum over shapes of how often
    the one has it times how often the other does; what they share in the same sentence is taken off. How many
    units each has does not change.
    """
    runs = units.has.shape[1]
    shared = np.zeros((runs, runs))
    length_of_unit = units.lengths[units.sentence]
    for length, count in zip(*np.unique(units.lengths, return_counts=True), strict=True):
        if count > 1:
            of_length = length_of_unit == length
            has = units.has[of_length].astype(np.float64)
            shapes, place = np.unique(units.shape[of_length], return_inverse=True)
            times = np.zeros((len(shapes), runs))
            np.add.at(times, place, has)
            shared += (times.T @ times - has.T @ has) / (count - 1)
    amounts = np.bincount(units.lengths)
    compared = amounts[units.lengths] > 1
    found = units.shared(compared)
    return Chance(
        int(compared.sum()),
        int((~compared).sum()),
        f1_of(found, np.diag(found)),
        f1_of(shared, np.diag(found)),
    )


def f1_of(shared: Floats, amounts: Floats) -> Floats:
    """Return F1 in percent from what pairs share (K, K) and each has (K); NaN for 0 of 0."""
    both = amounts[:, None] + amounts[None, :]
    return np.asarray(100 * np.divide(2 * shared, both, out=np.full(shared.shape, np.nan), where=both > 0))


def with_others(table: Floats) -> Floats:
    """Return the mean of each row of a square table, diagonal and NaN left out; NaN if nothing is left."""
    told = ~np.isnan(table) & ~np.eye(len(table), dtype=bool)
    amounts = told.sum(axis=1)
    sums = np.where(told, table, 0.0).sum(axis=1)
    return np.asarray(np.divide(sums, amounts, out=np.full(len(table), np.nan), where=amounts > 0))


def of_pairs(table: Floats) -> float:
    """Return the mean of a symmetric table over pairs of different runs; NaN is left out, as above."""
    values = table[np.triu_indices(len(table), 1)]
    told = values[~np.isnan(values)]
    return float(told.mean()) if len(told) else float("nan")


def plain(table: Floats) -> Any:
    """Return numbers as nested lists, with None for NaN."""
    if table.ndim > 1:
        return [plain(row) for row in table]
    return [None if np.isnan(value) else value for value in table.tolist()]
