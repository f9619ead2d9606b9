# mypy: disable-error-code="no-untyped-def, untyped-decorator"
"""The kernel that lays rules out as the matrix of `charts.rule_matrix`, and gradients of that as rules."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def move(rule, entry, real, BACK: tl.constexpr):
    """Copy rules to entries of the matrix, zero where there is no rule; with BACK, entries to rules."""
    if BACK:
        tl.store(rule, tl.load(entry, mask=real), mask=real)
    else:
        tl.store(entry, tl.load(rule, mask=real, other=0.0))


@triton.jit
def lay_out(
    side_by_side,
    apart,
    wrapping,
    attaching,
    matrix,
    set_of_pairs,
    set_apart,
    set_wrapping,
    set_attaching,
    parent_of_pairs,
    parent_apart,
    parent_wrapping,
    parent_attaching,
    nonterminals,
    gapped,
    symbols,
    D: tl.constexpr,
    S: tl.constexpr,
    APART: tl.constexpr,
    WRAP: tl.constexpr,
    ATTACH: tl.constexpr,
    COLUMNS: tl.constexpr,
    BLOCK: tl.constexpr,
    BACK: tl.constexpr,
):
    """Copy rules of all kinds to some columns of the matrix (R, S, COLUMNS); with BACK, the other way round.

    Of each kind are given the distances of sets of rules and of parents; the rules of one parent lie
    together. Parts of the matrix, see `charts.Sizes`, begin at multiples of BLOCK.
    """
    first = tl.program_id(0) * BLOCK
    number = tl.program_id(1).to(tl.int64)
    column = (first + tl.arange(0, BLOCK))[None, :]
    symbol = tl.arange(0, S)[:, None]
    entry = matrix + (number * S + symbol) * COLUMNS + column
    there = symbol < symbols
    if first < APART:  # the symbol is the right child
        parent, left = column // S, column % S
        real = there & (parent < nonterminals) & (left < symbols)
        place = parent * parent_of_pairs + left * symbols + symbol
        move(side_by_side + number * set_of_pairs + place, entry, real, BACK)
    elif first < WRAP:  # the left child
        parent, right = (column - APART) // S, (column - APART) % S
        real = there & (parent < gapped) & (right < symbols)
        place = parent * parent_apart + symbol * symbols + right
        move(apart + number * set_apart + place, entry, real, BACK)
    elif first < ATTACH:  # the child in the gap
        parent, child = (column - WRAP) // D, (column - WRAP) % D
        real = there & (parent < nonterminals) & (child < gapped)
        place = parent * parent_wrapping + symbol * gapped + child
        move(wrapping + number * set_wrapping + place, entry, real, BACK)
    else:  # the attached child
        parent, child = (column - ATTACH) % D, (column - ATTACH) // D % D
        kind = (column - ATTACH) // (D * D)
        real = there & (parent < gapped) & (child < gapped)
        place = parent * parent_attaching + (kind * symbols + symbol) * gapped + child
        move(attaching + number * set_attaching + place, entry, real, BACK)
