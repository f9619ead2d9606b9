"""`treemean fit`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treemean.cli import options
from treemean.cli.app import app
from treemean.cli.commands import READS, WRITES, check_different
from treemean.cli.several import SeveralSpans
from treemean.names import HitModelName, Metric, ObjectiveName, SelectionRule, Target

if TYPE_CHECKING:
    from treemean.names import Match
    from treemean.trees import Treebank

#: What `--pareto` without a file is turned into: the figure stands beside the hits.
BESIDE = "(beside the hits)"
_FIGURES = (".svg", ".png", ".pdf")


class _FitCommand(SeveralSpans):
    """A command whose option `--pareto` may stand with or without a file."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, with_figure(args))


def with_figure(arguments: Sequence[str]) -> list[str]:
    """Give `--pareto` a value where no name of a figure follows.

    >>> with_figure(["--pareto", "run1.dbr"]), with_figure(["--pareto", "front.svg"])
    (['--pareto', '(beside the hits)', 'run1.dbr'], ['--pareto', 'front.svg'])
    """
    completed: list[str] = []
    for place, argument in enumerate(arguments):
        completed.append(argument)
        following = arguments[place + 1] if place + 1 < len(arguments) else ""
        if argument == "--pareto" and not following.endswith(_FIGURES):
            completed.append(BESIDE)
    return completed


@app.command(cls=_FitCommand)
def fit(
    runs: Annotated[
        list[str], READS, typer.Argument(metavar="RUN...", help="Treebanks of the development sentences.")
    ],
    output: Annotated[
        str, WRITES, typer.Option("--output", "-o", help="Where to write the hits, as JSON; - prints them.")
    ],
    spans: options.Spans = None,
    gold: Annotated[
        str | None,
        READS,
        typer.Option(help="Gold trees of the same sentences; agreement, em, apart and equal need none."),
    ] = None,
    model: Annotated[
        HitModelName | None,
        typer.Option(
            help="The model that is fitted; if not given, boosted from 300 sentences on, else logistic."
        ),
    ] = None,
    labelled: Annotated[
        bool,
        typer.Option(
            "--labelled",
            help="Count a constituent as right only with its label; for [cyan]average --labelled[/cyan].",
        ),
    ] = False,
    target: Annotated[Target, typer.Option(help="Which F1 to optimise.")] = "both",
    eta: Annotated[
        float,
        typer.Option(min=0, help="For --target both: how much discontinuous F1 counts beside overall F1."),
    ] = 0.5,
    objective: Annotated[
        ObjectiveName | None,
        typer.Option(
            help="What averages maximise: the F1 of the corpus, the paper's F_β of each sentence, or its "
            "expected F1. If not given, corpus for signed, logistic and boosted, sentence for the others."
        ),
    ] = None,
    beta: Annotated[
        str, typer.Option(help="The β of --objective sentence; auto searches for the best.")
    ] = "1",
    select: Annotated[
        SelectionRule,
        typer.Option(
            help="Which runs to use: all, the best ones (top), or those found by adding runs one by one "
            "(forward) or leaving them out (backward)."
        ),
    ] = "all",
    size: Annotated[
        int | None,
        typer.Option(min=1, help="How many runs to select; if not given, the number that scores best."),
    ] = None,
    score: Annotated[
        Metric,
        typer.Option(
            help="For the model scalar: the development F1 that weighs each run; the paper takes the default."
        ),
    ] = "discontinuous",
    scores: Annotated[
        str | None,
        typer.Option(
            metavar="S1,S2,…", help="Weights of the runs for the model scalar, instead of F1 scores."
        ),
    ] = None,
    gaps_from: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RUN",
            help="For the model apart: take constituents with gaps from this run, which is one of RUN... "
            "Repeatable.",
        ),
    ] = None,
    gap_weight: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="For the model apart: what such a constituent is worth, beside 1 for a continuous one that "
            "all other runs have. 0.9 if not given.",
        ),
    ] = None,
    pareto: Annotated[
        str | None,
        typer.Option(
            metavar="[FILE]",
            help="Show the trade-off between overall and discontinuous F1, and draw it to FILE (svg, png or "
            "pdf), or to a file beside the hits.",
        ),
    ] = None,
    reliability: Annotated[
        Path | None,
        WRITES,
        typer.Option(
            metavar="FILE",
            help="Draw a reliability diagram and a risk-coverage curve to FILE (svg, png or pdf).",
        ),
    ] = None,
    most: Annotated[
        int,
        typer.Option(
            min=1,
            metavar="N",
            help="With --gold: the most sentences to fit to. Of more, draw so many by the seed, and say so. "
            "They are held in memory.",
        ),
    ] = 20_000,
    protocol: options.Protocol = "paper",
    match: options.MatchBy = "position",
    folds: Annotated[int, typer.Option(min=2, help="Folds of the cross-validation.")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="Seed of folds, boosting and the bootstrap.")] = 0,
    jobs: Annotated[int | None, typer.Option(min=1, help="Threads; all cores if not given.")] = None,
    from_format: options.From = None,
    dialect: options.Dialect = "auto",
    keep_empty: options.KeepEmpty = False,
    glob: options.Glob = None,
    encoding: options.Encoding = "utf-8",
) -> None:
    """Learn from gold trees how much to trust the constituents of each run, for better averages.

    Give development trees of the runs, in the order in which you will average these runs. The result, a
    file of hits, is for [cyan]treemean average --hits[/cyan]: a hit is the weight that a constituent has.

    [bold]Examples[/bold]

      treemean fit dev/run*.dbr --gold dev/gold.dbr -o hits.json

      treemean average test/run*.dbr --hits hits.json -o mean.dbr

      treemean fit run*.dbr --gold gold.dbr --target disc --pareto a.svg -o h.json

      treemean fit run*.dbr --gold gold.dbr --reliability b.svg -o hits.json

      treemean fit run*.dbr --model agreement -o hits.json   # no gold

      treemean fit run*.dbr c.dbr --model apart --gaps-from c.dbr -o hits.json

      treemean fit run*.dbr --spans spans*.parquet --gold gold.dbr -o hits.json

      treemean fit dev/run*.ptb --gold dev/gold.ptb --labelled -o labelled.json

      treemean average test/run*.ptb --hits labelled.json --labelled -o mean.ptb
    """
    from treemean import fitting
    from treemean.averaging.arguments import columns_of_all
    from treemean.cli.aligned import aligned_batches, with_tables
    from treemean.cli.output import file_names, say, short_names, show_tables, working, written_to
    from treemean.fitting.procedure import fit_batches
    from treemean.fitting.procedure.options import Options
    from treemean.reporting.figures import check_figure, draw_reliability, draw_trade_off
    from treemean.reporting.fitting import fit_tables

    tables = spans or []
    trees = [*runs, *([gold] if gold else [])]
    inputs = [*trees, *tables]
    figure = _figure_path(pareto, output)
    if figure is not None:
        check_different([("pareto", str(figure))], [output, *inputs])  # it may stand beside the hits
        check_figure(figure)  # now, and not when everything is fitted
    if reliability is not None:
        check_different([("reliability", str(reliability))], [str(figure)])
        if gold is None:
            raise typer.BadParameter("it needs --gold trees", param_hint="--reliability")
        check_figure(reliability)
    reading = options.reading(from_format, encoding, dialect, keep_empty, glob)
    names = [*short_names(runs), *short_names(tables)]
    given = options.numbers(scores, "--scores")
    begun = time.perf_counter()
    settings: dict[str, Any] = {
        "target": target,
        "eta": eta,
        "objective": objective,
        "beta": _beta(beta),
        "select": select,
        "size": size,
        "score": score,
        "scores": None if given is None else tuple(given),
        "folds": folds,
        "seed": seed,
        "jobs": jobs,
        "trade_off": figure is not None,
        "labelled": labelled,
    }
    settings |= _apart(runs, gaps_from or [], gap_weight)
    notes: list[str] = []
    if gold is not None or model is None:
        banks, count = _development(trees, tables, match, reading, most, seed)
        if count > len(banks[0]):
            notes.append(f"{len(banks[0]):,} of {count:,} sentences were drawn by the seed")
            typer.secho(
                f"DRAWN: {len(banks[0]):,} of {count:,} sentences, by the seed {seed}. What is fitted to "
                f"gold trees is held in memory; --most {count} takes all of them, at some 55 kB each.",
                fg="yellow",
                bold=True,
                err=True,
            )
        _check_words(banks, file_names(inputs), protocol, len(runs), len(trees))
    with working(f"fitting what constituents of {len(runs)} runs are worth"):
        if gold is not None or model is None:
            individuals = with_tables([*banks[: len(runs)], *banks[len(trees) :]], len(tables))
            gold_trees = banks[len(runs)] if gold else None
            fitted = fitting.fit(individuals, gold_trees, model, protocol=protocol, names=names, **settings)
        elif tables:
            raise typer.BadParameter(
                "tables of spans need --gold trees, and the model logistic or boosted", param_hint="--spans"
            )
        else:
            batches = (columns_of_all(batch) for batch in aligned_batches(runs, match, reading))
            fitted = fit_batches(batches, model, Options(**settings), len(runs), names)
    seconds = time.perf_counter() - begun
    told = {**fitted.report, "notes": [*notes, *fitted.report["notes"]]}
    fitted = replace(fitted, report=told)
    fitted.save(output)
    if output != "-":
        show_tables(fit_tables(fitted), "table")
    if figure is not None:
        draw_trade_off(fitted.report["trade_off"], figure, title=fitted.name)
        say(f"trade-off drawn to {figure}")
    if reliability is not None:
        draw_reliability(fitted.report["confidence"], reliability)
        say(f"reliability drawn to {reliability}")
    say(f"hits of {len(runs)} runs fitted in {seconds:.1f} s, {written_to(output)}")


def _development(
    trees: list[str], tables: list[str], match: Match, reading: dict[str, Any], most: int, seed: int
) -> tuple[list[Treebank], int]:
    """Return treebanks, and columns of tables of spans, of so many sentences; and how many there were.

    Where sentences are matched by ids, everything is held at first.
    """
    from treemean.averaging.alignment import align_by_id
    from treemean.cli.aligned import read_whole
    from treemean.cli.output import file_names
    from treemean.files.source import spooled
    from treemean.fitting.procedure.drawn import draw_sentences
    from treemean.formats.parallel import read_parallel

    with spooled([*trees, *tables]) as paths:
        parts = (paths[: len(trees)], paths[len(trees) :])
        if match == "position":
            return draw_sentences(read_parallel(*parts, **reading), most, seed)
        banks = read_whole(*parts, reading)
    return draw_sentences([align_by_id(banks, file_names([*trees, *tables]))], most, seed)


def _check_words(
    banks: Sequence[Treebank], files: Sequence[str], protocol: str, runs: int, trees: int
) -> None:
    """Raise `MismatchError`, which names files, unless all have the same words; gold may have more.

    Gold trees come after so many runs, if there are some, and tables of spans after all trees.
    """
    from treemean.averaging.alignment import check_aligned
    from treemean.evaluation import get_protocol
    from treemean.evaluation.alignment import align

    own = [place for place in range(len(banks)) if not runs <= place < trees]
    check_aligned([banks[place] for place in own], [files[place] for place in own])
    if trees > runs:
        align(banks[0], banks[runs], get_protocol(protocol), names=(files[0], files[runs]))


def _apart(runs: Sequence[str], gaps_from: Sequence[str], weight: float | None) -> dict[str, Any]:
    """Return the settings of the model apart: places instead of files."""
    for file in gaps_from:
        if file not in runs:
            raise typer.BadParameter(f"{file!r} is none of the runs", param_hint="--gaps-from")
    places = tuple(place for place, file in enumerate(runs) if file in gaps_from)
    return {"gaps_from": places} if weight is None else {"gaps_from": places, "gap_weight": weight}


def _beta(text: str) -> float | None:
    if text == "auto":
        return None
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is neither a number nor auto", param_hint="--beta") from None


def _figure_path(pareto: str | None, output: str) -> Path | None:
    if pareto is None:
        return None
    if pareto != BESIDE:
        return Path(pareto)
    if output == "-":
        raise typer.BadParameter(
            "name the file of the figure, as the hits are printed", param_hint="--pareto"
        )
    return Path(output).with_suffix(".pareto.svg")
