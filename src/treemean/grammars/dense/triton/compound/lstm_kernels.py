# mypy: disable-error-code="no-untyped-def, untyped-decorator"
"""Kernels of an LSTM of two directions: one step of both at once.

Whatever belongs to a position lies as [position, sentence, direction, ...], the four gates (input, forget,
cell, output) one after the other. The second direction starts at the end. A program handles some UNITS of all
gates. It divides sums over the units of the step before in CHUNKS, one for each warp, as they are long.
"""

from __future__ import annotations

import triton
import triton.language as tl

from treemean.grammars.dense.triton.fp16 import multiply

SIZES = ["step", "n", "batch"]  # never compiled into a kernel


@triton.jit
def tanh(x):
    """Return the hyperbolic tangent."""
    return 2.0 * tl.sigmoid(2.0 * x) - 1.0


@triton.jit(do_not_specialize=SIZES)
def advance(
    inputs,
    weights,
    weights_reverse,
    input_bias,
    input_bias_reverse,
    state_bias,
    state_bias_reverse,
    gates,
    cells,
    states,
    largest,
    places,
    step,
    n,
    batch,
    H: tl.constexpr,
    ROWS: tl.constexpr,
    UNITS: tl.constexpr,
    CHUNKS: tl.constexpr,
    DEPTH: tl.constexpr,
):
    """Compute gates, cells and states of one position from `inputs`, what the words add to the gates.

    The ``largest`` states so far and their ``places``, both [sentence, direction, H], are kept up to date; of
    equal states the first one counts.
    """
    direction = tl.program_id(2)
    if direction == 1:
        weights = weights_reverse
        input_bias = input_bias_reverse
        state_bias = state_bias_reverse
    position = tl.where(direction == 0, step, n - 1 - step)
    before = tl.where(direction == 0, position - 1, position + 1)
    row = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, 4 * UNITS)
    entry = tl.program_id(0) * UNITS + column % UNITS
    line = column // UNITS * H + entry
    total = tl.zeros((CHUNKS, ROWS, 4 * UNITS), states.dtype.element_ty)
    if step > 0:
        source = states + (((before * batch + row) * 2 + direction) * H)[None, :, None]
        rules = weights + (line * H)[None, None, :]
        for block in range(0, H, CHUNKS * DEPTH):
            unit = block + tl.arange(0, CHUNKS)[:, None] * DEPTH + tl.arange(0, DEPTH)[None, :]
            inner = unit < H
            mask = inner[:, None, :] & (row < batch)[None, :, None]
            x = tl.load(source + unit[:, None, :], mask=mask, other=0.0)
            mask = inner[:, :, None] & (entry < H)[None, None, :]
            total = multiply(x, tl.load(rules + unit[:, :, None], mask=mask, other=0.0), total)
    real = (row < batch)[:, None] & (entry < H)[None, :]
    here = ((position * batch + row) * 2 + direction)[:, None]
    sums = tl.sum(total, 0) + tl.load(inputs + here * (4 * H) + line, mask=real, other=0.0)
    bias = tl.load(input_bias + line, mask=entry < H, other=0.0)
    sums += (bias + tl.load(state_bias + line, mask=entry < H, other=0.0))[None, :]
    is_cell = (column // UNITS == 2)[None, :]
    gate = tl.sigmoid(tl.where(is_cell, 2.0 * sums, sums))
    gate = tl.where(is_cell, 2.0 * gate - 1.0, gate)
    tl.store(gates + here * (4 * H) + line, gate, mask=real)
    number = tl.arange(0, 4)[None, :, None]
    gate = tl.reshape(gate, (ROWS, 4, UNITS))
    entering = tl.sum(tl.where(number == 0, gate, 0.0), 1) * tl.sum(tl.where(number == 2, gate, 0.0), 1)
    own = tl.program_id(0) * UNITS + tl.arange(0, UNITS)
    real = (row < batch)[:, None] & (own < H)[None, :]
    there = ((before * batch + row) * 2 + direction)[:, None]
    cell = tl.load(cells + there * H + own, mask=real & (step > 0), other=0.0)
    cell = cell * tl.sum(tl.where(number == 1, gate, 0.0), 1) + entering
    tl.store(cells + here * H + own, cell, mask=real)
    state = tanh(cell) * tl.sum(tl.where(number == 3, gate, 0.0), 1)
    tl.store(states + here * H + own, state, mask=real)
    summary = (row * 2 + direction)[:, None] * H + own
    most = tl.load(largest + summary, mask=real & (step > 0), other=float("-inf"))
    better = real & ((state > most) | (state != state))  # NaN stays NaN
    tl.store(largest + summary, state, mask=better)
    tl.store(places + summary, position + tl.zeros_like(own)[None, :], mask=better)


@triton.jit(do_not_specialize=SIZES)
def retreat(
    grad_largest,
    places,
    weights,
    weights_reverse,
    gates,
    cells,
    carried,
    grad_gates,
    step,
    n,
    batch,
    H: tl.constexpr,
    ROWS: tl.constexpr,
    UNITS: tl.constexpr,
    CHUNKS: tl.constexpr,
    DEPTH: tl.constexpr,
):
    """Compute gradients of what enters the gates at one position; `carried` [sentence, direction, H] are
    those of cells that come from the step behind.

    Gradients of the largest states, as in `advance`, are given.
    """
    direction = tl.program_id(2)
    if direction == 1:
        weights = weights_reverse
    position = tl.where(direction == 0, step, n - 1 - step)
    towards = tl.where(direction == 0, 1, -1)
    row = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    own = tl.program_id(0) * UNITS + tl.arange(0, UNITS)
    total = tl.zeros((CHUNKS, ROWS, UNITS), grad_gates.dtype.element_ty)
    if step < n - 1:
        behind = (position + towards) * batch + row
        source = grad_gates + ((behind * 2 + direction) * (4 * H))[None, :, None]
        rules = weights + own[None, None, :]
        for block in range(0, 4 * H, CHUNKS * DEPTH):
            line = block + tl.arange(0, CHUNKS)[:, None] * DEPTH + tl.arange(0, DEPTH)[None, :]
            inner = line < 4 * H
            mask = inner[:, None, :] & (row < batch)[None, :, None]
            x = tl.load(source + line[:, None, :], mask=mask, other=0.0)
            mask = inner[:, :, None] & (own < H)[None, None, :]
            total = multiply(x, tl.load(rules + line[:, :, None] * H, mask=mask, other=0.0), total)
    real = (row < batch)[:, None] & (own < H)[None, :]
    here = ((position * batch + row) * 2 + direction)[:, None]
    summary = (row * 2 + direction)[:, None] * H + own
    chosen = real & (tl.load(places + summary, mask=real, other=-1) == position)
    grad = tl.sum(total, 0) + tl.load(grad_largest + summary, mask=chosen, other=0.0)
    gate = gates + here * (4 * H) + own
    enter = tl.load(gate, mask=real, other=0.0)
    forget = tl.load(gate + H, mask=real, other=0.0)
    new = tl.load(gate + 2 * H, mask=real, other=0.0)
    output = tl.load(gate + 3 * H, mask=real, other=0.0)
    cell = tanh(tl.load(cells + here * H + own, mask=real, other=0.0))
    there = (((position - towards) * batch + row) * 2 + direction)[:, None]
    before = tl.load(cells + there * H + own, mask=real & (step > 0), other=0.0)
    carry = carried + summary
    of_cell = grad * output * (1.0 - cell * cell)
    of_cell += tl.load(carry, mask=real & (step < n - 1), other=0.0)
    tl.store(carry, of_cell * forget, mask=real)
    target = grad_gates + here * (4 * H) + own
    tl.store(target, of_cell * new * enter * (1.0 - enter), mask=real)
    tl.store(target + H, of_cell * before * forget * (1.0 - forget), mask=real)
    tl.store(target + 2 * H, of_cell * enter * (1.0 - new * new), mask=real)
    tl.store(target + 3 * H, grad * cell * output * (1.0 - output), mask=real)
