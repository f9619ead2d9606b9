"""Discontinuous spans line by line, or from both ends: every one once; those met as often side by side."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl

from treemean.grammars.dense.triton.attaching_kernels import (
    columns_at,
    find_in_lines,
    find_in_pairs,
    lefts_at,
    lines_at,
    pairs_of_lines,
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


@triton.jit(do_not_specialize=["anchor", "width", "least", "n"])
def list_pairs(spans, counts, kind, anchor, width, least, n, ROWS: tl.constexpr):
    """Write left length and column of the spans whose growing part is long enough, and count them."""
    first, last = lefts_at(kind, anchor, width, least, n)
    columns, slope = columns_at(kind, anchor, n - width)
    both, total = pairs_of_lines(columns, slope, first, last)
    for begin in range(0, total, ROWS):
        position = begin + tl.arange(0, ROWS)
        left, column = find_in_pairs(position, columns, slope, first, last, both)
        tl.store(spans + position * 2, left, mask=position < total)
        tl.store(spans + position * 2 + 1, column, mask=position < total)
    tl.store(counts, total)


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


@pytest.mark.parametrize("least", [1, 2, 4])
@pytest.mark.parametrize(("n", "width"), [(3, 2), (9, 2), (9, 5), (9, 8), (16, 6), (16, 12)])
def test_every_span_once_from_both_ends(n: int, width: int, least: int, device: str) -> None:
    expected = spans_by_anchor(width, n)
    for kind in range(4):
        for anchor in range(-width, n + 1):
            wanted = [
                (left, column)
                for left, column in expected.get((kind, anchor), [])
                if (left if kind < 2 else width - left) >= least
            ]
            spans = torch.full((len(wanted) + ROWS, 2), -1, dtype=torch.int32, device=device)
            counts = torch.zeros(1, dtype=torch.int32, device=device)
            list_pairs[(1,)](spans, counts, kind, anchor, width, least, n, ROWS=ROWS)
            assert counts.item() == len(wanted)
            assert sorted(map(tuple, spans[: len(wanted)].tolist())) == sorted(wanted)


def test_long_lines(device: str) -> None:
    n, width = 90, 45
    wanted = spans_by_anchor(width, n)[1, 44]
    for by_gap in (False, True):
        spans = torch.empty(len(wanted), 2, dtype=torch.int32, device=device)
        counts = torch.zeros(2, dtype=torch.int32, device=device)
        list_spans[(1,)](spans, counts, 1, 44, width, n, BY_GAP=by_gap, ROWS=1024)
        assert sorted(map(tuple, spans.tolist())) == sorted(wanted)


@pytest.mark.parametrize(("n", "width"), [(90, 45), (90, 61)])
def test_long_pairs(n: int, width: int, device: str) -> None:
    expected = spans_by_anchor(width, n)
    for kind in range(4):
        anchor = max((anchor for k, anchor in expected if k == kind), key=lambda a: len(expected[kind, a]))
        wanted = expected[kind, anchor]
        spans = torch.full((len(wanted), 2), -1, dtype=torch.int32, device=device)
        counts = torch.zeros(1, dtype=torch.int32, device=device)
        list_pairs[(1,)](spans, counts, kind, anchor, width, 1, n, ROWS=1024)
        assert counts.item() == len(wanted)
        assert sorted(map(tuple, spans.tolist())) == sorted(wanted)
