"""Discontinuous spans line by line: every one once, those that are met as often side by side."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl

from treemean.grammars.inside.dense_kernels.attaching import (
    find_in_lines,
    lefts_at,
    lines_at,
    span_at,
    tiles_at,
    triangle,
)

ROWS = 16


@triton.jit(do_not_specialize=["anchor", "width", "n"])
def list_spans(spans, counts, kind, anchor, width, n, BY_GAP: tl.constexpr, ROWS: tl.constexpr):
    """Write left length and column of all spans with an anchor, and how many spans and tiles there are."""
    first, last = lefts_at(kind, anchor, width, 1, n)
    size, whole, number = lines_at(kind, anchor, first, last, n - width, BY_GAP)
    total = number * size - triangle(number - whole)
    tiles = tiles_at(kind, anchor, width, n, BY_GAP, ROWS)
    for tile in range(0, tiles):
        position = tile * ROWS + tl.arange(0, ROWS)
        line, place = find_in_lines(tl.minimum(position, total - 1), size, whole)
        left, column = span_at(kind, anchor, first, last, line, place, BY_GAP)
        tl.store(spans + position * 2, left, mask=position < total)
        tl.store(spans + position * 2 + 1, column, mask=position < total)
    tl.store(counts, total)
    tl.store(counts + 1, tiles)


def spans_by_anchor(width: int, n: int) -> dict[tuple[int, int], list[tuple[int, int]]]:
    """Return (left length, column) of all spans of a width by kind and anchor, from their definition."""
    found: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for left in range(1, width):
        for i in range(n - width):
            for place in range(i, n - width):  # m', see `places`
                anchors = (i, i + left, place + left + 1, place)
                for kind, anchor in enumerate(anchors):
                    found.setdefault((kind, anchor), []).append((left, place - i if kind < 2 else i))
    return found


@pytest.mark.parametrize("by_gap", [False, True])
@pytest.mark.parametrize(("n", "width"), [(3, 2), (9, 2), (9, 5), (9, 8), (16, 6), (16, 12)])
def test_every_span_once_and_in_order(n: int, width: int, by_gap: bool, device: str) -> None:
    expected = spans_by_anchor(width, n)
    for kind in range(4):
        for anchor in range(n):
            wanted = expected.get((kind, anchor), [])
            spans = torch.full((len(wanted) + ROWS, 2), -1, dtype=torch.int32, device=device)
            counts = torch.zeros(2, dtype=torch.int32, device=device)
            list_spans[(1,)](spans, counts, kind, anchor, width, n, BY_GAP=by_gap, ROWS=ROWS)
            assert counts.tolist() == [len(wanted), -(-len(wanted) // ROWS)]
            found = [(left, column) for left, column in spans[: len(wanted)].tolist()]
            assert sorted(found) == sorted(wanted)
            if by_gap and kind in (1, 2):
                often = [column if kind == 1 else anchor - left - 1 - column for left, column in found]
            else:
                often = [left for left, _ in found]
            assert often in (sorted(often), sorted(often, reverse=True))


def test_long_lines(device: str) -> None:
    n, width = 90, 45
    wanted = spans_by_anchor(width, n)[1, 44]
    for by_gap in (False, True):
        spans = torch.empty(len(wanted), 2, dtype=torch.int32, device=device)
        counts = torch.zeros(2, dtype=torch.int32, device=device)
        list_spans[(1,)](spans, counts, 1, 44, width, n, BY_GAP=by_gap, ROWS=1024)
        assert sorted(map(tuple, spans.tolist())) == sorted(wanted)
