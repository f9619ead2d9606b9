"""The `treemean` command: what its subcommands share."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from treemean._version import __version__
from treemean.cli.help import App

app = App(
    name="treemean",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="[bold]Exit codes:[/bold] 0 done, 1 something is wrong with the input, 2 wrong usage, 130 and 143 "
    "interrupted by Ctrl-C or by a request to end; unfinished files are removed then.",
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
    """The tree that agrees best with several constituency trees of a sentence, continuous or discontinuous.

    Files may be in any format (discbracket, PTB brackets, NEGRA export, TIGER XML, Alpino XML, CoNLL-U, JSON
    Lines, Parquet), gzipped or not; [cyan]-[/cyan] is standard input or output.

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
    from treemean.cli.output import complain
    from treemean.errors import TreemeanError

    program.begin()
    try:
        try:
            app()
        finally:
            sys.stdout.flush()  # as long as it can be told that this fails
    except TreemeanError as error:
        complain(str(error))
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(program.INTERRUPTED)
    except BrokenPipeError:  # the reader of our output went away
        program.abandon_output()
        sys.exit(1)
    except OSError as error:  # a folder that cannot be made, a full disk
        complain(program.describe_system_error(error))
        sys.exit(1)
