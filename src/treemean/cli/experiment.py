"""`treemean experiment`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from treemean.cli.app import app
from treemean.cli.commands import READS_ENSEMBLE, WRITES_FOLDER
from treemean.cli.ensemble import Development, Keep, Model, Test, Weigh
from treemean.cli.options import Dialect, Jobs
from treemean.names import ExperimentName, TableFormat


@app.command()
def experiment(
    name: Annotated[
        Literal[ExperimentName, "all"], typer.Argument(help="A table or figure, or all of them.")
    ],
    development: Development = None,
    test: Test = None,
    ensemble: Annotated[
        Path | None,
        READS_ENSEMBLE,
        typer.Option("--from", metavar="OUT", help="A folder that treemean ensemble made."),
    ] = None,
    output: Annotated[
        Path,
        WRITES_FOLDER,
        typer.Option("--output", "-o", metavar="FOLDER", help="The folder for tables and figures."),
    ] = Path("experiment"),
    dialect: Dialect = "auto",
    model: Model = None,
    keep: Keep = None,
    weigh: Weigh = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all random choices.")] = 0,
    jobs: Jobs = None,
    style: Annotated[TableFormat, typer.Option("--format", help="How to print the tables.")] = "table",
) -> None:
    """Make the tables and figures of the paper from trees of runs.

    [bold]main[/bold] (Table 2: main results with significance), [bold]positives[/bold] (Table 3),
    [bold]correlation[/bold] (Figure 2), [bold]individuals[/bold] (Figure 3), [bold]pruning[/bold] (Figure 4),
    [bold]run-time[/bold] (Figure 5), [bold]labels[/bold] (Figure 8), [bold]cases[/bold] (Figure 9),
    [bold]agreement[/bold] (of the runs with each other), or [bold]all[/bold].

    Tables are written as Markdown, CSV, LaTeX and JSON, figures as SVG and
    PDF with their numbers as CSV. Files are named after the experiment.

    [bold]Examples[/bold]

      treemean experiment main --dev trees/dev --test trees/test -o out

      treemean experiment all --from ensemble -o out
    """
    from treemean.cli.output import say, show_json, show_tables
    from treemean.experiments.paper import EXPERIMENTS, run_experiment
    from treemean.experiments.paper.study import Study
    from treemean.program import INTERRUPTED

    if (ensemble is None) == (test is None):
        raise typer.BadParameter("give either --test (and --dev), or --from", param_hint="--test")
    if ensemble is not None and development is not None:
        raise typer.BadParameter(
            "it works only with --test; --from has its own development trees", param_hint="--dev"
        )
    given: dict[str, Any] = {"model": model, "keep": keep, "weigh": weigh, "seed": seed, "jobs": jobs}
    options = {option: value for option, value in given.items() if value is not None}
    if test is not None:
        study = Study.read(test, development, dialect=dialect, **options)
    else:
        assert ensemble is not None
        study = Study.of_ensemble(ensemble, **options)
    finished: list[str] = []
    for chosen in EXPERIMENTS if name == "all" else (name,):
        say(f"{chosen} …")
        try:
            outcome, files = run_experiment(chosen, study, output)
        except KeyboardInterrupt:
            if not finished:
                raise
            say(f"interrupted; finished are {', '.join(finished)}, in {output}; give the others by name")
            raise typer.Exit(INTERRUPTED) from None
        finished.append(chosen)
        if style == "json":
            show_json(
                [{"title": table.title, "rows": table.to_records()} for table in outcome.tables.values()]
            )
        else:
            show_tables(list(outcome.tables.values()), style)
        say(f"{chosen}: {', '.join(path.name for path in files)} in {output}")
