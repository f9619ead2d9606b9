"""`treemean average`."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, Literal

import typer

from treemean.cli import options
from treemean.cli.app import app

if TYPE_CHECKING:
    from treemean.errors import Unsolved
    from treemean.trees import Treebank

#: How more than two children are joined in binary trees.
Direction = Literal["left", "right", "balanced"]


@app.command()
def average(
    runs: Annotated[list[str], typer.Argument(metavar="RUN...", help="Treebanks of the same sentences.")],
    output: Annotated[str, typer.Option("--output", "-o", help="Where to write the average; - prints it.")],
    weights: Annotated[
        str | None,
        typer.Option(metavar="W1,W2,…", help="How much say each run has; equal if not given, 0 for none."),
    ] = None,
    hits: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="What constituents are worth: a file of [cyan]treemean fit[/cyan], or "
            "[cyan]column:NAME[/cyan] for values that the constituents of the runs carry.",
        ),
    ] = None,
    beta: Annotated[
        float, typer.Option(min=0, help="The β of F_β, up to 1000; 1 weighs precision and recall alike.")
    ] = 1.0,
    binary: Annotated[bool, typer.Option("--binary", help="Find the best binary trees.")] = False,
    direction: Annotated[
        Direction | None,
        typer.Option(help="How --binary joins what no run decides; right if not given. Only with --binary."),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            help="exact, meet-in-the-middle, exhaustive, dynamic-programming, integer-programming "
            "(needs SciPy), cyk, greedy, select, majority."
        ),
    ] = "exact",
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Threads of the method exact; all cores if not given.")
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="Seconds for one sentence; beyond it a bound tells what may be missing. For the methods "
            "exact and integer-programming.",
        ),
    ] = None,
    max_fan_out: Annotated[
        int | None,
        typer.Option(min=1, help="Bound on the fan-out of constituents, for the method dynamic-programming."),
    ] = None,
    skip_unsolved: Annotated[
        bool,
        typer.Option(
            "--skip-unsolved",
            help="Skip and count sentences that are beyond the reach of the method, instead of stopping.",
        ),
    ] = False,
    match: options.MatchBy = "position",
    stats: Annotated[
        Path | None,
        typer.Option(
            help="Write objective, bound, optimal, candidates and seconds of every sentence as JSON."
        ),
    ] = None,
    from_format: options.From = None,
    to_format: Annotated[
        str | None,
        typer.Option("--to", metavar="FORMAT", help=f"Format of the output: {options.FORMAT_NAMES}."),
    ] = None,
    encoding: options.Encoding = "utf-8",
) -> None:
    """Average several treebanks of the same sentences: the trees that agree best with all of them.

    [bold]Examples[/bold]

      treemean average run1.dbr run2.dbr run3.dbr -o mean.dbr

      treemean average run*.dbr -o mean.parquet --weights 5.95,5.82,5.94 --stats stats.json

      treemean average run*.dbr -o mean.dbr --binary --jobs 2

      treemean average run*.dbr -o mean.dbr --hits hits.json

      treemean average run*.dbr -o mean.dbr --method dynamic-programming --max-fan-out 1 --skip-unsolved
    """
    from treemean.cli.hits import hits_of
    from treemean.cli.output import say, with_progress
    from treemean.formats import TreebankWriter

    if direction is not None and not binary:
        raise typer.BadParameter(
            "it says how --binary joins; give --binary as well", param_hint="--direction"
        )
    if stats is not None:
        options.check_different(str(stats), "--stats", [output, *runs])
    valued, batched = hits_of(hits, runs, jobs, options.numbers(weights, "--weights"), beta, binary)
    begun = time.perf_counter()
    sentences = proven = 0
    skipped: list[Unsolved] | None = [] if skip_unsolved else None
    with TreebankWriter(output, format=to_format) as writer, _StatsWriter(stats) as report:
        averages = _averages(
            batched(_batches(runs, match, from_format, encoding)),
            valued,
            skipped,
            binary=(direction or True) if binary else False,
            method=method,
            jobs=jobs,
            time_limit=time_limit,
            max_fan_out=max_fan_out,
        )
        for mean in with_progress(averages, f"averaging {len(runs)} runs"):
            writer.write(mean)
            report.add(mean)
            sentences += len(mean)
            proven += int((mean.sentence_values["optimal"] == 1).sum()) if len(mean) else 0
        report.finish(
            {
                "runs": runs,
                "weights": options.numbers(weights, "--weights"),
                "hits": hits,
                "beta": beta,
                "binary": binary,
                "method": method,
            },
            {"sentences": sentences, "optimal": proven, "seconds": time.perf_counter() - begun},
            skipped or [],
        )
    for unsolved in (skipped or [])[:10]:
        say(f"skipped: {unsolved}")
    if skipped:
        say(f"{len(skipped)} sentences skipped that are beyond the reach of {method}")
    say(f"{sentences} sentences averaged, {proven} proven optimal, written to {output}")


def _averages(
    batches: Iterable[list[Treebank]],
    valued: Callable[[list[Treebank]], dict[str, Any]],
    skipped: list[Unsolved] | None,
    **request: Any,
) -> Iterator[Treebank]:
    """Yield averages of batches, with what `valued` says of each; what is skipped is numbered throughout."""
    from treemean.averaging import average as average_treebanks
    from treemean.errors import Unsolved

    seen = 0

    def numbered(error: Unsolved) -> Unsolved:
        return Unsolved(error.reason, sentence=seen + (error.sentence or 0), id=error.id)

    for batch in batches:
        unsolved: list[Unsolved] | None = None if skipped is None else []
        try:
            mean = average_treebanks(batch, skipped=unsolved, **valued(batch), **request)
        except Unsolved as error:
            raise numbered(error) from error
        if skipped is not None:
            skipped += map(numbered, unsolved or [])
        seen += len(batch[0])
        yield mean


def _batches(runs: list[str], match: str, format: str | None, encoding: str) -> Iterator[list[Treebank]]:
    """Yield aligned batches; matching by id needs whole files, matching by position does not."""
    from treemean.averaging.alignment import align_by_id, check_aligned
    from treemean.cli.output import read_all
    from treemean.formats.parallel import read_parallel

    if match == "id":
        aligned = align_by_id([read_all(path, format=format, encoding=encoding) for path in runs], runs)
        check_aligned(aligned, runs)
        yield aligned
        return
    seen = 0
    for batch in read_parallel(runs, format=format, encoding=encoding):
        check_aligned(batch, runs, seen)  # here, where files and numbers of sentences are known
        seen += len(batch[0])
        yield batch


#: What the file of numbers calls a column, and what the average calls it.
_COLUMNS = {
    "objective": "objective",
    "average_f1": "average_f1",
    "bound": "upper_bound",
    "optimal": "optimal",
    "candidates": "candidates",
    "nodes": "nodes",
    "seconds": "seconds",
}


class _StatsWriter:
    """Writes the numbers of every sentence as JSON, without holding them all."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._stream: IO[bytes] | None = None
        self._count = 0

    def __enter__(self) -> _StatsWriter:
        if self._path is not None:
            from treemean.formats.source import open_output

            self._context = open_output(self._path)
            self._stream = self._context.__enter__()
            self._stream.write(b'{"sentences": [')
        return self

    def add(self, mean: Treebank) -> None:
        """Write a batch."""
        if self._stream is None:
            return
        columns = {key: mean.sentence_values[name].tolist() for key, name in _COLUMNS.items()}
        for index, id in enumerate(mean.ids.tolist()):
            entry: dict[str, Any] = {"id": id} if id else {}
            entry |= {name: values[index] for name, values in columns.items()}
            entry["optimal"] = bool(entry["optimal"])
            self._stream.write((",\n" if self._count else "\n").encode() + json.dumps(entry).encode())
            self._count += 1

    def finish(
        self, parameters: dict[str, Any], summary: dict[str, Any], skipped: Sequence[Unsolved]
    ) -> None:
        """Write what is told about the whole."""
        if self._stream is not None:
            from treemean._version import __version__

            left_out = [{"sentence": u.sentence, "id": u.id, "reason": u.reason} for u in skipped]
            rest = {"skipped": left_out, "summary": summary, "parameters": parameters, "version": __version__}
            self._stream.write(b"\n],\n" + json.dumps(rest, ensure_ascii=False)[1:].encode() + b"\n")

    def __exit__(self, *details: Any) -> None:
        if self._stream is not None:
            self._context.__exit__(*details)
