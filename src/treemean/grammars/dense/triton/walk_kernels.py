# mypy: disable-error-code="no-untyped-def, untyped-decorator"
"""Kernels that read the most probable derivation over symbols off charts, from the top down.

Alternatives are added up and compared in the order of `dense.decoding.walk.DenseWalker`, and of equal ones
the first is taken: by form of rule, then by place, then by symbols. Places are looked at one after the other,
all pairs of symbols at once, each of which remembers its first best place.
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
def first_pair(best, place, pair, PAIRS: tl.constexpr):
    """Find the largest sum, and the first of those that have it: its place and its pair of symbols.

    Parameters
    ----------
    best, place, pair : of all pairs of symbols, their largest sum, where it was first, and their number,
        negative for those that do not exist.
    """
    top = tl.max(tl.max(best, 1), 0)
    code = tl.where((pair >= 0) & (best == top), place * PAIRS + pair, _NONE)
    code = tl.min(tl.min(code, 1), 0)
    code = tl.where(code < _NONE, code, 0)
    return top, code // PAIRS, code % PAIRS


@triton.jit
def sums_of_pairs(first, second, rule, exist):
    """Add two children and a rule, for all pairs of symbols."""
    one = tl.load(first, mask=exist, other=_NEVER)
    return one + tl.load(second, mask=exist, other=_NEVER) + tl.load(rule, mask=exist, other=_NEVER)


@triton.jit
def add_pair(nodes, count, i, middle, j, symbols, SYMBOLS: tl.constexpr):
    """Put two spans side by side, with a pair of symbols, into the list."""
    count = add_node(nodes, count, i, middle, 0, 0, symbols // SYMBOLS)
    return add_node(nodes, count, middle, j, 0, 0, symbols % SYMBOLS)


@triton.jit
def divide_continuous(
    nodes,
    count,
    i,
    j,
    symbols,
    discontinuous,
    side_by_side,
    wrapping,
    sentence,
    n,
    batch,
    pitch,
    cells,
    SYMBOLS: tl.constexpr,
    GAPPED: tl.constexpr,
    BLOCK_SYMBOLS: tl.constexpr,
    BLOCK_GAPPED: tl.constexpr,
):
    """Divide a continuous span (R2, R3); the rules are those of its symbol."""
    width = j - i
    first = tl.arange(0, BLOCK_SYMBOLS)[:, None]
    second = tl.arange(0, BLOCK_SYMBOLS)[None, :]
    exist = (first < SYMBOLS) & (second < SYMBOLS)
    pair = tl.where(exist, first * SYMBOLS + second, -1)
    best = tl.full([BLOCK_SYMBOLS, BLOCK_SYMBOLS], _NEVER, tl.float64)
    place = tl.full([BLOCK_SYMBOLS, BLOCK_SYMBOLS], 0, tl.int32)
    for k in range(1, width):
        sums = sums_of_pairs(
            symbols + first * pitch + row_of(k, i, sentence, n, batch),
            symbols + second * pitch + row_of(width - k, i + k, sentence, n, batch),
            side_by_side + pair,
            exist,
        )
        place = tl.where(sums > best, k - 1, place)
        best = larger(sums, best)
    top, split, symbols_of = first_pair(best, place, pair, SYMBOLS * SYMBOLS)
    if GAPPED > 0:
        gapped = tl.arange(0, BLOCK_GAPPED)[None, :]
        exist_gapped = (first < SYMBOLS) & (gapped < GAPPED)
        pair_gapped = tl.where(exist_gapped, first * GAPPED + gapped, -1)
        best_wrap = tl.full([BLOCK_SYMBOLS, BLOCK_GAPPED], _NEVER, tl.float64)
        place_wrap = tl.full([BLOCK_SYMBOLS, BLOCK_GAPPED], 0, tl.int32)
        for way in range(0, (width - 1) * (width - 1)):
            m = i + 1 + way // (width - 1)
            p = i + 1 + way % (width - 1)
            if p > m:
                cell = cell_of(i, m, p, j, n)
                wrapped = sums_of_pairs(
                    symbols + first * pitch + row_of(p - m, m, sentence, n, batch),
                    discontinuous + (gapped.to(tl.int64) * batch + sentence) * cells + cell,
                    wrapping + pair_gapped,
                    exist_gapped,
                )
                place_wrap = tl.where(wrapped > best_wrap, way, place_wrap)
                best_wrap = larger(wrapped, best_wrap)
        top_wrap, way_wrap, symbols_wrap = first_pair(best_wrap, place_wrap, pair_gapped, SYMBOLS * GAPPED)
        if top_wrap > top:
            left = i + 1 + way_wrap // (width - 1)
            right = i + 1 + way_wrap % (width - 1)
            count = add_node(nodes, count, left, right, 0, 0, symbols_wrap // GAPPED)
            count = add_node(nodes, count, i, left, right, j, symbols_wrap % GAPPED)
        else:
            count = add_pair(nodes, count, i, i + 1 + split, j, symbols_of, SYMBOLS)
    else:
        count = add_pair(nodes, count, i, i + 1 + split, j, symbols_of, SYMBOLS)
    return count


@triton.jit
def divide_gapped(
    nodes,
    count,
    i,
    j,
    m,
    e,
    symbols,
    discontinuous,
    apart,
    attaching,
    sentence,
    n,
    batch,
    pitch,
    cells,
    SYMBOLS: tl.constexpr,
    GAPPED: tl.constexpr,
    BLOCK_SYMBOLS: tl.constexpr,
    BLOCK_GAPPED: tl.constexpr,
):
    """Divide a discontinuous span (R4-R8); the rules are those of its symbol."""
    first = tl.arange(0, BLOCK_SYMBOLS)[:, None]
    second = tl.arange(0, BLOCK_SYMBOLS)[None, :]
    exist = (first < SYMBOLS) & (second < SYMBOLS)
    pair = tl.where(exist, first * SYMBOLS + second, -1)
    both = sums_of_pairs(
        symbols + first * pitch + row_of(j - i, i, sentence, n, batch),
        symbols + second * pitch + row_of(e - m, m, sentence, n, batch),
        apart + pair,
        exist,
    )
    top, _, symbols_of = first_pair(both, pair * 0, pair, SYMBOLS * SYMBOLS)
    gapped = tl.arange(0, BLOCK_GAPPED)[None, :]
    exist_gapped = (first < SYMBOLS) & (gapped < GAPPED)
    pair_gapped = tl.where(exist_gapped, first * GAPPED + gapped, -1)
    best = tl.full([BLOCK_SYMBOLS, BLOCK_GAPPED], _NEVER, tl.float64)
    place = tl.full([BLOCK_SYMBOLS, BLOCK_GAPPED], 0, tl.int32)
    for way in range(0, 4 * n):
        at = way // n
        k = way % n
        length = tl.where(at < 2, j - i, e - m)
        if (k > 0) & (k < length):
            start = tl.where(at < 2, i, m)
            comes_first = (at == 0) | (at == 2)
            child = row_of(
                tl.where(comes_first, k, length - k),
                tl.where(comes_first, start, start + k),
                sentence,
                n,
                batch,
            )
            cell = cell_of(
                tl.where(at == 0, i + k, i),
                tl.where(at == 1, i + k, j),
                tl.where(at == 2, m + k, m),
                tl.where(at == 3, m + k, e),
                n,
            )
            sums = sums_of_pairs(
                symbols + first * pitch + child,
                discontinuous + (gapped.to(tl.int64) * batch + sentence) * cells + cell,
                attaching + at * (SYMBOLS * GAPPED) + pair_gapped,
                exist_gapped,
            )
            place = tl.where(sums > best, way, place)
            best = larger(sums, best)
    top_attached, way_attached, symbols_attached = first_pair(best, place, pair_gapped, SYMBOLS * GAPPED)
    if top_attached > top:
        chosen = way_attached // n
        split = way_attached % n
        one = symbols_attached // GAPPED
        other = symbols_attached % GAPPED
        if chosen == 0:
            count = add_node(nodes, count, i, i + split, 0, 0, one)
            count = add_node(nodes, count, i + split, j, m, e, other)
        elif chosen == 1:
            count = add_node(nodes, count, i + split, j, 0, 0, one)
            count = add_node(nodes, count, i, i + split, m, e, other)
        elif chosen == 2:
            count = add_node(nodes, count, m, m + split, 0, 0, one)
            count = add_node(nodes, count, i, j, m + split, e, other)
        else:
            count = add_node(nodes, count, m + split, e, 0, 0, one)
            count = add_node(nodes, count, i, j, m, m + split, other)
    else:
        count = add_node(nodes, count, i, j, 0, 0, symbols_of // SYMBOLS)
        count = add_node(nodes, count, m, e, 0, 0, symbols_of % SYMBOLS)
    return count


@triton.jit(do_not_specialize=["step", "own", "n", "batch", "pitch", "cells"])
def divide_nodes(
    nodes,
    counts,
    symbols,
    discontinuous,
    side_by_side,
    wrapping,
    apart,
    attaching,
    step,
    own,
    n,
    batch,
    pitch,
    cells,
    NONTERMINALS: tl.constexpr,
    SYMBOLS: tl.constexpr,
    GAPPED: tl.constexpr,
    BLOCK_SYMBOLS: tl.constexpr,
    BLOCK_GAPPED: tl.constexpr,
):
    """Divide one node of the tree of each sentence, and put its children of several words into the list.

    Nodes are (S, n, 5): start and end of a span, start and end of what is right of its gap or 0, and its
    symbol. `counts` (S,) says how many there are so far. `own` is 1 if each sentence has rules of its own.
    """
    sentence = tl.program_id(0)
    rules = sentence * own
    pitch = pitch.to(tl.int64)
    nodes += sentence.to(tl.int64) * (5 * n)
    count = tl.load(counts + sentence)
    if step < count:
        i, j, m, e, symbol = node_at(nodes, step)
        if m == 0:
            parent = (rules * NONTERMINALS + symbol) * SYMBOLS
            count = divide_continuous(
                nodes,
                count,
                i,
                j,
                symbols,
                discontinuous,
                side_by_side + parent * SYMBOLS,
                wrapping + parent * GAPPED,
                sentence,
                n,
                batch,
                pitch,
                cells,
                SYMBOLS,
                GAPPED,
                BLOCK_SYMBOLS,
                BLOCK_GAPPED,
            )
        elif GAPPED > 0:
            parent = (rules * GAPPED + symbol) * SYMBOLS
            count = divide_gapped(
                nodes,
                count,
                i,
                j,
                m,
                e,
                symbols,
                discontinuous,
                apart + parent * SYMBOLS,
                attaching + parent * (4 * GAPPED),
                sentence,
                n,
                batch,
                pitch,
                cells,
                SYMBOLS,
                GAPPED,
                BLOCK_SYMBOLS,
                BLOCK_GAPPED,
            )
        tl.store(counts + sentence, count)
