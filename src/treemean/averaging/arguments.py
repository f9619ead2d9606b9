"""Checks of what users pass, so that errors name the parameter that has a wrong type."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from itertools import pairwise
from numbers import Complex, Real
from typing import Any

from treemean.errors import InvalidOption, TreemeanError
from treemean.trees import Individual, SpanTable, Tree, Treebank, as_treebank


def listed(individuals: Iterable[Any], *, only_trees: bool = False) -> list[Any]:
    """Return individuals as a list of treebanks, or of trees; raise `InvalidOption` for anything else."""
    wanted = "trees over one sentence" if only_trees else "treebanks, or of trees over one sentence"
    if isinstance(individuals, Tree | Treebank | str | bytes) or not isinstance(individuals, Iterable):
        raise InvalidOption(f"the individuals must be a list of {wanted}, not a {type(individuals).__name__}")
    found = list(individuals) if only_trees else [_joined(individual) for individual in individuals]
    kinds = Tree if only_trees else Tree | Treebank | SpanTable
    if not found:
        raise TreemeanError("there is nothing to average: give at least one treebank")
    for number, individual in enumerate(found, 1):
        if not isinstance(individual, kinds):
            kind = type(individual).__name__
            raise InvalidOption(
                f"the individuals must be a list of {wanted}, but individual {number} is a {kind}"
            )
        if isinstance(individual, Tree) != isinstance(found[0], Tree):
            raise InvalidOption("the individuals must be all trees or all treebanks, not some of each")
    check_tables_last(found)
    return found


def check_tables_last(individuals: Sequence[Any]) -> None:
    """Raise `InvalidOption` if a treebank comes after a table of spans."""
    for before, after in pairwise(individuals):
        if isinstance(before, SpanTable) and not isinstance(after, SpanTable):
            raise InvalidOption("give tables of spans after all treebanks")


def columns_of(individual: Individual) -> Treebank:
    """Return the columns of a treebank or of a table of spans."""
    return individual.columns if isinstance(individual, SpanTable) else individual


def columns_of_all(individuals: Iterable[Individual]) -> list[Treebank]:
    """Return the columns of treebanks and of tables of spans."""
    return [columns_of(individual) for individual in individuals]


def _joined(individual: Any) -> Any:
    """Return a list of trees as a treebank, everything else as it is."""
    if isinstance(individual, list | tuple) and all(isinstance(tree, Tree) for tree in individual):
        return as_treebank(individual)
    return individual


def whole_number(name: str, value: Any, least: int) -> int:
    """Return an integer argument; raise `InvalidOption` if it is none, or less than `least`.

    >>> whole_number("jobs", 2, 1)
    2
    """
    try:
        number = operator.index(value)
    except TypeError:
        raise InvalidOption(f"{name} is {value!r}; it must be a whole number") from None
    if number < least:
        raise InvalidOption(f"{name} is {number}; it must be at least {least}")
    return number


def number(name: str, value: Any) -> float:
    """Return a numeric argument as a float, NaN and infinity included; raise `InvalidOption` if it is none.

    >>> number("beta", 1)
    1.0
    """
    try:
        if isinstance(value, str | bytes) or (isinstance(value, Complex) and not isinstance(value, Real)):
            raise TypeError
        return float(value)
    except OverflowError:
        return math.inf
    except (TypeError, ValueError):
        raise InvalidOption(f"{name} is {value!r}; it must be a number") from None
