"""`treemean evaluate`."""

from __future__ import annotations

from typing import Annotated

import typer

from treemean.cli import options
from treemean.cli.app import app
from treemean.cli.output import OutputFormat


@app.command()
def evaluate(
    files: Annotated[
        list[str],
        typer.Argument(metavar="PRED... GOLD", help="One prediction or several, and the gold trees last."),
    ],
    protocol: options.Protocol = "paper",
    match: options.MatchBy = "position",
    max_length: options.MaxLength = None,
    punctuation: options.Punctuation = "auto",
    by_label: Annotated[bool, typer.Option("--by-label", help="Add recall by gold label.")] = False,
    by_length: Annotated[bool, typer.Option("--by-length", help="Add F1 by sentence length.")] = False,
    as_json: options.AsJson = False,
    style: Annotated[OutputFormat, typer.Option("--format", help="How to print the scores.")] = "table",
    from_format: options.From = None,
    encoding: options.Encoding = "utf-8",
) -> None:
    """Score predicted trees against gold trees under a named protocol.

    [bold]Examples[/bold]

      treemean evaluate run1.dbr gold.dbr

      treemean evaluate run1.dbr run2.dbr mean.dbr gold.dbr --by-length

      treemean evaluate mean.dbr gold.export --protocol discodop --json
    """
    from treemean import evaluation
    from treemean.cli.output import read_all, short_names, show_json, show_tables
    from treemean.reporting import evaluation_tables

    if len(files) < 2:
        raise typer.BadParameter("give at least one prediction and the gold trees", param_hint="PRED... GOLD")
    *predictions, gold_path = files
    gold = read_all(gold_path, format=from_format, encoding=encoding)
    results = {
        name: evaluation.evaluate(
            read_all(path, format=from_format, encoding=encoding),
            gold,
            protocol,
            match=match,
            max_length=max_length,
            punctuation=options.punctuation_choice(punctuation),
        )
        for name, path in zip(short_names(predictions), predictions, strict=True)
    }
    if as_json or style == "json":
        found = [
            {"prediction": path, **result.to_dict()}
            for path, result in zip(predictions, results.values(), strict=True)
        ]
        show_json(found[0] if len(found) == 1 else found)
    else:
        show_tables(evaluation_tables(results, by_label=by_label, by_length=by_length), style)
