# mypy: disable-error-code="no-untyped-def, untyped-decorator"
"""The kernel that puts weights of spans where the inside pass finds them."""

from __future__ import annotations

import triton
import triton.language as tl

from treemean.grammars.gpu.indexing import cell_of, row_of


@triton.jit(do_not_specialize=["count", "n", "batch", "rows", "cells"])
def spread_weights(
    sentences,
    spans,
    logarithms,
    row_factors,
    factors,
    count,
    n,
    batch,
    rows,
    cells,
    BLOCK: tl.constexpr,
    GAPS: tl.constexpr,
):
    """Write the factors of some spans (i, j, m, e), see `SpanWeights`, over those that all others have.

    Spans without words, and single words, have no weight. No two entries have the same place.
    """
    number = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = number < count
    sentence = tl.load(sentences + number, mask=ok, other=0)
    i = tl.load(spans + 4 * number, mask=ok, other=0).to(tl.int32)
    j = tl.load(spans + 4 * number + 1, mask=ok, other=0).to(tl.int32)
    m = tl.load(spans + 4 * number + 2, mask=ok, other=0).to(tl.int32)
    e = tl.load(spans + 4 * number + 3, mask=ok, other=0).to(tl.int32)
    factor = tl.exp(tl.load(logarithms + number, mask=ok, other=0.0))
    local = (sentence % batch).to(tl.int32)
    row = sentence // batch * rows + row_of(j - i, i, local, n, batch)
    tl.store(row_factors + row, factor, mask=ok & (j == m) & (j > i + 1))
    if GAPS:
        cell = cell_of(i, j, m, e, n)
        tl.store(factors + sentence * cells + cell, factor, mask=ok & (j < m))
