"""Driving the readers of the core: a stream goes in block by block, a treebank comes out for each block."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

from treemean.errors import FormatError
from treemean.files.source import Source
from treemean.formats.blocks import Blocks
from treemean.formats.problems import Problems
from treemean.formats.reading import count_elements
from treemean.trees import CodedStrings, Strings, Treebank

if TYPE_CHECKING:
    from treemean._core import Vocabularies

#: (message, line, first and last byte, number of the sentence) of a bad record.
_Problem = tuple[bytes, int, int, int, int]
#: Columns, bytes consumed, lines consumed, problems, whether the last one is fatal, and how many elements
#: outside the sentences were opened and not closed.
Chunk = tuple[dict[str, Any], int, int, list[_Problem], bool, int]
#: (text, final, skip, vocabularies of the file so far) -> what was read of it.
NativeReader = Callable[[bytes, bool, bool, "Vocabularies"], Chunk]


def read_native(
    source: Source,
    problems: Problems,
    native: NativeReader,
    *,
    encoding: str = "utf-8",
    element: str = "",
    comments: str = "comment",
) -> Iterator[Treebank]:
    """Read a stream with a reader of the core; bad records get a place and go to `problems`.

    Parameters
    ----------
    encoding : of the stream.
    element : that of a sentence in XML, which names its encoding itself; to count those that are missing
        where a file cannot be read on.
    comments : what the metadata call the comments of sentences.
    """
    from treemean import _core  # there are formats that are read without it

    if encoding not in ("utf-8", "ascii"):  # the core itself checks what is said to be UTF-8
        source = source.in_utf8(encoding, declared=bool(element))
    blocks = Blocks(source)
    known = _core.Vocabularies()
    lines_before = sentences_before = open_elements = 0
    while blocks.more():
        text = blocks.rest
        columns, consumed, lines, found, fatal, opened = native(text, blocks.final, problems.skip, known)
        open_elements += opened
        batch = treebank_from_columns(columns, comments)
        if len(batch):
            yield batch
        for number, (message, line, begin, end, sentence) in enumerate(found, 1):
            outside = fatal and number == len(found)
            error = FormatError(
                message.decode("utf-8", "replace"),
                path=source.name,
                line=lines_before + line,
                sentence=None if outside else str(sentences_before + sentence + 1),
            )
            problems.report(error, text[begin:end])
            if outside:  # what the file says from here on cannot be trusted
                problems.missing += count_elements(element, chain([text[begin:]], iter(source.read, b"")))
                return
        sentences_before += len(batch) + len(found)
        lines_before += lines
        blocks.keep(text[consumed:])
        blocks.check_length(lines_before + 1)
    if open_elements:
        error = FormatError(
            "the file ends before all elements are closed: is it cut off?"
            if open_elements > 0
            else "an end tag closes nothing",
            path=source.name,
            line=lines_before + 1,
        )
        problems.report(error)


def treebank_from_columns(columns: dict[str, Any], key: str = "comment") -> Treebank:
    """Wrap the arrays that the core returns; `key` is what the metadata call comments."""
    comments = Strings(*columns.pop("comments"))
    ids = Strings(*columns.pop("ids"))
    metadata = Strings(*columns.pop("metadata"))
    if len(comments.data):
        metadata = Strings.of(
            json.dumps({key: c}, ensure_ascii=False) if c else "" for c in comments.tolist()
        )
    coded: dict[str, Any] = {
        name: CodedStrings(columns.pop(name)[0], Strings(*vocabulary))
        for name, (_, vocabulary) in [(k, v) for k, v in columns.items() if isinstance(v, tuple)]
    }
    return Treebank(ids=ids, metadata=metadata, **coded, **columns)
