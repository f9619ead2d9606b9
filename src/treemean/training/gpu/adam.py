"""Adam for several runs side by side, whose rates and decisions are numbers on the device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from treemean.training.sections import OptimiserConfig


class StackedAdam:
    """Adam with PyTorch's fused kernels. A run's state has the same form as that of `training.adam.Adam`.

    Parameters
    ----------
    parameters : each (E, …) for E runs; they are changed in place.
    config : betas, epsilon and weight decay.
    """

    def __init__(self, parameters: Sequence[Tensor], config: OptimiserConfig) -> None:
        runs, device = len(parameters[0]), parameters[0].device
        self._config = config
        self._first = [torch.zeros_like(parameter) for parameter in parameters]
        self._second = [torch.zeros_like(parameter) for parameter in parameters]
        self._steps = torch.zeros(runs, device=device)
        self._of_runs = [
            tuple([tensor[run] for tensor in tensors] for tensors in (parameters, self._first, self._second))
            for run in range(runs)
        ]

    @torch.no_grad()
    def step(
        self, gradients: Mapping[int, Sequence[Tensor]], rates: Tensor, scales: Tensor, skips: Tensor
    ) -> None:
        """Change the parameters of some runs.

        Parameters
        ----------
        gradients : of each of them, by its place; they are used up. All other runs must be skipped.
        rates : float32 (E,).
        scales : float32 (E,), by which the gradients of a run are divided.
        skips : float32 (E,), 1 where nothing must change and 0 elsewhere.
        """
        self._steps += 1 - skips
        for run, own in gradients.items():
            parameters, first, second = self._of_runs[run]
            torch._fused_adam_(
                parameters,
                list(own),
                first,
                second,
                [],
                [self._steps[run]] * len(parameters),
                lr=rates[run],
                beta1=self._config.betas[0],
                beta2=self._config.betas[1],
                weight_decay=self._config.weight_decay,
                eps=self._config.epsilon,
                amsgrad=False,
                maximize=False,
                grad_scale=scales[run],
                found_inf=skips[run],
            )

    def state(self, run: int) -> dict[str, Tensor]:
        """Return the moments and the numbers of steps of a run."""
        _, first, second = self._of_runs[run]
        steps = self._steps[run].long().expand(len(first))
        return _numbered("first", first) | _numbered("second", second) | {"steps": steps}

    def load_state(self, run: int, tensors: Mapping[str, Tensor]) -> None:
        """Continue a run from what `state` returned, in place."""
        _, first, second = self._of_runs[run]
        for name, tensor in (_numbered("first", first) | _numbered("second", second)).items():
            tensor.copy_(tensors[name])
        self._steps[run] = tensors["steps"].max()


def _numbered(name: str, tensors: Sequence[Tensor]) -> dict[str, Tensor]:
    return {f"{name}.{number}": tensor for number, tensor in enumerate(tensors)}
