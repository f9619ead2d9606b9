"""Views of charts that line up the parts of spans, without copying.

A chart over continuous spans is [start, length - 1, ...]. Because the stride of `start` is larger than that
of `length`, the spans that share an end and become shorter as they start later lie at a positive stride.
"""

from __future__ import annotations

from torch import Tensor

Parents = slice
Children = tuple[slice, slice, slice]


def first_parts(chart: Tensor, width: int) -> Tensor:
    """Return [i, k-1, ...]: the spans (i, i+k) that begin the spans (i, i+width), for k = 1..width-1."""
    return chart[: len(chart) - width + 1, : width - 1]


def second_parts(chart: Tensor, width: int) -> Tensor:
    """Return [i, k-1, ...]: the spans (i+k, i+width) that end the spans (i, i+width), for k = 1..width-1."""
    return later_and_shorter(chart, 1, width, len(chart) - width + 1)


def left_of_gaps(chart: Tensor, width: int) -> Tensor:
    """Return [i, a-1, ...]: the spans (i, i+a), left parts of gapped spans of `width` words in all."""
    return chart[: len(chart) - width, : width - 1]


def right_of_gaps(chart: Tensor, width: int) -> Tensor:
    """Return [m', a-1, ...]: the spans (m, m+width-a) with m = m'+a+1, right parts of gapped spans."""
    return later_and_shorter(chart, 2, width, len(chart) - width)


def later_and_shorter(chart: Tensor, start: int, width: int, count: int) -> Tensor:
    """Return [i, k-1, ...]: the spans that start at i+k+start-1 and have width-k words, k = 1..width-1."""
    by_start, by_length, *rest = chart.stride()
    return chart.as_strided(
        (count, width - 1, *chart.shape[2:]),
        (by_start, by_start - by_length, *rest),
        chart.storage_offset() + start * by_start + (width - 2) * by_length,
    )


# Charts of parts of continuous spans are [start, split - 1, length - 1, ...], where `split` is the length of
# the part that comes first. The functions below choose, for gapped spans of `width` words in all whose left
# (right) part has lost `taken` words at one end, the part that was taken; the result is [a-1, start, ...].


def taken_before_left(chart: Tensor, width: int, taken: int) -> Tensor:
    """Return [a-taken-1, i, ...]: the first `taken` words of the left part (i, i+a), a = taken+1..width-1."""
    return chart[: len(chart) - width, taken - 1, taken : width - 1].transpose(0, 1)


def taken_after_left(chart: Tensor, width: int, taken: int) -> Tensor:
    """Return [a-taken-1, i, ...]: the last `taken` words of the left part (i, i+a), a = taken+1..width-1."""
    by_start, by_split, by_length, *rest = chart.stride()
    return chart.as_strided(
        (width - 1 - taken, len(chart) - width, *chart.shape[3:]),
        (by_split + by_length, by_start, *rest),
        chart.storage_offset() + taken * by_length,
    )


def taken_before_right(chart: Tensor, width: int, taken: int) -> Tensor:
    """Return [a-1, m', ...]: the first `taken` words of the right part, for a = 1..width-taken-1."""
    by_start, by_split, by_length, *rest = chart.stride()
    return chart.as_strided(
        (width - 1 - taken, len(chart) - width, *chart.shape[3:]),
        (by_start - by_length, by_start, *rest),
        chart.storage_offset() + 2 * by_start + (taken - 1) * by_split + (width - 2) * by_length,
    )


def taken_after_right(chart: Tensor, width: int, taken: int) -> Tensor:
    """Return [a-1, m', ...]: the last `taken` words of the right part, for a = 1..width-taken-1."""
    by_start, by_split, by_length, *rest = chart.stride()
    return chart.as_strided(
        (width - 1 - taken, len(chart) - width, *chart.shape[3:]),
        (by_start - by_split - by_length, by_start, *rest),
        chart.storage_offset() + 2 * by_start + (width - taken - 2) * by_split + (width - 2) * by_length,
    )


def attaching_places(n: int, width: int, taken: int) -> list[tuple[Parents, Children]]:
    """Line up R5-R8 for attached children of `taken` words, under parents of `width` words in all.

    Returns
    -------
    For each attachment which parents [a-1, i, m'] have such children, and where in the chart of its width
    their other child is, the one with a gap.
    """
    gaps = n - width
    low, high, every = slice(0, gaps), slice(taken, taken + gaps), slice(None)
    left, right = slice(taken, None), slice(0, width - 1 - taken)
    return [
        (left, (every, high, high)),
        (left, (every, low, high)),
        (right, (every, low, high)),
        (right, (every, low, low)),
    ]


def attached_parts(parts: Tensor, width: int, taken: int) -> list[Tensor]:
    """Return the attached children of R5-R8 as parts of what they make longer; they broadcast over i or m'.

    Parameters
    ----------
    parts : [attachment, start, split - 1, length - 1, ...].
    """
    r5, r6, r7, r8 = parts
    return [
        taken_before_left(r5, width, taken)[:, :, None],
        taken_after_left(r6, width, taken)[:, :, None],
        taken_before_right(r7, width, taken)[:, None],
        taken_after_right(r8, width, taken)[:, None],
    ]


def attached_spans(spans: Tensor, width: int, taken: int) -> list[Tensor]:
    """Return the attached children of R5-R8; they broadcast over what they do not depend on.

    Parameters
    ----------
    spans : [attachment, start, length - 1, ...].
    """
    r5, r6, r7, r8 = spans[:, :, taken - 1]
    gaps, lefts = len(r5) - width, width - 1 - taken
    last = width - taken + 1
    return [
        r5[None, :gaps, None],
        sliding(r6[1:], lefts, gaps)[:, :, None],
        sliding(r7[2:], lefts, gaps)[:, None],
        r8[None, None, last : last + gaps],
    ]


def sliding(spans: Tensor, rows: int, columns: int) -> Tensor:
    """Return [row, column, ...]: the entries row + column."""
    by_start, *rest = spans.stride()
    size = (rows, columns, *spans.shape[1:])
    return spans.as_strided(size, (by_start, by_start, *rest), spans.storage_offset())
