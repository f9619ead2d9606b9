"""Where sentences stand in a treebank that are named by numbers, by a mask or by ids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

import numpy as np

from treemean.errors import WrongType
from treemean.trees.bitsets import Ints


def places_of(chosen: Any, count: int, ids: Mapping[str, list[int]]) -> Ints:
    """Return the places of the chosen ones of `count` sentences.

    Parameters
    ----------
    chosen : a mask, a list of numbers (negative ones count from the end), or a list of ids.
    ids : the places of the sentences with each id.

    >>> places_of([-1, 0], 3, {}).tolist(), places_of([True, False, True], 3, {}).tolist()
    ([2, 0], [0, 2])
    """
    if not isinstance(chosen, Iterable):
        raise WrongType(f"sentences are named by numbers, ids, a slice or a mask, not by {chosen!r}")
    listed = np.asarray(chosen if hasattr(chosen, "__array__") else list(chosen))
    if listed.ndim != 1:
        raise WrongType("sentences are named by one list of numbers or ids, or by a mask")
    if listed.dtype == bool:
        if len(listed) != count:
            raise IndexError(f"a mask of {len(listed)} for a treebank of {count} sentences")
        return np.flatnonzero(listed)
    if listed.dtype.kind in "UO" and all(isinstance(id, str) for id in listed.tolist()):
        return np.array([place_of(id, ids) for id in listed.tolist()], dtype=np.int64)
    if len(listed) and listed.dtype.kind not in "iu":
        raise WrongType(f"sentences are named by whole numbers, ids or a mask, not by {listed.dtype}")
    numbers = listed.astype(np.int64)
    outside = (numbers < -count) | (numbers >= count)
    if outside.any():
        raise IndexError(f"sentence {numbers[outside][0]} of a treebank of {count}")
    return np.where(numbers < 0, numbers + count, numbers)


def place_of(id: str, ids: Mapping[str, list[int]]) -> int:
    """Return the place of the one sentence with an id; raise `KeyError` if there is none, or several."""
    found = ids.get(id, [])
    if not found:
        near = get_close_matches(id, ids, 1)
        raise KeyError(f"no sentence has the id {id!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
    if len(found) > 1:
        numbers = ", ".join(map(str, found[:5])) + (", …" if len(found) > 5 else "")
        raise KeyError(f"{len(found)} sentences have the id {id!r}: those at {numbers}")
    return found[0]
