"""Treebank files: one module per format, and `read` and `write`, which know them all."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from types import NoneType
from typing import Any

from treemean.errors import FormatError, LossWarning, TreemeanError, check_type
from treemean.files.output import open_folder, open_output
from treemean.files.source import Source, is_wide, open_sources, text_encoding
from treemean.formats.dialects import get_dialect
from treemean.formats.limits import first_beyond
from treemean.formats.losses import Losses
from treemean.formats.notes import Notes
from treemean.formats.problems import Problems
from treemean.formats.reading import rebatch
from treemean.formats.registry import (
    Format,
    all_formats,
    find_format,
    format_of_content,
    format_of_name,
    get_format,
)
from treemean.formats.sharded import is_sharded, read_shards
from treemean.formats.writing import BatchWriter, Unwritable
from treemean.names import OnUnwritable
from treemean.trees import Tree, Treebank, as_treebank

__all__ = [
    "Format",
    "Notes",
    "Problems",
    "TreebankWriter",
    "Unwritable",
    "all_formats",
    "get_format",
    "read",
    "read_batches",
    "write",
]


def read_batches(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    encoding: str = "utf-8",
    dialect: str = "auto",
    keep_empty: bool = False,
    keep_lemmas: bool = False,
    glob: str | None = None,
    problems: Problems | None = None,
    notes: Notes | None = None,
    keep_wrapper: bool = False,
) -> Iterator[Treebank]:
    """Read a treebank batch by batch, so that memory stays flat.

    Parameters
    ----------
    path : a file (gzip or not), `-` for standard input, a folder or zip archive of files, or a pattern such
        as `DIR/*.mrg`. Files of folders, archives and patterns that are no treebanks are skipped, and told.
        A folder with a manifest is a sharded treebank.
    format : the format's name; without it the name or the content tells.
    encoding : of text formats; XML and Parquet tell their own, and so do files with a byte order mark.
    dialect : what leaves of PTB brackets look like; `auto` lets the content tell, and says what it told.
    keep_empty : take traces and other empty leaves of PTB brackets for words, instead of leaving them out.
    keep_lemmas : keep the lemmas of PTB brackets, separated by blanks, as the metadata `lemmas` of sentences.
    glob : which files of a folder or an archive, such as `*.mrg`.
    problems : what to do with bad records; without it the first one raises `FormatError`.
    notes : is told what was noticed; without it that is told on stderr, by `logging`.
    keep_wrapper : keep brackets without label around PTB trees, `( (S …))`, as a root; EVALB counts them.
    """
    check_type("path", path, str, os.PathLike)
    check_type("encoding", encoding, str)
    check_type("glob", glob, str, NoneType)
    check_type("problems", problems, Problems, NoneType)
    check_type("notes", notes, Notes, NoneType)
    chosen = get_format(format) if format is not None else None
    get_dialect(dialect)  # refuses unknown ones, whatever the format
    try:
        encoding = text_encoding(encoding)
    except LookupError as error:
        raise TreemeanError(str(error)) from None
    strict = Problems()
    noted = Notes() if notes is None else notes
    brackets = {
        "keep_wrapper": keep_wrapper,
        "dialect": dialect,
        "keep_empty": keep_empty,
        "keep_lemmas": keep_lemmas,
        "notes": noted,
    }

    def batches() -> Iterator[Treebank]:
        if is_sharded(path):
            yield from read_shards(path, problems or strict)
            return
        found = False
        for source in open_sources(path, glob):
            if source.among_others and find_format(source, encoding) is None:
                noted.no_treebanks.append(source.name)
                continue
            found = True
            reader = chosen or format_of_content(source, encoding)
            stream, its_encoding = (
                (source, encoding) if reader.tells_encoding else _in_bytes(source, encoding)
            )
            yield from reader.read(stream, problems or strict, encoding=its_encoding, **brackets)
        if not found:
            names = ", ".join(noted.no_treebanks[:3]) + (", …" if len(noted.no_treebanks) > 3 else "")
            raise FormatError(f"there is no treebank among its files ({names})", path=os.fspath(path))

    try:
        yield from rebatch(batches())
    finally:
        if notes is None:
            noted.tell(os.fspath(path))


def _in_bytes(source: Source, encoding: str) -> tuple[Source, str]:
    """Return a stream in which lines end with a byte, and its encoding: UTF-16 and its kind become UTF-8."""
    encoding = source.marked or encoding
    if is_wide(encoding):
        return source.in_utf8(encoding), "utf-8"
    if guess := source.looks_like():
        raise FormatError(
            f"this looks like {guess.upper()} without a byte order mark; name it (--encoding {guess})",
            path=source.name,
        )
    return source, encoding


def read(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    encoding: str = "utf-8",
    dialect: str = "auto",
    keep_empty: bool = False,
    keep_lemmas: bool = False,
    glob: str | None = None,
    problems: Problems | None = None,
    notes: Notes | None = None,
    keep_wrapper: bool = False,
) -> Treebank:
    """Read a whole treebank; the parameters are those of `read_batches`.

    >>> import treemean, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "one.discbracket")
    >>> with open(path, "w") as file:
    ...     _ = file.write("(S (VP (V 0=Wake) (PRT 3=up)) (NP (D 1=your) (N 2=friend)))\\n")
    >>> treemean.read(path)[0].fan_out
    2
    """
    batches = read_batches(
        path,
        format=format,
        encoding=encoding,
        dialect=dialect,
        keep_empty=keep_empty,
        keep_lemmas=keep_lemmas,
        glob=glob,
        problems=problems,
        notes=notes,
        keep_wrapper=keep_wrapper,
    )
    return Treebank.concatenate(list(batches))


class TreebankWriter:
    """Writes batches to one file, which appears under its name only when the block ends without an error.

    Parameters
    ----------
    path : the file; `.gz` compresses, `-` is standard output. A folder (`FOLDER/`) takes Alpino XML, one
        file for each sentence, named by its id or its number; it must be empty or not exist yet.
    format : the format's name; without it the file name decides.
    unwritable : what to do with trees that the format cannot express; it has the counts afterwards.
    keep_empty : write words that stand for empty leaves in PTB brackets, such as traces, instead of
        refusing them.

    What the format has no place for, such as ids, is left out; `losses` says afterwards what that was.

    >>> with TreebankWriter(os.devnull, format="jsonl") as writer:
    ...     writer.write(Treebank.empty())
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        format: str | None = None,
        unwritable: Unwritable | None = None,
        keep_empty: bool = False,
    ) -> None:
        check_type("path", path, str, os.PathLike)
        chosen = get_format(format) if format is not None else format_of_name(path)
        if chosen is None:
            raise TreemeanError(
                f"{os.fspath(path)}: the name does not say which format to write; name it (--to), one of "
                + ", ".join(sorted(all_formats()))
            )
        self._is_folder = os.fspath(path).endswith(os.sep) or os.path.isdir(path)
        if self._is_folder and chosen.name != "alpino":
            raise TreemeanError(
                f"{os.fspath(path)}: only alpino is written to a folder, one file per sentence (--to alpino)"
            )
        self.format, self.path = chosen, path
        self.unwritable = unwritable or Unwritable()
        self.losses = Losses(chosen.name, chosen.title)
        self._keep_empty = keep_empty
        self._stack = ExitStack()
        self._before = 0

    def __enter__(self) -> TreebankWriter:
        self._writer: BatchWriter
        if self._is_folder:
            folder = self._stack.enter_context(open_folder(self.path))
            self._writer = self.format.folder_writer(folder, self.unwritable)
        else:
            stream = self._stack.enter_context(open_output(self.path))
            self._writer = self.format.writer(stream, self.unwritable, keep_empty=self._keep_empty)
        return self

    def write(self, batch: Treebank) -> None:
        """Write a batch; trees that are too large to be read again are left to `unwritable`."""
        start = 0
        while (found := first_beyond(batch, start)) is not None:
            index, error = found
            self._write(batch[start:index])
            self.unwritable.seen = self._before + index
            self.unwritable.refuse(batch.ids[index], str(error), self.format.title)
            start = index + 1
        self._write(batch[start:] if start else batch)
        self._before += len(batch)

    def _write(self, batch: Treebank) -> None:
        self.losses.add(batch)
        self._writer.write(batch)

    def __exit__(
        self,
        *details: Any,
    ) -> None:
        if details[0] is None:
            with self._stack:  # an error now still leaves the old file alone
                self._writer.close()
        else:
            self._stack.__exit__(*details)


def write(
    treebank: Tree | Treebank | Iterable[Tree],
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    unwritable: OnUnwritable | Unwritable = "error",
    keep_empty: bool = False,
    warn: bool = True,
) -> None:
    """Write a treebank or trees to a file; the parameters are those of `TreebankWriter`, and this one:

    Parameters
    ----------
    warn : whether a `LossWarning` tells what the format has no place for, such as ids, and left out.
    """
    policy = unwritable if isinstance(unwritable, Unwritable) else Unwritable(unwritable)
    with TreebankWriter(path, format=format, unwritable=policy, keep_empty=keep_empty) as writer:
        writer.write(as_treebank(treebank))
    if warn and (lost := writer.losses.describe()) is not None:
        warnings.warn(f"{os.fspath(path)}: {lost}", LossWarning, stacklevel=2)
