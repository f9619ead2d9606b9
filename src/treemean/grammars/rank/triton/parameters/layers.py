"""Layers of networks, forward and backward, for E runs at once: fp16 matrices (E, rows, columns)."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from treemean.grammars.gpu.matrices import (
    add_product,
    aligned,
    half_matrix,
    half_product,
    parts,
    precision,
    product,
)
from treemean.grammars.gpu.streams import Streams
from treemean.grammars.gpu.tiles import power, whole_row
from treemean.grammars.rank.triton.parameters import backward_kernels, forward_kernels
from treemean.grammars.rank.triton.parameters.unit_kernels import HIDDEN, LOGITS

_ROWS, _COLUMNS = 32, 256


class Tally:
    """Gradients of parameters by name, still in the units of hidden layers or of logits.

    Products that only parameters wait for run on a side stream, whose operands must not be given back before
    it is waited for.
    """

    def __init__(self, streams: Streams, side: int) -> None:
        self.hidden: dict[str, Tensor] = {}
        self.logits: dict[str, Tensor] = {}
        self._streams, self._side = streams, side
        self._held: list[Tensor] = []

    def layer(
        self,
        name: str,
        gradients: Tensor,
        inputs: Tensor,
        *,
        of_logits: bool = False,
        step: Tensor | None = None,
    ) -> None:
        """Take the gradients of the weights of a layer from those of its results and from its inputs.

        Parameters
        ----------
        step : (E,), what the product of the two has still to be multiplied by.
        """
        self._held += [gradients, inputs] if step is None else [gradients, inputs, step]
        with self._streams.beside(self._side):
            of_weights = product(gradients.mT, inputs)
            if step is not None:
                of_weights *= step[:, None, None]
            (self.logits if of_logits else self.hidden)[f"{name}.weight"] = of_weights


def activate(sums: Tensor, bias: Tensor, *, relu: bool = True, skip: Tensor | None = None) -> Tensor:
    """Return bias and ReLU applied to sums, plus what skipped the layers; in place if nothing did."""
    runs, rows, columns = sums.shape
    result = sums if skip is None else half_matrix(*sums.shape, device=sums.device)
    block = min(_COLUMNS, power(columns))
    forward_kernels.activate[(-(-rows // _ROWS), -(-columns // block), runs)](
        sums=sums,
        bias=bias,
        skip=sums if skip is None else skip,
        result=result,
        rows=rows,
        COLUMNS=columns,
        PITCH=sums.stride(1),
        RELU=relu,
        SKIP=skip is not None,
        BLOCK_ROWS=_ROWS,
        BLOCK_COLUMNS=block,
    )
    return result


def deactivate(
    gradients: Tensor, values: Tensor | None = None, bias: Tensor | None = None, *, in_place: bool = False
) -> tuple[Tensor, Tensor]:
    """Return the gradients of what went into a ReLU, and of its bias (E, columns).

    Parameters
    ----------
    gradients : of the results of the ReLU.
    values : its results or, with a bias, what the bias was added to; None if there was no ReLU.
    in_place : whether the gradients may be overwritten.
    """
    runs, rows, columns = gradients.shape
    block, blocks = min(_COLUMNS, power(columns)), -(-rows // _ROWS)
    result = gradients
    if values is not None and not in_place:
        result = half_matrix(*gradients.shape, device=gradients.device)
    shares = torch.empty(runs, blocks, columns, device=gradients.device)
    backward_kernels.deactivate[(blocks, -(-columns // block), runs)](
        gradients=gradients,
        values=gradients if values is None else values,
        bias=shares if bias is None else bias,
        result=result,
        shares=shares,
        rows=rows,
        blocks=blocks,
        COLUMNS=columns,
        PITCH=gradients.stride(1),
        PITCH_VALUES=0 if values is None else values.stride(1),
        MASK=0 if values is None else 1 if bias is None else 2,
        BLOCK_ROWS=_ROWS,
        BLOCK_COLUMNS=block,
    )
    return result, shares.sum(1)


def split_matrix(matrix: Tensor, *, rest: int = 2, multiple: int = 1) -> Tensor:
    """Return a float32 matrix (E, rows, s) as fp16 in three parts, (E, rows, 3 s): itself twice, and as the
    part of number `rest`, 1 or 2, what rounding took away. Rows of zeros are added up to a `multiple`.

    A product of two such matrices with different `rest` is as exact as one of float32. Where fp16 numbers are
    float32 themselves, there is one part.
    """
    runs, given, columns = matrix.shape
    rows = -(-given // multiple) * multiple
    result = half_matrix(runs, rows, parts() * columns, device=matrix.device)
    forward_kernels.split_rows[(rows, runs)](
        x=matrix,
        result=result,
        rows=rows,
        given=given,
        stride=matrix.stride(0),
        COLUMNS=columns,
        PITCH=result.stride(1),
        REST=rest if parts() > 1 else 0,
        **whole_row(columns),
    )
    return result


def activate_exactly(sums: Tensor, bias: Tensor, *, matrices: int = 1) -> Tensor:
    """Return bias and ReLU applied to float32 sums, as `split_matrix` does.

    The sums may be those of several `matrices` side by side, as are the results then.
    """
    runs, rows, columns = sums.shape
    result = half_matrix(runs, rows, parts() * columns, device=sums.device)
    forward_kernels.activate_exactly[(rows, runs)](
        sums=sums,
        bias=bias,
        result=result,
        rows=rows,
        COLUMNS=columns,
        SIZE=columns // matrices,
        PITCH=result.stride(1),
        REST=2 if parts() > 1 else 0,
        **whole_row(columns),
    )
    return result


def softmax(
    logits: Tensor,
    bias: Tensor | None = None,
    *,
    columns: int | None = None,
    split: bool = False,
    more_rows: bool = False,
) -> Tensor:
    """Return the softmax of float32 rows as scaled fp16; if split, with what rounding took away behind.

    The results have `aligned` columns and, with `more_rows`, rows, filled up with zeros.

    Parameters
    ----------
    columns : how many there really are; the first ones of the logits.
    """
    runs, given, width = logits.shape
    columns = width if columns is None else columns
    rows = aligned(given) if more_rows else given
    result = half_matrix(runs, rows, aligned(columns) * (1 + split), device=logits.device)
    forward_kernels.softmax[(rows, runs)](
        logits=logits,
        bias=logits if bias is None else bias,
        probabilities=result,
        given=given,
        rows=rows,
        COLUMNS=columns,
        PITCH_LOGITS=width,
        PITCH=result.stride(1),
        ALIGNED=aligned(columns),
        BIAS=bias is not None,
        SPLIT=split,
        **whole_row(aligned(columns)),
    )
    return result


def softmax_gradients(
    probabilities: Tensor,
    units: Tensor,
    gradients: Tensor | None = None,
    *,
    shape: tuple[int, int],
    split: bool = False,
    step: Tensor | None = None,
    factors: Tensor | None = None,
    others: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the gradients of the logits of a softmax, as fp16 in the units of logits; see the kernel.

    They have `aligned` columns, filled up with zeros.

    Parameters
    ----------
    probabilities : as by `softmax`.
    units : of the runs.
    gradients : of the probabilities; with a step (E,), times its inverse. There may be more rows and columns.
    shape : the number of rows and columns that there really are.
    split : whether the probabilities are.
    factors, others : (E, count, rows) scaled fp16 and (E, count, columns), if the probabilities were
        multiplied by the factors, and those products have the gradients `others`.

    Returns
    -------
    Also the gradients of the factors.
    """
    runs, (rows, columns) = len(units), shape
    result = half_matrix(runs, rows, aligned(columns), device=units.device)
    count = 0 if factors is None else factors.shape[1]
    shares = torch.empty(runs, count, rows, device=units.device)
    backward_kernels.softmax_gradients[(rows, runs)](
        probabilities=probabilities,
        gradients=units if gradients is None else gradients,
        step=units if step is None else step,
        factors=units if factors is None else factors,
        others=units if others is None else others,
        units=units,
        result=result,
        shares=shares,
        rows=rows,
        lines=probabilities.shape[1],
        lines_of_gradients=0 if gradients is None else gradients.shape[1],
        COLUMNS=columns,
        PITCH=probabilities.stride(1),
        PITCH_GRADIENTS=0 if gradients is None else gradients.stride(1),
        PITCH_RESULT=result.stride(1),
        SPLIT=split,
        FORM=0 if gradients is None else 1 if step is None else 2,
        COUNT=count,
        PITCH_FACTORS=0 if factors is None else factors.stride(1),
        **whole_row(aligned(columns)),
    )
    return result, shares


class Network:
    """A residual network, see `networks.residual_network`, of E runs.

    Parameters
    ----------
    prefix : the name of the network among the parameters.
    parameters : all, by name, in float32.
    """

    def __init__(self, prefix: str, parameters: Mapping[str, Tensor]) -> None:
        self._parameters = parameters
        self._first = f"{prefix}.0"
        self._blocks, self._last = [], ""
        number = 1
        while f"{prefix}.{number}.layers.0.weight" in parameters:
            name = f"{prefix}.{number}.layers"
            self._blocks.append((f"{name}.0", f"{name}.2"))
            number += 1
        if f"{prefix}.{number}.weight" in parameters:
            self._last = f"{prefix}.{number}"

    def _weight(self, layer: str) -> Tensor:
        return self._parameters[f"{layer}.weight"]

    def _bias(self, layer: str) -> Tensor:
        return self._parameters[f"{layer}.bias"]

    def forward(self, x: Tensor) -> Tensor:
        """Return the result of the last block (E, rows, size), and remember what gradients need."""
        self._input = x
        x = activate(half_product(x, self._weight(self._first).mT), self._bias(self._first), relu=False)
        self._tape = []
        for first, second in self._blocks:
            inner = activate(half_product(x, self._weight(first).mT), self._bias(first))
            sums = half_product(inner, self._weight(second).mT)
            self._tape.append((x, inner, sums))
            x = activate(sums, self._bias(second), skip=x)
        self._output = x
        return x

    def probabilities(self, x: Tensor) -> Tensor:
        """Return the softmax of the last layer, as scaled fp16; see `softmax`."""
        return softmax(product(self.forward(x), self._weight(self._last).mT), self._bias(self._last))

    def backward_from_logits(self, gradients: Tensor, tally: Tally) -> Tensor:
        """Take the gradients of the logits of the last layer back; see `backward`."""
        tally.layer(self._last, gradients, self._output, of_logits=True)
        tally.logits[f"{self._last}.bias"] = gradients.sum(1, dtype=torch.float32)
        scale = 2.0 ** (HIDDEN - LOGITS)
        return self.backward(half_product(gradients, self._weight(self._last), scale=scale), tally)

    def backward(self, gradients: Tensor, tally: Tally) -> Tensor:
        """Return the gradients (float32) of the input, in the units of hidden layers.

        Parameters
        ----------
        gradients : of the result of the last block, as fp16; they are overwritten.
        tally : where those of the parameters go.
        """
        for (first, second), (x, inner, sums) in zip(reversed(self._blocks), reversed(self._tape)):
            outer, of_bias = deactivate(gradients, sums, self._bias(second))
            tally.hidden[f"{second}.bias"] = of_bias
            tally.layer(second, outer, inner)
            within = half_product(outer, self._weight(second))
            within, of_bias = deactivate(within, inner, in_place=True)
            tally.hidden[f"{first}.bias"] = of_bias
            tally.layer(first, within, x)
            gradients = add_product(gradients, within, self._weight(first))
        _, tally.hidden[f"{self._first}.bias"] = deactivate(gradients)
        tally.layer(self._first, gradients, self._input)
        return product(gradients, self._weight(self._first))


class SmallNetwork(Network):
    """A residual network of few rows, in float32.

    That costs next to nothing, and what such a network decides is used so much more than it is looked at that
    fp16 numbers would not do for its gradients.
    """

    def probabilities(self, x: Tensor) -> Tensor:
        """Return the softmax of the last layer, scaled like fp16, but in float32, for (E, rows, s)."""
        with precision(torch.float32):
            return super().probabilities(x)

    def backward_from_logits(self, gradients: Tensor, tally: Tally) -> Tensor:
        """Take the gradients of the logits, in float32, back; see `Network`."""
        with precision(torch.float32):
            return super().backward_from_logits(gradients, tally)
