"""A whole training step and its parts, as CUDA graphs."""

from __future__ import annotations

import gc
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from gpu.timing import captured, graph_milliseconds, kernel_times, milliseconds, print_kernels
from gpu.verify import TENSORS, VOCABULARY
from treemean.grammars import GrammarConfig, build_grammar
from treemean.grammars.inside import triton
from treemean.grammars.inside.rules import RankRules
from treemean.grammars.inside.triton.emissions import log_normaliser
from treemean.grammars.inside.triton.settings import DEFAULT, Settings


@dataclass
class Step:
    """A grammar of published sizes, an optimiser and a batch of random words."""

    n: int
    batch: int = 20
    settings: Settings = DEFAULT
    normaliser: str = "triton"

    def __post_init__(self) -> None:
        torch.manual_seed(0)
        self.grammar = build_grammar(GrammarConfig("tn-lcfrs"), VOCABULARY).cuda()
        if self.normaliser == "triton":
            self._use_fast_normaliser()
        self.parameters = list(self.grammar.parameters())
        self.words = torch.randint(0, VOCABULARY, (self.batch, self.n), device="cuda")
        self.optimiser = torch.optim.Adam(
            self.parameters, lr=2e-3, betas=(0.75, 0.999), fused=True, capturable=True
        )
        self.log_z = torch.zeros(self.batch, device="cuda")

    def _use_fast_normaliser(self) -> None:
        from treemean.grammars import low_rank

        def word_log_probs(hidden: Tensor, embeddings: Tensor, words: Tensor) -> Tensor:
            chosen = embeddings.index_select(0, words.reshape(-1)) @ hidden.T
            return (chosen - log_normaliser(hidden, embeddings)).view(*words.shape, -1)

        low_rank.word_log_probs = word_log_probs

    def set_gradients(self, gradients: tuple[Tensor | None, ...]) -> None:
        for parameter, gradient in zip(self.parameters, gradients):
            parameter.grad = None if gradient is None else gradient.contiguous()

    def learn(self) -> None:
        self.optimiser.zero_grad(set_to_none=True)
        log_z = triton.log_partition(self.grammar.rules(self.words), settings=self.settings)
        self.log_z = log_z.detach()
        self.set_gradients(torch.autograd.grad(-log_z.mean(), self.parameters, allow_unused=True))
        self.update()

    def update(self) -> None:
        torch.nn.utils.clip_grad_norm_(self.parameters, 3.0, foreach=True)
        self.optimiser.step()

    def fixed_rules(self) -> RankRules:
        with torch.no_grad():
            rules = self.grammar.rules(self.words)
        return replace(rules, **{name: getattr(rules, name).clone().requires_grad_() for name in TENSORS})

    def grammar_only(self) -> None:
        rules = self.grammar.rules(self.words)
        outputs = [getattr(rules, name) for name in TENSORS]
        ones = [torch.ones_like(output) for output in outputs]
        self.set_gradients(torch.autograd.grad(outputs, self.parameters, ones, allow_unused=True))


def inside_times(rules: RankRules, settings: Settings) -> tuple[float, float]:
    """Return milliseconds of the inside pass alone, and of both passes."""

    def forward() -> None:
        with torch.no_grad():
            triton.log_partition(rules, settings=settings)

    def both() -> None:
        value = triton.log_partition(rules, settings=settings)
        torch.autograd.grad(value.mean(), [getattr(rules, name) for name in TENSORS])

    return graph_milliseconds(forward, repeats=10), graph_milliseconds(both, repeats=10)


def measure(n: int, batch: int, settings: Settings, *, profile: bool = False) -> dict[str, object]:
    """Time a step by parts; return milliseconds and peak memory in GiB."""
    torch.set_float32_matmul_precision("high")
    gc.collect()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    step = Step(n, batch, settings)
    graph = captured(step.learn)
    graph.replay()
    before = float(step.log_z.mean())
    whole = milliseconds(graph.replay, repeats=20)
    after = float(step.log_z.mean())
    memory = torch.cuda.max_memory_allocated() / 2**30
    del graph
    forward, both = inside_times(step.fixed_rules(), settings)
    grammar = graph_milliseconds(step.grammar_only)
    step.grammar_only()
    update = graph_milliseconds(step.update)
    result: dict[str, object] = {
        "n": n,
        "batch": batch,
        "whole": whole,
        "grammar": grammar,
        "inside": forward,
        "backward": both - forward,
        "update": update,
        "memory": memory,
        "log_z": [before, after],
    }
    print(
        f"  n = {n:2d}, batch {batch}: whole {whole:6.2f} ms = grammar {grammar:.2f} + inside {forward:.2f}"
        f" + backward {both - forward:.2f} + update {update:.2f}; {memory:.2f} GiB;"
        f" log Z {before:.2f} to {after:.2f} in 23 steps",
        flush=True,
    )
    if profile:
        kernels = kernel_times(step.learn)
        print_kernels(f"kernels of a step, n = {n}", kernels, 40)
        result["kernels"] = kernels
    return result
