"""Parsing a stream of sentences with several processes of this machine; the order is kept.

Jobs over shards write files; here trees come back to the process that asked. They travel as JSON Lines.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import islice

from treemean.files.source import Source
from treemean.formats import Problems, Unwritable, jsonl
from treemean.parsing import Model, ParseCounts, Sentence
from treemean.parsing.parse import ParseOptions, parse_window, windows
from treemean.scaling.engines.local import LocalEngine
from treemean.scaling.parses import one_thread
from treemean.trees import Treebank

#: The trees of a window by one model, and what was met.
Parsed = tuple[Treebank, ParseCounts]


def parse_in_parallel(
    folder: str | os.PathLike[str],
    sentences: Iterable[Sentence | Sequence[str]],
    options: ParseOptions,
    *,
    jobs: int,
    counts: ParseCounts | None = None,
) -> Iterator[Treebank]:
    """Parse sentences like `parse`, with the model of a folder and `jobs` processes; the order is kept.

    The trees are those of one process, as each window is parsed by one.
    """
    model = Model.load(folder)  # raises what is wrong with it here, not in a worker
    counts = counts if counts is not None else ParseCounts()
    for _, ((trees, met),) in windows_in_parallel([folder], windows(model, sentences), options, jobs=jobs):
        counts.add(met)
        yield trees


def windows_in_parallel(
    folders: Sequence[str | os.PathLike[str]],
    sentences: Iterable[list[Sentence]],
    options: ParseOptions,
    *,
    jobs: int,
) -> Iterator[tuple[list[Sentence], list[Parsed]]]:
    """Parse windows of sentences with every model, and yield them in order with what each model gave.

    Every model parses a window in one task.
    """
    names = [os.fspath(folder) for folder in folders]
    begun: list[list[Sentence]] = []  # windows whose trees did not come back yet

    def tasks() -> Iterator[tuple[str, list[Sentence]]]:
        for window in sentences:
            begun.append(window)
            yield from ((name, window) for name in names)

    with LocalEngine(jobs) as engine:
        answers = engine.stream(_parse, options, tasks())
        while parsed := list(islice(answers, len(names))):
            yield begun.pop(0), [(_trees(lines), met) for lines, met in parsed]


def _parse(options: ParseOptions, task: tuple[str, list[Sentence]]) -> tuple[str, ParseCounts]:
    folder, window = task
    counts = ParseCounts()
    with one_thread():
        trees = parse_window(_model(folder), window, options, counts)
    stream = io.BytesIO()
    writer = jsonl.writer(stream, Unwritable())
    writer.write(trees)
    writer.close()
    return stream.getvalue().decode(), counts


@cache
def _model(folder: str) -> Model:
    return Model.load(folder)


def _trees(lines: str) -> Treebank:
    source = Source(io.BytesIO(lines.encode()), "<a worker>")
    return Treebank.concatenate(list(jsonl.read(source, Problems(), encoding="utf-8")))
