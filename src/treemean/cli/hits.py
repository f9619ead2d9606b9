"""What `treemean average --hits` gives to the average of a batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import typer

from treemean.errors import InvalidOption, MismatchError

if TYPE_CHECKING:
    from treemean.cli.aligned import Repeated
    from treemean.fitting import HitModel
    from treemean.trees import Individual, Treebank

#: How values are named that the constituents of the runs carry.
COLUMN = "column:"

#: What `treemean.average` needs beside a batch.
Valued = Callable[[list["Individual"]], dict[str, Any]]
#: Takes an average and its runs, and returns the average to be written.
Finished = Callable[["Treebank", list["Individual"]], "Treebank"]


def hits_of(
    text: str | None,
    runs: list[str],
    spans: list[str],
    *,
    jobs: int | None,
    weights: list[float] | None,
    beta: float,
    binary: bool,
    labelled: bool,
    probability: bool,
) -> Callable[[Repeated], tuple[Valued, Finished]]:
    """Return what takes all sentences, and tells what the average of a batch needs and is given.

    A file of hits decides about weights and β itself. What depends on all sentences, an objective of the
    corpus and probabilities by the runs alone, is found by passes over them, of which only sums are kept.
    """
    given = {"weights": weights, "beta": beta}
    if text is None or text.startswith(COLUMN):
        column = {} if text is None else {"hits": text.removeprefix(COLUMN)}
        if probability and spans:
            raise InvalidOption("with --spans, --probability needs --hits that were fitted with such tables")
        asked = _with_a_say(weights, len(runs)) if probability else []
        return lambda batches: (
            lambda batch: {**given, **column},
            _by_runs_alone(batches, asked, labelled) if probability else _as_it_is,
        )
    model = check_names(text, runs, given, labelled=labelled, spans=spans)
    if probability:
        model.check_calibrated()

    def prepared(batches: Repeated) -> tuple[Valued, Finished]:
        at_once = batches.single  # then one batch is all, and its candidates need to be found only once
        settled = model if at_once else model.settled(batches, jobs=jobs)
        return (
            lambda batch: settled.arguments(batch, jobs=jobs, binary=binary, settled=not at_once),
            settled.with_probabilities if probability else _as_it_is,
        )

    return prepared


def _as_it_is(mean: Treebank, runs: list[Individual]) -> Treebank:
    return mean


def _with_a_say(weights: list[float] | None, count: int) -> list[int]:
    """Return the runs whose agreement tells something."""
    from treemean.fitting.probabilities import with_a_say

    asked = with_a_say(weights, count)
    if len(asked) < 2:
        raise typer.BadParameter(
            "one run alone gives no probabilities: give two runs, or --hits fitted to gold trees",
            param_hint="--probability",
        )
    return asked


def _by_runs_alone(batches: Repeated, asked: list[int], labelled: bool) -> Finished:
    """Return what adds probabilities by the runs that have a say."""
    from treemean.averaging.arguments import columns_of
    from treemean.fitting.probabilities import fit_alone

    model = fit_alone(
        ([columns_of(batch[k]) for k in asked] for batch in batches), len(asked), labelled=labelled
    )
    return lambda mean, runs: model.with_probabilities(mean, [runs[k] for k in asked])


def check_names(
    path: str, runs: list[str], given: dict[str, Any], *, labelled: bool, spans: list[str] | None = None
) -> HitModel:
    """Return the model of a file of hits, which decides about weights and β itself.

    Raises `MismatchError` if there are more or fewer runs, or if their names tell another order, and
    `InvalidOption` if it is not for such trees, labelled or not.
    """
    for option, differs in (("--weights", given["weights"] is not None), ("--beta", given["beta"] != 1)):
        if differs:
            raise typer.BadParameter(f"a file of hits cannot be combined with {option}", param_hint="--hits")
    from treemean.cli.output import short_names
    from treemean.fitting import load

    model = load(path)
    tables = spans or []
    for option, given_files, known in (
        ("runs", runs, model.runs[: len(model.runs) - model.tables]),
        ("tables of spans (--spans)", tables, model.runs[len(model.runs) - model.tables :]),
    ):
        if len(given_files) != len(known):
            which = f" ({', '.join(known)})" if known else ""
            raise MismatchError(
                f"{path} is fitted to {len(known)} {option}{which}, and {len(given_files)} are given"
            )
        names = short_names(given_files)
        if sorted(names) == sorted(known) and names != list(known):
            raise MismatchError(
                f"{path} is fitted to the {option} in another order: give them as {', '.join(known)}"
            )
    try:
        model.check_labelled(labelled)
    except InvalidOption as error:
        raise InvalidOption(f"{path}: {error}") from None
    return model
