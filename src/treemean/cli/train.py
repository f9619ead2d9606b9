"""`treemean train`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treemean.cli import options
from treemean.cli.app import app
from treemean.cli.commands import WRITES_FOLDER
from treemean.names import EngineName
from treemean.program import INTERRUPTED, STOPPED

if TYPE_CHECKING:
    from treemean.training import RunResult

Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--override", metavar="A.B=C", help="Change a setting, as in training.epochs=3. Repeatable."
    ),
]


@app.command()
def train(
    config: options.Config,
    folder: Annotated[
        Path,
        WRITES_FOLDER,
        typer.Option(
            "--folder",
            "-o",
            metavar="FOLDER",
            help="The folder for all runs; an interrupted run continues from it.",
        ),
    ] = Path("runs"),
    dialect: options.Dialect = "auto",
    override: Overrides = None,
    runs: Annotated[
        int | None, typer.Option(min=1, metavar="K", help="Train runs 1 to K; run.runs if not given.")
    ] = None,
    run: Annotated[int | None, typer.Option(min=1, metavar="K", help="Train only this run.")] = None,
    parallel: Annotated[
        int | None, typer.Option(min=1, help="How many runs at a time; run.parallel if not given.")
    ] = None,
    together: Annotated[
        bool,
        typer.Option(
            "--together", help="Train all runs in one process, step by step together (the default on a GPU)."
        ),
    ] = False,
    seconds: Annotated[
        float | None,
        typer.Option(
            metavar="S",
            help=f"Stop after this many seconds, with exit code {STOPPED}; the same command continues.",
        ),
    ] = None,
    report: Annotated[
        bool,
        typer.Option(
            "--report", help="Write a page with the curves of all runs, FOLDER/report.html, and update it."
        ),
    ] = False,
    engine: Annotated[
        EngineName | None,
        typer.Option(help="Spread runs over processes of this machine (local) or of a Ray cluster (ray)."),
    ] = None,
    workers: options.Workers = None,
    address: options.Address = None,
    stack: Annotated[
        int,
        typer.Option(min=1, metavar="S", help="With --engine: how many runs each process trains together."),
    ] = 1,
    as_json: options.OnlyJson = False,
) -> None:
    """Train parsers on raw text: several runs from one initialisation, each with another order of sentences.

    After an interruption, the same command continues. The model of each run is in FOLDER/run01/model,
    FOLDER/run02/model and so on.

    [bold]Examples[/bold]

      treemean train config.toml -o runs

      treemean train tn-lcfrs-text --override data.train=text.txt --runs 5

      treemean train config.toml --runs 4 --parallel 2 --override training.epochs=9

      treemean train config.toml --report        [dim]# curves in runs/report.html[/dim]

      treemean train config.toml --seconds 480   [dim]# repeat while it exits with 75[/dim]

      treemean train config.toml --runs 8 --engine ray --address 10.0.0.1:6379

      treemean debug config config.toml    [dim]# all settings, and their origins[/dim]
    """
    from treemean.cli.output import loading, say, show_json, show_tables
    from treemean.cli.scaling import check_engine
    from treemean.cli.training_progress import Reporting, watching
    from treemean.reporting.learning import write_learning_page

    with loading("PyTorch"):
        from treemean.experiments.config import files_of, load_config
        from treemean.files.inputs import protected
        from treemean.scaling.engines import open_engine
        from treemean.training import train as train_run
        from treemean.training import train_runs
        from treemean.training.spread import train_spread
        from treemean.training.stopping import Deadline, Stopped, telling_how_to_go_on

    if run is not None and (runs is not None or parallel is not None or together):
        raise typer.BadParameter("give --run for one run, or --runs, --parallel, --together for several")
    check_engine(None, None, workers, address, engine)
    if engine is not None and (parallel is not None or together or run is not None or seconds is not None):
        raise typer.BadParameter(
            "it cannot be combined with --run, --parallel, --together or --seconds", param_hint="--engine"
        )
    if stack > 1 and engine is None:
        raise typer.BadParameter("it works only with --engine: give that as well", param_hint="--stack")
    stop = None if seconds is None else Deadline(seconds)
    chosen = load_config(config, [*(override or []), *options.dialect_setting(dialect)])
    count = runs or chosen.run.runs if run is None else 1
    try:
        with protected(files_of(chosen)), telling_how_to_go_on(say), watching(count) as watch:
            told = Reporting(watch, folder) if report else watch
            if run is not None:
                results = [train_run(chosen, folder, run=run, progress=told, stop=stop)]
            elif engine is not None:
                with open_engine(engine, workers=workers, address=address) as opened:
                    results = train_spread(
                        chosen,
                        folder,
                        opened,
                        runs=runs,
                        stack=stack,
                        done=lambda over, all: say(f"{over} of {all} runs are over"),
                    )
            else:
                results = train_runs(
                    chosen,
                    folder,
                    runs=runs,
                    parallel=parallel,
                    progress=told,
                    together=together or None,
                    stop=stop,
                )
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None  # all is said
    except Stopped as stopped:
        say(str(stopped))
        raise typer.Exit(STOPPED) from None
    if report:
        say(f"curves: {write_learning_page(folder)}")
    if as_json:
        show_json([_described(result) for result in results])
    else:
        show_tables([_table(results)], "table")


def _described(result: RunResult) -> dict[str, Any]:
    return {
        "run": result.run,
        "model": str(result.model),
        "select": result.select,
        "epoch": result.epoch,
        "development": dict(result.metrics),
        "finished": result.finished,
        "steps": result.steps,
        "seconds": result.seconds,
    }


def _table(results: list[RunResult]) -> Any:
    from treemean.reporting import Table

    names = {"F1": "f1", "continuous": "f1_continuous", "discontinuous": "f1_discontinuous"}
    if all(result.metrics[name] is None for result in results for name in names.values()):
        names = {}  # there are no gold trees
    columns = ["model", "epoch", "perplexity", *names]
    rows = [
        [
            str(result.model),
            result.epoch,
            result.metrics["perplexity"],
            *(result.metrics[name] for name in names.values()),
        ]
        for result in results
    ]
    select = {"f1": "F1 of gold development trees", "likelihood": "likelihood on the development set"}
    notes = [f"Models were selected by {select[results[0].select]}; these are development scores."]
    return Table(columns, rows, title="Trained models", notes=notes)
