"""What decides between equally good trees: values of one's own, in the form that the core takes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from treemean.averaging.arguments import number
from treemean.averaging.weights import to_integers
from treemean.errors import InvalidOption
from treemean.names import TieRule
from treemean.trees import Constituent, Treebank
from treemean.trees.bitsets import mask_of

#: What a constituent is worth in one sentence: a function, or a mapping from positions (or from positions and
#: a label) that leaves out what is worth nothing.
Valuation = Callable[[Constituent], float] | Mapping[Any, float]
#: A rule's name, a valuation for all sentences, or one for each of them.
TiesLike = str | Valuation | list[Valuation]


def check_ties(ties: Any) -> str:
    """Return the name that the core has for a rule; raise `InvalidOption` if there is none such."""
    if isinstance(ties, str):
        if ties not in get_args(TieRule):
            raise InvalidOption(f"ties must be canonical, right, left, or your own values, not {ties!r}")
        return ties
    each = ties if isinstance(ties, list | tuple) else [ties]
    if not all(callable(one) or isinstance(one, Mapping) for one in each):
        raise InvalidOption(
            "values for ties must be a mapping or a function, or a list with one for each sentence"
        )
    return "values"


def preferences_of(
    runs: Sequence[Treebank], ties: TiesLike, labelled: bool
) -> list[NDArray[np.int64]] | None:
    """Return what every individual's constituents are worth, as integers; None if a rule decides.

    Without labels a constituent is asked for with an empty label, so that all individuals hear the same.
    Short decimals are exact, other numbers are rounded to about nine digits of the largest one.
    """
    if isinstance(ties, str):
        return None
    asked = values_of(ties, len(runs[0]))
    known: dict[tuple[int, int, str], float] = {}
    columns: list[list[tuple[int, int, str]]] = []
    for run in runs:
        column = []
        for s, tree in enumerate(run):
            for c in tree.constituents:
                key = (s, c.mask, c.label if labelled else "")
                column.append(key)
                if key not in known:
                    known[key] = _checked(asked[s](Constituent(c.mask, key[2])), s)
        columns.append(column)
    integers = dict(zip(known, to_integers([*known.values()]) if known else [], strict=True))
    return [np.array([integers[key] for key in column], dtype=np.int64) for column in columns]


def values_of(ties: TiesLike, sentences: int) -> list[Callable[[Constituent], Any]]:
    """Return what constituents are worth in each of some sentences."""
    assert not isinstance(ties, str)
    each: Sequence[Valuation] = ties if isinstance(ties, list | tuple) else [ties] * sentences
    if len(each) != sentences:
        raise InvalidOption(f"values for ties of {len(each)} sentences, but there are {sentences}")
    return [_function(one) for one in each]


def _function(valuation: Valuation) -> Callable[[Constituent], Any]:
    """Return a valuation as a function."""
    if not isinstance(valuation, Mapping):
        return valuation
    table = {_key(key): value for key, value in valuation.items()}

    def look_up(constituent: Constituent) -> Any:
        with_label = table.get((constituent.mask, constituent.label))
        return table.get((constituent.mask, None), 0.0) if with_label is None else with_label

    return look_up


def _checked(value: Any, sentence: int) -> float:
    result = number("a value for ties", value)
    if not math.isfinite(result):
        raise InvalidOption(f"sentence {sentence + 1}: a value for ties is {result}; it must be finite")
    return result


def _key(key: Any) -> tuple[int, str | None]:
    """Return the words, as a mask, and the label of a key of a mapping."""
    positions, label = key if isinstance(key, tuple) and isinstance(key[-1], str) else (key, None)
    if not isinstance(positions, Iterable) or not all(isinstance(p, int) and p >= 0 for p in positions):
        raise InvalidOption(f"{key!r} is no constituent: give positions, or a pair of positions and a label")
    return mask_of(positions), label
