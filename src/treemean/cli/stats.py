"""`treemean stats`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treemean.cli import options
from treemean.cli.app import app
from treemean.cli.commands import READS
from treemean.names import TableFormat


@app.command()
def stats(
    file: Annotated[str, READS, typer.Argument(metavar="FILE", help="A treebank.")],
    top: Annotated[int, typer.Option(min=1, help="How many labels, tags and functions to list.")] = 20,
    remove_punctuation: Annotated[
        bool, typer.Option("--remove-punctuation", help="Remove punctuation first.")
    ] = False,
    punctuation: options.Punctuation = "auto",
    as_json: options.AsJson = False,
    style: Annotated[TableFormat, typer.Option("--format", help="How to print the numbers.")] = "table",
    from_format: options.From = None,
    dialect: options.Dialect = "auto",
    keep_empty: options.KeepEmpty = False,
    glob: options.Glob = None,
    encoding: options.Encoding = "utf-8",
    skip_bad: options.SkipBad = False,
    bad_file: options.BadFile = None,
) -> None:
    """Describe a treebank: lengths, fan-outs, binarity, labels.

    [bold]Examples[/bold]

      treemean stats gold.discbracket

      treemean stats alpino.xml.gz --remove-punctuation --json
    """
    from treemean.cli.output import report_problems, show_json, show_tables, with_progress
    from treemean.formats import Problems, read_batches
    from treemean.reporting import statistics_tables
    from treemean.trees import transforms
    from treemean.trees.punctuation import settle_punctuation
    from treemean.trees.statistics import StatisticsCounter

    chosen = options.punctuation_choice(punctuation)
    counter = StatisticsCounter()
    with Problems(skip=skip_bad, aside=bad_file) as problems:
        batches = read_batches(
            file,
            format=from_format,
            encoding=encoding,
            dialect=dialect,
            keep_empty=keep_empty,
            glob=glob,
            problems=problems,
        )
        for batch in with_progress(batches, f"reading {file}"):
            if remove_punctuation:
                chosen = settle_punctuation(batch, chosen)  # the first batch decides for all
                batch = transforms.remove_punctuation(batch, chosen)
            counter.add(batch)
    report_problems(problems)
    result = counter.result()
    if as_json or style == "json":
        show_json(result.to_dict())
    else:
        show_tables(statistics_tables(result, Path(file).name, top=top), style)
