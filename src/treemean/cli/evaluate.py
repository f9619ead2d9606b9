"""`treemean evaluate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treemean.cli import options
from treemean.cli.app import app
from treemean.cli.commands import READS, WRITES, WRITES_FOLDER
from treemean.names import TableFormat


@app.command()
def evaluate(
    files: Annotated[
        list[str],
        READS,
        typer.Argument(metavar="PRED... GOLD", help="One or more predictions, and the gold trees last."),
    ],
    protocol: options.Protocol = "standard",
    labelled: options.Labelled = None,
    prm: options.Prm = None,
    match: options.MatchBy = "position",
    max_length: options.MaxLength = None,
    punctuation: options.Punctuation = "auto",
    ignore_case: options.IgnoreCase = False,
    explain: options.Explain = False,
    by_label: Annotated[
        bool,
        typer.Option(
            "--by-label",
            help="Add scores by label: with --labelled F1 and confused labels, without it recall.",
        ),
    ] = False,
    by_length: Annotated[bool, typer.Option("--by-length", help="Add F1 by sentence length.")] = False,
    per_sentence: Annotated[
        Path | None,
        WRITES,
        typer.Option(
            "--per-sentence",
            metavar="FILE",
            help="Write the scores of every sentence to this file (.csv or .jsonl).",
        ),
    ] = None,
    as_json: options.AsJson = False,
    style: Annotated[
        TableFormat,
        typer.Option("--format", help="How to print the scores; csv has one row for each number."),
    ] = "table",
    from_format: options.From = None,
    dialect: options.Dialect = "auto",
    keep_empty: options.KeepEmpty = False,
    glob: options.Glob = None,
    encoding: options.Encoding = "utf-8",
    engine: options.Engine = None,
    workers: options.Workers = None,
    address: options.Address = None,
    work: Annotated[
        str | None,
        WRITES_FOLDER,
        typer.Option(
            "--work",
            metavar="FOLDER",
            help="With --engine: the folder for intermediate results, with which the same command continues "
            "after an interruption. A temporary one if not given; all workers of a cluster must see it.",
        ),
    ] = None,
) -> None:
    """Score predicted trees against gold trees under a named protocol.

    [bold]Examples[/bold]

      treemean evaluate run1.dbr gold.dbr

      treemean evaluate run1.dbr run2.dbr gold.dbr --labelled --by-label

      treemean evaluate parser.ptb gold.ptb --prm COLLINS.prm

      treemean evaluate mean.dbr gold.dbr --per-sentence scores.csv

      treemean evaluate mean.dbr gold.export --protocol paper --json

      treemean evaluate mean/ gold/ --engine local --workers 2
    """
    from treemean import scaling
    from treemean.cli.output import say, short_names, show_json, show_tables
    from treemean.cli.scaling import check_engine, job_progress
    from treemean.cli.scoring import ScoredFiles, score_files
    from treemean.evaluation.streaming import Scoring
    from treemean.files.source import spooled
    from treemean.reporting import evaluation_rows, evaluation_tables, rows_format

    if len(files) < 2:
        raise typer.BadParameter("give at least one prediction and the gold trees", param_hint="PRED... GOLD")
    *predictions, gold_path = files
    if per_sentence is not None:
        rows_format(per_sentence)
    conventions = options.conventions(protocol, prm, labelled, gold_path, from_format)
    scoring = Scoring(conventions, max_length, options.punctuation_choice(punctuation), ignore_case)
    reading = options.reading(from_format, encoding, dialect, keep_empty, glob) | {
        "keep_wrapper": conventions.keep_wrapper
    }
    check_engine(None, None, workers, address, engine)
    if work is not None and engine is None:
        raise typer.BadParameter("it works only with --engine: give that as well", param_hint="--work")
    names = short_names(predictions)
    if engine is None:
        with spooled(files) as paths:
            results = score_files(
                ScoredFiles(paths[:-1], paths[-1], scoring, match, reading), names, per_sentence
            )
    else:
        with job_progress("scoring") as progress:
            evaluations = scaling.evaluate(
                predictions,
                gold_path,
                conventions,
                max_length=max_length,
                punctuation=scoring.punctuation,
                ignore_case=ignore_case,
                engine=engine,
                workers=workers,
                address=address,
                match=match,
                per_sentence=per_sentence,
                names=names,
                work=work,
                reading=reading,
                progress=progress,
                say=say,
            )
        results = dict(zip(names, evaluations, strict=True))
    if per_sentence is not None:
        say(f"scores of every sentence written to {per_sentence}")
    if as_json or style == "json":
        found = [
            {"prediction": path, **result.to_dict()}
            for path, result in zip(predictions, results.values(), strict=True)
        ]
        show_json(found[0] if len(found) == 1 else found)
    elif style == "csv":
        show_tables([evaluation_rows(results, by_label=by_label, by_length=by_length)], style)
    else:
        tables = evaluation_tables(results, by_label=by_label, by_length=by_length, explain=explain)
        show_tables(tables, style)
