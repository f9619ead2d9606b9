"""A residual network whose values may outgrow fp16 numbers, forward and backward; see `scaled_kernels`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from treemean.grammars.gpu.matrices import half_matrix, parts, product, whole_part
from treemean.grammars.gpu.tiles import power, whole_row
from treemean.grammars.rank.triton.parameters import scaled_kernels
from treemean.grammars.rank.triton.parameters.layers import Network, Tally, split_matrix

_ROWS, _COLUMNS = 32, 256


@dataclass(frozen=True)
class Layer:
    """Results of a layer as by `split_matrix`, (E, rows, 3 s), to be multiplied by scales (E, rows)."""

    split: Tensor
    scales: Tensor

    @property
    def halves(self) -> Tensor:
        """The results as fp16, (E, rows, s), still without their scales."""
        return whole_part(self.split)


@dataclass(frozen=True)
class Fitted:
    """Gradients as fp16 (E, rows, s), to be multiplied by a step (E,) and divided by scales, if any."""

    halves: Tensor
    step: Tensor
    scales: Tensor | None


@dataclass(frozen=True)
class Rectifier:
    """What tells where a ReLU let something through: its results, or sums, their scales, and the bias."""

    values: Tensor
    scales: Tensor | None = None
    bias: Tensor | None = None


class ScaledNetwork(Network):
    """A residual network whose results are as exact as in float32, though its gradients are fp16 numbers.

    What rounding does to them would show in log Z: no sum over symbols averages it out.

    Attributes
    ----------
    vectors : (E, rows, s), what it made of its inputs, as fp16 times `VECTOR_SCALE`.
    """

    vectors: Tensor

    def __init__(self, prefix: str, parameters: Mapping[str, Tensor]) -> None:
        super().__init__(prefix, parameters)
        self._split: dict[str, Tensor] = {}

    def _weight(self, layer: str) -> Tensor:
        return whole_part(self._split[layer])

    def scaled(self, split: Tensor) -> Layer:
        """Return the result of the last block for what `split_matrix` made of (E, rows, s)."""
        self._input = whole_part(split)
        layer = self._activate(self._product(split, self._first), None, self._first, relu=False)
        self._layers = []
        for number, (first, second) in enumerate(self._blocks, 1):
            inner = self._activate(self._product(layer.split, first), layer.scales, first)
            sums = self._product(inner.split, second)
            self._layers.append((layer, inner, sums))
            last = number == len(self._blocks)
            layer = self._activate(sums, inner.scales, second, skip=layer, last=last)
        return layer

    def _product(self, split: Tensor, layer: str) -> Tensor:
        weights = self._split[layer] = split_matrix(self._parameters[f"{layer}.weight"], rest=1)
        return product(split, weights.mT)

    def _activate(
        self,
        sums: Tensor,
        scales: Tensor | None,
        name: str,
        *,
        relu: bool = True,
        skip: Layer | None = None,
        last: bool = False,
    ) -> Layer:
        runs, rows, columns = sums.shape
        result = half_matrix(runs, rows, parts() * columns, device=sums.device)
        result_scales = torch.empty(runs, rows, device=sums.device)
        if last:
            self.vectors = half_matrix(runs, rows, columns, device=sums.device)
        scaled_kernels.activate_scaled[(rows, runs)](
            sums=sums,
            sum_scales=sums if scales is None else scales,
            bias=self._bias(name),
            skip=result if skip is None else skip.split,
            skip_scales=sums if skip is None else skip.scales,
            result=result,
            result_scales=result_scales,
            vectors=self.vectors if last else result,
            rows=rows,
            COLUMNS=columns,
            PITCH=result.stride(1),
            PITCH_VECTORS=self.vectors.stride(1) if last else 0,
            SCALED=scales is not None,
            RELU=relu,
            SKIP=skip is not None,
            LAST=last,
            REST=2 if parts() > 1 else 0,
            **whole_row(columns),
        )
        return Layer(result, result_scales)

    def backward(self, gradients: Tensor, tally: Tally) -> Tensor:
        """Return the gradients (float32) of the input, in the units of hidden layers.

        Parameters
        ----------
        gradients : of the result of the last block, float32 (E, rows, s); they are overwritten.
        tally : where those of the parameters go.
        """
        more: tuple[Tensor, Fitted] | None = None
        for (first, second), (x, inner, sums) in zip(reversed(self._blocks), reversed(self._layers)):
            rectifier = Rectifier(sums, inner.scales, self._bias(second))
            outer, tally.hidden[f"{second}.bias"] = fitted(
                gradients, more=more, scales=inner.scales, rectifier=rectifier
            )
            tally.layer(second, outer.halves, inner.halves, step=outer.step)
            within, tally.hidden[f"{first}.bias"] = fitted(
                product(outer.halves, self._weight(second)),
                own=outer,
                scales=x.scales,
                rectifier=Rectifier(inner.halves),
            )
            tally.layer(first, within.halves, x.halves, step=within.step)
            more = product(within.halves, self._weight(first)), within
        last, tally.hidden[f"{self._first}.bias"] = fitted(gradients, more=more)
        tally.layer(self._first, last.halves, self._input, step=last.step)
        return product(last.halves, self._weight(self._first)) * last.step[:, None, None]


def fitted(
    gradients: Tensor,
    *,
    own: Fitted | None = None,
    more: tuple[Tensor, Fitted] | None = None,
    scales: Tensor | None = None,
    rectifier: Rectifier | None = None,
) -> tuple[Fitted, Tensor]:
    """Return gradients as fp16 that use their range, and the sum over rows of the gradients, (E, s).

    Parameters
    ----------
    gradients : (E, rows, s), float32; if there is more, that is added to them in place.
    own : what the gradients were multiplied from, whose step and scales they still have.
    more : the same of what is to be added.
    scales : (E, rows) that the results shall have.
    rectifier : of a ReLU on the way.
    """
    runs, rows, columns = gradients.shape
    device = gradients.device
    peaks = torch.empty(runs, rows, device=device)
    own_scales = None if own is None else own.scales
    more_scales = None if more is None else more[1].scales
    assert (own is None) == (own_scales is None)
    assert (more is None) == (more_scales is None)
    unused = gradients
    scaled_kernels.add_and_find_peaks[(rows, runs)](
        x=gradients,
        more=unused if more is None else more[0],
        more_step=unused if more is None else more[1].step,
        more_scales=unused if more_scales is None else more_scales,
        own_scales=unused if own_scales is None else own_scales,
        wanted_scales=unused if scales is None else scales,
        peaks=peaks,
        rows=rows,
        COLUMNS=columns,
        ADD=more is not None,
        OWN=own is not None,
        WANTED=scales is not None,
        **whole_row(columns),
    )
    block, blocks = min(_COLUMNS, power(columns)), -(-rows // _ROWS)
    result = half_matrix(runs, rows, columns, device=device)
    step = torch.empty(runs, device=device)
    shares = torch.empty(runs, blocks, columns, device=device)
    values = None if rectifier is None else rectifier.values
    value_scales, bias = (None, None) if rectifier is None else (rectifier.scales, rectifier.bias)
    scaled_kernels.fit[(blocks, -(-columns // block), runs)](
        x=gradients,
        own_step=unused if own is None else own.step,
        own_scales=unused if own_scales is None else own_scales,
        wanted_scales=unused if scales is None else scales,
        peaks=peaks,
        values=unused if values is None else values,
        value_scales=unused if value_scales is None else value_scales,
        bias=unused if bias is None else bias,
        result=result,
        step=step,
        shares=shares,
        rows=rows,
        blocks=blocks,
        COLUMNS=columns,
        PITCH=result.stride(1),
        PITCH_VALUES=0 if values is None else values.stride(1),
        OWN=own is not None,
        WANTED=scales is not None,
        MASK=0 if values is None else 1 if bias is None else 2,
        BLOCK_ROWS=_ROWS,
        BLOCK_COLUMNS=block,
        ALL_ROWS=power(rows),
    )
    return Fitted(result, step, scales), shares.sum(1)
