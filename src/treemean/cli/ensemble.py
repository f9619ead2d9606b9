"""`treemean ensemble`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treemean.cli import options
from treemean.cli.app import app
from treemean.cli.output import OutputFormat
from treemean.cli.train import Overrides


@app.command()
def ensemble(
    config: Annotated[
        str, typer.Argument(metavar="CONFIG", help="A TOML file with the sections data and ensemble.")
    ],
    folder: Annotated[
        Path, typer.Option("--folder", "-o", help="For everything that is made, and found again later.")
    ] = Path("ensemble"),
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

    Runs from one initialisation are trained on raw text; the best by development F1 are averaged, weighted
    by their development F1 on discontinuous constituents, and all is scored on the test set. What was done
    before is not done again: after an interruption, give the same command once more.

    FOLDER gets the models (runs), the parses, the averages (ensemble), results.json and results.md.

    [bold]Examples[/bold]

      treemean ensemble config.toml -o out

      treemean ensemble config.toml -o out --runs 10 --parallel 2 --override ensemble.keep=5

      treemean ensemble config.toml -o out --json | jq .results.mean

      treemean debug config config.toml            [dim]# all settings, and where they come from[/dim]
    """
    import json

    from treemean.cli.output import say, show_json, show_tables
    from treemean.cli.training_progress import watching
    from treemean.experiments.pipeline import run_ensemble
    from treemean.training import load_config

    settings = list(override or [])
    settings += [f"run.runs={runs}"] if runs is not None else []
    settings += [f"run.parallel={parallel}"] if parallel is not None else []
    chosen = load_config(config, settings)
    with watching(chosen.run.runs) as watch:
        outcome = run_ensemble(
            chosen, folder, title=Path(config).stem, progress=watch, tell=watch.say, jobs=jobs
        )
    if as_json or style == "json":
        show_json(json.loads(outcome.files["scores"].read_bytes()))
    else:
        show_tables([outcome.results.table(Path(config).stem)], style)
    for what, path in outcome.files.items():
        say(f"{what}: {path}")
