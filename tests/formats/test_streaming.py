"""What holds for all formats of text: they are read in pieces, and broken input gives `FormatError` only."""

from __future__ import annotations

import itertools

import pytest
from format_helpers import WAKE, LongStream, written
from fuzzing import check_reader

from treemean.files.source import BLOCK, Source
from treemean.formats import Problems, all_formats
from treemean.formats.reading import BATCH
from treemean.trees import Tree
from treemean.trees.continuous import make_continuous

TEXT_FORMATS = sorted(all_formats().keys() - {"parquet"})


def tree_for(name: str) -> Tree:
    return make_continuous(WAKE) if name == "ptb" else WAKE


@pytest.mark.parametrize("name", TEXT_FORMATS)
def test_reading_does_not_run_ahead(name: str) -> None:
    format = all_formats()[name]
    nothing, some = written(format, []), written(format, [tree_for(name)] * 100)
    head = nothing[: next((i for i, (a, b) in enumerate(zip(nothing, some)) if a != b), len(nothing))]
    foot = nothing[len(head) :]
    body = some[len(head) : len(some) - len(foot)]
    repetitions = 10 * BLOCK // len(body)
    raw = LongStream(itertools.chain([head], itertools.repeat(body, repetitions), [foot]))
    batches = format.read(Source(raw, "long"), Problems(), encoding="utf-8")
    assert 0 < len(next(batches)) < 100 * repetitions
    assert raw.consumed < 3 * BLOCK + BATCH * len(body) // 100
    batches.close()


@pytest.mark.parametrize("name", sorted(all_formats()))
def test_broken_input(name: str) -> None:
    check_reader(all_formats()[name], written(all_formats()[name], [tree_for(name)] * 5), seed=1)
