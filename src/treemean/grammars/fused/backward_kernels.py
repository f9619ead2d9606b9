# mypy: disable-error-code="no-untyped-def, untyped-decorator"
"""Kernels between the products of the backward pass; `unit_kernels` tells in which units gradients are."""

from __future__ import annotations

import triton
import triton.language as tl

from treemean.grammars.fused.unit_kernels import (
    HIDDEN_UNIT,
    LOGITS_UNIT,
    POSTERIORS_UNIT,
    PROBABILITY,
    UNITS_OF_RUN,
    exponent,
    limited,
    two_to,
)


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

    Zeros follow up to the next row. Also writes the emissions, as halves, times the steps of the gradients of
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
    """Write how much more often than expected preterminals emit a word, as halves in steps of their own.

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


@triton.jit(do_not_specialize=["rows", "blocks"])
def deactivate(
    gradients,
    values,
    bias,
    result,
    shares,
    rows,
    blocks,
    COLUMNS: tl.constexpr,
    PITCH: tl.constexpr,
    PITCH_VALUES: tl.constexpr,
    MASK: tl.constexpr,
    BLOCK_ROWS: tl.constexpr,
    BLOCK_COLUMNS: tl.constexpr,
):
    """Take the gradients of what went into a ReLU, and a share of those of the bias for each block of rows.

    MASK says when the ReLU let something through: 0 always (there is none), 1 where ``values`` (its results)
    are positive, 2 where ``values`` plus bias are.
    """
    run = tl.program_id(2).to(tl.int64)
    row = tl.program_id(0) * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)
    column = tl.program_id(1) * BLOCK_COLUMNS + tl.arange(0, BLOCK_COLUMNS)
    real = column < COLUMNS
    mask = (row < rows)[:, None] & real[None, :]
    at = (run * rows + row)[:, None] * PITCH + column[None, :]
    gradient = tl.load(gradients + at, mask=mask, other=0.0).to(tl.float32)
    if MASK > 0:
        place = (run * rows + row)[:, None] * PITCH_VALUES + column[None, :]
        value = tl.load(values + place, mask=mask, other=0.0).to(tl.float32)
        if MASK == 2:
            value += tl.load(bias + run * COLUMNS + column, mask=real, other=0.0)[None, :]
        gradient = tl.where(value > 0, gradient, 0.0)
        tl.store(result + at, gradient, mask=mask)
    share = (run * blocks + tl.program_id(0)) * COLUMNS + column
    tl.store(shares + share, tl.sum(gradient, 0), mask=real)


@triton.jit(do_not_specialize=["rows", "lines", "lines_of_gradients"])
def softmax_gradients(
    probabilities,
    gradients,
    step,
    factors,
    others,
    units,
    result,
    shares,
    rows,
    lines,
    lines_of_gradients,
    COLUMNS: tl.constexpr,
    PITCH: tl.constexpr,
    PITCH_GRADIENTS: tl.constexpr,
    PITCH_RESULT: tl.constexpr,
    SPLIT: tl.constexpr,
    FORM: tl.constexpr,
    COUNT: tl.constexpr,
    PITCH_FACTORS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Take the gradients of the logits of one row of a softmax, in the units of logits.

    Gradients of the probabilities p are the sum of a matrix (FORM 1), or one of scaled probabilities times
    ``step`` of the run (FORM 2), or nothing (FORM 0); and of ``factors`` (COUNT, rows) times ``others``
    (COUNT, columns), of a product of p with the factors. The gradients of the factors, p times the others,
    are written to ``shares`` (COUNT, rows).

    Probabilities and their gradients have more rows for each run, ``lines`` and ``lines_of_gradients``. Zeros
    follow in the result up to the next row; as far behind p is what rounding took away.
    """
    run = tl.program_id(1).to(tl.int64)
    local = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    real = column < COLUMNS
    source = probabilities + (run * lines + local) * PITCH + column
    p = tl.load(source, mask=real, other=0.0).to(tl.float32)
    if SPLIT:
        p += tl.load(source + PITCH_RESULT, mask=real, other=0.0).to(tl.float32)
    p *= PROBABILITY
    weighted = tl.zeros([BLOCK], dtype=tl.float32)
    if FORM > 0:
        gradients += (run * lines_of_gradients + local) * PITCH_GRADIENTS
        weighted += tl.load(gradients + column, mask=real, other=0.0)
    if FORM == 2:
        weighted *= tl.load(step + run) * PROBABILITY
    weighted *= p
    for k in tl.static_range(COUNT):
        other = p * tl.load(others + (run * COUNT + k) * COLUMNS + column, mask=real, other=0.0)
        tl.store(shares + (run * COUNT + k) * rows + local, tl.sum(other, 0))
        factor = tl.load(factors + (run * COUNT + k) * PITCH_FACTORS + local).to(tl.float32)
        weighted += other * (factor * PROBABILITY)
    mean = tl.sum(weighted, 0) / tl.sum(p, 0)
    gradient = (weighted - p * mean) * (tl.load(units + run * UNITS_OF_RUN) * LOGITS_UNIT)
    target = result + (run * rows + local) * PITCH_RESULT + column
    tl.store(target, limited(gradient), mask=column < PITCH_RESULT)


@triton.jit
def weigh(probabilities, gradients, column, COLUMNS: tl.constexpr, shift, factor):
    """Return some scaled probabilities as they are, and times their gradients, with a shift and a factor."""
    real = column < COLUMNS
    p = tl.load(probabilities + column, mask=real, other=0.0).to(tl.float32) * PROBABILITY
    return p, p * ((tl.load(gradients + column, mask=real, other=0.0) + shift) * factor)


@triton.jit
def child_gradients(
    nonterminals,
    preterminals,
    gradients,
    gradients_t,
    step,
    units,
    result,
    R1: tl.constexpr,
    R2: tl.constexpr,
    R3: tl.constexpr,
    R4: tl.constexpr,
    NT: tl.constexpr,
    T: tl.constexpr,
    PITCH_NT: tl.constexpr,
    PITCH_T: tl.constexpr,
    PITCH_GRADIENTS: tl.constexpr,
    PITCH_GRADIENTS_T: tl.constexpr,
    PITCH: tl.constexpr,
    ROWS: tl.constexpr,
    BLOCK_NT: tl.constexpr,
    BLOCK_T: tl.constexpr,
    MORE_T: tl.constexpr,
):
    """Take the gradients of the logits by which a rank chooses children, the reverse of `choose_children`.

    The result has rows of r1 + r3 left, r1 + r3 right and r2 + r4 other children; all others have ROWS rows.
    Preterminals are kept in two blocks, of BLOCK_T and MORE_T, so that few registers are idle.
    """
    SIBLINGS: tl.constexpr = R1 + R3
    row = tl.program_id(0)
    run = tl.program_id(1).to(tl.int64)
    mixed = tl.where(row < 2 * SIBLINGS + R2, row - 2 * R3, row)
    right = tl.where(row < SIBLINGS + R1, row - R3, row + R2)
    left = tl.where(row < R1, row, row + R1 + R2)
    view = tl.where(row < SIBLINGS, left, tl.where(row < 2 * SIBLINGS, right, mixed))
    count = tl.where(row < 2 * SIBLINGS + R2, 1, 4)
    column = tl.arange(0, BLOCK_NT)
    column_t = tl.arange(0, BLOCK_T)
    more = BLOCK_T + tl.arange(0, MORE_T)
    factor = tl.load(step + run) * PROBABILITY
    factor_t = PROBABILITY / tl.load(units + run * UNITS_OF_RUN + 2)
    p = tl.zeros([BLOCK_NT], dtype=tl.float32)
    p_t = tl.zeros([BLOCK_T], dtype=tl.float32)
    p_more = tl.zeros([MORE_T], dtype=tl.float32)
    weighted = tl.zeros([BLOCK_NT], dtype=tl.float32)
    weighted_t = tl.zeros([BLOCK_T], dtype=tl.float32)
    weighted_more = tl.zeros([MORE_T], dtype=tl.float32)
    for kind in range(count):
        at = run * ROWS + view + kind * R4
        source, of_source = nonterminals + at * PITCH_NT, gradients + at * PITCH_GRADIENTS
        one, product = weigh(source, of_source, column, NT, 0.0, factor)
        p += one
        weighted += product
        source, of_source = preterminals + at * PITCH_T, gradients_t + at * PITCH_GRADIENTS_T
        of_mean = tl.load(of_source + T)
        one_t, product_t = weigh(source, of_source, column_t, T, of_mean, factor_t)
        p_t += one_t
        weighted_t += product_t
        one_more, product_more = weigh(source, of_source, more, T, of_mean, factor_t)
        p_more += one_more
        weighted_more += product_more
    total = tl.sum(weighted, 0) + tl.sum(weighted_t, 0) + tl.sum(weighted_more, 0)
    total /= tl.sum(p, 0) + tl.sum(p_t, 0) + tl.sum(p_more, 0)
    unit = tl.load(units + run * UNITS_OF_RUN) * LOGITS_UNIT
    target = result + (run * (2 * SIBLINGS + R2 + R4) + row) * PITCH
    tl.store(target + column, limited((weighted - p * total) * unit), mask=column < NT)
    target += NT
    tl.store(target + column_t, limited((weighted_t - p_t * total) * unit))
    tl.store(target + more, limited((weighted_more - p_more * total) * unit), mask=more < T)


@triton.jit(do_not_specialize=["positions"])
def attachment_gradients(
    views,
    of_views,
    rules,
    of_rules,
    nonterminals,
    preterminals,
    units,
    result,
    positions,
    floor,
    ROWS: tl.constexpr,
    VIEWS: tl.constexpr,
    LINES: tl.constexpr,
    R4: tl.constexpr,
    NT: tl.constexpr,
    T: tl.constexpr,
    PITCH_NT: tl.constexpr,
    PITCH_T: tl.constexpr,
    PITCH: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Take the gradients of the logits by which a rank chooses one of four attachments.

    How often each was chosen is what all its views and rules contributed, values times gradients in float32.
    Symbols need not be looked at: four nearly equal sums over thousands of rounded numbers would hide the
    little by which they differ. The probabilities are those that children were given, after rounding, in
    LINES rows for each run.
    """
    rank = tl.program_id(0)
    run = tl.program_id(1).to(tl.int64)
    view = VIEWS - 4 * R4 + tl.arange(0, 4) * R4 + rank
    chosen = tl.zeros([4], dtype=tl.float32)
    for first in range(0, positions, BLOCK):
        place = first + tl.arange(0, BLOCK)
        at = (run * positions + place)[None, :] * VIEWS + view[:, None]
        real = (place < positions)[None, :] & (view < VIEWS)[:, None]
        value = tl.load(views + at, mask=real, other=0.0) - floor
        chosen += tl.sum(value * tl.load(of_views + at, mask=real, other=0.0), 1)
    for first in range(0, ROWS, BLOCK):
        row = first + tl.arange(0, BLOCK)
        at = (run * ROWS + row)[None, :] * VIEWS + view[:, None]
        real = (row < ROWS)[None, :] & (view < VIEWS)[:, None]
        value = tl.load(rules + at, mask=real, other=0.0)
        chosen += tl.sum(value * tl.load(of_rules + at, mask=real, other=0.0), 1)
    p = tl.zeros([4], dtype=tl.float32)
    line = (run * LINES + view)[:, None]
    for first in range(0, NT, BLOCK):
        column = (first + tl.arange(0, BLOCK))[None, :]
        real = (column < NT) & (view < VIEWS)[:, None]
        p += tl.sum(tl.load(nonterminals + line * PITCH_NT + column, mask=real, other=0.0).to(tl.float32), 1)
    for first in range(0, T, BLOCK):
        column = (first + tl.arange(0, BLOCK))[None, :]
        real = (column < T) & (view < VIEWS)[:, None]
        p += tl.sum(tl.load(preterminals + line * PITCH_T + column, mask=real, other=0.0).to(tl.float32), 1)
    gradient = chosen - p * (tl.sum(chosen, 0) / tl.sum(p, 0))
    gradient *= tl.load(units + run * UNITS_OF_RUN) * LOGITS_UNIT
    tl.store(result + (run * R4 + rank) * PITCH + tl.arange(0, 4), gradient)


@triton.jit
def symbol_gradients(
    of_children,
    of_parents,
    of_emissions,
    units,
    result,
    NT: tl.constexpr,
    T: tl.constexpr,
    SIZE: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Add up the gradients of a symbol: as a child, and as a parent or a preterminal."""
    run = tl.program_id(1).to(tl.int64)
    symbol = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    real = column < SIZE
    row = run * (NT + T) + symbol
    total = tl.load(of_children + row * SIZE + column, mask=real, other=0.0)
    if symbol < NT:
        total += tl.load(of_parents + (run * NT + symbol) * SIZE + column, mask=real, other=0.0)
    else:
        total += tl.load(of_emissions + (run * T + symbol - NT) * SIZE + column, mask=real, other=0.0)
    tl.store(result + row * SIZE + column, total * tl.load(units + run * UNITS_OF_RUN + 3), mask=real)
