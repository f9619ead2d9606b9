"""`treemean agree`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from treemean.cli import options
from treemean.cli.app import app
from treemean.cli.commands import READS, WRITES
from treemean.cli.output import OutputFormat


@app.command()
def agree(
    files: Annotated[
        list[str],
        READS,
        typer.Argument(metavar="RUN...", help="Two treebanks or more over the same sentences."),
    ],
    labelled: Annotated[
        bool, typer.Option("--labelled/--unlabelled", help="The same constituents need the same label, too.")
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
            help="Write every disputed constituent and who has it to this file (.csv or .jsonl).",
        ),
    ] = None,
    top: Annotated[int, typer.Option(min=0, help="How many disputed sentences to show in the table.")] = 10,
    match: options.MatchBy = "position",
    punctuation: options.Punctuation = "auto",
    ignore_case: options.IgnoreCase = False,
    as_json: options.AsJson = False,
    style: Annotated[
        OutputFormat,
        typer.Option("--format", help="How to print the result; csv has one row for each number."),
    ] = "table",
    from_format: options.From = None,
    dialect: options.Dialect = "auto",
    keep_empty: options.KeepEmpty = False,
    glob: options.Glob = None,
    encoding: options.Encoding = "utf-8",
) -> None:
    """Tell how much runs, parsers or annotators agree, and where they do not; no gold trees are needed.

    Shows F1 of each pair, how much of it goes beyond chance, and the sentences in order of dispute.

    [bold]Examples[/bold]

      treemean agree run1.dbr run2.dbr run3.dbr -o heatmap.svg

      treemean agree ann.export bob.export --labelled --disputed disputed.csv

      treemean agree run*.dbr --json
    """
    from treemean.agreement import agree as agreement_of
    from treemean.cli.output import read_all, say, short_names, show_json, show_tables
    from treemean.reporting import rows_format
    from treemean.reporting.agreement import agreement_rows, agreement_tables, draw_agreement, write_disputed
    from treemean.reporting.figures import check_figure

    if len(files) < 2:
        raise typer.BadParameter("give two runs or more to compare", param_hint="RUN...")
    if output is not None:
        check_figure(output)
    if disputed is not None:
        rows_format(disputed)
    read = partial(
        read_all, format=from_format, encoding=encoding, dialect=dialect, keep_empty=keep_empty, glob=glob
    )
    found = agreement_of(
        {name: read(path) for name, path in zip(short_names(files), files, strict=True)},
        labelled=labelled,
        match=match,
        punctuation=options.punctuation_choice(punctuation),
        ignore_case=ignore_case,
    )
    if disputed is not None:
        count = write_disputed(disputed, found)
        say(f"{count:,} disputed constituent{'s' * (count != 1)} written to {disputed}")
    if output is not None:
        draw_agreement(found, output)
        say(f"heat map drawn in {output}")
    if as_json or style == "json":
        show_json(found.to_dict())
    elif style == "csv":
        show_tables([agreement_rows(found)], style)
    else:
        show_tables(agreement_tables(found, top=top), style)
