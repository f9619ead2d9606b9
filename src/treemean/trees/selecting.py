"""Which sentences of a treebank are wanted, and which constituents of their trees.

Functions select from a whole treebank. For one that is read batch by batch, a selector sees the batches in
turn, and is asked at the end whether everything that was named has been there.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from treemean.errors import InvalidOption, TreemeanError
from treemean.trees.alike import as_treebank, of_treebanks
from treemean.trees.ranges import Ranges
from treemean.trees.tree import Tree
from treemean.trees.treebank import Treebank

_MANY = 10


def select_sentences(
    treebank: Treebank | Iterable[Tree],
    *,
    numbers: str | Iterable[int] | None = None,
    ids: Collection[str] | None = None,
    discontinuous: bool = False,
) -> Treebank:
    """Return the sentences that meet all conditions, in the order of the treebank.

    Parameters
    ----------
    numbers : counted from 1, as a text such as "3,7-9" or as whole numbers.
    ids : of the sentences; all that have one of them are taken.
    discontinuous : only sentences with at least one discontinuous constituent.

    Raises `TreemeanError` if the treebank has no sentence of one of the numbers or ids.

    >>> from treemean.trees import Tree
    >>> bank = Treebank.from_trees([Tree(["a", "b"], [({0, 1}, "S")], id=name) for name in "xyz"])
    >>> select_sentences(bank, numbers="1-2", ids=["y", "z"]).ids.tolist()
    ['y']
    """
    ranges = (
        None if numbers is None else Ranges.parse(numbers) if isinstance(numbers, str) else Ranges.of(numbers)
    )
    selector = SentenceSelector(ranges, ids)
    chosen = selector.take(as_treebank(treebank))
    selector.finish()
    return discontinuous_sentences(chosen) if discontinuous else chosen


def discontinuous_sentences(treebank: Treebank | Iterable[Tree]) -> Treebank:
    """Return the sentences with at least one discontinuous constituent."""
    treebank = as_treebank(treebank)
    found = np.zeros(len(treebank), dtype=bool)
    found[treebank.sentence_of[treebank.fan_outs > 1]] = True
    return treebank.take(found)


@of_treebanks
def select_constituents(
    treebank: Treebank, *, minimum: Mapping[str, float] | None = None, labels: Collection[str] | None = None
) -> Treebank:
    """Return the treebank with only those constituents that meet all conditions.

    The children of a constituent that is removed become children of the one above it. The root, that is the
    uppermost constituent over the whole sentence, always stays as it is.

    Parameters
    ----------
    minimum : the least value of numbers that constituents carry, as in `{"support": 0.5}`.
    labels : the labels to keep.

    Raises `TreemeanError` if a constituent lacks one of the numbers, or if none has any of the labels.

    >>> from treemean.trees import Tree
    >>> tree = Tree("Wake your friend up".split(), [(range(4), "S"), ({0, 3}, "V"), ({1, 2}, "NP")])
    >>> [c.label for c in select_constituents(Treebank.from_trees([tree]), labels=["NP"])[0]]
    ['S', 'NP']
    """
    selector = ConstituentSelector(minimum, labels)
    chosen = selector.take(treebank)
    selector.finish()
    return chosen


class SentenceSelector:
    """Takes sentences by number and id from batches; both conditions must hold.

    Parameters
    ----------
    ranges : the numbers of the sentences, counted over all batches; None for all.
    ids : their ids; None for all.
    name : what error messages call that which is read.
    before : how many sentences come before the first batch.
    """

    def __init__(
        self,
        ranges: Ranges | None = None,
        ids: Collection[str] | None = None,
        name: str = "the treebank",
        *,
        before: int = 0,
    ) -> None:
        if isinstance(ids, str):
            raise TypeError("ids must be a collection of strings, not one string")
        self._ranges, self._name = ranges, name
        self._ids = None if ids is None else frozenset(ids)
        self._missing = dict.fromkeys(ids or ())  # in the order given
        self._seen = before
        self._has_ids = False

    @property
    def done(self) -> bool:
        """Whether no sentence that is still to come can be wanted."""
        if self._ids is not None and self._missing:
            return False
        return self._ranges is not None and self._seen >= self._ranges.last

    def which(self, batch: Treebank) -> NDArray[np.bool_]:
        """Return which sentences of the next batch are wanted."""
        chosen = np.ones(len(batch), dtype=bool)
        if self._ranges is not None:
            chosen &= self._ranges.among(self._seen + 1, len(batch))
        if self._ids is not None:
            found = batch.ids.tolist()
            chosen &= np.array([id in self._ids for id in found], dtype=bool)
            for id in found:
                self._missing.pop(id, None)
            self._has_ids |= any(found)
        self._seen += len(batch)
        return chosen

    def take(self, batch: Treebank) -> Treebank:
        """Return the sentences of the next batch that are wanted."""
        chosen = self.which(batch)
        return batch if chosen.all() else batch.take(chosen)

    def finish(self) -> None:
        """Raise `TreemeanError` if a number or an id never came."""
        absent = None if self._ranges is None else self._ranges.first_above(self._seen)
        if absent is not None:
            raise TreemeanError(f"{self._name}: there is no sentence {absent}; it has {self._seen}")
        if self._missing:
            why = "" if self._has_ids or not self._seen else "; its sentences have no ids"
            listed = _listed(repr(id) for id in self._missing)
            which = f"the id {listed}" if len(self._missing) == 1 else f"any of the ids {listed}"
            raise TreemeanError(f"{self._name}: no sentence has {which}{why}")


class ConstituentSelector:
    """Keeps constituents by their numbers and labels in batches; see `select_constituents`."""

    def __init__(
        self,
        minimum: Mapping[str, float] | None = None,
        labels: Collection[str] | None = None,
        name: str = "the treebank",
    ) -> None:
        if isinstance(labels, str):
            raise TypeError("labels must be a collection of strings, not one string")
        for value, least in (minimum or {}).items():
            if math.isnan(least):
                raise InvalidOption(f"the least {value} must be a number")
        self._name = name
        self._minimum = dict(minimum or {})
        self._labels = None if labels is None else frozenset(labels)
        self._absent = dict.fromkeys(labels or ())  # in the order given
        self._known: set[str] = set()
        self.removed = 0

    def take(self, batch: Treebank) -> Treebank:
        """Return the next batch with the constituents that stay."""
        roots = _roots(batch)
        stays = np.ones(len(batch.labels), dtype=bool)
        for name, least in self._minimum.items():
            stays &= self._numbers(batch, name, roots) >= least
        if self._labels is not None:
            labels = self._labels
            stays &= batch.labels.where(lambda label: label in labels)
            found = batch.labels.compact().texts
            self._known.update(found)
            for label in found:
                self._absent.pop(label, None)
        stays |= roots
        self.removed += int((~stays).sum())
        return batch if stays.all() else batch.keep_constituents(stays)

    def _numbers(self, batch: Treebank, name: str, roots: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return a number of every constituent; raise `TreemeanError` if one other than a root has none."""
        values = batch.constituent_values.get(name, np.full(len(batch.labels), np.nan))
        lacking = np.flatnonzero(np.isnan(values) & ~roots)
        if not len(lacking):
            return values
        sentence = int(batch.sentence_of[lacking[0]])
        tree = batch[sentence]
        constituent = tree.constituents[int(lacking[0] - batch.constituent_offsets[sentence])]
        words = " ".join(tree.words[p] for p in constituent.positions[:6]) + " …" * (len(constituent) > 6)
        known = sorted(batch.constituent_values)
        raise TreemeanError(
            f"{self._name}: {f'sentence {tree.id}: ' if tree.id else ''}"
            f"{constituent.label or 'the constituent'} [{words}] has no {name}; "
            + (f"constituents here have {', '.join(known)}" if known else "constituents here have no numbers")
        )

    @property
    def knows_labels(self) -> bool:
        """Whether labels of constituents have been looked at."""
        return bool(self._known)

    @property
    def absent_labels(self) -> list[str]:
        """The labels that none of the constituents had so far, in the order given."""
        return list(self._absent) if self._known else []

    def finish(self) -> None:
        """Raise `TreemeanError` if there were constituents, and none had any of the labels."""
        if self._labels and self._known and len(self._absent) == len(self._labels):
            labels = _listed(repr(label) for label in self._absent)
            which = f"the label {labels}" if len(self._absent) == 1 else f"any of the labels {labels}"
            there = sorted(self._known - {""})
            told = f"there are {_listed(there)}" if there else "they have no labels"
            raise TreemeanError(f"{self._name}: no constituent has {which}; {told}")


def _roots(batch: Treebank) -> NDArray[np.bool_]:
    roots = np.zeros(len(batch.labels), dtype=bool)
    roots[batch.constituent_offsets[:-1][batch.constituent_counts > 0]] = True
    return roots


def _listed(texts: Iterable[str]) -> str:
    listed = list(texts)
    more = f" and {len(listed) - _MANY} more" if len(listed) > _MANY else ""
    return ", ".join(listed[:_MANY]) + more
