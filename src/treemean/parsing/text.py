"""Reading sentences for training and parsing: plain text, and treebanks of any format."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from typing import cast

from treemean.errors import FormatError, InvalidOption
from treemean.files.source import Source, is_wide, not_valid, open_sources, text_encoding
from treemean.formats import read_batches
from treemean.formats.limits import MAX_WORDS, too_large
from treemean.formats.registry import find_format, format_of_name
from treemean.formats.sharded import is_sharded
from treemean.parsing.normalisation import Normalisation
from treemean.trees import Treebank

#: Endings of files that are plain text whatever else is installed.
TEXT_SUFFIXES = (".txt", ".text", ".tok")
#: What plain text is called among the formats.
TEXT = "text"
#: The ending of a format that there is no more.
_FORMER_SUFFIX = ".npz"


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence as it stands in its file.

    Parameters
    ----------
    words : all its words, unchanged.
    kept : the positions of those that a parser sees; the others are punctuation.
    id : its id, empty in plain text.
    """

    words: tuple[str, ...]
    kept: tuple[int, ...]
    id: str = ""


@dataclass
class ReadCounts:
    """What was met while reading.

    Attributes
    ----------
    sentences : how many were read.
    empty_lines : blank lines of plain text, which hold no sentence and are left out.
    punctuation_only : sentences in which nothing but punctuation stands; they are read.
    """

    sentences: int = 0
    empty_lines: int = 0
    punctuation_only: int = 0

    def describe(self) -> list[str]:
        """Return what deserves to be told, in words."""
        told = []
        if self.empty_lines:
            told.append(f"{counted(self.empty_lines, 'empty line')} left out")
        if self.punctuation_only:
            told.append(f"{counted(self.punctuation_only, 'sentence')} of nothing but punctuation")
        return told


def counted(count: int, noun: str) -> str:
    """Return a number of things in words.

    >>> counted(1, "sentence"), counted(2, "sentence")
    ('1 sentence', '2 sentences')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def read_sentences(
    path: str | os.PathLike[str],
    normalisation: Normalisation | None = None,
    *,
    format: str | None = None,
    encoding: str = "utf-8",
    dialect: str = "auto",
    counts: ReadCounts | None = None,
    on_bad_line: Callable[[FormatError], None] | None = None,
) -> Iterator[Sentence]:
    """Read sentences one by one, so that memory stays flat.

    Parameters
    ----------
    path : a file (gzip or not), or `-` for standard input.
    normalisation : what is punctuation; without it, as published.
    format : `"text"` (one sentence a line, words separated by blanks), or a treebank format; without it the
        name tells, and what neither name nor content tells is plain text.
    encoding : of plain text, and of text formats of treebanks.
    dialect : of PTB brackets, as in `read_batches`.
    counts : is updated with what was read.
    on_bad_line : is called for each line of plain text in another encoding, or of too many words, which is
        left out then.

    Raises `FormatError`, which names file and line, for what cannot be read.
    """
    normalisation = normalisation or Normalisation()
    counts = counts if counts is not None else ReadCounts()
    chosen = format or format_of(path)
    if chosen == TEXT:
        found = _plain_text(path, normalisation, encoding, counts, on_bad_line)
    else:
        found = sentences_of(
            read_batches(path, format=chosen, encoding=encoding, dialect=dialect), normalisation
        )
    for sentence in found:
        counts.sentences += 1
        counts.punctuation_only += not sentence.kept
        yield sentence


def format_of(path: str | os.PathLike[str]) -> str:
    """Return the name of the format of a file, by its name or its beginning; plain text if neither tells.

    >>> format_of("train.txt.gz"), format_of("gold.discbracket")
    ('text', 'discbracket')
    """
    name = os.fspath(path).lower().removesuffix(".gz")
    if name == "-" or name.endswith(TEXT_SUFFIXES):
        return TEXT
    if name.endswith(_FORMER_SUFFIX):
        raise FormatError(
            "columns of a treebank, which earlier versions wrote for machines without readers: JSON Lines "
            "are read everywhere now (treemean convert GOLD GOLD.jsonl)",
            path=os.fspath(path),
        )
    if is_sharded(path):
        return "parquet"
    found = format_of_name(path)
    if found is None and os.path.exists(path):
        with closing(cast("Generator[Source]", open_sources(path))) as sources:
            found = find_format(next(sources))  # of a folder or an archive, the first file
    return TEXT if found is None else found.name


def _plain_text(
    path: str | os.PathLike[str],
    normalisation: Normalisation,
    encoding: str,
    counts: ReadCounts,
    on_bad_line: Callable[[FormatError], None] | None,
) -> Iterator[Sentence]:
    try:
        named = text_encoding(encoding)
    except LookupError as error:
        raise InvalidOption(str(error)) from None
    for source in open_sources(path):
        encoding = source.marked or named
        if is_wide(encoding):
            source, encoding = source.in_utf8(encoding), "utf-8"
        for number, line in source.lines():
            try:
                words = tuple(line.decode(encoding).split(None, MAX_WORDS))
            except UnicodeDecodeError as error:
                message = not_valid(encoding.upper(), f"{error.reason} (byte {error.start + 1} of the line)")
                bad = FormatError(message, path=source.name, line=number)
                if on_bad_line is None:
                    raise bad from error
                on_bad_line(bad)
                continue
            if len(words) > MAX_WORDS:  # the last one is all the rest
                bad = FormatError(
                    str(too_large(f"more than {MAX_WORDS} words")), path=source.name, line=number
                )
                if on_bad_line is None:
                    raise bad
                on_bad_line(bad)
            elif words:
                yield Sentence(words, normalisation.kept(words))
            else:
                counts.empty_lines += 1


def sentences_of(batches: Iterable[Treebank], normalisation: Normalisation) -> Iterator[Sentence]:
    """Yield the sentences of treebanks; the first batch decides how punctuation is found in all."""
    batches = iter(batches)
    first = next(batches, None)
    if first is None:
        return
    settled = normalisation.settled(first)
    for batch in chain([first], batches):
        kept = settled.kept_of(batch)
        for index in range(len(batch)):
            start, end = batch.word_offsets[index : index + 2].tolist()
            yield Sentence(batch.words.decode(start, end), kept[index], batch.ids[index])
