"""A whole training step of one or several runs, and its parts, as CUDA graphs."""

from __future__ import annotations

import gc
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from benchmarks.kernels.instances import TENSORS, random_parameters, random_words
from benchmarks.kernels.timing import captured, graph_milliseconds, kernel_times, milliseconds, print_kernels
from treemean.grammars import GrammarConfig
from treemean.grammars.rank import triton
from treemean.grammars.rank.rules import RankRules
from treemean.grammars.rank.triton.parameters import rank_rules
from treemean.grammars.rank.triton.settings import DEFAULT, Settings


@dataclass
class Step:
    """Grammars of published sizes, an optimiser and a batch of random words for each."""

    n: int
    batch: int = 20
    settings: Settings = DEFAULT
    runs: int = 1

    def __post_init__(self) -> None:
        self.config = GrammarConfig("tn-lcfrs")
        self.named = {name: p.requires_grad_() for name, p in random_parameters(self.runs).items()}
        self.parameters = list(self.named.values())
        self.words = random_words(self.runs, self.batch, self.n)
        self.optimiser = torch.optim.Adam(
            self.parameters, lr=2e-3, betas=(0.75, 0.999), fused=True, capturable=True
        )
        self.log_z = torch.zeros(self.runs, self.batch, device="cuda")

    def rules(self) -> RankRules:
        return rank_rules(self.named, self.words, self.config)

    def set_gradients(self, gradients: tuple[Tensor, ...]) -> None:
        for parameter, gradient in zip(self.parameters, gradients):
            parameter.grad = gradient.contiguous()

    def learn(self) -> None:
        self.optimiser.zero_grad(set_to_none=True)
        log_z = triton.log_partition(self.rules(), settings=self.settings)
        self.log_z = log_z.detach()
        self.set_gradients(torch.autograd.grad(-log_z.mean(-1).sum(), self.parameters))
        self.update()

    def update(self) -> None:
        torch.nn.utils.clip_grad_norm_(self.parameters, 3.0, foreach=True)
        self.optimiser.step()

    def fixed_rules(self) -> RankRules:
        with torch.no_grad():
            rules = self.rules()
        return replace(rules, **{name: getattr(rules, name).clone().requires_grad_() for name in TENSORS})

    def grammar_forward(self) -> None:
        with torch.no_grad():
            self.rules()

    def grammar_only(self) -> None:
        rules = self.rules()
        outputs = [getattr(rules, name) for name in TENSORS]
        weights = [torch.ones_like(output) for output in outputs]
        self.set_gradients(torch.autograd.grad(outputs, self.parameters, weights))


def inside_times(rules: RankRules, settings: Settings) -> tuple[float, float]:
    """Return milliseconds of the inside pass alone, and of both passes."""

    def forward() -> None:
        with torch.no_grad():
            triton.log_partition(rules, settings=settings)

    def both() -> None:
        value = triton.log_partition(rules, settings=settings)
        torch.autograd.grad(value.mean(), [getattr(rules, name) for name in TENSORS])

    return graph_milliseconds(forward, repeats=10), graph_milliseconds(both, repeats=10)


def measure(
    n: int, batch: int, settings: Settings = DEFAULT, *, runs: int = 1, profile: bool = False
) -> dict[str, object]:
    """Time a step by parts; return milliseconds, and peak memory in GiB beyond what was there before."""
    gc.collect()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    before_memory = torch.cuda.memory_allocated()
    step = Step(n, batch, settings, runs)
    graph = captured(step.learn)
    graph.replay()
    before = float(step.log_z.mean())
    whole = milliseconds(graph.replay, repeats=20)
    after = float(step.log_z.mean())
    memory = (torch.cuda.max_memory_allocated() - before_memory) / 2**30
    del graph
    forward, both = inside_times(step.fixed_rules(), settings)
    grammar, grammar_forward = graph_milliseconds(step.grammar_only), graph_milliseconds(step.grammar_forward)
    step.grammar_only()
    update = graph_milliseconds(step.update)
    result: dict[str, object] = {
        "n": n,
        "batch": batch,
        "runs": runs,
        "whole": whole,
        "grammar": grammar,
        "grammar_forward": grammar_forward,
        "inside": forward,
        "backward": both - forward,
        "update": update,
        "memory": memory,
        "log_z": [before, after],
    }
    print(
        f"  n = {n:2d}, batch {batch}, runs {runs}: whole {whole:6.2f} ms = grammar {grammar:.2f}"
        f" (forward {grammar_forward:.2f}) + inside {forward:.2f} + backward {both - forward:.2f}"
        f" + update {update:.2f}; {memory:.2f} GiB; log Z {before:.2f} to {after:.2f} in 23 steps",
        flush=True,
    )
    if profile:
        kernels = kernel_times(step.grammar_only)
        print_kernels("kernels of the grammar", kernels, 45)
        result["grammar_kernels"] = kernels
        result["kernels"] = kernel_times(step.learn)
    return result
