"""What all readers share: cutting a stream into records and turning bad ones into errors with a place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from treemean.errors import FormatError, InvalidTree
from treemean.files.source import MAX_RECORD, Source, not_valid
from treemean.formats.limits import MAX_PIECES, too_large
from treemean.formats.problems import Problems
from treemean.trees import Tree, Treebank

#: Trees per batch, and how large these may be together, counted in words times constituents.
BATCH = 1000
BATCH_CELLS = 1 << 26


@dataclass(slots=True)
class Record:
    """The lines of one sentence as they stand in the file, and the number of the first of them."""

    line: int
    lines: list[bytes]
    size: int = 0

    def add(self, line: bytes, source: Source) -> None:
        """Append a line; raise `FormatError` if there are more than any sentence has."""
        self.lines.append(line)
        self.size += len(line) + 1
        if self.size > MAX_RECORD:
            raise FormatError(f"no sentence ends within {MAX_RECORD} bytes", path=source.name, line=self.line)
        if len(self.lines) > MAX_PIECES:
            reason = str(too_large(f"more than {MAX_PIECES} lines"))
            raise FormatError(reason, path=source.name, line=self.line)

    def text(self, encoding: str) -> list[str]:
        """Return the lines decoded; raise `FormatError` naming the line that is not in this encoding."""
        decoded = []
        for number, line in enumerate(self.lines, self.line):
            try:
                decoded.append(line.decode(encoding))
            except UnicodeError as error:
                reason = getattr(error, "reason", str(error))
                raise FormatError(not_valid(encoding, reason), line=number) from error
        return decoded


class Reading:
    """Parses records one after the other; what a parser raises gets file, line and sentence.

    Attributes
    ----------
    count : how many records there were so far, bad ones too; it names those that have no id.
    """

    def __init__(self, source: Source, problems: Problems) -> None:
        self.count = 0
        self._source, self._problems = source, problems

    def parse(self, record: Record, parser: Callable[[Record], Tree | None]) -> Tree | None:
        """Return the tree of a record; None if it holds no sentence, or is bad and goes to `problems`.

        `parser` returns None for a record that holds no sentence, and raises `FormatError` or `InvalidTree`.
        """
        self.count += 1
        try:
            return parser(record)
        except (FormatError, InvalidTree) as error:
            located = FormatError(
                error.message if isinstance(error, FormatError) else str(error),
                path=self._source.name,
                line=getattr(error, "line", None) or record.line,
                sentence=getattr(error, "sentence", None) or str(self.count),
            )
            located.__cause__ = error
            self._problems.report(located, b"\n".join(record.lines) + b"\n")
            return None


def read_records(
    source: Source, records: Iterable[Record], parse: Callable[[Record], Tree | None], problems: Problems
) -> Iterator[Treebank]:
    """Parse records into batches; see `Reading`."""
    reading = Reading(source, problems)
    trees: list[Tree] = []
    cells = 0
    for record in records:
        tree = reading.parse(record, parse)
        if tree is not None:
            trees.append(tree)
            cells += len(tree.words) * len(tree.constituents)
        if len(trees) >= BATCH or cells >= BATCH_CELLS:
            yield Treebank.from_trees(trees)
            trees, cells = [], 0
    if trees:
        yield Treebank.from_trees(trees)


def paragraphs(source: Source) -> Iterator[Record]:
    """Cut a stream at blank lines."""
    record: Record | None = None
    for number, line in source.lines():
        if line.strip():
            record = record or Record(number, [])
            record.add(line, source)
        elif record is not None:
            yield record
            record = None
    if record is not None:
        yield record


def single_lines(source: Source) -> Iterator[Record]:
    """Cut a stream at line ends, leaving out blank lines."""
    for number, line in source.lines():
        if line.strip():
            yield Record(number, [line])


def count_elements(name: str, blocks: Iterable[bytes]) -> int:
    """Return how often an XML element of a name begins in what is left of a stream.

    >>> count_elements("s", [b"<s>..</s><se/><", b"s id='1'>"])
    2
    """
    opening = re.compile(b"<" + name.encode() + rb"(?=[\s/>])")
    count, rest = 0, b""
    try:
        for block in blocks:
            text = rest + block
            count += len(opening.findall(text))
            rest = text[-len(name) - 1 :]  # too short to have been counted
    except FormatError:  # damaged further on, too: this is as far as one can see
        pass
    return count


def rebatch(batches: Iterable[Treebank], minimum: int = BATCH) -> Iterator[Treebank]:
    """Join small batches until they have `minimum` sentences, or as many cells as a batch may have."""
    waiting: list[Treebank] = []
    count = cells = 0
    for batch in batches:
        waiting.append(batch)
        count += len(batch)
        cells += 64 * len(batch.bits)
        if count >= minimum or cells >= BATCH_CELLS:
            yield Treebank.concatenate(waiting)
            waiting, count, cells = [], 0, 0
    if waiting:
        yield Treebank.concatenate(waiting)
