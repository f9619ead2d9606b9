"""Adam for several runs side by side, whose rates and decisions are numbers on the device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from treemean.training.sections import OptimiserConfig


class StackedAdam:
    """Adam with fused kernels. A run's state has the same form as that of `training.adam.Adam`.

    Where the gradients of several runs are parts of one tensor on a GPU, as those of our kernels are, one of
    these takes all runs at once; otherwise PyTorch's takes one run after the other.

    Parameters
    ----------
    parameters : each (E, …) for E runs; they are changed in place.
    config : betas, epsilon and weight decay.

    Attributes
    ----------
    steps : float32 (E,), how often the parameters of each run were changed.
    """

    def __init__(self, parameters: Sequence[Tensor], config: OptimiserConfig) -> None:
        runs, device = len(parameters[0]), parameters[0].device
        self._config, self._parameters = config, list(parameters)
        self._has_kernel = runs > 1 and _has_kernel(parameters[0])
        self._first = [torch.zeros_like(parameter) for parameter in parameters]
        self._second = [torch.zeros_like(parameter) for parameter in parameters]
        self.steps = torch.zeros(runs, device=device)
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
        self.steps += 1 - skips
        every = [gradients[run] for run in range(len(self._of_runs)) if run in gradients]
        if self._has_kernel and len(every) == len(self._of_runs) and all(map(_in_one_piece, zip(*every))):
            self._step_together(every[0], rates, scales, skips)
            return
        for run, own in gradients.items():
            parameters, first, second = self._of_runs[run]
            torch._fused_adam_(
                parameters,
                list(own),
                first,
                second,
                [],
                [self.steps[run]] * len(parameters),
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

    def _step_together(
        self, gradients: Sequence[Tensor], rates: Tensor, scales: Tensor, skips: Tensor
    ) -> None:
        """Change the parameters of all runs; the gradients are those of the first, before those of others."""
        from treemean.training.gpu import adam_kernel

        (beta1, beta2), steps = self._config.betas, self.steps.double()
        corrected = rates / (1 - beta1**steps), (1 - beta2**steps).sqrt()
        factors = torch.stack([skips, scales, *corrected], 1).float()
        for tensors in zip(self._parameters, gradients, self._first, self._second, strict=True):
            size = tensors[1].numel()
            adam_kernel.adam[(-(-size // adam_kernel.AT_ONCE), len(factors))](
                *tensors,
                factors,
                size,
                NEW1=1 - beta1,
                NEW2=1 - beta2,
                EPSILON=self._config.epsilon,
                DECAY=self._config.weight_decay,
                BLOCK=adam_kernel.AT_ONCE,
            )

    def state(self, run: int) -> dict[str, Tensor]:
        """Return the moments and the numbers of steps of a run."""
        _, first, second = self._of_runs[run]
        steps = self.steps[run].long().expand(len(first))
        return _numbered("first", first) | _numbered("second", second) | {"steps": steps}

    def load_state(self, run: int, tensors: Mapping[str, Tensor]) -> None:
        """Continue a run from what `state` returned, in place."""
        _, first, second = self._of_runs[run]
        for name, tensor in (_numbered("first", first) | _numbered("second", second)).items():
            tensor.copy_(tensors[name])
        self.steps[run] = tensors["steps"].max()


def _has_kernel(parameter: Tensor) -> bool:
    return parameter.is_cuda and parameter.dtype == torch.float32


def _in_one_piece(tensors: Sequence[Tensor]) -> bool:
    """Tell whether tensors are parts of one, each right behind the one before."""
    start, size, whole = tensors[0].data_ptr(), tensors[0].nbytes, tensors[0].untyped_storage().data_ptr()
    return all(
        tensor.is_contiguous()
        and tensor.data_ptr() == start + number * size
        and tensor.untyped_storage().data_ptr() == whole
        for number, tensor in enumerate(tensors)
    )


def _numbered(name: str, tensors: Sequence[Tensor]) -> dict[str, Tensor]:
    return {f"{name}.{number}": tensor for number, tensor in enumerate(tensors)}
