"""An LSTM of two directions over sentences of one length."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from treemean.grammars.dense.triton.compound import lstm_kernels
from treemean.grammars.dense.triton.compound.parallel_networks import Aside
from treemean.grammars.gpu.tiles import check_reach

#: Sentences and units that a program handles.
_ROWS, _UNITS = 32, 8
#: How a program divides sums, see `lstm_kernels`: CHUNKS and DEPTH, forward and back.
_ADVANCE, _RETREAT = (4, 64), (8, 32)

#: The parameters of the LSTM, each followed by that of the second direction.
_PARAMETERS = [
    f"{name}_l0{end}" for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh") for end in ("", "_reverse")
]


def largest_states(lstm: nn.LSTM, vectors: Tensor) -> Tensor:
    """Return the largest states of a bidirectional LSTM of one layer, (B, 2 H), differentiable.

    Takes one launch for each word, as much again for gradients; cuDNN takes four.

    Parameters
    ----------
    vectors : (n, B, size) of the words.
    """
    parameters = [getattr(lstm, name) for name in _PARAMETERS]
    result: Tensor = _LargestStates.apply(vectors, *parameters)  # type: ignore[no-untyped-call]
    return result


def _options(
    batch: int, units: int, division: tuple[int, int]
) -> tuple[tuple[int, int, int], dict[str, int]]:
    """Return the programs of a step, and sizes of its tiles."""
    chunks, depth = division
    return (-(-units // _UNITS), -(-batch // _ROWS), 2), {
        "H": units,
        "ROWS": _ROWS,
        "UNITS": _UNITS,
        "CHUNKS": chunks,
        "DEPTH": depth,
        "num_warps": chunks,
    }


class _LargestStates(torch.autograd.Function):
    """From vectors (n, B, size) and parameters, in the order of `_PARAMETERS`, to the largest states."""

    @staticmethod
    def forward(ctx: Any, vectors: Tensor, *parameters: Tensor) -> Tensor:
        n, batch, size = vectors.shape
        first, second, weights, weights_reverse, *biases = (part.contiguous() for part in parameters)
        input_bias, input_bias_reverse, state_bias, state_bias_reverse = biases
        units = weights.shape[-1]
        check_reach(batch, n, numbers=n * batch * 2 * 4 * units)
        gates, inputs = (vectors.new_empty(n, batch, 2, 4 * units) for _ in range(2))
        cells, states = (vectors.new_empty(n, batch, 2, units) for _ in range(2))
        flat = vectors.reshape(n * batch, size)
        aside = Aside(vectors.device)
        with aside.block():
            torch.mm(flat, second.T, out=inputs.flatten(0, 1)[:, 1])
        torch.mm(flat, first.T, out=inputs.flatten(0, 1)[:, 0])
        aside.join()
        largest = vectors.new_empty(batch, 2 * units)
        places = torch.empty(batch, 2 * units, dtype=torch.int32, device=vectors.device)
        programs, options = _options(batch, units, _ADVANCE)
        for step in range(n):
            lstm_kernels.advance[programs](
                inputs=inputs,
                weights=weights,
                weights_reverse=weights_reverse,
                input_bias=input_bias,
                input_bias_reverse=input_bias_reverse,
                state_bias=state_bias,
                state_bias_reverse=state_bias_reverse,
                gates=gates,
                cells=cells,
                states=states,
                largest=largest,
                places=places,
                step=step,
                n=n,
                batch=batch,
                **options,
            )
        ctx.save_for_backward(flat, first, second, weights, weights_reverse, gates, cells, states, places)
        return largest

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, ...]:
        flat, first, second, weights, weights_reverse, gates, cells, states, places = ctx.saved_tensors
        n, batch, _, units = states.shape
        carried = torch.empty_like(states[0])
        of_gates = torch.empty_like(gates)
        programs, options = _options(batch, units, _RETREAT)
        grad = grad.contiguous()
        for step in range(n - 1, -1, -1):
            lstm_kernels.retreat[programs](
                grad_largest=grad,
                places=places,
                weights=weights,
                weights_reverse=weights_reverse,
                gates=gates,
                cells=cells,
                carried=carried,
                grad_gates=of_gates,
                step=step,
                n=n,
                batch=batch,
                **options,
            )
        each, aside = of_gates.flatten(0, 1), Aside(grad.device)
        of_inputs, of_recurrent = (grad.new_empty(2, *part.shape) for part in (first, weights))
        of_biases = grad.new_empty(2, 2, 4 * units)
        with aside.block(0):
            torch.bmm(each.permute(1, 2, 0), flat.expand(2, -1, -1), out=of_inputs)
            # The gradients of both biases are the same numbers, but must not be the same memory.
            torch.sum(each.expand(2, -1, -1, -1), 1, out=of_biases)
        with aside.block(1):
            ways = (of_gates[1:, :, 0], states[:-1, :, 0]), (of_gates[:-1, :, 1], states[1:, :, 1])
            for result, (rows, before) in zip(of_recurrent, ways):
                torch.mm(rows.flatten(0, 1).T, before.flatten(0, 1), out=result)
        of_vectors = torch.mm(each[:, 0], first).addmm_(each[:, 1], second)
        aside.join()
        return of_vectors.view(n, batch, -1), *of_inputs, *of_recurrent, *of_biases.flatten(0, 1)
