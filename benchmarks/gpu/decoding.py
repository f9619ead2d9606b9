"""Decoding on the GPU: time of its parts, and the same trees as by the plain version."""

from __future__ import annotations

import time
from dataclasses import replace

import torch

from gpu.step import Step
from gpu.timing import graph_milliseconds, milliseconds
from gpu.verify import TENSORS
from treemean.grammars.decoding import mbr
from treemean.grammars.decoding.triton.mbr import best_ways, read_trees
from treemean.grammars.inside import triton
from treemean.grammars.inside.triton.posteriors import compact_posteriors


def check(n: int = 14, batch: int = 6) -> bool:
    """Compare the trees with those of the plain version on the same posteriors."""
    step = Step(n, batch)
    for _ in range(15):
        step.learn()
    with torch.no_grad():
        rules = step.rules()
    lengths = torch.tensor([n, n, n - 3, 2, 1, n], device="cuda")
    found = compact_posteriors(rules, lengths[None])
    trees = read_trees(*best_ways(found), lengths)
    single = replace(rules, scales=rules.scales[0], **{name: getattr(rules, name)[0] for name in TENSORS})
    spans = triton.span_posteriors(single, lengths).to("cpu")
    same = trees == mbr.best_trees(spans, lengths.cpu())
    sums = spans.continuous.triu(2).sum((1, 2)) + sum(c.sum((1, 2, 3)) for c in spans.discontinuous.values())
    off = float((sums - (lengths.cpu() - 1)).abs().max())
    print(
        f"  trees {'are the same' if same else 'DIFFER'}; posteriors of a sentence add up to its length - 1"
        f" within {off:.1e}",
        flush=True,
    )
    return same


def measure(n: int, batch: int = 20, runs: int = 1) -> dict[str, object]:
    """Time decoding of a batch, as a graph and call by call, and the reading of trees."""
    step = Step(n, batch, runs=runs)
    lengths = torch.full((runs, batch), n, device="cuda")
    kept = {}

    @torch.no_grad()
    def posteriors() -> None:
        kept["posteriors"] = compact_posteriors(step.rules(), lengths)

    def ways() -> None:
        kept["ways"] = best_ways(kept["posteriors"])

    def whole() -> None:
        posteriors()
        ways()

    def eager() -> None:
        whole()
        read_trees(*kept["ways"], lengths.flatten())

    posteriors()
    ways()
    graph_posteriors, graph_whole = graph_milliseconds(posteriors), graph_milliseconds(whole)
    posteriors()
    graph_ways = graph_milliseconds(ways)
    whole()
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(5):
        read_trees(*kept["ways"], lengths.flatten())
    reading = (time.perf_counter() - start) * 200
    called = milliseconds(eager, repeats=5, warm_up=1)
    print(
        f"  n = {n:2d}, batch {batch}, runs {runs}: as a graph {graph_whole:.2f} ms"
        f" (posteriors {graph_posteriors:.2f}, best ways {graph_ways:.2f})"
        f" + reading trees {reading:.2f}; call by call {called:.1f} ms in all",
        flush=True,
    )
    return {
        "n": n,
        "batch": batch,
        "runs": runs,
        "graph": graph_whole,
        "posteriors": graph_posteriors,
        "ways": graph_ways,
        "reading": reading,
        "eager": called,
    }
