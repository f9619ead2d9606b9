"""Parsing with several processes, each with a copy of the model."""

from __future__ import annotations

import multiprocessing
import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor

import torch

from treemean.parsing.model import Model
from treemean.parsing.parse import ParseCounts, ParseOptions, parse_window, windows
from treemean.parsing.text import Sentence
from treemean.trees import Treebank

_model: Model | None = None  # of a worker process


def parse_in_parallel(
    folder: str | os.PathLike[str],
    sentences: Iterable[Sentence | Sequence[str]],
    options: ParseOptions,
    *,
    jobs: int,
    counts: ParseCounts | None = None,
) -> Iterator[Treebank]:
    """Parse sentences like `parse`, with the model of a folder and `jobs` processes; the order is kept.

    At most two windows of sentences per process wait or are at work at a time. The trees are those of one
    process, as each window is parsed by one.
    """
    model = Model.load(folder)  # raises what is wrong with it here, not in a worker
    counts = counts if counts is not None else ParseCounts()
    context = multiprocessing.get_context("spawn")  # forking after PyTorch has threads is unsafe
    with ProcessPoolExecutor(jobs, context, _begin, (os.fspath(folder),)) as pool:
        waiting: deque[Future[tuple[Treebank, ParseCounts]]] = deque()
        try:
            for window in windows(model, sentences):
                waiting.append(pool.submit(_parse, window, options))
                if len(waiting) >= 2 * jobs:
                    yield _finished(waiting.popleft(), counts)
            while waiting:
                yield _finished(waiting.popleft(), counts)
        finally:
            for future in waiting:
                future.cancel()


def _begin(folder: str) -> None:
    global _model
    torch.set_num_threads(1)
    _model = Model.load(folder)


def _parse(window: list[Sentence], options: ParseOptions) -> tuple[Treebank, ParseCounts]:
    assert _model is not None
    counts = ParseCounts()
    return parse_window(_model, window, options, counts), counts


def _finished(future: Future[tuple[Treebank, ParseCounts]], counts: ParseCounts) -> Treebank:
    treebank, found = future.result()
    counts.add(found)
    return treebank
