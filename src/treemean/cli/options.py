"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Literal

import typer

FORMAT_NAMES = "alpino, conllu, discbracket, export, export4, jsonl, parquet, ptb, tiger"


#: The named protocols of evaluation.
ProtocolName = Literal["paper", "discodop", "sentence"]


#: How sentences of different files are brought together.
Match = Literal["position", "id"]


From = Annotated[
    str | None,
    typer.Option(
        "--from", metavar="FORMAT", help=f"Format of the input, if its name does not tell: {FORMAT_NAMES}."
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
    typer.Option("--bad-file", help="Write the skipped sentences here, as they stand in the input."),
]
Protocol = Annotated[ProtocolName, typer.Option(help="Which conventions count; see docs/evaluation.md.")]
MatchBy = Annotated[Match, typer.Option(help="Match sentences by position or by id.")]
MaxLength = Annotated[int | None, typer.Option(min=1, help="Leave out longer gold sentences.")]
Punctuation = Annotated[
    str,
    typer.Option(
        help="What is punctuation: [cyan]auto[/cyan], [cyan]tag[/cyan] (known tags), [cyan]word[/cyan] "
        "(no letter or digit), or a list of words such as [cyan]', . !'[/cyan], separated by blanks."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON; short for --format json.")]


def check_different(target: str, hint: str, others: list[str]) -> None:
    """Raise a usage error if a file to write is also another file of the same command."""
    if target != "-" and any(o != "-" and Path(o).resolve() == Path(target).resolve() for o in others):
        raise typer.BadParameter(f"{target} is also another file of this command", param_hint=hint)


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


def punctuation_choice(text: str) -> str | Collection[str]:
    """Return what `--punctuation` says: the name of a way to tell, or a set of words."""
    return text if text in ("auto", "tag", "word") else frozenset(text.split())
