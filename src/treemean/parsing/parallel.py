"""Parsing with several processes, each with copies of the models that it is asked for."""

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

#: The trees of a window by one model, and what was met.
Parsed = tuple[Treebank, ParseCounts]

_models: dict[str, Model] = {}  # of a worker process


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

    Every model parses a window in one piece of work. At most as many windows wait as give every process two
    pieces.
    """
    context = multiprocessing.get_context("spawn")  # forking after PyTorch has threads is unsafe
    names = [os.fspath(folder) for folder in folders]
    with ProcessPoolExecutor(jobs, context, torch.set_num_threads, (1,)) as pool:
        waiting: deque[tuple[list[Sentence], list[Future[Parsed]]]] = deque()
        try:
            for window in sentences:
                waiting.append((window, [pool.submit(_parse, name, window, options) for name in names]))
                if len(waiting) * len(names) >= 2 * jobs:
                    yield _finished(*waiting.popleft())
            while waiting:
                yield _finished(*waiting.popleft())
        finally:
            for _, pieces in waiting:
                for piece in pieces:
                    piece.cancel()


def _parse(folder: str, window: list[Sentence], options: ParseOptions) -> Parsed:
    if folder not in _models:
        _models[folder] = Model.load(folder)
    counts = ParseCounts()
    return parse_window(_models[folder], window, options, counts), counts


def _finished(window: list[Sentence], pieces: list[Future[Parsed]]) -> tuple[list[Sentence], list[Parsed]]:
    return window, [piece.result() for piece in pieces]
