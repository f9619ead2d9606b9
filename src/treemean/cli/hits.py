"""What `treemean average --hits` gives to the average of a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import typer

from treemean.errors import MismatchError

if TYPE_CHECKING:
    from treemean.fitting import HitModel
    from treemean.trees import Treebank

#: How values are named that the constituents of the runs carry.
COLUMN = "column:"

Batches = Iterable[list["Treebank"]]


def hits_of(
    text: str | None,
    runs: list[str],
    jobs: int | None,
    weights: list[float] | None,
    beta: float,
    binary: bool,
) -> tuple[Callable[[list[Treebank]], dict[str, Any]], Callable[[Batches], Batches]]:
    """Return what the average of a batch needs, as a function of the batch, and how batches are to be read.

    A file of hits decides about weights and β itself, and may need all sentences at once.
    """
    given = {"weights": weights, "beta": beta}
    if text is None:
        return lambda batch: given, lambda batches: batches
    if text.startswith(COLUMN):
        column = text.removeprefix(COLUMN)
        return lambda batch: {**given, "hits": column}, lambda batches: batches
    for option, differs in (("--weights", weights is not None), ("--beta", beta != 1), ("--binary", binary)):
        if differs:
            raise typer.BadParameter(f"a file of hits does not go with {option}", param_hint="--hits")
    from treemean.fitting import load

    model = load(text)
    _check_names(model, text, runs)
    return lambda batch: model.arguments(batch, jobs=jobs), _all_at_once if model.of_corpus else iter


def _all_at_once(batches: Batches) -> Iterator[list[Treebank]]:
    """Yield one batch of all sentences: their scores depend on each other."""
    from treemean.trees import Treebank

    by_run = list(zip(*batches, strict=True))
    if by_run:
        yield [Treebank.concatenate(parts) for parts in by_run]


def _check_names(model: HitModel, path: str, runs: list[str]) -> None:
    """Raise `MismatchError` if there are more or fewer runs, or if their names tell another order."""
    from treemean.cli.output import short_names

    if len(runs) != len(model.runs):
        raise MismatchError(
            f"{path} is fitted to {len(model.runs)} runs ({', '.join(model.runs)}), and {len(runs)} are given"
        )
    names = short_names(runs)
    if sorted(names) == sorted(model.runs) and names != list(model.runs):
        raise MismatchError(
            f"{path} is fitted to the runs in another order: give them as {', '.join(model.runs)}"
        )
