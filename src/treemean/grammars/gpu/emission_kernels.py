# mypy: disable-error-code="no-untyped-def, untyped-decorator"
"""The kernel that both families normalise the emissions of preterminals with."""

from __future__ import annotations

import triton
import triton.language as tl

from treemean.grammars.gpu.units import SCALE

_SCALE = tl.constexpr(SCALE)


@triton.jit(do_not_specialize=["rows", "positions"])
def normalise(
    logits,
    scales,
    words,
    log_probs,
    probabilities,
    rows,
    columns,
    width,
    positions,
    PITCH: tl.constexpr,
    KEEP: tl.constexpr,
    BLOCK: tl.constexpr,
    MORE: tl.constexpr,
    AT_ONCE: tl.constexpr,
):
    """Write the logarithm of the softmax of logits for the words of a batch (E, positions, rows), and for all
    words, to KEEP, the softmax as scaled fp16.

    Logits are to be multiplied by the scales of their rows. Those of the words of the batch must be the very
    numbers of which the sum was made: a preterminal that emits one word only has logits in the thousands,
    which another product, added up in another order, gives a little more or less, and the word a probability
    over 1.

    Of the ``width`` columns of a row only the first ``columns`` are real; the others get zeros. A row is kept
    in registers in two blocks, of BLOCK and MORE columns, so that few of these are idle. It is read up to
    its width, which is a round number, because odd ones are read one by one.
    """
    run, local = tl.program_id(1).to(tl.int64), tl.program_id(0)
    row = run * rows + local
    column = tl.arange(0, BLOCK)
    more = BLOCK + tl.arange(0, MORE)
    logits += row * width
    scale = tl.load(scales + row)
    x = tl.load(logits + column) * scale
    y = tl.load(logits + more, mask=more < width, other=0.0) * scale
    x = tl.where(column < columns, x, -1e30)
    y = tl.where(more < columns, y, -1e30)
    largest = tl.maximum(tl.max(x, 0), tl.max(y, 0))
    x = tl.exp(x - largest)
    y = tl.exp(y - largest)
    total = tl.sum(x, 0) + tl.sum(y, 0)
    rest = tl.log(total)
    for first in range(0, positions, AT_ONCE):
        position = first + tl.arange(0, AT_ONCE)
        there = position < positions
        word = tl.load(words + run * positions + position, mask=there, other=0)
        logit = tl.load(logits + word, mask=there, other=0.0) * scale
        target = log_probs + (run * positions + position) * rows + local
        tl.store(target, logit - largest - rest, mask=there)
    if KEEP:
        factor = _SCALE / total
        tl.store(probabilities + row * PITCH + column, x * factor)
        tl.store(probabilities + row * PITCH + more, y * factor, mask=more < width)
