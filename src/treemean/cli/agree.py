"""`treemean agree`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treemean.cli import options
from treemean.cli.app import app
from treemean.cli.commands import READS, WRITES
from treemean.names import TableFormat

if TYPE_CHECKING:
    from treemean.agreement import AgreementResult
    from treemean.files.source import Spooled
    from treemean.names import Match


@app.command()
def agree(
    files: Annotated[
        list[str],
        READS,
        typer.Argument(metavar="RUN...", help="Two or more treebanks of the same sentences."),
    ],
    labelled: Annotated[
        bool, typer.Option("--labelled/--unlabelled", help="Whether a match needs the same label, too.")
    ] = False,
    output: Annotated[
        Path | None,
        WRITES,
        typer.Option("--output", "-o", help="Draw the F1 of each pair as a heat map (.svg, .png or .pdf)."),
    ] = None,
    disputed: Annotated[
        Path | None,
        WRITES,
        typer.Option(
            "--disputed",
            metavar="FILE",
            help="Write every disputed constituent, and which runs have it, to a .csv or .jsonl file.",
        ),
    ] = None,
    top: Annotated[int, typer.Option(min=0, help="How many disputed sentences to show in the table.")] = 10,
    match: options.MatchBy = "position",
    punctuation: options.Punctuation = "auto",
    ignore_case: options.IgnoreCase = False,
    as_json: options.AsJson = False,
    style: Annotated[
        TableFormat,
        typer.Option("--format", help="How to print the result; csv has one row for each number."),
    ] = "table",
    from_format: options.From = None,
    dialect: options.Dialect = "auto",
    keep_empty: options.KeepEmpty = False,
    glob: options.Glob = None,
    encoding: options.Encoding = "utf-8",
) -> None:
    """Measure how much parsers, runs or annotators agree, and show where they do not, without gold trees.

    Prints the F1 of each pair, agreement beyond chance, and the most disputed sentences.

    [bold]Examples[/bold]

      treemean agree run1.dbr run2.dbr run3.dbr -o heatmap.svg

      treemean agree ann.export bob.export --labelled --disputed disputed.csv

      treemean agree run*.dbr --json
    """
    from treemean.cli.output import say, short_names, show_csv, show_json_list, show_tables
    from treemean.files.source import spooled
    from treemean.reporting import rows_format
    from treemean.reporting.agreement import (
        AGREEMENT_COLUMNS,
        agreement_facts,
        agreement_tables,
        draw_agreement,
        write_disputed,
    )
    from treemean.reporting.figures import check_figure

    if len(files) < 2:
        raise typer.BadParameter("give two runs or more to compare", param_hint="RUN...")
    if output is not None:
        check_figure(output)
    if disputed is not None:
        rows_format(disputed)
    reading = options.reading(from_format, encoding, dialect, keep_empty, glob)
    how = {
        "labelled": labelled,
        "punctuation": options.punctuation_choice(punctuation),
        "ignore_case": ignore_case,
    }
    with spooled(files) as paths:
        found = _agreement_of_files(
            paths, short_names(files), match, reading, how, constituents=disputed is not None
        )
    if disputed is not None:
        count = write_disputed(disputed, found)
        say(f"{count:,} disputed constituent{'s' * (count != 1)} written to {disputed}")
    if output is not None:
        draw_agreement(found, output)
        say(f"heat map drawn in {output}")
    if as_json or style == "json":
        show_json_list(found.summary(), "disputed_sentences", found.sentence_entries())
    elif style == "csv":
        show_csv(AGREEMENT_COLUMNS, agreement_facts(found))
    else:
        show_tables(agreement_tables(found, top=top), style)


def _agreement_of_files(
    paths: Sequence[str | Spooled],
    names: list[str],
    match: Match,
    reading: dict[str, Any],
    how: dict[str, Any],
    *,
    constituents: bool,
) -> AgreementResult:
    """Compare runs batch by batch; at once where they do not have the same sentences in the same order.

    A run may lack sentences of nothing but punctuation, and sentences may be matched by ids.
    """
    from treemean.agreement import agree as agree_at_once
    from treemean.agreement.streaming import agree_batches
    from treemean.cli.output import file_names, read_all, with_progress
    from treemean.errors import MismatchError
    from treemean.formats.parallel import read_parallel

    if match == "position":
        with suppress(MismatchError):
            return agree_batches(
                lambda: with_progress(
                    read_parallel(paths, **reading), "comparing", lambda batch: len(batch[0])
                ),
                names,
                constituents=constituents,
                **how,
            )
    called = file_names([os.fspath(path) for path in paths])  # by errors
    runs = {name: read_all(path, **reading) for name, path in zip(called, paths, strict=True)}
    return replace(agree_at_once(runs, match=match, **how), runs=tuple(names))
