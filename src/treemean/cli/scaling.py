"""What commands share that work on shards: their options, progress with rate and time left, what is told."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from treemean.names import EngineName
    from treemean.scaling import Done
    from treemean.scaling.progress import Progress

#: Seconds between two lines of progress where nobody watches a bar.
_BETWEEN_LINES = 30.0


def folder_wanted(target: str, engine: EngineName | None, shard_size: int | None) -> bool:
    """Tell whether the output is a sharded treebank."""
    return engine is not None or shard_size is not None or target.endswith(os.sep)


def check_engine(
    folder: str | None,
    to_format: str | None,
    workers: int | None,
    address: str | None,
    engine: EngineName | None,
) -> None:
    """Raise a usage error for options that do not go together; `folder` is None where none is written."""
    for given, hint in ((workers, "--workers"), (address, "--address")):
        if given is not None and engine is None:
            raise typer.BadParameter("it works only with --engine: give that as well", param_hint=hint)
    if folder is None:
        return
    if folder == "-" or os.path.isfile(folder):
        raise typer.BadParameter(
            f"shards are written to a folder, and {folder} is not one", param_hint="output"
        )
    if to_format not in (None, "parquet"):
        raise typer.BadParameter("shards are Parquet files", param_hint="--to")


@contextmanager
def job_progress(description: str) -> Iterator[Progress]:
    """Show how far a job is, and tell whoever interrupts it that the same command goes on."""
    from treemean.cli.output import resumable

    with resumable(), _bar(description) if sys.stderr.isatty() else nullcontext(_Lines(description)) as shown:
        yield shown


@contextmanager
def _bar(description: str) -> Iterator[Progress]:
    """Show how far a job is, with rate and time left."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = [
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,.0f} sentences"),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    ]
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(description, total=None, rate="")
        begun = time.monotonic()

        def advance(done: int, total: int | None) -> None:
            rate = done / max(time.monotonic() - begun, 1e-9)
            bar.update(task, completed=done, total=total, rate=f"{rate:,.0f}/s" if done else "")

        yield advance


class _Lines:
    """Progress for a log: a line every half minute."""

    def __init__(self, description: str) -> None:
        self._description = description
        self._begun = self._told = time.monotonic()

    def __call__(self, done: int, total: int | None) -> None:
        now = time.monotonic()
        if now - self._told < _BETWEEN_LINES or not done:
            return
        from treemean.cli.output import say

        self._told = now
        rate = done / (now - self._begun)
        of = "" if total is None else f" of {total:,}, {(total - done) / rate:,.0f} s left"
        say(f"{self._description}: {done:,} sentences{of} ({rate:,.0f} a second)")


def tell_done(done: Done, target: str) -> None:
    """Say what a job found and did."""
    from treemean.cli.output import say

    if done.before:
        say(f"{target} was finished before: nothing to do")
    elif done.found:
        say(f"{done.found} of {done.found + done.made} shards were there from an earlier attempt")
    for kind, what in (("bad", "bad sentence"), ("skipped", "sentence")):
        for note in done.sums.notes.get(kind, [])[:10]:
            say(f"skipped: {_note(note)}")
        if count := done.sums.counts[kind]:
            say(f"{count} {what}{'s' * (count != 1)} skipped; the manifest tells why")
    for note in done.sums.notes.get("bounded", [])[:10]:
        say(
            f"not proven: {_note(note)}, at most {note['upper_bound']:.4f} instead of {note['objective']:.4f}"
        )


def _note(note: dict[str, Any]) -> str:
    place = ":".join(str(note[key]) for key in ("source", "line") if note.get(key) is not None)
    name = "" if note.get("sentence") is None else f"sentence {note['sentence']}"
    name += f" ({note['id']})" if note.get("id") else ""
    return ": ".join(part for part in (place, name, note["reason"]) if part)


def save_bad(folder: str, done: Done, path: Path) -> None:
    """Write the records that were set aside to one file, as they stand in the input."""
    from treemean.files.output import open_output
    from treemean.scaling.shards import bad_name

    with open_output(path) as stream:
        for shard in done.manifest.shards:
            aside = Path(folder, bad_name(shard.file))
            if not aside.exists():
                continue
            with open(aside, encoding="utf-8") as lines:
                for line in lines:
                    record = json.loads(line)["record"]
                    stream.write(record.encode() + b"\n" * (not record.endswith("\n")))
