"""Checking that individuals speak of the same sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from treemean.errors import MismatchError, TreemeanError
from treemean.trees import Treebank


def check_aligned(
    runs: Sequence[Treebank], names: Sequence[str] | None = None, first_sentence: int = 0
) -> None:
    """Raise `MismatchError` unless all treebanks have the same words in the same sentences.

    Parameters
    ----------
    names : what messages call the treebanks; `individual 1` and so on if not given.
    first_sentence : how many sentences came before these, for messages.
    """
    if not runs:
        raise TreemeanError("there is nothing to average: give at least one treebank")
    called = _names(runs, names)
    first = runs[0]
    for name, run in zip(called[1:], runs[1:], strict=True):
        if len(run) != len(first):
            raise MismatchError(f"{name} has {len(run)} sentences, {called[0]} has {len(first)}")
        if (run.lengths != first.lengths).any():
            s = int(np.argmax(run.lengths != first.lengths))
            raise MismatchError(
                f"{_place(first, s, first_sentence)}: {name} has {run.lengths[s]} words, "
                f"{called[0]} has {first.lengths[s]}"
            )
        different = first.words.differs(run.words)
        if different.any():
            at = int(np.argmax(different))
            s = int(np.searchsorted(first.word_offsets, at, side="right")) - 1
            raise MismatchError(
                f"{_place(first, s, first_sentence)}: word {at - first.word_offsets[s] + 1} is "
                f"{run.words[at]!r} in {name} and {first.words[at]!r} in {called[0]}"
            )


def align_by_id(runs: Sequence[Treebank], names: Sequence[str] | None = None) -> list[Treebank]:
    """Return treebanks with their sentences in the order of the first one, brought together by their ids.

    `names` is what messages call the treebanks; `individual 1` and so on if not given.
    """
    if not runs:
        return []
    called = _names(runs, names)
    ids = _unique_ids(runs[0], called[0])
    aligned = [runs[0]]
    for name, run in zip(called[1:], runs[1:], strict=True):
        place = {id: index for index, id in enumerate(_unique_ids(run, name))}
        missing = [id for id in ids if id not in place]
        if missing or len(place) != len(ids):
            which = f"lacks {missing[0]!r}" if missing else f"has {min(place.keys() - set(ids))!r}"
            raise MismatchError(f"{name} has other sentences than {called[0]}: it {which}")
        aligned.append(run.take([place[id] for id in ids]))
    return aligned


def _names(runs: Sequence[Treebank], names: Sequence[str] | None) -> Sequence[str]:
    return names or [f"individual {number}" for number in range(1, len(runs) + 1)]


def _unique_ids(run: Treebank, name: str) -> list[str]:
    ids = run.ids.tolist()
    if "" in ids:
        raise MismatchError(f"sentence {ids.index('') + 1} of {name} has no id")
    repeated = next((id for id, count in Counter(ids).items() if count > 1), None)
    if repeated is not None:
        raise MismatchError(f"the id {repeated!r} occurs more than once in {name}")
    return ids


def _place(treebank: Treebank, s: int, first_sentence: int) -> str:
    return f"sentence {first_sentence + s + 1}" + (f" ({treebank.ids[s]})" if treebank.ids[s] else "")
