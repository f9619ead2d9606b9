"""`treemean average`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from treemean.cli import options
from treemean.cli.aligned import aligned_batches
from treemean.cli.app import app
from treemean.cli.commands import READS, WRITES, WRITES_FOLDER
from treemean.cli.several import RunsOrSpans
from treemean.names import Direction, MethodName, TieRule, Unaries

if TYPE_CHECKING:
    from treemean.errors import Unsolved
    from treemean.scaling.ties import TiesFile
    from treemean.trees import Individual, Treebank


@app.command(cls=RunsOrSpans)
def average(
    runs: Annotated[
        list[str] | None,
        READS,
        typer.Argument(metavar="RUN...", help="Treebanks of the same sentences, or --spans."),
    ] = None,
    *,
    output: Annotated[
        str, WRITES_FOLDER, typer.Option("--output", "-o", help="Where to write the average; - prints it.")
    ],
    spans: options.Spans = None,
    weights: Annotated[
        str | None,
        typer.Option(
            metavar="W1,W2,…",
            help="The weight of each run, 0 or more, then of each table of --spans; all equal if not given.",
        ),
    ] = None,
    hits: Annotated[
        str | None,
        READS,
        typer.Option(
            metavar="FILE",
            help="Weigh constituents by a file of [cyan]treemean fit[/cyan], or by values that are "
            "stored with the constituents of the runs ([cyan]column:NAME[/cyan]).",
        ),
    ] = None,
    probability: Annotated[
        bool,
        typer.Option(
            "--probability",
            help="Store the probability that each constituent is right, as the file of --hits or, without "
            "one, the agreement of the runs says; only jsonl and parquet have room for it.",
        ),
    ] = False,
    beta: Annotated[
        float, typer.Option(min=0, help="Average by F_β instead of F1, with this β, up to 1000.")
    ] = 1.0,
    binary: Annotated[bool, typer.Option("--binary", help="Find the best binary trees.")] = False,
    direction: Annotated[
        Direction | None,
        typer.Option(help="With --binary: how to branch where no run decides; right if not given."),
    ] = None,
    labelled: Annotated[
        bool,
        typer.Option(
            "--labelled",
            help="Choose constituents and labels together. Without it, constituents are chosen first, and "
            "then the runs vote on the label of each; that is better if few runs differ much in labels.",
        ),
    ] = False,
    unaries: Annotated[
        Unaries | None,
        typer.Option(help="With --labelled: whether averages may have unary chains; keep if not given."),
    ] = None,
    ties: Annotated[
        str,
        READS,
        typer.Option(
            metavar="RULE|FILE",
            autocompletion=lambda: list(get_args(TieRule)),
            help="Which of equally good trees to take: canonical, right (constituents end far to the right), "
            "left (constituents begin far to the left), or by a JSON Lines file that says how much each "
            "constituent is preferred (see docs/averaging.md).",
        ),
    ] = "canonical",
    method: Annotated[
        str,
        typer.Option(
            autocompletion=lambda: list(get_args(MethodName)),
            help=f"One of {', '.join(get_args(MethodName))}; see docs/averaging.md.",
        ),
    ] = "exact",
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Threads of the method exact; all cores if not given.")
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="Seconds for one sentence, after which the best tree so far is taken, with a bound on what "
            "is missing. For the methods exact and integer-programming.",
        ),
    ] = None,
    node_limit: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="The same limit as search steps, a million if not given. Unlike seconds, they give the same "
            "trees on every machine.",
        ),
    ] = None,
    max_fan_out: Annotated[
        int | None,
        typer.Option(min=1, help="The largest fan-out that the method dynamic-programming may use."),
    ] = None,
    skip_unsolved: Annotated[
        bool,
        typer.Option(
            "--skip-unsolved",
            help="Skip and count sentences that the method cannot solve, instead of stopping.",
        ),
    ] = False,
    match: options.MatchBy = "position",
    stats: Annotated[
        Path | None,
        WRITES,
        typer.Option(
            help="Write facts about each average to this JSON file: objective, bound, whether it is optimal, "
            "number of candidates, seconds."
        ),
    ] = None,
    from_format: options.From = None,
    to_format: options.To = None,
    dialect: options.Dialect = "auto",
    keep_empty: options.KeepEmpty = False,
    glob: options.Glob = None,
    encoding: options.Encoding = "utf-8",
    shard_size: options.ShardSize = None,
    engine: options.Engine = None,
    workers: options.Workers = None,
    address: options.Address = None,
) -> None:
    """Average several treebanks of the same sentences: find the trees that agree best with all of them.

    [bold]Examples[/bold]

      treemean average run1.dbr run2.dbr run3.dbr -o mean.dbr

      treemean average run*.dbr -o mean.jsonl --weights 5,4,4 --stats stats.json

      treemean average run*.dbr -o mean.dbr --binary --jobs 2

      treemean average run*.dbr -o mean.dbr --hits hits.json

      treemean average run*.dbr -o mean.dbr --ties right

      treemean average a.ptb b.ptb c.ptb -o mean.ptb --labelled --unaries none

      treemean average run*.dbr -o mean.jsonl --hits hits.json --probability

      treemean average run*.dbr --spans spans*.parquet --hits hits.json -o mean.dbr

      treemean average run1/ run2/ run3/ -o mean/ --engine local --workers 2

      treemean average run*.dbr -o mean.dbr --method greedy
    """
    from treemean.averaging import count_labels
    from treemean.cli.aligned import Repeated
    from treemean.cli.hits import hits_of
    from treemean.cli.numbers import StatsWriter
    from treemean.cli.output import naming_options, report_losses, say, with_progress, written_to
    from treemean.cli.scaling import check_engine, folder_wanted
    from treemean.files.source import spooled
    from treemean.formats import TreebankWriter
    from treemean.scaling.ties import TiesFile

    runs, tables = runs or [], spans or []
    if direction is not None and not binary:
        raise typer.BadParameter("it works only with --binary: give that as well", param_hint="--direction")
    if unaries is not None and not labelled:
        raise typer.BadParameter("it works only with --labelled: give that as well", param_hint="--unaries")
    shares = options.numbers(weights, "--weights")
    limit = {} if node_limit is None else {"node_limit": node_limit}
    reading = options.reading(from_format, encoding, dialect, keep_empty, glob)
    own_ties = ties not in get_args(TieRule)
    if own_ties and ties != "-" and not Path(ties).exists():
        known = ", ".join(get_args(TieRule))
        raise typer.BadParameter(f"{ties!r} is neither {known} nor a file", param_hint="--ties")
    told = {
        "runs": runs,
        **({"spans": tables} if tables else {}),
        "weights": shares,
        "hits": hits,
        "probability": probability,
        "beta": beta,
        "binary": binary,
        "labelled": labelled,
        "unaries": unaries or "keep",
        "ties": ties,
        "method": method,
    }
    if folder_wanted(output, engine, shard_size):
        check_engine(output, to_format, workers, address, engine)
        for given, hint in ((time_limit, "--time-limit"), (jobs, "--jobs"), (spans, "--spans")):
            if given:
                raise typer.BadParameter(
                    "it cannot be used when shards are written; see docs/scaling.md", param_hint=hint
                )
        _average_shards(
            runs,
            output,
            {
                "weights": shares,
                "beta": beta,
                "binary": (direction or True) if binary else False,
                "labelled": labelled,
                "unaries": unaries or "keep",
                "ties": "canonical" if own_ties else ties,
                "method": method,
                "max_fan_out": max_fan_out,
                **limit,
            },
            stats,
            told,
            ties_file=ties if own_ties else None,
            hits=hits,
            probability=probability,
            skip_unsolved=skip_unsolved,
            match=match,
            reading=reading,
            shard_size=shard_size,
            engine=engine or "local",
            workers=workers if engine else 1,
            address=address,
        )
        return
    check_engine(None, to_format, workers, address, engine)
    prepared = hits_of(
        hits,
        runs,
        tables,
        jobs=jobs,
        weights=shares,
        beta=beta,
        binary=binary,
        labelled=labelled,
        probability=probability,
    )
    writer = TreebankWriter(output, format=to_format or options.printed_as(output))
    if probability:
        options.check_keeps_probabilities(writer)
    begun = time.perf_counter()
    sentences = proven = 0
    skipped: list[Unsolved] | None = [] if skip_unsolved else None
    helpful = "write discbracket, and make that continuous by treemean convert --make-continuous"
    files = spooled([*runs, *tables])
    with naming_options(helpful), files as paths, writer, StatsWriter(stats) as report:
        parts = (paths[: len(runs)], paths[len(runs) :])
        batches = Repeated(lambda: aligned_batches(parts[0], match, reading, parts[1]))
        valued, finished = prepared(batches)
        averages = _averages(
            batches,
            valued,
            finished,
            skipped,
            TiesFile(ties) if own_ties else None,
            # They decide ties; a single batch is counted when it is averaged.
            frequencies=None if batches.single else count_labels(batches),
            **({} if own_ties else {"ties": ties}),
            binary=(direction or True) if binary else False,
            labelled=labelled,
            unaries=unaries or "keep",
            method=method,
            jobs=jobs,
            time_limit=time_limit,
            max_fan_out=max_fan_out,
            **limit,
        )
        for mean in with_progress(averages, f"averaging {len(runs) + len(tables)} runs"):
            writer.write(mean)
            report.add(mean)
            sentences += len(mean)
            proven += int((mean.sentence_values["optimal"] == 1).sum()) if len(mean) else 0
        report.finish(
            told,
            {"sentences": sentences, "optimal": proven, "seconds": time.perf_counter() - begun},
            [{"sentence": one.sentence, "id": one.id, "reason": one.reason} for one in skipped or []],
        )
    for unsolved in (skipped or [])[:10]:
        say(f"skipped: {unsolved}")
    if skipped:
        say(f"{len(skipped)} sentences skipped that are beyond the reach of {method}")
    report_losses(writer)
    noun = "sentence" if sentences == 1 else "sentences"
    say(f"{sentences} {noun} averaged, {proven} proven optimal, {written_to(output)}")


def _average_shards(
    runs: list[str],
    output: str,
    request: dict[str, Any],
    stats: Path | None,
    told: dict[str, Any],
    *,
    hits: str | None,
    **how: Any,
) -> None:
    """Average into a folder of shards."""
    from treemean import scaling
    from treemean.cli.hits import COLUMN, check_names
    from treemean.cli.numbers import write_shard_stats
    from treemean.cli.output import say
    from treemean.cli.scaling import job_progress, tell_done

    if hits is not None and not hits.startswith(COLUMN):
        check_names(hits, runs, request, labelled=bool(request.get("labelled")))
        request = {name: value for name, value in request.items() if name not in ("weights", "beta")}
    with job_progress(f"averaging {len(runs)} runs") as progress:
        done = scaling.average(runs, output, hits=hits, progress=progress, say=say, **how, **request)
    tell_done(done, output)
    if stats is not None:
        write_shard_stats(stats, output, done, told)
    proven = done.sums.counts["optimal"]
    say(f"{done.manifest.sentences} sentences averaged, {proven} proven optimal, written to {output}")


def _averages(
    batches: Iterable[list[Individual]],
    valued: Callable[[list[Individual]], dict[str, Any]],
    finished: Callable[[Treebank, list[Individual]], Treebank],
    skipped: list[Unsolved] | None,
    own_ties: TiesFile | None,
    **request: Any,
) -> Iterator[Treebank]:
    """Yield averages of batches, with what `valued` says of each, `finished` beside the runs.

    What is skipped is numbered throughout.
    """
    from treemean.averaging import average as average_treebanks
    from treemean.errors import Unsolved

    seen = 0

    def numbered(error: Unsolved) -> Unsolved:
        return Unsolved(error.reason, sentence=seen + (error.sentence or 0), id=error.id)

    for batch in batches:
        unsolved: list[Unsolved] | None = None if skipped is None else []
        if own_ties is not None:
            request["ties"] = own_ties.take(len(batch[0]))
        try:
            mean = average_treebanks(batch, skipped=unsolved, **valued(batch), **request)
        except Unsolved as error:
            raise numbered(error) from error
        left_out = {error.sentence for error in unsolved or []}  # counted from 1
        if skipped is not None:
            skipped += map(numbered, unsolved or [])
        seen += len(batch[0])
        kept = [s for s in range(len(batch[0])) if s + 1 not in left_out]
        yield finished(mean, [run.take(kept) for run in batch] if left_out else batch)
    if own_ties is not None:
        own_ties.finish(seen)
