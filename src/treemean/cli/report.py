"""`treemean report`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treemean.cli import options
from treemean.cli.app import app
from treemean.cli.commands import READS, WRITES, Files

if TYPE_CHECKING:
    from treemean.reporting.html import Subject


#: Of a folder, the trees that it holds, or that `treemean ensemble` left below it.
_READS_TREES = Files("reads", ("gold*", "run*", "parses/*/*"))


@app.command()
def report(
    files: Annotated[
        list[str],
        _READS_TREES,
        typer.Argument(
            metavar="OUT | RUN...",
            help="A folder that treemean ensemble made, or one with gold.* and run*.*; or treebanks of the "
            "same sentences.",
        ),
    ],
    output: Annotated[Path, WRITES, typer.Option("--output", "-o", help="The HTML file.")] = Path(
        "report.html"
    ),
    gold: Annotated[str | None, READS, typer.Option("--gold", metavar="FILE", help="Gold trees.")] = None,
    average: Annotated[
        str | None,
        READS,
        typer.Option(
            "--average",
            metavar="FILE",
            help="Show this average instead of making one, with its probabilities if it has any.",
        ),
    ] = None,
    hits: Annotated[
        Path | None,
        READS,
        typer.Option(
            "--hits", metavar="FILE", help="Average with a file of treemean fit, and show probabilities."
        ),
    ] = None,
    probability: Annotated[
        bool,
        typer.Option(
            "--probability",
            help="Show probabilities of constituents without --hits, from the agreement of the runs.",
        ),
    ] = False,
    protocol: options.Protocol = "standard",
    labelled: options.Labelled = None,
    match: options.MatchBy = "position",
    punctuation: options.Punctuation = "auto",
    ignore_case: options.IgnoreCase = False,
    title: Annotated[str, typer.Option(help="The title of the report.")] = "",
    limit: Annotated[
        float,
        typer.Option(
            min=0.2,
            metavar="MB",
            help="The largest size; beyond it the least disputed sentences are left out.",
        ),
    ] = 20.0,
    most: Annotated[
        int,
        typer.Option(min=1, metavar="N", help="How many sentences can be explored: the most disputed ones."),
    ] = 10_000,
    open_it: Annotated[bool, typer.Option("--open", help="Open the report in the browser.")] = False,
    jobs: options.Jobs = None,
    from_format: options.From = None,
    dialect: options.Dialect = "auto",
    keep_empty: options.KeepEmpty = False,
    glob: options.Glob = None,
    encoding: options.Encoding = "utf-8",
) -> None:
    """Make a report for the browser: scores, charts, and all trees side by side, in one HTML file.

    It shows scores, learning curves, agreement, F1 by length and label, calibration, and all sentences, to
    search, sort, compare and adjudicate. It needs no network. Export your decisions in the browser;
    [cyan]treemean convert[/cyan] reads them. An ensemble is scored by the protocol that it recorded.

    [bold]Examples[/bold]

      treemean report out -o report.html     [dim]# out: made by treemean ensemble[/dim]

      treemean report run*.dbr --gold gold.dbr -o report.html --open

      treemean report ann.export bob.export --labelled -o adjudicate.html

      treemean report run*.dbr --gold gold.dbr --hits hits.json

      treemean convert decisions.jsonl adjudicated.export
    """
    import webbrowser

    from treemean.cli.output import say
    from treemean.reporting.html import make_page

    folder = Path(files[0]) if len(files) == 1 and Path(files[0]).is_dir() else None
    if folder is not None:
        about_runs = {
            "--gold": gold is not None,
            "--average": average is not None,
            "--from": from_format is not None,
        }
        for option, given in about_runs.items():
            if given:
                raise typer.BadParameter("leave it out: the folder has its own files", param_hint=option)
    from treemean.experiments.report import is_ensemble, report_of_ensemble

    if folder is not None and is_ensemble(folder):
        own = {
            "--hits": hits is not None,
            "--probability": probability,
            "--protocol": protocol != "standard",
            "--labelled": labelled is not None,
        }
        for option, given in own.items():
            if given:
                raise typer.BadParameter(
                    "leave it out: the ensemble has recorded how it averages and scores", param_hint=option
                )
        subject = report_of_ensemble(folder, title=title, jobs=jobs, most=most)
    else:
        subject = _of_runs(
            files,
            folder,
            gold,
            average,
            hits,
            probability=probability,
            protocol=protocol,
            labelled=labelled,
            match=match,
            punctuation=options.punctuation_choice(punctuation),
            ignore_case=ignore_case,
            title=title,
            jobs=jobs,
            most=most,
            reading=options.reading(from_format, encoding, dialect, keep_empty, glob),
        )
    page = make_page(subject, limit=limit)
    page.write(output)
    say(f"{page.shown:,} sentences, {len(page.html.encode()) / 1e6:.1f} MB: {output}")
    if page.left_out:
        count = page.shown + page.left_out
        why, more = f"more than {most:,} (--most)", f"--most {count} takes all, and memory for them"
        if page.too_large:
            why, more = f"a report larger than {limit:g} MB", f"--limit {2 * limit:g} lets it grow"
        typer.secho(
            f"LEFT OUT: {page.left_out:,} of {count:,} sentences, which would make {why}. "
            f"Scores and charts are of all; {more}.",
            fg="yellow",
            bold=True,
            err=True,
        )
    address = output.resolve().as_uri()
    say(f"open it: {address}")
    if open_it and not webbrowser.open(address):
        say("no browser could be started here")


def _of_runs(
    files: list[str],
    folder: Path | None,
    gold: str | None,
    average: str | None,
    hits: Path | None,
    *,
    reading: dict[str, Any],
    **choices: Any,
) -> Subject:
    """Read runs, in a folder or one by one, and compare them."""
    from treemean.cli.output import file_names, short_names, with_progress
    from treemean.experiments.predictions import GOLD, files_of
    from treemean.experiments.report import report_of_files
    from treemean.files.source import spooled
    from treemean.fitting import load

    # Names only: where files stand on this machine is nobody's business but the user's.
    given = {"runs": files, "gold": [gold] if gold else [], "average": [average] if average else []}
    facts = {what: ", ".join(Path(path).name for path in paths) for what, paths in given.items() if paths}
    names = short_names(files)
    if folder is not None:
        found = {name: str(path) for name, path in files_of(folder).items()}
        gold, reading = found.pop(GOLD), {}
        files, names = [*found.values()], [*found]
    others = [path for path in (average, gold) if path is not None]
    called = dict(zip(names, file_names(files), strict=True))
    called |= {name: path for name, path in (("gold", gold), ("average", average)) if path}
    with spooled([*files, *others]) as paths:
        rest = iter(paths[len(files) :])
        return report_of_files(
            dict(zip(names, paths, strict=False)),
            average=None if average is None else next(rest),
            gold=None if gold is None else next(rest),
            model=None if hits is None else load(hits),
            facts=facts,
            reading=reading,
            called=called,
            through=lambda batches: with_progress(batches, "comparing", lambda batch: len(batch[0])),
            **choices,
        )
