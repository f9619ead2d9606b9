# mypy: disable-error-code="no-untyped-def, untyped-decorator"
"""Kernels of the gradients of emissions; `unit_kernels` tells in which units gradients are."""

from __future__ import annotations

import triton
import triton.language as tl

from treemean.grammars.gpu.units import PROBABILITY, exponent, limited, two_to
from treemean.grammars.rank.triton.parameters.unit_kernels import HIDDEN_UNIT, POSTERIORS_UNIT, UNITS_OF_RUN


@triton.jit(do_not_specialize=["positions"])
def emitted_gradients(
    log_probs,
    scales,
    gradients,
    steps,
    units,
    posteriors,
    weighted,
    positions,
    COLUMNS: tl.constexpr,
    PITCH: tl.constexpr,
    PITCH_WEIGHTED: tl.constexpr,
    PITCH_GRADIENTS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Take the gradients of the logarithms of emissions of a word: the posteriors of preterminals.

    Zeros follow up to the next row. Also writes the emissions, as fp16, times the steps of the gradients of
    their views, for the next product; minus their mean, and that behind them, because it is their differences
    that count.
    """
    run = tl.program_id(1).to(tl.int64)
    position = run * positions + tl.program_id(0)
    column = tl.arange(0, BLOCK)
    real = column < COLUMNS
    step = tl.load(steps + position)
    x = tl.load(log_probs + position * COLUMNS + column, mask=real, other=-1e30)
    e = tl.exp(x - tl.load(scales + position))
    gradient = tl.load(gradients + position * PITCH_GRADIENTS + column, mask=real, other=0.0)
    posterior = e * gradient * (PROBABILITY * step)
    posterior *= tl.load(units + run * UNITS_OF_RUN + 1) * POSTERIORS_UNIT
    tl.store(posteriors + position * PITCH + column, limited(posterior), mask=column < PITCH)
    relative = step * tl.load(units + run * UNITS_OF_RUN + 2)
    relative /= PROBABILITY
    mean = tl.sum(e, 0) / COLUMNS
    target = weighted + position * PITCH_WEIGHTED
    tl.store(target + column, (e - mean) * relative, mask=real)
    tl.store(target + COLUMNS, mean * relative)


@triton.jit(do_not_specialize=["rows", "padded"])
def hidden_gradients(
    chosen,
    expected,
    vectors,
    units,
    gradients,
    weighted,
    numbers,
    rows,
    padded,
    SIZE: tl.constexpr,
    PITCH_VECTORS: tl.constexpr,
    PITCH_CHOSEN: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Take the gradient of the vector of a preterminal: its words, minus as often the expected word.

    ``chosen`` holds the sum of its words and behind it their number, in ``padded`` rows for each run. Also
    writes that number, in the units of posteriors, and the vector times it, for the gradients of all words.
    """
    run = tl.program_id(1).to(tl.int64)
    row = run * rows + tl.program_id(0)
    column = tl.arange(0, BLOCK)
    real = column < SIZE
    unit = tl.load(units + run * UNITS_OF_RUN) * HIDDEN_UNIT
    unit /= tl.load(units + run * UNITS_OF_RUN + 1) * POSTERIORS_UNIT
    chosen += (run * padded + tl.program_id(0)) * PITCH_CHOSEN
    count = tl.load(chosen + SIZE)
    tl.store(numbers + row, count)
    number = count * unit
    words = tl.load(chosen + column, mask=real, other=0.0) * unit
    word = tl.load(expected + row * SIZE + column, mask=real, other=0.0) * PROBABILITY
    vector = tl.load(vectors + row * PITCH_VECTORS + column, mask=real, other=0.0).to(tl.float32)
    tl.store(gradients + row * SIZE + column, words - number * word, mask=real)
    tl.store(weighted + row * SIZE + column, number * vector, mask=real)


@triton.jit(do_not_specialize=["positions"])
def surplus(
    posteriors,
    log_probs,
    numbers,
    words,
    result,
    steps,
    positions,
    COLUMNS: tl.constexpr,
    PITCH: tl.constexpr,
    BLOCK: tl.constexpr,
    STEP: tl.constexpr,
    LOOK: tl.constexpr,
):
    """Write how much more often than expected preterminals emit a word, as fp16 in steps of their own.

    That stands where the word stands first; at other places are zeros. The vectors of preterminals that emit
    one word only are large, and what they did and what was expected of them nearly the same: the difference
    has to be taken before products round both.
    """
    run = tl.program_id(1).to(tl.int64)
    position = run * positions + tl.program_id(0)
    word = tl.load(words + position)
    words += run * positions
    posteriors += run * positions * PITCH
    column = tl.arange(0, BLOCK)
    real = column < COLUMNS
    before = 0
    for begin in range(0, tl.program_id(0), LOOK):
        some = begin + tl.arange(0, LOOK)
        among = tl.load(words + some, mask=some < tl.program_id(0), other=-1) == word
        before += tl.sum(among.to(tl.int32), 0)
    value = tl.zeros([BLOCK], dtype=tl.float32)
    if before == 0:
        for begin in range(tl.program_id(0), positions, STEP):
            some = begin + tl.arange(0, STEP)
            among = tl.load(words + some, mask=some < positions, other=-1) == word
            if tl.max(among.to(tl.int32), 0) > 0:
                for place in range(begin, tl.minimum(begin + STEP, positions)):
                    if tl.load(words + place) == word:
                        row = posteriors + place * PITCH + column
                        value += tl.load(row, mask=real, other=0.0).to(tl.float32)
        p = tl.exp(tl.load(log_probs + position * COLUMNS + column, mask=real, other=-1e30))
        value -= tl.load(numbers + run * COLUMNS + column, mask=real, other=0.0) * p
    k = exponent(tl.max(tl.abs(value), 0)) - 14
    tl.store(steps + position, two_to(k))
    tl.store(result + position * PITCH + column, value * two_to(-k), mask=column < PITCH)


@triton.jit(do_not_specialize=["positions", "vocabulary", "padded"])
def word_gradients(
    unchosen,
    unchosen_step,
    chosen,
    chosen_steps,
    words,
    units,
    result,
    positions,
    vocabulary,
    padded,
    SIZE: tl.constexpr,
    VECTOR: tl.constexpr,
    BLOCK: tl.constexpr,
    STEP: tl.constexpr,
    LOOK: tl.constexpr,
):
    """Take the gradient of the vector of a word: where it stands, those of `surplus`, else of normalisers.

    ``unchosen`` has ``padded`` rows for each run, and a step, ``chosen`` a step for each row. Both come from
    vectors times VECTOR.

    Every word looks for its positions itself, in their order, so that sums have the same bits each time. Most
    words stand nowhere: LOOK positions at once are looked at, and only where it is among them STEP at once.
    """
    run = tl.program_id(1).to(tl.int64)
    word = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    real = column < SIZE
    row = run * vocabulary + word
    inverse = tl.load(units + run * UNITS_OF_RUN + 3) * tl.load(unchosen_step + run) * PROBABILITY
    total = -tl.load(unchosen + (run * padded + word) * SIZE + column, mask=real, other=0.0) * inverse
    here = tl.zeros([BLOCK], dtype=tl.float32)
    stands = 0
    words += run * positions
    for begin in range(0, positions, LOOK):
        some = begin + tl.arange(0, LOOK)
        among = tl.load(words + some, mask=some < positions, other=-1) == word
        if tl.max(among.to(tl.int32), 0) > 0:
            stands = 1
            for first in range(begin, tl.minimum(begin + LOOK, positions), STEP):
                position = first + tl.arange(0, STEP)
                found = tl.load(words + position, mask=position < positions, other=-1) == word
                if tl.max(found.to(tl.int32), 0) > 0:
                    at = chosen + (run * positions + position)[:, None] * SIZE + column[None, :]
                    rows = tl.load(at, mask=found[:, None] & real[None, :], other=0.0)
                    step = tl.load(chosen_steps + run * positions + position, mask=found, other=0.0)
                    here += tl.sum(rows * step[:, None], 0)
    here /= tl.load(units + run * UNITS_OF_RUN + 1) * POSTERIORS_UNIT
    total = tl.where(stands > 0, here, total)
    tl.store(result + row * SIZE + column, total * (1 / VECTOR), mask=real)
