"""`treemean ensemble`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treemean.cli import options
from treemean.cli.app import app
from treemean.cli.commands import READS_PREDICTIONS, WRITES_FOLDER
from treemean.cli.train import Overrides
from treemean.names import DialectName, EnsembleModel, TableFormat, WeightRule

if TYPE_CHECKING:
    from treemean.experiments.ensemble import EnsembleOutcome

Development = Annotated[
    Path | None,
    READS_PREDICTIONS,
    typer.Option(
        "--dev", metavar="DIR", help="The folder with trees of development sentences: gold.* and run*.*"
    ),
]
Test = Annotated[
    Path | None,
    READS_PREDICTIONS,
    typer.Option("--test", metavar="DIR", help="The folder with trees of test sentences: gold.* and run*.*"),
]
Model = Annotated[
    EnsembleModel | None,
    typer.Option(help="How runs are weighted; ensemble.model (paper) if not given."),
]
Keep = Annotated[int | None, typer.Option(min=1, help="How many runs are averaged; five if not given.")]
Weigh = Annotated[
    WeightRule | None,
    typer.Option(help="Which development F1 is the weight of a run; discontinuous if not given."),
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
            help="The folder for all results; those that are there are not made again.",
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
        int | None, typer.Option(min=1, help="How many runs to train at a time; run.parallel if not given.")
    ] = None,
    jobs: options.Jobs = None,
    style: Annotated[TableFormat, typer.Option("--format", help="How to print the results.")] = "table",
    as_json: options.AsJson = False,
) -> None:
    """Run the whole experiment: train several runs, choose and weight them, parse, average, and score.

    With CONFIG, it trains several runs on raw text, all from one initialisation. With --dev and --test, it
    uses trees that you have: each folder holds gold.* and run*.* in any format, and runs are matched by name.

    The runs with the best development F1 are averaged and scored on the test set. Their weights are their
    development F1 on discontinuous constituents (--model paper), or equal (equal), or come from a model of
    [cyan]treemean fit[/cyan], which uses all runs (boosted, logistic, typed, …). After an interruption, the
    same command continues.

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
            "give either CONFIG, to train, or --test with a folder of trees", param_hint="CONFIG"
        )
    outcome: EnsembleOutcome
    if test is not None:
        for option, given in (("--override", override), ("--runs", runs), ("--parallel", parallel)):
            if given:
                raise typer.BadParameter(
                    "it is for training, and with --test nothing is trained", param_hint=option
                )
        title = test.name
        with resumable():
            outcome = _of_trees(test, development, folder, model, keep, weigh, dialect, title, jobs)
    else:
        if development is not None:
            raise typer.BadParameter(
                "it works only with --test; CONFIG names the development trees itself", param_hint="--dev"
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
