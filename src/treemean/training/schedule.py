"""The learning rate over time, and what the latest parameters weigh in an average of them."""

from __future__ import annotations

import math
from typing import TypeVar

from torch import Tensor

from treemean.training.sections import OptimiserConfig

Number = TypeVar("Number", float, Tensor)


def learning_rate(config: OptimiserConfig, step: int, total: int) -> float:
    """Return the learning rate of a step.

    It rises linearly over the first `warm_up` steps, and then stays, or falls linearly or like half a cosine
    to `final` of its height at the last step.

    Parameters
    ----------
    step : from 0.
    total : how many steps there are if training is not stopped early.

    >>> config = OptimiserConfig(rate=1.0, schedule="linear", warm_up=2, final=0.5)
    >>> [learning_rate(config, step, 7) for step in range(7)]
    [0.5, 1.0, 1.0, 0.875, 0.75, 0.625, 0.5]
    """
    if step < config.warm_up:
        return config.rate * (step + 1) / config.warm_up
    if config.schedule == "constant":
        return config.rate
    gone = min(1.0, (step - config.warm_up) / max(1, total - 1 - config.warm_up))
    height = 1 - gone if config.schedule == "linear" else (1 + math.cos(math.pi * gone)) / 2
    return config.rate * (config.final + (1 - config.final) * height)


def least_weight(steps: Number) -> Number:
    """Return what the parameters after some steps weigh at least in their average over steps.

    Without it the average would be made of the parameters at the beginning for as many steps as it looks
    back; they are worth nothing.

    >>> least_weight(0), least_weight(90)
    (0.9, 0.09)
    """
    return 9 / (10 + steps)
