"""Several runs that take each step together: their parameters, their optimisers, and the step."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor

from treemean.errors import InvalidOption
from treemean.grammars import Grammar
from treemean.training.gpu.adam import StackedAdam
from treemean.training.gpu.graphs import Graphs
from treemean.training.gpu.inputs import Inputs, blank_inputs, stack_requests
from treemean.training.gpu.objective import objective_of
from treemean.training.gradients import differentiate_exactly
from treemean.training.learner import Request, below
from treemean.training.schedule import least_weight
from treemean.training.sections import TrainingConfig, flat

#: Added to the norm of a gradient before it is compared with the largest one allowed, as PyTorch does.
_TINY = 1e-6
#: What runs that are trained together must have in common: sections or settings.
_COMMON = (
    *("grammar", "batches.size", "batches.at_once", "training.precision", "training.device"),
    *("optimiser.betas", "optimiser.epsilon", "optimiser.weight_decay"),
)


class StackedLearner:
    """The parameters of E runs side by side, and steps of all of them at once.

    Each run has its own batch, optimiser, rate, clipping and average of weights. Whether a step counts is
    decided for each run on the device, so that nothing waits for it: where the objective is over the limit or
    something is not finite, that run's step is left out. On a GPU each step is one CUDA graph, but for
    sentences of different lengths with C- grammars.

    Parameters
    ----------
    grammars : E grammars on their device, as they are at the beginning of their runs. Afterwards their
        parameters are parts of the common tensors.
    configs : of the runs. They may differ in rates, schedules, clipping and averaging, and in everything that
        steps do not depend on.
    """

    def __init__(self, grammars: Sequence[Grammar], configs: Sequence[TrainingConfig]) -> None:
        _check_common(configs)
        config = self._config = configs[0]
        self._guided = bool(config.data.guides)
        self.grammars = list(grammars)
        at_once = config.batches.at_once or config.batches.size
        self._parts = -(-config.batches.size // at_once)
        self._at_once, self._size = at_once, self._parts * at_once
        names = [name for name, _ in grammars[0].named_parameters()]
        shared = [_share(same) for same in zip(*(grammar.parameters() for grammar in grammars))]
        self._stacked, self.device = shared, shared[0].device
        self._objective = objective_of(self.grammars, dict(zip(names, shared)))
        self._clips = self._constants(c.optimiser.clip for c in configs)
        self._news = self._constants(1 - c.optimiser.average for c in configs)
        averaged = any(c.optimiser.average for c in configs)
        self._averages = [tensor.clone() for tensor in self._stacked] if averaged else []
        self._adam = StackedAdam(self._stacked, config.optimiser)
        self._draws, self._told = config.grammar.is_compound, False
        where = self.device if self._draws else torch.device("cpu")
        self.generators = [torch.Generator(where).manual_seed(c.run.init_seed) for c in configs]
        if self._draws:
            # cuDNN would have the weights of an LSTM in one piece, but here runs lie side by side.
            warnings.filterwarnings("ignore", message="RNN module weights are not part of single contiguous")
        drawn = self.generators if self._draws else []
        self._graphs = Graphs(self._learn, drawn) if self.device.type == "cuda" else None

    def _constants(self, values: Iterable[float]) -> Tensor:
        return torch.tensor(list(values), dtype=torch.float64, device=self.device)

    def __len__(self) -> int:
        return len(self.grammars)

    def run(self, place: int) -> RunLearner:
        """Return one of the runs, by its place from 0, as the loop of that run sees it."""
        return RunLearner(self, place)

    # ---- steps ----------------------------------------------------------------------------------

    def prepare(self, lengths: Iterable[int], told: Callable[[int, int], None] | None = None) -> None:
        """Capture the graphs for sentences of some lengths, longest first, so that they share memory best.

        Parameters
        ----------
        told : is called with the number of graphs that are captured, and of those there will be.
        """
        mixed = self._config.batches.lengths == "mixed"
        if self._graphs is None or self._is_eager(mixed):
            return
        missing = [n for n in sorted(set(lengths), reverse=True) if (n, mixed) not in self._graphs]
        for number, n in enumerate(missing, 1):
            self._graphs.capture(self._blank(n, mixed))
            if told is not None:
                told(number, len(missing))

    def step(self, requests: Mapping[int, Request]) -> Tensor:
        """Make a step of some runs, by place; return the outcomes (E, 4) of all, see `StepOutcome`."""
        quick = {run: request for run, request in requests.items() if not request.exact}
        outcomes = self._quickly(quick) if quick else self._clips.new_zeros(len(self), 4)
        for run, request in requests.items():
            if request.exact:
                outcomes[run] = self._exactly(run, request)[run]
        return outcomes

    def _quickly(self, requests: Mapping[int, Request]) -> Tensor:
        waiting = [run for run in range(len(self)) if self._draws and run not in requests]
        states = [self.generators[run].get_state() for run in waiting]
        outcomes = self._computed(stack_requests(requests, len(self), self._size))
        for run, state in zip(waiting, states):
            self.generators[run].set_state(state)  # a run without a request draws nothing
        return outcomes

    def _computed(self, inputs: Inputs) -> Tensor:
        n, mixed = inputs.key
        if self._graphs is None or self._is_eager(mixed):
            return self._learn(inputs.to(self.device))
        if inputs.key not in self._graphs:
            self._graphs.capture(self._blank(n, mixed))
        return self._graphs(inputs)

    def _blank(self, n: int, mixed: bool) -> Inputs:
        return blank_inputs(len(self), self._size, n, mixed=mixed, guided=self._guided, device=self.device)

    def _is_eager(self, mixed: bool) -> bool:
        """Tell whether sentences cannot be part of a graph though there is a GPU, and why, once."""
        kind = self._config.grammar.kind
        if mixed and self._draws:
            self._tell(
                f"{kind} learns from batches of different lengths without a CUDA graph, which is slower: "
                'set batches.lengths = "equal"'
            )
        elif self._guided and not self._config.grammar.is_low_rank:
            self._tell(f"{kind} learns from guides without a CUDA graph, which is slower")
        else:
            return False
        return True

    def _tell(self, message: str) -> None:
        if not self._told:
            self._told = True
            warnings.warn(message, RuntimeWarning, stacklevel=2)

    def _learn(self, inputs: Inputs) -> Tensor:
        """Compute a step; nothing in it depends on numbers that the device would have to be asked for."""
        gradients, sums = self._differentiate(inputs)
        return self._apply(dict(enumerate(gradients)), sums, inputs.numbers)

    def _exactly(self, run: int, request: Request) -> Tensor:
        """Make a step of one run in full precision."""
        grammar, every = self.grammars[run], torch.arange(len(request.words))
        sums = torch.zeros(len(self), 2, dtype=torch.float64, device=self.device)
        sums[run] = differentiate_exactly(grammar, request, every, self.generators[run])
        gradients = [torch.zeros_like(p) if p.grad is None else p.grad for p in grammar.parameters()]
        grammar.zero_grad(set_to_none=True)
        numbers = stack_requests({run: request}, len(self), self._size).numbers.to(self.device)
        return self._apply({run: gradients}, sums, numbers)

    def _apply(self, gradients: Mapping[int, Sequence[Tensor]], sums: Tensor, numbers: Tensor) -> Tensor:
        """Change the parameters of some runs, where the outcome allows it; return the outcomes of all.

        Parameters
        ----------
        gradients : by run.
        sums : (E, 2), of the two losses.
        numbers : (E, 3), see `Inputs`; the limits of runs without gradients must be minus infinity.
        """
        norms = self._norms(gradients).double()
        rate, limit, count = numbers.unbind(1)
        objectives = sums.sum(1) / count
        # A sentence of infinite loss has no gradient, and a limit can be infinite, too.
        applied = objectives.isfinite() & norms.isfinite() & (objectives <= limit)
        scales = ((norms + _TINY) / self._clips).clamp(min=1)
        self._adam.step(gradients, rate.float(), scales.float(), (~applied).float())
        self._update_averages(applied)
        return torch.cat([sums, norms[:, None], applied[:, None]], 1)

    def _norms(self, gradients: Mapping[int, Sequence[Tensor]]) -> Tensor:
        """Return the norms (E,) of the gradients of all runs, 0 where there are none."""
        norms = {run: torch.nn.utils.get_total_norm(own, foreach=True) for run, own in gradients.items()}
        if len(norms) < len(self):
            nothing = torch.zeros_like(next(iter(norms.values())))
            norms = {run: norms.get(run, nothing) for run in range(len(self))}
        return torch.stack(list(norms.values()))

    def _differentiate(self, inputs: Inputs) -> tuple[list[list[Tensor]], Tensor]:
        """Return the gradients of each run, and the sums (E, 2) of the two losses over its batch."""
        total: list[Tensor] = []
        sums = torch.zeros(len(self), 2, dtype=torch.float64, device=self.device)
        for number in range(self._parts):
            part = inputs.part(slice(number * self._at_once, (number + 1) * self._at_once))
            loss = self._objective.loss(part.words, part.lengths, self.generators, part.span_weights())
            both = torch.stack(loss)
            weights = part.weights.to(both.dtype)
            objective = torch.where(weights > 0, both * weights, 0.0).sum()
            found = torch.autograd.grad(
                objective, self._objective.leaves, allow_unused=True, materialize_grads=True
            )
            if total:
                torch._foreach_add_(total, found)
            else:
                total = [gradient.contiguous() for gradient in found]
            sums += torch.where(weights > 0, both.detach().double(), 0.0).sum(-1).T
        return self._objective.of_runs(total), sums

    @torch.no_grad()
    def _update_averages(self, applied: Tensor) -> None:
        weights = torch.maximum(self._news, least_weight(self._adam.steps.double())) * applied
        for average, current in zip(self._averages, self._stacked):
            news = weights.to(current.dtype)
            average.lerp_(current, news.view(-1, *[1] * (current.dim() - 1)))

    # ---- one run --------------------------------------------------------------------------------

    @contextmanager
    def evaluated(self, run: int) -> Iterator[Grammar]:
        """Lend the grammar of a run to be measured; see `Learner`."""
        grammar, own = self.grammars[run], [tensor[run] for tensor in self._stacked]
        current = [tensor.clone() for tensor in own] if self._averages else []
        _assign(own, [average[run] for average in self._averages])
        grammar.eval()
        try:
            yield grammar
        finally:
            _assign(own, current)
            grammar.train()

    def state(self, run: int) -> dict[str, Tensor]:
        """Return everything of a run, under the same names as the plain learner."""
        tensors = {f"grammar.{name}": tensor for name, tensor in self.grammars[run].state_dict().items()}
        tensors |= {f"optimiser.{name}": tensor for name, tensor in self._adam.state(run).items()}
        tensors |= {f"average.{number}": average[run] for number, average in enumerate(self._averages)}
        tensors["random.generator"] = self.generators[run].get_state()
        tensors["random.cpu"] = torch.get_rng_state()
        return tensors

    def load_state(self, run: int, tensors: Mapping[str, Tensor]) -> None:
        """Continue a run from a state, in place, so that graphs stay good."""
        own = {f"grammar.{name}": tensor for name, tensor in self.grammars[run].state_dict().items()}
        own |= {f"average.{number}": average[run] for number, average in enumerate(self._averages)}
        for name, tensor in own.items():
            tensor.copy_(tensors[name])
        self._adam.load_state(run, below("optimiser.", tensors))
        self.generators[run].set_state(tensors["random.generator"])
        torch.set_rng_state(tensors["random.cpu"])


class RunLearner:
    """One run of a `StackedLearner`, as a `Learner`."""

    def __init__(self, stack: StackedLearner, place: int) -> None:
        self._stack, self._place = stack, place
        self.grammar = stack.grammars[place]

    def step(self, request: Request) -> Tensor:
        """Make a step of this run alone; see `Learner`."""
        return self._stack.step({self._place: request})[self._place]

    @contextmanager
    def evaluated(self) -> Iterator[Grammar]:
        """Lend the grammar to be measured; see `Learner`."""
        with self._stack.evaluated(self._place) as grammar:
            yield grammar

    def state(self) -> dict[str, Tensor]:
        """Return everything; see `Learner`."""
        return self._stack.state(self._place)

    def load_state(self, tensors: Mapping[str, Tensor]) -> None:
        """Continue from a state; see `Learner`."""
        self._stack.load_state(self._place, tensors)


def _share(parameters: Sequence[Tensor]) -> Tensor:
    """Return the same parameter of E runs as one tensor (E, …), and make the parameters parts of it."""
    stacked = torch.stack([parameter.detach() for parameter in parameters])
    for parameter, own in zip(parameters, stacked):
        parameter.data = own
    return stacked


@torch.no_grad()
def _assign(tensors: Sequence[Tensor], values: Sequence[Tensor]) -> None:
    for tensor, value in zip(tensors, values):
        tensor.copy_(value)


def _check_common(configs: Sequence[TrainingConfig]) -> None:
    if len({bool(config.data.guides) for config in configs}) > 1:
        raise InvalidOption("runs with data.guides and without cannot be trained together")
    first, *others = [flat(config.to_dict()) for config in configs]
    for other in others:
        for key, value in other.items():
            if value != first[key] and any(
                key == common or key.startswith(f"{common}.") for common in _COMMON
            ):
                raise InvalidOption(
                    f"runs with {key} {first[key]!r} and {value!r} cannot be trained together: "
                    "train them one by one, or give them the same value"
                )
