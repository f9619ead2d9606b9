"""`treemean debug`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treemean.cli import options
from treemean.cli.app import app
from treemean.cli.commands import READS, App
from treemean.cli.train import Overrides
from treemean.names import TableFormat
from treemean.printing import harmless_json

if TYPE_CHECKING:
    from treemean.training.inspection import DataReport

debug_app = App(no_args_is_help=True, help="Check a configuration or a corpus before training.")
app.add_typer(debug_app, name="debug")


@debug_app.command("config")
def config_(
    config: Annotated[options.Config, READS],
    override: Overrides = None,
    as_json: options.OnlyJson = False,
) -> None:
    """Show the complete configuration, and where each value comes from. The output is itself a configuration.

    [bold]Examples[/bold]

      treemean debug config config.toml

      treemean debug config tn-lcfrs --override training.epochs=3

      treemean debug config tn-lcfrs > mine.toml
    """
    from treemean.cli.output import show_json
    from treemean.experiments.config import resolve

    resolved = resolve(config, override or [])
    if as_json:
        show_json({"config": resolved.config.to_dict(), "origins": dict(resolved.origins)})
    else:
        typer.echo(harmless_json(resolved.to_toml()), nl=False)


@debug_app.command("data")
def data(
    sources: Annotated[
        list[str],
        READS,
        typer.Argument(metavar="CONFIG|FILE...", help="A configuration, or files to train on."),
    ],
    dialect: options.Dialect = "auto",
    override: Overrides = None,
    preset: Annotated[
        str, typer.Option(help="The preset that files are to be trained with, if no CONFIG is given.")
    ] = ("tn-lcfrs"),
    as_json: options.AsJson = False,
    style: Annotated[TableFormat, typer.Option("--format", help="How to print the numbers.")] = "table",
) -> None:
    """Check a corpus before training: sizes, lengths, vocabulary, what is left out, what is wrong.

    Exits with 1 if something would stop the training.

    [bold]Examples[/bold]

      treemean debug data config.toml

      treemean debug data train.txt.gz more.txt

      treemean debug data config.toml --override data.vocabulary=5000 --json
    """
    from treemean.cli.output import complain, say, show_json, show_tables
    from treemean.experiments.config import load_config
    from treemean.training import preset_names
    from treemean.training.inspection import inspect, report_for

    one = len(sources) == 1 and (sources[0].endswith(".toml") or sources[0] in preset_names())
    settings = [*(override or []), *options.dialect_setting(dialect)]
    config = load_config(sources[0] if one else preset, settings)
    tested = config.ensemble
    report = inspect(config if one else report_for(sources, config), tested.test, tested.test_format)
    if as_json or style == "json":
        show_json(report.to_dict())
    else:
        show_tables(_tables(report), style)
    for warning in report.warnings:
        say(f"note: {warning}")
    for error in report.errors:
        complain(error)
    if report.errors:
        raise typer.Exit(1)


def _tables(report: DataReport) -> list[Any]:
    from treemean.reporting import Table

    shown: dict[str, list[Any]] = {
        "used for": [file.role for file in report.files],
        "format": [file.format for file in report.files],
        "sentences": [file.sentences for file in report.files],
        "words without punctuation": [file.words for file in report.files],
        "empty lines": [file.counts.empty_lines for file in report.files],
        "only punctuation": [file.counts.punctuation_only for file in report.files],
        "one word": [file.one_word for file in report.files],
        "over the length limit": [file.too_long for file in report.files],
        "repeated": [file.repeated for file in report.files],
    }
    files: list[list[Any]] = [[name, *values] for name, values in shown.items()]
    paths = [Path(file.path).name for file in report.files]
    names = dict.fromkeys(name for file in report.files for name, _ in file.histogram())
    order = sorted(names, key=lambda name: int(name.rstrip("+").split("-")[0]))
    histograms = [dict(file.histogram()) for file in report.files]
    lengths: list[list[Any]] = [
        [name, *(histogram.get(name, 0) for histogram in histograms)] for name in order
    ]
    facts: list[list[Any]] = [
        ["vocabulary of the model", report.vocabulary],
        ["different words in the training text", report.types],
        ["known words in the training text, %", report.train_coverage],
        ["known words in the development text, %", report.development_coverage],
        ["development sentences also in the training text", report.overlap],
        ["training steps in the first epoch", report.first_epoch_steps],
        [f"training steps in all {report.epochs} epochs", report.steps],
    ]
    return [
        Table(["", *paths], files, title="Files"),
        Table(["length", *paths], lengths, title="Sentences by length"),
        Table(["", "value"], facts, title="Training"),
    ]
