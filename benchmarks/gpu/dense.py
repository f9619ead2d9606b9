"""Training steps of the four dense grammars."""

from __future__ import annotations

import gc

import torch

from gpu.timing import graph_milliseconds, kernel_times, milliseconds
from gpu.verify import VOCABULARY
from treemean.grammars import GrammarConfig, build_grammar

KINDS = ("n-pcfg", "c-pcfg", "n-lcfrs", "c-lcfrs")


def measure(kind: str, n: int, batch: int = 20) -> dict[str, object]:
    """Time a step call by call and, where nothing is drawn, as a graph."""
    gc.collect()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    torch.manual_seed(0)
    torch.set_float32_matmul_precision("highest")
    before = torch.cuda.memory_allocated()
    grammar = build_grammar(GrammarConfig(kind), VOCABULARY).cuda()
    parameters = list(grammar.parameters())
    words = torch.randint(0, VOCABULARY, (batch, n), device="cuda")
    lengths = torch.full((batch,), n, device="cuda")
    optimiser = torch.optim.Adam(parameters, lr=1e-3, betas=(0.75, 0.999), fused=True, capturable=True)
    generator = torch.Generator("cuda").manual_seed(1)

    def step() -> None:
        loss = grammar.loss(words, lengths, generator=generator)
        total = (loss.negative_log_likelihood + loss.divergence).mean()
        gradients = torch.autograd.grad(total, parameters, allow_unused=True)
        for parameter, gradient in zip(parameters, gradients):
            parameter.grad = None if gradient is None else gradient.contiguous()
        optimiser.step()

    eager = milliseconds(step, repeats=5, warm_up=2)
    memory = (torch.cuda.max_memory_allocated() - before) / 2**30
    launches = sum(count for _, count, _ in kernel_times(step))
    graph = None
    if kind.startswith("n-"):
        graph = graph_milliseconds(step, repeats=10)
    print(
        f"  {kind:8s} n = {n:2d}, batch {batch}: call by call {eager:7.1f} ms"
        + (f", as a graph {graph:7.2f} ms" if graph is not None else "")
        + f"; {launches} launches; {memory:.2f} GiB",
        flush=True,
    )
    return {
        "kind": kind,
        "n": n,
        "batch": batch,
        "eager": eager,
        "graph": graph,
        "memory": memory,
        "launches": launches,
    }
