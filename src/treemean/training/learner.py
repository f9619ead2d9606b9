"""One optimisation step, as the training loop sees it, and the plain way to make one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from treemean.grammars import Grammar
from treemean.grammars.charts.weights import SpanWeights
from treemean.training.adam import Adam
from treemean.training.distributed import World
from treemean.training.gradients import differentiate, differentiate_exactly
from treemean.training.schedule import least_weight
from treemean.training.sections import TrainingConfig


@dataclass(frozen=True)
class Request:
    """What the loop asks for: one step on one batch.

    Parameters
    ----------
    words : int64 (B, n) on the CPU, padded with zeros.
    lengths : int64 (B,), None if all sentences have n words.
    count : the number of words, padding apart.
    rate : the learning rate.
    limit : the highest objective per word that is believed; above it nothing must be learnt from the batch.
    step : the number of the step in its run, from 0, by which runs that are trained together keep together.
    exact : whether it must be computed in full precision, however long that takes.
    weights : of spans of the sentences, for runs that are guided.
    """

    words: Tensor
    lengths: Tensor | None
    count: int
    rate: float
    limit: float
    step: int = 0
    exact: bool = False
    weights: SpanWeights | None = None


class StepOutcome:
    """The places in what a step returns: a tensor of four numbers, on any device, read later by the loop.

    `LIKELIHOOD` and `DIVERGENCE` are sums over the batch in nats (the negative log-likelihood, and for C-
    models the divergence), `NORM` is the norm of the gradient before clipping, and `APPLIED` is 1 if the
    step was made and 0 if it was left out, because the objective was over the limit or something not finite.
    """

    LIKELIHOOD, DIVERGENCE, NORM, APPLIED = range(4)


class Learner(Protocol):
    """Parameters and their optimiser. How a step is computed is nobody else's business."""

    grammar: Grammar

    def step(self, request: Request) -> Tensor:
        """Make a step, or leave it out and change no parameter; return its outcome, see `StepOutcome`."""

    def evaluated(self) -> AbstractContextManager[Grammar]:
        """Lend the grammar with the parameters to be measured and kept: averaged ones, if so configured."""

    def state(self) -> dict[str, Tensor]:
        """Return all that later steps depend on: parameters, optimiser, averages, random generators."""

    def load_state(self, tensors: Mapping[str, Tensor]) -> None:
        """Continue from what `state` returned."""


class EagerLearner:
    """A `Learner` that computes each step as PyTorch comes to it, on any device.

    Parameters
    ----------
    grammar : the grammar, on its device.
    config : optimiser and batches.
    seed : of what the grammar draws while it learns (the sentence vectors of C- models).
    world : the processes that share each batch.
    """

    def __init__(self, grammar: Grammar, config: TrainingConfig, *, seed: int, world: World) -> None:
        self.grammar = grammar
        self._optimiser_config, self._at_once = config.optimiser, config.batches.at_once
        self._world = world
        self._parameters = list(grammar.parameters())
        self._adam = Adam(self._parameters, config.optimiser)
        self._generator = torch.Generator(self._parameters[0].device).manual_seed(seed)
        self._average = [p.detach().clone() for p in self._parameters] if config.optimiser.average else []

    def step(self, request: Request) -> Tensor:
        """Make a step; see `Learner`."""
        self.grammar.zero_grad(set_to_none=True)
        sums = self._world.sum_gradients(self._parameters, self._backward(request))
        norm = torch.nn.utils.clip_grad_norm_(self._parameters, self._optimiser_config.clip)
        objective = float(sums.sum()) / request.count
        # A sentence of infinite loss has no gradient, and a limit can be infinite, too.
        finite = math.isfinite(objective) and bool(torch.isfinite(norm))
        applied = finite and objective <= request.limit
        if applied:
            self._adam.step(request.rate)
            self._update_average()
        likelihood, divergence = sums.tolist()
        return torch.tensor([likelihood, divergence, float(norm), float(applied)], dtype=torch.float64)

    def _backward(self, request: Request) -> Tensor:
        """Add the gradient of this process's share of the batch, and return the sums of its two losses."""
        mine = torch.arange(self._world.rank, len(request.words), self._world.size)
        if request.exact:
            return differentiate_exactly(self.grammar, request, mine, self._generator)
        return differentiate(self.grammar, request, mine, self._at_once, self._generator)

    @torch.no_grad()
    def _update_average(self) -> None:
        weight = max(1 - self._optimiser_config.average, least_weight(self._adam.steps))
        for average, parameter in zip(self._average, self._parameters):
            average.lerp_(parameter, weight)

    @contextmanager
    def evaluated(self) -> Iterator[Grammar]:
        """Lend the grammar to be measured; see `Learner`."""
        current = [p.detach().clone() for p in self._parameters] if self._average else []
        self._assign(self._average)
        self.grammar.eval()
        try:
            yield self.grammar
        finally:
            self._assign(current)
            self.grammar.train()

    @torch.no_grad()
    def _assign(self, values: list[Tensor]) -> None:
        for parameter, value in zip(self._parameters, values):
            parameter.copy_(value)

    def state(self) -> dict[str, Tensor]:
        """Return everything; see `Learner`."""
        tensors = {f"grammar.{name}": tensor for name, tensor in self.grammar.state_dict().items()}
        tensors |= {f"optimiser.{name}": tensor for name, tensor in self._adam.state().items()}
        tensors |= {f"average.{number}": value for number, value in enumerate(self._average)}
        tensors["random.generator"] = self._generator.get_state()
        tensors["random.cpu"] = torch.get_rng_state()
        return tensors

    def load_state(self, tensors: Mapping[str, Tensor]) -> None:
        """Continue from a state; see `Learner`."""
        self.grammar.load_state_dict(below("grammar.", tensors))
        self._adam.load_state(below("optimiser.", tensors))
        for number, value in enumerate(self._average):
            value.copy_(tensors[f"average.{number}"])
        self._generator.set_state(tensors["random.generator"])
        torch.set_rng_state(tensors["random.cpu"])


def below(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the tensors whose names begin with a prefix, without it."""
    return {key.removeprefix(prefix): tensor for key, tensor in tensors.items() if key.startswith(prefix)}
