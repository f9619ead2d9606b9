"""Parsing a stream of sentences with several processes of this machine; the order is kept.

Jobs over shards write files; here trees come back to the process that asked. They travel as JSON Lines, and
tables of spans as Parquet.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import islice
from typing import NamedTuple

from treemean.files.source import Source
from treemean.formats import Problems, Unwritable, jsonl
from treemean.formats.spans import packed, unpacked
from treemean.parsing import Model, ParseCounts, Sentence
from treemean.parsing.parse import ParseOptions, parse_window, windows
from treemean.scaling.engines.local import LocalEngine
from treemean.scaling.parses import one_thread
from treemean.trees import SpanTable, Treebank


class Parsed(NamedTuple):
    """The trees of a window by one model, what was met, and the table of its spans if that is wanted."""

    trees: Treebank
    counts: ParseCounts
    spans: SpanTable | None


class Answer(NamedTuple):
    """The same as it travels."""

    trees: str
    counts: ParseCounts
    spans: bytes | None

    def read(self) -> Parsed:
        """Return what a worker found."""
        return Parsed(_trees(self.trees), self.counts, None if self.spans is None else unpacked(self.spans))


def parse_in_parallel(
    folder: str | os.PathLike[str],
    sentences: Iterable[Sentence | Sequence[str]],
    options: ParseOptions,
    *,
    jobs: int,
    counts: ParseCounts | None = None,
    spans: Callable[[SpanTable], object] | None = None,
) -> Iterator[Treebank]:
    """Parse sentences like `parse`, with the model of a folder and `jobs` processes; the order is kept.

    The trees are those of one process, as each window is parsed by one; so are the tables that `spans` is
    called with.
    """
    model = Model.load(folder)  # raises what is wrong with it here, not in a worker
    counts = counts if counts is not None else ParseCounts()
    cut = windows(model, sentences)
    for _, (parsed,) in windows_in_parallel([folder], cut, options, jobs=jobs, spans=spans is not None):
        counts.add(parsed.counts)
        if spans is not None and parsed.spans is not None:
            spans(parsed.spans)
        yield parsed.trees


def windows_in_parallel(
    folders: Sequence[str | os.PathLike[str]],
    sentences: Iterable[list[Sentence]],
    options: ParseOptions,
    *,
    jobs: int,
    spans: bool = False,
) -> Iterator[tuple[list[Sentence], list[Parsed]]]:
    """Parse windows of sentences with every model, and yield them in order with what each model gave.

    Tables of spans are only made if `spans` are wanted.

    Every model parses a window in one task.
    """
    names = [os.fspath(folder) for folder in folders]
    begun: list[list[Sentence]] = []  # windows whose trees did not come back yet

    def tasks() -> Iterator[tuple[str, list[Sentence]]]:
        for window in sentences:
            begun.append(window)
            yield from ((name, window) for name in names)

    with LocalEngine(jobs) as engine:
        answers = engine.stream(_parse, (options, spans), tasks())
        while parsed := list(islice(answers, len(names))):
            yield begun.pop(0), [answer.read() for answer in parsed]


def _parse(wanted: tuple[ParseOptions, bool], task: tuple[str, list[Sentence]]) -> Answer:
    (options, spans), (folder, window) = wanted, task
    counts = ParseCounts()
    tables: list[SpanTable] = []
    with one_thread():
        trees = parse_window(_model(folder), window, options, counts, tables.append if spans else None)
    stream = io.BytesIO()
    writer = jsonl.writer(stream, Unwritable())
    writer.write(trees)
    writer.close()
    return Answer(stream.getvalue().decode(), counts, packed(tables[0]) if spans else None)


@cache
def _model(folder: str) -> Model:
    return Model.load(folder)


def _trees(lines: str) -> Treebank:
    source = Source(io.BytesIO(lines.encode()), "<a worker>")
    return Treebank.concatenate(list(jsonl.read(source, Problems(), encoding="utf-8")))
