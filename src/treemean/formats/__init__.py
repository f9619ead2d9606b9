"""Treebank files: one module per format, and `read` and `write`, which know them all."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import Any

from treemean.errors import TreemeanError
from treemean.files.output import open_output
from treemean.files.source import open_sources, text_encoding
from treemean.formats.limits import first_beyond
from treemean.formats.problems import Problems
from treemean.formats.reading import rebatch
from treemean.formats.registry import Format, all_formats, format_of_content, format_of_name, get_format
from treemean.formats.writing import OnUnwritable, Unwritable
from treemean.trees import Tree, Treebank

__all__ = [
    "Format",
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
    problems: Problems | None = None,
    keep_wrapper: bool = False,
) -> Iterator[Treebank]:
    """Read a treebank batch by batch, so that memory stays flat.

    Parameters
    ----------
    path : a file (gzip or not), `-` for standard input, or a folder or zip archive of files.
    format : the format's name; without it the name or the content tells.
    encoding : of text formats; XML, JSON Lines and Parquet tell their own.
    problems : what to do with bad records; without it the first one raises `FormatError`.
    keep_wrapper : keep brackets without label around PTB trees, `( (S …))`, as a root; EVALB counts them.
    """
    chosen = get_format(format) if format is not None else None
    try:
        encoding = text_encoding(encoding)
    except LookupError:
        raise TreemeanError(f"there is no encoding {encoding!r}") from None
    strict = Problems()

    def batches() -> Iterator[Treebank]:
        for source in open_sources(path):
            reader = chosen or format_of_content(source)
            yield from reader.read(source, problems or strict, encoding=encoding, keep_wrapper=keep_wrapper)

    yield from rebatch(batches())


def read(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    encoding: str = "utf-8",
    problems: Problems | None = None,
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
        path, format=format, encoding=encoding, problems=problems, keep_wrapper=keep_wrapper
    )
    return Treebank.concatenate(list(batches))


class TreebankWriter:
    """Writes batches to one file, which appears under its name only when the block ends without an error.

    Parameters
    ----------
    path : the file; `.gz` compresses, `-` is standard output.
    format : the format's name; without it the file's name tells.
    unwritable : what to do with trees that the format cannot express; tells the counts afterwards.

    >>> with TreebankWriter(os.devnull, format="jsonl") as writer:
    ...     writer.write(Treebank.empty())
    """

    def __init__(
        self, path: str | os.PathLike[str], *, format: str | None = None, unwritable: Unwritable | None = None
    ) -> None:
        chosen = get_format(format) if format is not None else format_of_name(path)
        if chosen is None:
            raise TreemeanError(
                f"{os.fspath(path)}: the name tells no format; name one (--to) of "
                + ", ".join(sorted(all_formats()))
            )
        self.format, self.path = chosen, path
        self.unwritable = unwritable or Unwritable()
        self._stack = ExitStack()
        self._before = 0

    def __enter__(self) -> TreebankWriter:
        stream = self._stack.enter_context(open_output(self.path))
        self._writer = self.format.writer(stream, self.unwritable)
        return self

    def write(self, batch: Treebank) -> None:
        """Write a batch; trees that are too large to be read again are left to `unwritable`."""
        start = 0
        while (found := first_beyond(batch, start)) is not None:
            index, error = found
            self._writer.write(batch[start:index])
            self.unwritable.seen = self._before + index
            self.unwritable.refuse(batch.ids[index], str(error), self.format.title)
            start = index + 1
        self._writer.write(batch[start:] if start else batch)
        self._before += len(batch)

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
    treebank: Treebank | Iterable[Tree],
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    unwritable: OnUnwritable | Unwritable = "error",
) -> None:
    """Write a treebank or trees to a file; the parameters are those of `TreebankWriter`."""
    policy = unwritable if isinstance(unwritable, Unwritable) else Unwritable(unwritable)
    with TreebankWriter(path, format=format, unwritable=policy) as writer:
        writer.write(treebank if isinstance(treebank, Treebank) else Treebank.from_trees(treebank))
