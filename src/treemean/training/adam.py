"""The optimiser Adam. PyTorch's own takes seconds to import, which a run of a small grammar does not have."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from treemean.training.sections import OptimiserConfig


class Adam:
    """Adam with the settings of a configuration; the same updates as `torch.optim.Adam`, to rounding.

    Parameters
    ----------
    parameters : what is changed; one without a gradient stays as it is in a step.
    config : betas, epsilon and weight decay. The rate is given with each step.
    """

    def __init__(self, parameters: Sequence[torch.nn.Parameter], config: OptimiserConfig) -> None:
        self._parameters, self._config = parameters, config
        self._first = [torch.zeros_like(parameter) for parameter in parameters]
        self._second = [torch.zeros_like(parameter) for parameter in parameters]
        self._steps = [0] * len(parameters)

    @property
    def steps(self) -> int:
        """How often parameters were changed."""
        return max(self._steps)

    @torch.no_grad()
    def step(self, rate: float) -> None:
        """Change the parameters by their gradients."""
        (beta1, beta2), decay = self._config.betas, self._config.weight_decay
        for number, (parameter, first, second) in enumerate(zip(self._parameters, self._first, self._second)):
            if parameter.grad is None:
                continue
            gradient = parameter.grad.add(parameter, alpha=decay) if decay else parameter.grad
            self._steps[number] += 1
            step = self._steps[number]
            first.lerp_(gradient, 1 - beta1)
            second.mul_(beta2).addcmul_(gradient, gradient, value=1 - beta2)
            scale = second.sqrt().div_(math.sqrt(1 - beta2**step)).add_(self._config.epsilon)
            parameter.addcdiv_(first, scale, value=-rate / (1 - beta1**step))

    def state(self) -> dict[str, Tensor]:
        """Return the moments and the numbers of steps."""
        tensors = {f"first.{number}": tensor for number, tensor in enumerate(self._first)}
        tensors |= {f"second.{number}": tensor for number, tensor in enumerate(self._second)}
        return tensors | {"steps": torch.tensor(self._steps)}

    def load_state(self, tensors: Mapping[str, Tensor]) -> None:
        """Continue from what `state` returned."""
        for number, (first, second) in enumerate(zip(self._first, self._second)):
            first.copy_(tensors[f"first.{number}"])
            second.copy_(tensors[f"second.{number}"])
        self._steps = tensors["steps"].tolist()
