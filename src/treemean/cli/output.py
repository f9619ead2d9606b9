"""Printing: tables, messages and progress."""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from treemean.names import TableFormat
from treemean.printing import harmless, harmless_json, harmless_message

if TYPE_CHECKING:
    from rich.progress import Progress

    from treemean.formats import Problems, TreebankWriter, Unwritable
    from treemean.reporting import Table
    from treemean.reporting.tables import Cell
    from treemean.trees import Treebank


#: Some sentences, such as a treebank.
Batch = TypeVar("Batch", bound=Sized)


def short_names(paths: Sequence[str]) -> list[str]:
    """Return what tells files apart in a table: their names without folders and endings, if those differ.

    >>> short_names(["runs/a.discbracket.gz", "runs/b.discbracket.gz"])
    ['a', 'b']
    >>> short_names(["1/run.dbr", "2/run.dbr"])
    ['1/run.dbr', '2/run.dbr']
    >>> short_names(["run.dbr", "run.dbr"])
    ['run.dbr', 'run.dbr (2)']
    """
    names = [Path(path).name.split(".")[0] or path for path in paths]
    return names if len(set(names)) == len(names) else file_names(paths)


def file_names(paths: Sequence[str]) -> list[str]:
    """Return what tells files apart in errors: their paths, numbered where one is given again.

    >>> file_names(["run.dbr", "run.dbr"])
    ['run.dbr', 'run.dbr (2)']
    """
    earlier = [paths[:index].count(path) for index, path in enumerate(paths)]
    return [f"{path} ({count + 1})" if count else path for path, count in zip(paths, earlier)]


def show_tables(tables: Sequence[Table], style: TableFormat) -> None:
    """Print tables for people (terminal, Markdown) or programs (CSV)."""
    if style == "table":
        from rich.console import Console

        usual = Console()
        for table in tables:
            # Lines that are too long for the terminal are better than numbers that are not there.
            needed = table.width_within(usual.width)
            console = usual if needed <= usual.width else Console(width=needed)
            console.print(table.to_rich(usual.width))
    elif style == "markdown":
        typer.echo(harmless("\n\n".join(table.to_markdown() for table in tables), lines=True))
    else:
        typer.echo(harmless("\n\n".join(table.to_csv() for table in tables), lines=True))


def show_json(data: Any) -> None:
    """Print data as JSON."""
    typer.echo(harmless_json(json.dumps(data, indent=2, ensure_ascii=False)))


def show_csv(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> None:
    """Print rows as CSV as they come."""
    from treemean.reporting.tables import csv_lines

    for line in csv_lines(columns, rows):
        typer.echo(harmless(line, lines=True))


def show_json_list(data: dict[str, Any], name: str, entries: Iterable[Any]) -> None:
    """Print data as JSON as `show_json` does, with a list of entries as its last value, as they come."""
    beginning = json.dumps({**data, name: []}, indent=2, ensure_ascii=False).removesuffix("]\n}")
    typer.echo(harmless_json(beginning), nl=False)
    some = False
    for entry in entries:
        text = f"\n{json.dumps(entry, indent=2, ensure_ascii=False)}".replace("\n", "\n    ")
        typer.echo(harmless_json("," * some + text), nl=False)
        some = True
    typer.echo("\n  ]\n}" if some else "]\n}")


def say(message: str) -> None:
    """Tell the user something beside the result, in one line."""
    typer.echo(harmless(message), err=True)


def written_to(target: str) -> str:
    """Return where an output went, for messages.

    >>> written_to("mean.dbr"), written_to("-")
    ('written to mean.dbr', 'printed')
    """
    return "printed" if target == "-" else f"written to {target}"


class SayOnceHandler(logging.Handler):
    """Says what the package logs, but nothing twice."""

    def __init__(self) -> None:
        super().__init__()
        self._said: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        """Say it."""
        message = record.getMessage()
        if message not in self._said:
            self._said.add(message)
            say(message)


def complain(message: str) -> None:
    """Tell the user about an error, in one line, and what it quotes in lines below."""
    typer.secho("error: ", fg="red", bold=True, nl=False, err=True)
    typer.echo(harmless_message(message), err=True)


def report_problems(problems: Problems, unwritable: Unwritable | None = None) -> None:
    """Tell what was left out or changed while reading and writing."""
    for error in problems.errors[:10]:
        say(f"skipped: {error}")
    if problems.count > 10:
        say(f"… and {problems.count - 10} more")
    if problems.count:
        where = f"; they are in {problems.aside}" if problems.aside is not None else ""
        say(f"{problems.count} bad {'sentence' if problems.count == 1 else 'sentences'} skipped{where}")
    if problems.missing:
        several = "sentences" if problems.missing > 1 else "sentence"
        say(f"up to {problems.missing} {several} may be missing: such an error ends the reading of a file")
    if unwritable is not None:
        for reason in unwritable.reasons[:10]:
            say(f"skipped: {reason}")
        if unwritable.skipped:
            say(f"{unwritable.skipped} trees skipped that the format cannot express")


def report_losses(writer: TreebankWriter) -> None:
    """Tell what the format of an output had no place for."""
    if (lost := writer.losses.describe()) is not None:
        say(f"note: {lost}")


@contextmanager
def naming_options(*helpful: str) -> Iterator[None]:
    """Add to the error about a tree that a format cannot express what helps."""
    from treemean.errors import UnwritableTree

    try:
        yield
    except UnwritableTree as error:
        raise UnwritableTree(f"{error}; {', or '.join(helpful)}") from None


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show what is being done, and for how long; silent when nobody is watching."""
    if not sys.stderr.isatty():
        yield
        return
    with _spinner("{task.description}") as progress:
        progress.add_task(harmless(what), total=None)
        yield


def _spinner(*texts: str) -> Progress:
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = [SpinnerColumn(), *(TextColumn(text, markup=False) for text in texts), TimeElapsedColumn()]
    return Progress(*columns, console=Console(stderr=True), transient=True)


@contextmanager
def loading(what: str) -> Iterator[None]:
    """Show that a package that takes seconds is imported; signals end the program at once meanwhile."""
    from treemean.program import starting

    with working(f"loading {what}"), starting():
        yield


@contextmanager
def resumable() -> Iterator[None]:
    """Tell whoever interrupts a command that goes on where it was that it does."""
    from treemean.program import INTERRUPTED

    try:
        yield
    except KeyboardInterrupt:
        say("interrupted; the same command goes on from where it was")
        raise typer.Exit(INTERRUPTED) from None


def with_progress(
    batches: Iterable[Batch], description: str, size: Callable[[Batch], int] = len
) -> Iterator[Batch]:
    """Pass batches on, showing how many sentences went by; silent when nobody is watching."""
    if not sys.stderr.isatty():
        yield from batches
        return
    with _spinner("{task.description}", "{task.completed:,.0f} sentences") as progress:
        task = progress.add_task(harmless(description), total=None)
        for batch in batches:
            yield batch
            progress.advance(task, size(batch))


def read_all(path: os.PathLike[str] | str, description: str = "", **options: Any) -> Treebank:
    """Read a whole treebank with a progress bar; raise `FormatError` if there are no sentences."""
    from treemean.formats import read_batches
    from treemean.formats.parallel import no_sentences
    from treemean.trees import Treebank

    name = os.fspath(path)
    batches = list(with_progress(read_batches(path, **options), description or f"reading {name}"))
    if not any(map(len, batches)):
        raise no_sentences(name)
    return Treebank.concatenate(batches)
