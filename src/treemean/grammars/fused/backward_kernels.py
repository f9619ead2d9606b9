# mypy: disable-error-code="no-untyped-def, untyped-decorator"
"""Kernels between the products of the backward pass.

Gradients of logits are expected counts: what a grammar did, minus what it would do without looking. They add
up to no more than a few times the number of words, each times the weight of its sentence, ``N``. That bound
gives each run its *units*, powers of two by which gradients are multiplied before they are written as halves:
``u`` with ``u N`` just under 1, ``w`` with ``w`` times the largest weight of a sentence just under 1.
Parameters get the same gradients whatever the units, up to rounding.
"""

from __future__ import annotations

import triton
import triton.language as tl

from treemean.grammars.fused.forward_kernels import SCALE

#: The exponents of two of the units of halves: of gradients of logits, of hidden layers, of posteriors.
LOGITS, HIDDEN, POSTERIORS = 13, 9, 14

#: What `measure` writes for each run: u, w, the inverse of the largest step of gradients of views, and the
#: factors that undo the units of hidden layers and of logits.
UNITS = 5

_PROBABILITY = tl.constexpr(1.0 / SCALE)
_LOGITS = tl.constexpr(2.0**LOGITS)
_HIDDEN = tl.constexpr(2.0**HIDDEN)
_POSTERIORS = tl.constexpr(2.0**POSTERIORS)
_UNITS = tl.constexpr(UNITS)
_LARGEST_HALF = tl.constexpr(65504.0)


@triton.jit
def exponent(x):
    """Return k with 2^k <= x < 2^(k+1), between -100 and 100, for x >= 0."""
    k = (x.to(tl.int32, bitcast=True) >> 23) - 127
    return tl.minimum(tl.maximum(k, -100), 100)


@triton.jit
def two_to(k):
    """Return 2^k exactly."""
    return ((k + 127) << 23).to(tl.float32, bitcast=True)


@triton.jit
def limited(x):
    """Keep what is too large for a half within its range."""
    return tl.minimum(tl.maximum(x, -_LARGEST_HALF), _LARGEST_HALF)


@triton.jit(do_not_specialize=["positions"])
def scale_view_gradients(
    gradients,
    views,
    result,
    steps,
    weights,
    positions,
    COLUMNS: tl.constexpr,
    PITCH: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Write the gradients of the views of a word as halves, in steps of their own.

    The views times their gradients add up to the weight of the sentence.
    """
    position = tl.program_id(1).to(tl.int64) * positions + tl.program_id(0)
    column = tl.arange(0, BLOCK)
    real = column < COLUMNS
    gradient = tl.load(gradients + position * COLUMNS + column, mask=real, other=0.0)
    view = tl.load(views + position * COLUMNS + column, mask=real, other=0.0)
    k = exponent(tl.max(tl.abs(gradient), 0))
    tl.store(steps + position, two_to(k - 14))
    tl.store(weights + position, tl.abs(tl.sum(gradient * view, 0)))
    tl.store(result + position * PITCH + column, gradient * two_to(14 - k), mask=real)


@triton.jit(do_not_specialize=["positions"])
def measure(steps, weights, units, positions, BLOCK: tl.constexpr):
    """Find the units of a run."""
    run = tl.program_id(0).to(tl.int64)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    heaviest = tl.zeros([BLOCK], dtype=tl.float32)
    widest = tl.zeros([BLOCK], dtype=tl.float32)
    for first in range(0, positions, BLOCK):
        position = first + tl.arange(0, BLOCK)
        real = position < positions
        weight = tl.load(weights + run * positions + position, mask=real, other=0.0)
        total += weight
        heaviest = tl.maximum(heaviest, weight)
        widest = tl.maximum(widest, tl.load(steps + run * positions + position, mask=real, other=0.0))
    u = exponent(tl.sum(total, 0)) + 1
    units += run * _UNITS
    tl.store(units, two_to(-u))
    tl.store(units + 1, two_to(-exponent(tl.max(heaviest, 0)) - 1))
    tl.store(units + 2, 1.0 / tl.max(widest, 0))
    tl.store(units + 3, two_to(u) / _HIDDEN)
    tl.store(units + 4, two_to(u) / _LOGITS)


@triton.jit(do_not_specialize=["rows"])
def row_peaks(x, peaks, rows, COLUMNS: tl.constexpr, BLOCK: tl.constexpr):
    """Find the largest magnitude of each row."""
    row = tl.program_id(1).to(tl.int64) * rows + tl.program_id(0)
    column = tl.arange(0, BLOCK)
    value = tl.load(x + row * COLUMNS + column, mask=column < COLUMNS, other=0.0)
    tl.store(peaks + row, tl.max(tl.abs(value), 0))


@triton.jit(do_not_specialize=["rows"])
def scale_matrix(
    x,
    peaks,
    result,
    step,
    rows,
    COLUMNS: tl.constexpr,
    PITCH: tl.constexpr,
    BLOCK: tl.constexpr,
    BLOCK_ROWS: tl.constexpr,
):
    """Write a matrix as halves in one step for the whole matrix of a run, twice, one below the other."""
    run = tl.program_id(1).to(tl.int64)
    every = tl.arange(0, BLOCK_ROWS)
    k = exponent(tl.max(tl.load(peaks + run * rows + every, mask=every < rows, other=0.0), 0))
    row = run * rows + tl.program_id(0)
    column = tl.arange(0, BLOCK)
    value = tl.load(x + row * COLUMNS + column, mask=column < COLUMNS, other=0.0)
    value *= two_to(14 - k)
    row += run * rows
    tl.store(result + row * PITCH + column, value, mask=column < COLUMNS)
    tl.store(result + (row + rows) * PITCH + column, value, mask=column < COLUMNS)
    if tl.program_id(0) == 0:
        tl.store(step + run, two_to(k - 14))


@triton.jit(do_not_specialize=["positions"])
def emitted_gradients(
    chosen,
    log_sums,
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
    BLOCK: tl.constexpr,
):
    """Take the gradients of the logarithms of emissions of a word: the posteriors of preterminals.

    Also writes the emissions, as halves, times the steps of the gradients of their views, for the next
    product; minus their mean, and that behind them, because it is their differences that count.
    """
    run = tl.program_id(1).to(tl.int64)
    position = run * positions + tl.program_id(0)
    column = tl.arange(0, BLOCK)
    real = column < COLUMNS
    step = tl.load(steps + position)
    x = tl.load(chosen + position * COLUMNS + column, mask=real, other=-1e30)
    x -= tl.load(log_sums + run * COLUMNS + column, mask=real, other=0.0)
    e = tl.exp(x - tl.load(scales + position))
    gradient = tl.load(gradients + position * COLUMNS + column, mask=real, other=0.0)
    posterior = e * gradient * (_PROBABILITY * step)
    posterior *= tl.load(units + run * _UNITS + 1) * _POSTERIORS
    tl.store(posteriors + position * PITCH + column, limited(posterior), mask=real)
    relative = step * tl.load(units + run * _UNITS + 2)
    relative /= _PROBABILITY
    mean = tl.sum(e, 0) / COLUMNS
    target = weighted + position * PITCH_WEIGHTED
    tl.store(target + column, (e - mean) * relative, mask=real)
    tl.store(target + COLUMNS, mean * relative)


@triton.jit(do_not_specialize=["rows"])
def hidden_gradients(
    chosen,
    expected,
    hidden,
    units,
    gradients,
    weighted,
    rows,
    SIZE: tl.constexpr,
    PITCH: tl.constexpr,
    PITCH_HIDDEN: tl.constexpr,
    PITCH_CHOSEN: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Take the gradient of the vector of a preterminal: its words, minus as often the expected word.

    ``chosen`` holds the sum of its words and behind it their number. Also writes the vector times that
    number, for the gradients of all words.
    """
    run = tl.program_id(1).to(tl.int64)
    row = run * rows + tl.program_id(0)
    column = tl.arange(0, BLOCK)
    real = column < SIZE
    unit = tl.load(units + run * _UNITS) * _HIDDEN
    unit /= tl.load(units + run * _UNITS + 1) * _POSTERIORS
    number = tl.load(chosen + row * PITCH_CHOSEN + SIZE) * unit
    words = tl.load(chosen + row * PITCH_CHOSEN + column, mask=real, other=0.0) * unit
    word = tl.load(expected + row * SIZE + column, mask=real, other=0.0) * _PROBABILITY
    vector = tl.load(hidden + row * PITCH_HIDDEN + column, mask=real, other=0.0).to(tl.float32)
    tl.store(gradients + row * PITCH + column, limited(words - number * word), mask=real)
    tl.store(weighted + row * PITCH + column, limited(number * vector), mask=real)


@triton.jit(do_not_specialize=["positions", "vocabulary", "padded"])
def word_gradients(
    unchosen,
    chosen,
    words,
    units,
    result,
    positions,
    vocabulary,
    padded,
    SIZE: tl.constexpr,
    BLOCK: tl.constexpr,
    STEP: tl.constexpr,
):
    """Take the gradient of the vector of a word: minus that of the normalisers, plus those where it stands.

    ``unchosen`` has ``padded`` rows for each run.

    Every word looks for its positions itself, in their order, so that sums have the same bits each time.
    """
    run = tl.program_id(1).to(tl.int64)
    word = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    real = column < SIZE
    row = run * vocabulary + word
    inverse = tl.load(units + run * _UNITS + 3) * _PROBABILITY
    total = -tl.load(unchosen + (run * padded + word) * SIZE + column, mask=real, other=0.0) * inverse
    here = tl.zeros([BLOCK], dtype=tl.float32)
    for first in range(0, positions, STEP):
        position = first + tl.arange(0, STEP)
        found = tl.load(words + run * positions + position, mask=position < positions, other=-1) == word
        if tl.max(found.to(tl.int32), 0) > 0:
            at = chosen + (run * positions + position)[:, None] * SIZE + column[None, :]
            here += tl.sum(tl.load(at, mask=found[:, None] & real[None, :], other=0.0), 0)
    total += here / (tl.load(units + run * _UNITS + 1) * _POSTERIORS)
    tl.store(result + row * SIZE + column, total, mask=real)


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


@triton.jit(do_not_specialize=["rows"])
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
    COLUMNS: tl.constexpr,
    PITCH: tl.constexpr,
    PITCH_RESULT: tl.constexpr,
    SPLIT: tl.constexpr,
    FORM: tl.constexpr,
    COUNT: tl.constexpr,
    PITCH_FACTORS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Take the gradients of the logits of one row of a softmax, in the units of logits.

    Gradients of the probabilities p are the sum of a matrix (FORM 1), or one that was already multiplied by p
    (FORM 2), or one of scaled probabilities times ``step`` of the run (FORM 3), or nothing (FORM 0); and of
    ``factors`` (COUNT, rows) times
    ``others`` (COUNT, columns), of a product of p with the factors. The gradients of the factors, p times
    the others, are written to ``shares`` (COUNT, rows).
    """
    run = tl.program_id(1).to(tl.int64)
    local = tl.program_id(0)
    row = run * rows + local
    column = tl.arange(0, BLOCK)
    real = column < COLUMNS
    p = tl.load(probabilities + row * PITCH + column, mask=real, other=0.0).to(tl.float32)
    if SPLIT:
        p += tl.load(probabilities + row * PITCH + COLUMNS + column, mask=real, other=0.0).to(tl.float32)
    p *= _PROBABILITY
    weighted = tl.zeros([BLOCK], dtype=tl.float32)
    if FORM > 0:
        weighted += tl.load(gradients + row * COLUMNS + column, mask=real, other=0.0)
    if FORM == 3:
        weighted *= tl.load(step + run) * _PROBABILITY
    if FORM == 1 or FORM == 3:
        weighted *= p
    for k in tl.static_range(COUNT):
        other = p * tl.load(others + (run * COUNT + k) * COLUMNS + column, mask=real, other=0.0)
        tl.store(shares + (run * COUNT + k) * rows + local, tl.sum(other, 0))
        factor = tl.load(factors + (run * COUNT + k) * PITCH_FACTORS + local).to(tl.float32)
        weighted += other * (factor * _PROBABILITY)
    mean = tl.sum(weighted, 0) / tl.sum(p, 0)
    gradient = (weighted - p * mean) * (tl.load(units + run * _UNITS) * _LOGITS)
    tl.store(result + row * PITCH_RESULT + column, limited(gradient), mask=real)


@triton.jit
def child_gradients(
    nonterminals,
    preterminals,
    gradients,
    gradients_t,
    step,
    units,
    result,
    shares,
    R1: tl.constexpr,
    R2: tl.constexpr,
    R3: tl.constexpr,
    R4: tl.constexpr,
    NT: tl.constexpr,
    T: tl.constexpr,
    PITCH_NT: tl.constexpr,
    PITCH_T: tl.constexpr,
    PITCH_GRADIENTS: tl.constexpr,
    PITCH: tl.constexpr,
    BLOCK_NT: tl.constexpr,
    BLOCK_T: tl.constexpr,
):
    """Take the gradients of the logits by which a rank chooses children, the reverse of `choose_children`.

    The result has rows of r1 + r3 left, r1 + r3 right and r2 + r4 other children. ``shares`` (E, r4, 4) are
    the gradients of the probabilities of attachments times these.
    """
    VIEWS: tl.constexpr = 2 * R1 + R2 + 2 * R3 + 4 * R4
    SIBLINGS: tl.constexpr = R1 + R3
    row = tl.program_id(0)
    run = tl.program_id(1).to(tl.int64)
    mixed = tl.where(row < 2 * SIBLINGS + R2, row - 2 * R3, row)
    right = tl.where(row < SIBLINGS + R1, row - R3, row + R2)
    left = tl.where(row < R1, row, row + R1 + R2)
    view = tl.where(row < SIBLINGS, left, tl.where(row < 2 * SIBLINGS, right, mixed))
    count = tl.where(row < 2 * SIBLINGS + R2, 1, 4)
    column = tl.arange(0, BLOCK_NT)
    real = column < NT
    column_t = tl.arange(0, BLOCK_T)
    real_t = column_t < T
    factor = tl.load(step + run) * _PROBABILITY
    factor_t = _PROBABILITY / tl.load(units + run * _UNITS + 2)
    p = tl.zeros([BLOCK_NT], dtype=tl.float32)
    p_t = tl.zeros([BLOCK_T], dtype=tl.float32)
    weighted = tl.zeros([BLOCK_NT], dtype=tl.float32)
    weighted_t = tl.zeros([BLOCK_T], dtype=tl.float32)
    for kind in range(count):
        at = run * VIEWS + view + kind * R4
        one = tl.load(nonterminals + at * PITCH_NT + column, mask=real, other=0.0).to(tl.float32)
        one *= _PROBABILITY
        p += one
        one *= tl.load(gradients + at * NT + column, mask=real, other=0.0) * factor
        weighted += one
        one_t = tl.load(preterminals + at * PITCH_T + column_t, mask=real_t, other=0.0).to(tl.float32)
        one_t *= _PROBABILITY
        p_t += one_t
        of_mean = tl.load(gradients_t + at * PITCH_GRADIENTS + T)
        of_rest = tl.load(gradients_t + at * PITCH_GRADIENTS + column_t, mask=real_t, other=0.0)
        one_t *= (of_rest + of_mean) * factor_t
        weighted_t += one_t
        if row >= 2 * SIBLINGS + R2:
            rank = row - 2 * SIBLINGS - R2
            tl.store(shares + (run * R4 + rank) * 4 + kind, tl.sum(one, 0) + tl.sum(one_t, 0))
    total = (tl.sum(weighted, 0) + tl.sum(weighted_t, 0)) / (tl.sum(p, 0) + tl.sum(p_t, 0))
    unit = tl.load(units + run * _UNITS) * _LOGITS
    target = result + (run * (2 * SIBLINGS + R2 + R4) + row) * PITCH
    tl.store(target + column, limited((weighted - p * total) * unit), mask=real)
    tl.store(target + NT + column_t, limited((weighted_t - p_t * total) * unit), mask=real_t)


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
    tl.store(result + row * SIZE + column, total * tl.load(units + run * _UNITS + 3), mask=real)
