"""Driving the readers of the core: a stream goes in block by block, a treebank comes out for each block."""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Iterator
from typing import Any

from treemean.errors import FormatError
from treemean.files.source import BLOCK, MAX_RECORD, Source
from treemean.formats.problems import Problems
from treemean.trees import CodedStrings, Strings, Treebank

#: (message, line, first and last byte, number of the sentence) of a bad record.
_Problem = tuple[bytes, int, int, int, int]
#: (text, final, skip) -> columns, bytes consumed, lines consumed, problems, whether the last one is fatal,
#: and how many elements outside the sentences were opened and not closed.
NativeReader = Callable[[bytes, bool, bool], tuple[dict[str, Any], int, int, list[_Problem], bool, int]]


def read_native(
    source: Source, problems: Problems, native: NativeReader, *, encoding: str = "utf-8"
) -> Iterator[Treebank]:
    """Read a stream with a reader of the core; bad records get a place and go to `problems`."""
    blocks = _utf8_blocks(source, encoding)
    rest = b""
    lines_before = sentences_before = open_elements = 0
    wanted = BLOCK
    final = False
    while not final or rest:
        while len(rest) < wanted and not final:
            block = next(blocks, None)
            final = block is None
            rest += block or b""
        columns, consumed, lines, found, fatal, opened = native(rest, final, problems.skip)
        open_elements += opened
        batch = treebank_from_columns(columns)
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
            problems.report(error, rest[begin:end])
            if outside:
                return  # what the file says from here on cannot be trusted
        sentences_before += len(batch) + len(found)
        lines_before += lines
        rest = rest[consumed:]
        if final and not consumed:
            break
        # A record longer than the block: look at twice as much next time, so that the work stays linear.
        wanted = BLOCK if consumed else 2 * len(rest)
        if len(rest) > MAX_RECORD:
            raise FormatError(
                f"no sentence ends within {MAX_RECORD} bytes", path=source.name, line=lines_before + 1
            )
    if open_elements:
        error = FormatError(
            "the file ends before all elements are closed: is it cut off?"
            if open_elements > 0
            else "an end tag closes nothing",
            path=source.name,
            line=lines_before + 1,
        )
        problems.report(error)


def treebank_from_columns(columns: dict[str, Any]) -> Treebank:
    """Wrap the arrays that the core returns."""
    comments = Strings(*columns.pop("comments"))
    ids = Strings(*columns.pop("ids"))
    metadata = Strings(*columns.pop("metadata"))
    if len(comments.data):
        metadata = Strings.of(
            json.dumps({"comment": c}, ensure_ascii=False) if c else "" for c in comments.tolist()
        )
    coded: dict[str, Any] = {
        name: CodedStrings(columns.pop(name)[0], Strings(*vocabulary))
        for name, (_, vocabulary) in [(k, v) for k, v in columns.items() if isinstance(v, tuple)]
    }
    return Treebank(ids=ids, metadata=metadata, **coded, **columns)


def _utf8_blocks(source: Source, encoding: str) -> Iterator[bytes]:
    """Yield the stream in UTF-8; the core itself checks what is said to be UTF-8."""
    if encoding in ("utf-8", "ascii"):
        while block := source.read():
            yield block
        return
    decoder = codecs.getincrementaldecoder(encoding)()
    line = 1
    while True:
        block = source.read()
        try:
            text = decoder.decode(block, not block)
        except UnicodeError as error:  # not all codecs tell where
            if isinstance(error, UnicodeDecodeError):
                line += block[: error.start].count(b"\n")
            reason = getattr(error, "reason", str(error))
            raise FormatError(f"not valid {encoding}: {reason}", path=source.name, line=line) from error
        yield text.encode("utf-8")
        if not block:
            return
        line += text.count("\n")
