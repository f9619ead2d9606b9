"""An LSTM of two directions over sentences of one length."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn.functional import linear

from treemean.grammars.compound import lstm_kernels

#: Sentences and units that a program handles, and how it divides sums; see `lstm_kernels`.
_ROWS, _UNITS, _CHUNKS, _DEPTH = 32, 8, 8, 64


def largest_states(lstm: nn.LSTM, vectors: Tensor) -> Tensor:
    """Return the largest states of a bidirectional LSTM of one layer, (B, 2 H), differentiable.

    Takes one launch for each word, as much again for gradients; cuDNN takes four.

    Parameters
    ----------
    vectors : (n, B, size) of the words.
    """
    ends = ("", "_reverse")
    weights, biases, recurrent = (
        torch.cat([getattr(lstm, f"weight_ih_l0{end}") for end in ends]),
        torch.cat([getattr(lstm, f"bias_ih_l0{end}") + getattr(lstm, f"bias_hh_l0{end}") for end in ends]),
        torch.stack([getattr(lstm, f"weight_hh_l0{end}") for end in ends]),
    )
    states: Tensor = _Recurrence.apply(linear(vectors, weights, biases), recurrent)  # type: ignore[no-untyped-call]
    return states.flatten(2).amax(0)


def _options(batch: int, units: int) -> tuple[tuple[int, int, int], dict[str, int]]:
    """Return the programs of a step, and sizes of its tiles."""
    return (-(-units // _UNITS), -(-batch // _ROWS), 2), {
        "H": units,
        "ROWS": _ROWS,
        "UNITS": _UNITS,
        "CHUNKS": _CHUNKS,
        "DEPTH": _DEPTH,
        "num_warps": _CHUNKS,
    }


class _Recurrence(torch.autograd.Function):
    """From what the words add to the gates, (n, B, 8 H), and weights (2, 4 H, H) to states (n, B, 2, H)."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, weights: Tensor) -> Tensor:
        n, batch, _ = inputs.shape
        units = weights.shape[-1]
        gates = torch.empty(n, batch, 2, 4 * units, dtype=inputs.dtype, device=inputs.device)
        cells, states = (
            torch.empty(n, batch, 2, units, dtype=inputs.dtype, device=inputs.device) for _ in range(2)
        )
        programs, options = _options(batch, units)
        inputs = inputs.contiguous()
        for step in range(n):
            lstm_kernels.advance[programs](inputs, weights, gates, cells, states, step, n, batch, **options)
        ctx.save_for_backward(weights, gates, cells, states)
        return states

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
        weights, gates, cells, states = ctx.saved_tensors
        n, batch, _, units = states.shape
        carried = torch.empty_like(states[0])
        of_gates = torch.empty_like(gates)
        programs, options = _options(batch, units)
        grad = grad.contiguous()
        for step in range(n - 1, -1, -1):
            lstm_kernels.retreat[programs](
                grad, weights, gates, cells, carried, of_gates, step, n, batch, **options
            )
        of_weights = torch.zeros_like(weights)
        if n > 1:
            for direction, (at, before) in enumerate(
                ((slice(1, n), slice(n - 1)), (slice(n - 1), slice(1, n)))
            ):
                rows = of_gates[at, :, direction].flatten(0, 1)
                torch.mm(rows.T, states[before, :, direction].flatten(0, 1), out=of_weights[direction])
        return of_gates.flatten(2), of_weights
