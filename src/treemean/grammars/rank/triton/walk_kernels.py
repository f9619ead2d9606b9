# mypy: disable-error-code="no-untyped-def, untyped-decorator"
"""Kernels that read the most probable derivation off charts, from the top down.

Only what lies on the way is looked at, so that no back-pointers are needed. Alternatives are added up and
compared in the order of `rank.decoding.walk.RankWalker`, and of equal ones the first is taken. Numbers are
kept in bounds where NaN, which equals nothing, leaves no alternative.
"""

from __future__ import annotations

import triton
import triton.language as tl

from treemean.grammars.gpu.indexing import cell_of, row_of
from treemean.grammars.gpu.max_plus import larger
from treemean.grammars.gpu.walking import add_node, node_at

_NEVER = tl.constexpr(float("-inf"))
#: Higher than alternatives are numbered.
_NONE = tl.constexpr(2**30)


@triton.jit
def first_best(worth, number):
    """Find the largest worth, and the least number that has it."""
    top = tl.max(worth, 0)
    return top, tl.min(tl.where(worth == top, number, _NONE), 0)


@triton.jit
def split_node(
    nodes, count, i, j, rank, views, sentence, n, batch, pitch, R1: tl.constexpr, BLOCK: tl.constexpr
):
    """Divide a continuous span into two that lie side by side (R2)."""
    width = j - i
    k = tl.arange(0, BLOCK)
    real = (k > 0) & (k < width)
    lefts = views + rank * pitch
    rights = lefts + R1 * pitch
    worth = tl.load(lefts + row_of(k, i, sentence, n, batch), mask=real, other=_NEVER)
    worth += tl.load(rights + row_of(width - k, i + k, sentence, n, batch), mask=real, other=_NEVER)
    _, first = first_best(worth, tl.where(real, k, _NONE))
    middle = i + tl.minimum(first, width - 1)
    count = add_node(nodes, count, i, middle, 0, 0, rank)
    return add_node(nodes, count, middle, j, 0, 0, R1 + rank)


@triton.jit
def unwrap_node(
    nodes,
    count,
    i,
    j,
    rank,
    views,
    wrapping,
    sentence,
    n,
    batch,
    pitch,
    cells,
    WRAPPED: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Divide a continuous span into one with a gap and what fills the gap (R3)."""
    width = j - i
    gap = tl.arange(0, BLOCK)
    fillings = views + (WRAPPED + rank) * pitch
    wrappings = wrapping + (rank.to(tl.int64) * batch + sentence) * cells
    best = tl.full([BLOCK], _NEVER, tl.float64)
    way = tl.where((gap > 0) & (gap < width - 1), n + 1 + gap, _NONE)
    for left in range(1, width - 1):
        real = (gap > 0) & (gap < width - left)
        start = i + left
        worth = tl.load(fillings + row_of(gap, start, sentence, n, batch), mask=real, other=_NEVER)
        worth += tl.load(wrappings + cell_of(i, start, start + gap, j, n), mask=real, other=_NEVER)
        way = tl.where(worth > best, left * (n + 1) + gap, way)
        best = larger(worth, best)
    _, code = first_best(best, way)
    code = tl.where(code < _NONE, code, n + 2)
    middle = i + code // (n + 1)
    end = middle + code % (n + 1)
    count = add_node(nodes, count, middle, end, 0, 0, WRAPPED + rank)
    return add_node(nodes, count, i, middle, end, j, rank)


@triton.jit
def detach_node(
    nodes,
    count,
    i,
    j,
    m,
    e,
    rank,
    views,
    extended,
    sentence,
    n,
    batch,
    pitch,
    cells,
    R2: tl.constexpr,
    R4: tl.constexpr,
    ATTACHED: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Divide a discontinuous span into a continuous one and a discontinuous one (R5-R8)."""
    attachment = tl.arange(0, 4)[:, None]
    k = tl.arange(0, BLOCK)[None, :]
    of_left = attachment < 2
    comes_first = (attachment == 0) | (attachment == 2)
    start = tl.where(of_left, i, m)
    length = tl.where(of_left, j - i, e - m)
    real = (k > 0) & (k < length)
    child = row_of(
        tl.where(comes_first, k, length - k), tl.where(comes_first, start, start + k), sentence, n, batch
    )
    other = cell_of(
        tl.where(attachment == 0, i + k, i),
        tl.where(attachment == 1, i + k, j),
        tl.where(attachment == 2, m + k, m),
        tl.where(attachment == 3, m + k, e),
        n,
    )
    children = views + (ATTACHED + attachment * R4 + rank) * pitch
    others = extended + (rank.to(tl.int64) * batch + sentence) * cells
    worth = tl.load(children + child, mask=real, other=_NEVER)
    worth += tl.load(others + other, mask=real, other=_NEVER)
    # Axis by axis: the compiler may reorder what is reshaped for a reduction.
    top = tl.max(tl.max(worth, 1), 0)
    way = tl.where(real & (worth == top), attachment * (n + 1) + k, _NONE)
    code = tl.min(tl.min(way, 1), 0)
    code = tl.where(code < _NONE, code, tl.where(j - i > 1, 1, 2 * (n + 1) + 1))
    chosen = code // (n + 1)
    first = code % (n + 1)
    view = ATTACHED + chosen * R4 + rank
    if chosen == 0:
        count = add_node(nodes, count, i, i + first, 0, 0, view)
        count = add_node(nodes, count, i + first, j, m, e, R2 + rank)
    elif chosen == 1:
        count = add_node(nodes, count, i + first, j, 0, 0, view)
        count = add_node(nodes, count, i, i + first, m, e, R2 + rank)
    elif chosen == 2:
        count = add_node(nodes, count, m, m + first, 0, 0, view)
        count = add_node(nodes, count, i, j, m + first, e, R2 + rank)
    else:
        count = add_node(nodes, count, m + first, e, 0, 0, view)
        count = add_node(nodes, count, i, j, m, m + first, R2 + rank)
    return count


@triton.jit(do_not_specialize=["step", "n", "batch", "pitch", "cells"])
def divide_nodes(
    nodes,
    counts,
    views,
    scores,
    wrapping,
    extended,
    attachments,
    root,
    continuous,
    discontinuous,
    step,
    n,
    batch,
    pitch,
    cells,
    R1: tl.constexpr,
    R2: tl.constexpr,
    R3: tl.constexpr,
    R4: tl.constexpr,
    COLUMNS: tl.constexpr,
    BLOCK_RANKS: tl.constexpr,
    BLOCK_FEW: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Divide one node of the tree of each sentence, and put its children of several words into the list.

    Nodes are (S, n, 5): start and end of a span, start and end of what is right of its gap or 0, and the view
    as which it is wanted, -1 for the root. `counts` (S,) says how many there are so far.
    """
    WRAPPED: tl.constexpr = 2 * R1
    GAP_LEFT: tl.constexpr = WRAPPED + R2
    ATTACHED: tl.constexpr = GAP_LEFT + 2 * R3
    sentence = tl.program_id(0)
    pitch = pitch.to(tl.int64)
    nodes += sentence.to(tl.int64) * (5 * n)
    count = tl.load(counts + sentence)
    if step < count:
        i, j, m, e, view = node_at(nodes, step)
        rank = tl.arange(0, BLOCK_RANKS)
        if m == 0:
            real = rank < R1 + R2
            wanted = tl.load(root + rank, mask=real & (view < 0), other=0.0)
            wanted += tl.load(continuous + rank * COLUMNS + view, mask=real & (view >= 0), other=0.0)
            own = row_of(j - i, i, sentence, n, batch)
            score = tl.load(scores + rank.to(tl.int64) * pitch + own, mask=real, other=_NEVER)
            _, best = first_best(score + wanted, rank)
            best = tl.minimum(best, R1 + R2 - 1)
            if best < R1:
                count = split_node(nodes, count, i, j, best, views, sentence, n, batch, pitch, R1, BLOCK)
            elif R2 > 0:
                count = unwrap_node(
                    nodes,
                    count,
                    i,
                    j,
                    best - R1,
                    views,
                    wrapping,
                    sentence,
                    n,
                    batch,
                    pitch,
                    cells,
                    WRAPPED,
                    BLOCK,
                )
        elif R2 > 0:
            apart = rank < R3
            lefts = views + (GAP_LEFT + rank) * pitch
            both = tl.load(lefts + row_of(j - i, i, sentence, n, batch), mask=apart, other=_NEVER)
            both += tl.load(
                lefts + R3 * pitch + row_of(e - m, m, sentence, n, batch), mask=apart, other=_NEVER
            )
            both += tl.load(discontinuous + rank * (R2 + R4) + view, mask=apart, other=0.0)
            top, side = first_best(both, rank)
            few = tl.arange(0, BLOCK_FEW)
            known = few < R4
            attached = attachments + (few.to(tl.int64) * batch + sentence) * cells + cell_of(i, j, m, e, n)
            whole = tl.load(attached, mask=known, other=_NEVER)
            whole += tl.load(discontinuous + (R3 + few) * (R2 + R4) + view, mask=known, other=0.0)
            top_attached, attaching = first_best(whole, few)
            if top_attached > top:
                count = detach_node(
                    nodes,
                    count,
                    i,
                    j,
                    m,
                    e,
                    tl.minimum(attaching, R4 - 1),
                    views,
                    extended,
                    sentence,
                    n,
                    batch,
                    pitch,
                    cells,
                    R2,
                    R4,
                    ATTACHED,
                    BLOCK,
                )
            else:
                side = tl.minimum(side, R3 - 1)
                count = add_node(nodes, count, i, j, 0, 0, GAP_LEFT + side)
                count = add_node(nodes, count, m, e, 0, 0, GAP_LEFT + R3 + side)
        tl.store(counts + sentence, count)
