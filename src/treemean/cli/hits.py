"""What `treemean average --hits` gives to the average of a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import typer

from treemean.errors import InvalidOption, MismatchError

if TYPE_CHECKING:
    from treemean.fitting import HitModel
    from treemean.trees import Treebank

#: How values are named that the constituents of the runs carry.
COLUMN = "column:"

Batches = Iterable[list["Treebank"]]
#: What `treemean.average` needs beside a batch.
Valued = Callable[[list["Treebank"]], dict[str, Any]]
Reading = Callable[[Batches], Batches]
#: Takes an average and its runs, and returns the average to be written.
Finished = Callable[["Treebank", list["Treebank"]], "Treebank"]


def hits_of(
    text: str | None,
    runs: list[str],
    *,
    jobs: int | None,
    weights: list[float] | None,
    beta: float,
    binary: bool,
    labelled: bool,
    probability: bool,
) -> tuple[Valued, Reading, Finished]:
    """Return what the average of a batch needs, how batches are to be read, and what averages are given.

    A file of hits decides about weights and β itself, and may need all sentences at once; so do probabilities
    by the runs alone.
    """
    given = {"weights": weights, "beta": beta}
    if text is None or text.startswith(COLUMN):
        column = {} if text is None else {"hits": text.removeprefix(COLUMN)}
        return (
            lambda batch: {**given, **column},
            _all_at_once if probability else iter,
            _by_runs_alone(weights, len(runs), labelled) if probability else _as_it_is,
        )
    model = check_names(text, runs, given, labelled=labelled)

    def arguments(batch: list[Treebank]) -> dict[str, Any]:
        return model.arguments(batch, jobs=jobs, binary=binary)

    if probability:
        model.check_calibrated()
    return (
        arguments,
        _all_at_once if model.of_corpus else iter,
        model.with_probabilities if probability else _as_it_is,
    )


def _as_it_is(mean: Treebank, runs: list[Treebank]) -> Treebank:
    return mean


def _by_runs_alone(weights: list[float] | None, count: int, labelled: bool) -> Finished:
    """Return what adds probabilities by the runs that have a say."""
    asked = [k for k in range(count) if weights is None or k >= len(weights) or weights[k]]
    if len(asked) < 2:
        raise typer.BadParameter(
            "one run alone does not tell how far it is right: give two runs, or --hits fitted to gold trees",
            param_hint="--probability",
        )

    def finished(mean: Treebank, runs: list[Treebank]) -> Treebank:
        from treemean.fitting import add_probabilities

        return add_probabilities(mean, [runs[k] for k in asked], labelled=labelled)

    return finished


def _all_at_once(batches: Batches) -> Iterator[list[Treebank]]:
    """Yield one batch of all sentences: their scores depend on each other."""
    from treemean.trees import Treebank

    by_run = list(zip(*batches, strict=True))
    if by_run:
        yield [Treebank.concatenate(parts) for parts in by_run]


def check_names(path: str, runs: list[str], given: dict[str, Any], *, labelled: bool) -> HitModel:
    """Return the model of a file of hits, which decides about weights and β itself.

    Raises `MismatchError` if there are more or fewer runs, or if their names tell another order, and
    `InvalidOption` if it is not for such trees, labelled or not.
    """
    for option, differs in (("--weights", given["weights"] is not None), ("--beta", given["beta"] != 1)):
        if differs:
            raise typer.BadParameter(f"a file of hits does not go with {option}", param_hint="--hits")
    from treemean.cli.output import short_names
    from treemean.fitting import load

    model = load(path)
    if len(runs) != len(model.runs):
        raise MismatchError(
            f"{path} is fitted to {len(model.runs)} runs ({', '.join(model.runs)}), and {len(runs)} are given"
        )
    names = short_names(runs)
    if sorted(names) == sorted(model.runs) and names != list(model.runs):
        raise MismatchError(
            f"{path} is fitted to the runs in another order: give them as {', '.join(model.runs)}"
        )
    try:
        model.check_labelled(labelled)
    except InvalidOption as error:
        raise InvalidOption(f"{path}: {error}") from None
    return model
