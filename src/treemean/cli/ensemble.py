"""`treemean ensemble`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treemean.cli import options
from treemean.cli.app import app
from treemean.cli.commands import READS_PREDICTIONS, WRITES_FOLDER
from treemean.cli.output import OutputFormat
from treemean.cli.train import Overrides
from treemean.names import DialectName, EnsembleModel, WeightRule

if TYPE_CHECKING:
    from treemean.experiments.ensemble import EnsembleOutcome

Development = Annotated[
    Path | None,
    READS_PREDICTIONS,
    typer.Option("--dev", metavar="DIR", help="Trees of the development sentences: gold.* and run*.*"),
]
Test = Annotated[
    Path | None,
    READS_PREDICTIONS,
    typer.Option("--test", metavar="DIR", help="Trees of the test sentences, likewise."),
]
Model = Annotated[
    EnsembleModel | None,
    typer.Option(help="How runs are weighed; ensemble.model (paper) if not given."),
]
Keep = Annotated[int | None, typer.Option(min=1, help="How many runs are averaged; five if not given.")]
Weigh = Annotated[
    WeightRule | None, typer.Option(help="Which development F1 weighs them; discontinuous if not given.")
]


@app.command()
def ensemble(
    config: Annotated[
        str | None,
        typer.Argument(metavar="[CONFIG]", help="A TOML file with the sections data and ensemble."),
    ] = None,
    development: Development = None,
    test: Test = None,
    folder: Annotated[
        Path,
        WRITES_FOLDER,
        typer.Option(
            "--folder",
            "--output",
            "-o",
            metavar="FOLDER",
            help="For everything that is made, and found again later.",
        ),
    ] = Path("ensemble"),
    model: Model = None,
    keep: Keep = None,
    weigh: Weigh = None,
    dialect: options.Dialect = "auto",
    override: Overrides = None,
    runs: Annotated[
        int | None, typer.Option(min=1, metavar="K", help="How many runs to train; run.runs if not given.")
    ] = None,
    parallel: Annotated[
        int | None, typer.Option(min=1, help="How many at a time; run.parallel if not given.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Threads for averaging; all cores if not given.")
    ] = None,
    style: Annotated[OutputFormat, typer.Option("--format", help="How to print the results.")] = "table",
    as_json: options.AsJson = False,
) -> None:
    """Run the whole experiment: train, choose, weigh, parse, average, evaluate, and show the results.

    With CONFIG, runs from one initialisation are trained on raw text. With --dev and --test, trees that are
    there already are used: each folder has gold.* and run*.* in any format, and runs are matched by name.

    The best runs by development F1 are averaged, weighted by their development F1 on discontinuous
    constituents (paper), with equal weights (equal), or as a model of [cyan]treemean fit[/cyan] says, which
    sees all runs (boosted, logistic, typed, …). All is scored on the test set. What was done before is not
    done again: after an interruption, give the same command once more.

    FOLDER gets the models (runs), the parses, the averages (ensemble), results.json and results.md.

    [bold]Examples[/bold]

      treemean ensemble config.toml -o out

      treemean ensemble config.toml -o out --runs 10 --parallel 2 --keep 5

      treemean ensemble --dev trees/dev --test trees/test -o out

      treemean ensemble --dev trees/dev --test trees/test -o out --model boosted

      treemean ensemble config.toml -o out --json | jq .results.mean

      treemean debug config config.toml    [dim]# all settings, and their origins[/dim]
    """
    import json

    from treemean.cli.output import resumable, say, show_json, show_tables

    if (config is None) == (test is None):
        raise typer.BadParameter(
            "give either CONFIG, to train, or --test with trees that are there", param_hint="CONFIG"
        )
    outcome: EnsembleOutcome
    if test is not None:
        for option, given in (("--override", override), ("--runs", runs), ("--parallel", parallel)):
            if given:
                raise typer.BadParameter(
                    "it is about training; with --test nothing is trained", param_hint=option
                )
        title = test.name
        with resumable():
            outcome = _of_trees(test, development, folder, model, keep, weigh, dialect, title, jobs)
    else:
        if development is not None:
            raise typer.BadParameter(
                "it goes with --test; CONFIG names development trees itself", param_hint="--dev"
            )
        assert config is not None
        settings = [*(override or []), *options.dialect_setting(dialect)]
        for name, value in (
            ("run.runs", runs),
            ("run.parallel", parallel),
            ("ensemble.model", model),
            ("ensemble.keep", keep),
            ("ensemble.weigh", weigh),
        ):
            settings += [f"{name}={value}"] if value is not None else []
        title = Path(config).stem
        with resumable():
            outcome = _trained(config, settings, folder, title, jobs)
    if as_json or style == "json":
        show_json(json.loads(outcome.files["scores"].read_bytes()))
    else:
        show_tables([outcome.results.table(title)], style)
    for what, path in outcome.files.items():
        say(f"{what}: {path}")


def _trained(config: str, settings: list[str], folder: Path, title: str, jobs: int | None) -> EnsembleOutcome:
    from treemean.cli.output import loading
    from treemean.cli.training_progress import watching

    with loading("PyTorch"):
        from treemean.experiments.config import files_of, load_config
        from treemean.experiments.pipeline import run_ensemble
        from treemean.files.inputs import protected

    chosen = load_config(config, settings)
    with protected(files_of(chosen)), watching(chosen.run.runs) as watch:
        return run_ensemble(chosen, folder, title=title, progress=watch, tell=watch.stage, jobs=jobs)


def _of_trees(
    test: Path,
    development: Path | None,
    folder: Path,
    model: EnsembleModel | None,
    keep: int | None,
    weigh: WeightRule | None,
    dialect: DialectName,
    title: str,
    jobs: int | None,
) -> EnsembleOutcome:
    from treemean.cli.training_progress import watching
    from treemean.experiments.ensemble import ensemble_of_trees

    with watching(0) as watch:
        return ensemble_of_trees(
            test,
            development,
            folder,
            model=model,
            keep=keep,
            weigh=weigh,
            dialect=dialect,
            title=title,
            tell=watch.stage,
            jobs=jobs,
        )
