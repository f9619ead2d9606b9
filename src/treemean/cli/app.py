"""The `treemean` command: what its subcommands share."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from treemean._version import __version__
from treemean.cli.commands import App
from treemean.cli.help import Group
from treemean.printing import harmless


class _Commands(Group):
    """All commands; what they say of wrong usage quotes arguments, and these may come from anywhere."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was chosen."""
        with _quoted_harmlessly():
            return super().invoke(ctx)

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        """Take the arguments before the name of a command."""
        with _quoted_harmlessly():
            return super().make_context(*arguments, **options)


@contextmanager
def _quoted_harmlessly() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        if hasattr(error, "format_message"):  # the errors of usage of all versions of Typer
            message = harmless(error.format_message(), lines=True)
            error.format_message = lambda: message
        raise


app = App(
    name="treemean",
    cls=_Commands,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="[bold]Exit codes:[/bold] 0 done, 1 something is wrong with the input, 2 wrong usage, 130 and 143 "
    "interrupted by Ctrl-C or by SIGTERM; unfinished files are removed then.",
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"treemean {__version__}")
        raise typer.Exit


@app.callback()
def _treemean(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """Find the tree that agrees best with several constituency trees, continuous or discontinuous.

    Files may be in any of these formats, gzipped or not: discbracket, PTB brackets, NEGRA export, TIGER XML,
    Alpino XML, CoNLL-U, JSON Lines, Parquet. The file name [cyan]-[/cyan] is standard input or output.

    [bold]Examples[/bold]

      treemean demo                              [dim]# everything on a small sample[/dim]

      treemean convert alpino.xml.gz gold.discbracket --remove-punctuation

      treemean average run1.dbr run2.dbr run3.dbr -o mean.dbr

      treemean evaluate mean.dbr gold.discbracket

      treemean draw mean.dbr --sentence 7 --gold gold.discbracket -o tree.svg
    """


def main() -> None:
    """Run the command line; errors that a user can cause end in one clear line and exit code 1."""
    from treemean import program
    from treemean.cli.output import SayOnceHandler, complain

    program.begin()
    log, notes = logging.getLogger("treemean"), SayOnceHandler()
    log.addHandler(notes)
    try:
        sys.exit(program.run(app, complain))
    finally:
        log.removeHandler(notes)
