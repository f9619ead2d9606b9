"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Collection
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from treemean.cli.commands import READS, WRITES
from treemean.names import DialectName, EngineName, FormatName, Match, ProtocolName

if TYPE_CHECKING:
    from treemean.evaluation import Protocol as Conventions
    from treemean.formats import TreebankWriter
    from treemean.trees.ranges import Ranges


def presets() -> list[str]:
    """Return the names of presets, for completion; without PyTorch, which would take seconds."""
    folder = files("treemean.training").joinpath("presets")
    return sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir())


Config = Annotated[
    str,
    typer.Argument(
        metavar="CONFIG", autocompletion=presets, help="A TOML file, or a preset such as tn-lcfrs-text."
    ),
]
#: For help texts.
FORMAT_NAMES = ", ".join(get_args(FormatName))

From = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="FORMAT",
        autocompletion=lambda: list(get_args(FormatName)),
        help=f"Format of the input; if not given, file names and contents decide. One of {FORMAT_NAMES}.",
    ),
]
Dialect = Annotated[
    DialectName,
    typer.Option(
        metavar="DIALECT",
        help="How PTB brackets write tags, words and lemmas; see docs/formats.md.",
    ),
]
KeepEmpty = Annotated[
    bool, typer.Option("--keep-empty", help="Keep traces and other empty elements of PTB brackets as words.")
]
Glob = Annotated[
    str | None,
    typer.Option(
        metavar="PATTERN", help="In folders and archives, read only files whose names match, as '*.mrg'."
    ),
]
Encoding = Annotated[str, typer.Option(help="Encoding of text formats (NEGRA files are often latin-1).")]
SkipBad = Annotated[
    bool,
    typer.Option(
        "--skip-bad", help="Skip sentences that cannot be read, and count them, instead of stopping."
    ),
]
BadFile = Annotated[
    Path | None,
    WRITES,
    typer.Option("--bad-file", help="Write the skipped sentences to this file, unchanged."),
]
Protocol = Annotated[ProtocolName, typer.Option(help="How constituents are counted; see docs/evaluation.md.")]
Labelled = Annotated[
    bool | None,
    typer.Option(
        "--labelled/--unlabelled",
        help="Whether a match needs the same label, too; not unless a parameter file says so.",
        show_default=False,
    ),
]
Prm = Annotated[
    Path | None,
    READS,
    typer.Option(
        "--prm",
        metavar="FILE",
        help="Score as EVALB or disco-dop do with this parameter file, instead of --protocol.",
    ),
]
Explain = Annotated[
    bool, typer.Option("--explain", help="Print every convention of the protocol below the table.")
]
IgnoreCase = Annotated[
    bool, typer.Option("--ignore-case", help="Ignore upper and lower case when words are compared.")
]
To = Annotated[
    str | None,
    typer.Option(
        "--to",
        metavar="FORMAT",
        autocompletion=lambda: list(get_args(FormatName)),
        help=f"Format of the output; if not given, the file name decides, and trees that are printed are "
        f"discbracket. One of {FORMAT_NAMES}.",
    ),
]
Spans = Annotated[
    list[str] | None,
    READS,
    typer.Option(
        metavar="FILE...",
        help="Tables of spans of the same sentences, from [cyan]treemean parse --span-posteriors[/cyan]: all "
        "files up to the next option.",
    ),
]
MatchBy = Annotated[Match, typer.Option(help="Pair the sentences of the files by position or by id.")]
MaxLength = Annotated[
    int | None, typer.Option(min=1, help="Leave out sentences whose gold tree has more words.")
]
Punctuation = Annotated[
    str,
    typer.Option(
        help="What counts as punctuation: [cyan]tag[/cyan] (words with a known tag), [cyan]word[/cyan] "
        "(words without letter or digit), [cyan]auto[/cyan] (tag if there are such tags, else word), or a "
        "list of words such as [cyan]', . !'[/cyan]."
    ),
]
Sentences = Annotated[
    str | None,
    typer.Option(metavar="RANGES", help="Only these sentences, counted from 1, such as 3,7-9."),
]
Jobs = Annotated[int | None, typer.Option(min=1, help="Threads for averaging; all cores if not given.")]
Engine = Annotated[
    EngineName | None,
    typer.Option(
        help="Work in parallel, with processes of this machine (local) or of a Ray cluster (ray); trees are "
        "written to a folder of Parquet files. See docs/scaling.md."
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(min=1, help="How many processes an engine uses; all cores if not given."),
]
Address = Annotated[
    str | None,
    typer.Option(
        metavar="HOST:PORT", help="Address of a Ray cluster; if not given, one is started on this machine."
    ),
]
ShardSize = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Write a folder of Parquet files of N sentences each."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON; short for --format json.")]
#: Of commands that print nothing else than lines or JSON.
OnlyJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def reading(
    format: str | None, encoding: str, dialect: DialectName, keep_empty: bool, glob: str | None
) -> dict[str, Any]:
    """Return how treebanks are read, as parameters of `treemean.read`."""
    return {
        "format": format,
        "encoding": encoding,
        "dialect": dialect,
        "keep_empty": keep_empty,
        "glob": glob,
    }


def dialect_setting(dialect: DialectName) -> list[str]:
    """Return what `--dialect` changes in a configuration."""
    return [] if dialect == "auto" else [f"data.dialect={dialect}"]


def numbers(text: str | None, hint: str) -> list[float] | None:
    """Return a list of numbers separated by commas, None for none."""
    if text is None:
        return None
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} is not a list of numbers separated by commas", param_hint=hint
        ) from None


def ranges(text: str | None, hint: str) -> Ranges | None:
    """Return ranges of numbers such as 3,7-9, None for none."""
    from treemean.errors import InvalidOption
    from treemean.trees.ranges import Ranges

    try:
        return None if text is None else Ranges.parse(text)
    except InvalidOption as error:
        raise typer.BadParameter(str(error), param_hint=hint) from None


def label_list(text: str | None, hint: str) -> list[str] | None:
    """Return labels separated by commas, None for none."""
    if text is None:
        return None
    listed = [label.strip() for label in text.split(",")]
    if not all(listed):
        raise typer.BadParameter(f"{text!r} is not a list of labels separated by commas", param_hint=hint)
    return listed


def lines_of(path: str) -> list[str]:
    """Return the lines of a text file that are not empty; raise `FormatError` if there are none."""
    from treemean.errors import FormatError
    from treemean.files.source import open_sources

    found = []
    for source in open_sources(path):
        for number, line in source.lines():
            try:
                found.append(line.decode().strip())
            except UnicodeDecodeError as error:
                raise FormatError(f"not valid UTF-8: {error.reason}", path=source.name, line=number) from None
    if not any(found):
        raise FormatError("there is nothing in this file", path=path)
    return [line for line in found if line]


def punctuation_choice(text: str) -> str | Collection[str]:
    """Return what `--punctuation` says: the name of a way to tell, or a set of words."""
    return text if text in ("auto", "tag", "word") else frozenset(text.split())


def conventions(
    protocol: ProtocolName, prm: Path | None, labelled: bool | None, gold: str, format: str | None = None
) -> Conventions:
    """Return the protocol that `--protocol`, `--prm` and `--labelled` say, for a gold file and its format."""
    from treemean.evaluation import get_protocol, read_prm
    from treemean.files.source import open_sources
    from treemean.formats.registry import find_format, format_of_name, get_format

    if prm is None:
        return get_protocol(protocol, labelled=labelled)
    if protocol != "standard":
        raise typer.BadParameter(f"give either a parameter file or --protocol {protocol}", param_hint="--prm")
    found = format_of_name(gold) if format is None else get_format(format)
    if found is None and Path(gold).is_file():  # what is no plain file can be read only once
        found = next(map(find_format, open_sources(gold)), None)
    keep_functions = found is not None and found.name == "discbracket"
    return get_protocol(read_prm(prm, keep_functions=keep_functions), labelled=labelled)


def printed_as(target: str) -> str | None:
    """Return the format of trees that are printed, if none is given; None for files, whose names tell."""
    return "discbracket" if target == "-" else None


#: Formats that keep numbers of constituents.
_KEEP_VALUES = ("jsonl", "parquet")


def check_keeps_probabilities(writer: TreebankWriter) -> None:
    """Raise `InvalidOption` if probabilities of constituents would be lost."""
    if writer.format.name not in _KEEP_VALUES:
        from treemean.errors import InvalidOption

        raise InvalidOption(
            f"{writer.format.title} cannot hold probabilities: write {' or '.join(_KEEP_VALUES)} instead"
        )
