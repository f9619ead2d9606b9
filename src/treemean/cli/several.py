"""An option that takes several files, as arguments do: `--spans a.parquet b.parquet`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from treemean.cli.help import Command

SPANS = "--spans"


class SeveralSpans(Command):
    """A command whose option `--spans` takes all files up to the next option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take the arguments."""
        return super().parse_args(ctx, one_by_one(args))


class RunsOrSpans(SeveralSpans):
    """A command that needs treebanks or tables of spans."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take the arguments."""
        left = super().parse_args(ctx, args)
        if not (ctx.params["runs"] or ctx.params["spans"] or ctx.resilient_parsing):
            raise self.missing(ctx, "runs")
        return left


def one_by_one(arguments: Sequence[str]) -> list[str]:
    """Repeat the option before each of its files.

    >>> one_by_one(["run.dbr", "--spans", "a.parquet", "b.parquet", "-o", "mean.dbr"])
    ['run.dbr', '--spans', 'a.parquet', '--spans', 'b.parquet', '-o', 'mean.dbr']
    """
    completed: list[str] = []
    files = -1  # how many stood behind the option so far; -1 elsewhere
    for argument in arguments:
        option, equals, file = argument.partition("=")
        if option == SPANS and equals:
            completed += [SPANS, file]
            files = 1
            continue
        if argument.startswith("-") and argument != "-":
            files = 0 if argument == SPANS else -1
        elif files >= 0:
            completed += [SPANS] if files else []
            files += 1
        completed.append(argument)
    return completed
