"""Reading and writing what is plain in the core, and all else in Python, sentence by sentence in one order.

The core takes the sentences that look as programs and annotators write them. What is odd in any way, wrong
or just rare, it hands back as it stands, and the format's own module reads it, or words the error. So a
format is defined in one place, and where the core is not built the same module reads everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any, Protocol

import numpy as np

from treemean.files.source import Source
from treemean.formats.blocks import Blocks
from treemean.formats.limits import MAX_PIECES, too_large
from treemean.formats.native import treebank_from_columns
from treemean.formats.problems import Problems
from treemean.formats.reading import Reading, Record, rebatch
from treemean.trees import CodedStrings, Strings, Tree, Treebank

#: Sentences of one batch, as in the core.
MOST_SENTENCES = 1 << 17
#: A record that the core hands back: its first and last byte, line breaks and sentences before it, and state.
Odd = tuple[int, int, int, int, int]
#: (text, final, state, vocabularies) -> columns, bytes consumed, lines consumed, odd records, state, and
#: numbers; see `_core.pyi`.
PlainReader = Callable[[bytes, bool, int, Any], tuple[Any, ...]]


class Parser(Protocol):
    """A parser of one record."""

    def __call__(self, record: Record, state: int) -> Tree | None:
        """Return its tree; `state` is what the core had to remember where the record stands."""


def core_function(name: str) -> Any:
    """Return a function of the core, None where the core is not built."""
    try:
        from treemean import _core
    except ImportError:
        return None
    return getattr(_core, name)


@lru_cache
def is_read_by_core(encoding: str) -> bool:
    """Tell whether the core can read an encoding: UTF-8, and those in which every byte is a letter.

    >>> is_read_by_core("utf-8"), is_read_by_core("iso8859-1"), is_read_by_core("utf-16")
    (True, True, False)
    """
    if encoding == "utf-8":
        return True
    everything = bytes(range(256))
    try:
        text = everything.decode(encoding)
        same = text[:128].encode("ascii") == everything[:128] and text.encode(encoding) == everything
    except UnicodeError:
        return False
    return len(text) == 256 and same


class Text:
    """A piece of a stream as the core sees it, in UTF-8, which gives parts of it as they were."""

    def __init__(self, raw: bytes, encoding: str) -> None:
        self._encoding = encoding
        self.utf8 = raw if encoding == "utf-8" else raw.decode(encoding).encode("utf-8")

    def original(self, begin: int, end: int | None = None) -> bytes:
        """Return a part in the stream's own encoding."""
        part = self.utf8[begin:end]
        return part if self._encoding == "utf-8" else part.decode("utf-8").encode(self._encoding)


def read_plain(
    source: Source,
    problems: Problems,
    native: PlainReader,
    parse: Parser,
    *,
    encoding: str,
    number: Callable[[str], float] | None = None,
) -> Iterator[Treebank]:
    """Read a stream with a reader of the core; odd records are parsed here, and bad ones go to `problems`.

    Parameters
    ----------
    native : the reader of the core.
    parse : returns the tree of a record, None if it holds no sentence; raises `FormatError` or `InvalidTree`.
    encoding : one that `is_read_by_core`.
    number : what a number of the text means, for formats that have numbers.
    """
    reading = Reading(source, problems)
    blocks = Blocks(source)
    known = core_function("Vocabularies")()
    lines_before = state = 0

    def in_order(batch: Treebank, odd: list[Odd], text: Text, lines_before: int) -> Iterator[Treebank]:
        done = 0
        for begin, end, line, before, state_there in odd:
            if before > done:
                yield batch[done:before]
            reading.count += before - done
            done = before
            raw = text.original(begin, end)
            tree = _parse_odd(raw, lines_before + line + 1, reading, partial(parse, state=state_there))
            if tree is not None:
                yield Treebank.from_trees([tree])
        reading.count += len(batch) - done
        if done < len(batch):
            yield batch[done:] if done else batch

    while blocks.more():
        text = Text(blocks.rest, encoding)
        final = blocks.final
        columns, consumed, lines, odd, state, of_sentences, of_constituents = native(
            text.utf8, final, state, known
        )
        batch = treebank_from_columns(columns)
        if number is not None:
            batch = _with_numbers(batch, of_sentences, of_constituents, number)
        # The sets of odd sentences, too, are not all in memory at once.
        yield from rebatch(in_order(batch, odd, text, lines_before), minimum=MOST_SENTENCES)
        lines_before += lines
        blocks.keep(text.original(consumed))
        blocks.check_length(lines_before + 1)


def _parse_odd(
    raw: bytes, line: int, reading: Reading, parse: Callable[[Record], Tree | None]
) -> Tree | None:
    """Parse a record that begins on a line; as lines only if these are not too many to be taken apart."""
    if raw.count(b"\n") < MAX_PIECES:
        lines = [text.removesuffix(b"\r") for text in raw.split(b"\n")]
        return reading.parse(Record(line, lines), parse)
    return reading.parse(Record(line, [raw]), _refuse)


def _refuse(record: Record) -> Tree:
    raise too_large(f"more than {MAX_PIECES} lines")


def _with_numbers(
    batch: Treebank,
    of_sentences: dict[str, Any],
    of_constituents: dict[str, Any],
    number: Callable[[str], float],
) -> Treebank:
    """Add columns of numbers; the core tells each as it stands in the text, and each text once."""

    def table(column: tuple[Any, Any]) -> tuple[list[int], list[float]]:
        codes, vocabulary = column
        coded = CodedStrings(codes, Strings(*vocabulary))
        return codes, [number(text) if text else np.nan for text in coded.texts]

    sentence_values, constituent_values = {}, {}
    for name, column in of_sentences.items():
        codes, values = table(column)
        sentence_values[name] = np.array([values[code] for code in codes])
    for name, column in of_constituents.items():
        codes, values = table(column)
        constituent_values[name] = np.array(values, dtype=np.float64)[codes]
    if not sentence_values and not constituent_values:
        return batch
    return batch.with_columns(sentence_values=sentence_values, constituent_values=constituent_values)
