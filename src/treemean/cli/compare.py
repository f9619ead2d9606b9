"""`treemean compare`."""

from __future__ import annotations

from typing import Annotated

import typer

from treemean.cli import options
from treemean.cli.app import app
from treemean.cli.commands import READS
from treemean.names import Metric, SignificanceTest, TableFormat


@app.command()
def compare(
    prediction_a: Annotated[
        str, READS, typer.Argument(metavar="PRED_A", help="The prediction that may be better.")
    ],
    prediction_b: Annotated[
        str, READS, typer.Argument(metavar="PRED_B", help="The prediction to compare it with.")
    ],
    gold: Annotated[str, READS, typer.Argument(metavar="GOLD", help="The gold trees.")],
    test: Annotated[
        SignificanceTest,
        typer.Option(help="Improved Nonrandomized Sign test, sign test, or paired bootstrap."),
    ] = "ins",
    metric: Annotated[Metric, typer.Option(help="Which constituents count.")] = "overall",
    samples: Annotated[int, typer.Option(min=1, help="Samples of the bootstrap.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the bootstrap.")] = 0,
    protocol: options.Protocol = "standard",
    labelled: options.Labelled = None,
    prm: options.Prm = None,
    match: options.MatchBy = "position",
    max_length: options.MaxLength = None,
    punctuation: options.Punctuation = "auto",
    ignore_case: options.IgnoreCase = False,
    explain: options.Explain = False,
    as_json: options.AsJson = False,
    style: Annotated[TableFormat, typer.Option("--format", help="How to print the result.")] = "table",
    from_format: options.From = None,
    dialect: options.Dialect = "auto",
    keep_empty: options.KeepEmpty = False,
    glob: options.Glob = None,
    encoding: options.Encoding = "utf-8",
) -> None:
    """Test whether one prediction is significantly better than another.

    [bold]Examples[/bold]

      treemean compare mean.dbr run1.dbr gold.dbr

      treemean compare mean.dbr run1.dbr gold.dbr --labelled --test bootstrap

      treemean compare mean.dbr run1.dbr gold.dbr --metric discontinuous --json
    """
    from treemean.cli.output import short_names, show_json, show_tables
    from treemean.cli.scoring import ScoredFiles
    from treemean.errors import MismatchError
    from treemean.evaluation import Comparison, Evaluation
    from treemean.evaluation import compare as compare_evaluations
    from treemean.evaluation.streaming import Scoring, compare_batches
    from treemean.files.source import spooled
    from treemean.reporting import comparison_rows, comparison_table

    conventions = options.conventions(protocol, prm, labelled, gold, from_format)
    scoring = Scoring(conventions, max_length, options.punctuation_choice(punctuation), ignore_case)
    reading = options.reading(from_format, encoding, dialect, keep_empty, glob) | {
        "keep_wrapper": conventions.keep_wrapper
    }
    with spooled([prediction_a, prediction_b, gold]) as paths:
        files = ScoredFiles(paths[:2], paths[2], scoring, match, reading)

        def in_parts(how: Scoring) -> tuple[Comparison, Evaluation]:
            read = files.read(*paths[:2])
            return compare_batches(read, how, test=test, metric=metric, samples=samples, seed=seed)

        def whole() -> tuple[Comparison, Evaluation]:
            a, b = files.at_once()
            try:
                found = compare_evaluations(a, b, test=test, metric=metric, samples=samples, seed=seed)
            except MismatchError as error:
                raise MismatchError(f"{prediction_a} and {prediction_b}: {error}") from None
            return found, a

        result, a = files.streamed(in_parts, whole)
    if as_json or style == "json":
        told = ("protocol", "sentences", "dropped", "gold_fan_out_above_2")
        about = {key: value for key, value in a.to_dict().items() if key in told}
        show_json({"a": prediction_a, "b": prediction_b, **about, **result.to_dict()})
        return
    name_a, name_b = short_names([prediction_a, prediction_b])
    if style == "csv":
        show_tables([comparison_rows(result, name_a, name_b, a)], style)
    else:
        show_tables([comparison_table(result, name_a, name_b, a, explain=explain)], style)
