"""The list of formats, and how one is recognised by its name or by its content."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, Protocol

from treemean.errors import FormatError, TreemeanError
from treemean.formats.problems import Problems
from treemean.formats.source import Source
from treemean.formats.writing import BatchWriter, Unwritable
from treemean.trees import Treebank


class Reader(Protocol):
    """Reads a stream batch by batch; bad records go to `problems`."""

    def __call__(self, source: Source, problems: Problems, *, encoding: str) -> Iterator[Treebank]:
        """Yield batches of trees."""


@dataclass(frozen=True)
class Format:
    """One file format.

    Attributes
    ----------
    name : what `--from` and `--to` call it.
    title : what people call it.
    suffixes : endings of file names in lower case, without `.gz`.
    sniff : tells from the first few kilobytes whether a stream is in this format.
    read : the reader.
    writer : opens a writer on a stream.
    """

    name: str
    title: str
    suffixes: tuple[str, ...]
    sniff: Callable[[bytes], bool]
    read: Reader
    writer: Callable[[IO[bytes], Unwritable], BatchWriter]


def all_formats() -> dict[str, Format]:
    """Return all formats by name, in the order in which content is tried."""
    from treemean.formats import alpino, conllu, discbracket, export, jsonl, parquet, ptb, tiger

    modules = (parquet, alpino, tiger, export, conllu, jsonl, discbracket, ptb)
    formats = [*(module.FORMAT for module in modules), export.FORMAT_4]
    return {format.name: format for format in formats}


def get_format(name: str) -> Format:
    """Return the format of a name; the error lists the names there are."""
    formats = all_formats()
    if name not in formats:
        raise TreemeanError(f"there is no format {name!r}; known are {', '.join(sorted(formats))}")
    return formats[name]


def format_of_name(path: str | os.PathLike[str]) -> Format | None:
    """Return the format that a file's name tells, None if it tells none.

    >>> format_of_name("gold.discbracket.gz").name
    'discbracket'
    """
    name = os.fspath(path).lower().removesuffix(".gz")
    matches = [
        (len(suffix), format)
        for format in all_formats().values()
        for suffix in format.suffixes
        if name.endswith(suffix)
    ]
    return max(matches, key=lambda match: match[0])[1] if matches else None


def format_of_content(source: Source) -> Format:
    """Return the format of a stream, looking at its name and then at its beginning."""
    by_name = format_of_name(source.name)
    if by_name is not None:
        return by_name
    head = source.peek()
    for format in all_formats().values():
        if format.sniff(head):
            return format
    raise FormatError(
        "the format is not known from the name or the content; name it (--from), one of "
        + ", ".join(sorted(all_formats())),
        path=source.name,
    )
