"""Compile kernels for a Hopper GPU where there is none: launches are compiled as far as Triton's own code.

A program of its own, since whether kernels are interpreted is decided when they are imported. It prints, as
JSON, the names of kernels that were launched, and of those that have asynchronous products of matrices.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, make_backend
from triton.runtime import driver
from triton.runtime.jit import JITFunction

from triton._C.libtriton import ir  # isort: skip

from treemean.grammars import GrammarConfig, build_grammar
from treemean.grammars.charts.weights import SpanWeights
from treemean.grammars.dense import triton as dense_kernels
from treemean.grammars.dense.rules import DenseRules
from treemean.grammars.dense.triton.compound import largest_states, word_log_probs
from treemean.grammars.rank import triton as rank_kernels
from treemean.grammars.rank.rules import RankRules, Ranks
from treemean.grammars.rank.triton.parameters import rank_rules

HOPPER = GPUTarget("cuda", 90, 32)
#: In Triton's code for GPUs, a product that runs on asynchronous tensor cores.
ASYNCHRONOUS = "ttng.warp_group_dot"
WORDS = 5

compiled: dict[tuple[str, str], str] = {}


class NoDevice:
    """Stands in for a driver: what a launch asks it before it compiles."""

    def get_current_target(self) -> GPUTarget:
        return HOPPER

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: int = 0) -> int:
        return 0


def compile_only(self: Any, *arguments: Any, grid: Any, warmup: bool, **options: Any) -> None:
    """Take the place of a launch: bring the kernel into Triton's code for GPUs, with loops pipelined."""
    options.setdefault("debug", False)
    backend = make_backend(HOPPER)
    *_, binder = self.device_caches[0]
    bound, specialization, parsed = binder(*arguments, **options)
    key = (self.fn.__name__, f"{specialization} {parsed}")
    if key in compiled:
        return
    found, signature, constants, attributes = self._pack_args(backend, options, bound, specialization, parsed)
    source, context, stages = ASTSource(self, signature, constants, attributes), ir.context(), {}
    ir.load_dialects(context)
    backend.load_dialects(context)
    backend.add_stages(stages, found, source.language)
    module = source.make_ir(
        HOPPER, found, backend.get_codegen_implementation(found), backend.get_module_map(), context
    )
    for name in ("ttir", "ttgir"):
        module = stages[name](module, {})
    compiled[key] = str(module)


def rank_case(ranks: Ranks) -> None:
    """Launch the kernels of the inside pass in rank space, forward and backward."""
    views = torch.rand(1, 2, WORDS, ranks.views)
    rules = RankRules(
        views=views.requires_grad_(),
        scales=torch.zeros(1, 2, WORDS),
        continuous=torch.rand(1, ranks.r1 + ranks.r2, ranks.views),
        discontinuous=torch.rand(1, ranks.r3 + ranks.r4, ranks.r2 + ranks.r4),
        root=torch.rand(1, ranks.r1 + ranks.r2),
        ranks=ranks,
    )
    rank_kernels.log_partition(rules).sum().backward()
    weights = SpanWeights(torch.tensor([1]), torch.tensor([[0, 2, 2, 2]]), torch.ones(1))
    rank_kernels.log_partition(rules, None, weights).sum().backward()
    rank_kernels.span_posteriors(next(iter(rules.unstack())))


def fused_case() -> None:
    """Launch the kernels from parameters to rules and back; none of them multiplies matrices by itself."""
    config = GrammarConfig("tn-lcfrs", 30, 90, 20, ranks=(40, 4, 40, 4), embedding=64)
    named = {name: p[None] for name, p in build_grammar(config, 50).named_parameters()}
    rules = rank_rules(named, torch.zeros(1, 2, WORDS, dtype=torch.int64), config)
    (rules.views.sum() + rules.continuous.sum() + rules.discontinuous.sum() + rules.root.sum()).backward()


def dense_case(nonterminals: int, preterminals: int, discontinuous: int) -> None:
    """Launch the kernels over symbols, and those of the networks of C- grammars before them."""
    symbols = nonterminals + preterminals
    sizes = {
        "root": (nonterminals,),
        "side_by_side": (nonterminals, symbols, symbols),
        "wrapping": (nonterminals, symbols, discontinuous),
        "apart": (discontinuous, symbols, symbols),
        "attaching": (discontinuous, 4, symbols, discontinuous),
    }
    words = torch.zeros(2, WORDS, dtype=torch.int64)
    lstm = torch.nn.LSTM(32, 64, bidirectional=True)
    states = largest_states(lstm, torch.rand(WORDS, 2, 32))
    hidden = torch.rand(preterminals, states.shape[1]) * states[:, None]
    emitted = word_log_probs(hidden, torch.rand(100, states.shape[1]), torch.rand(100), words)
    rules = {name: torch.rand(1, *size).requires_grad_() for name, size in sizes.items()}
    dense_kernels.log_partition(DenseRules(words=emitted, **rules)).sum().backward()


def hazard_case() -> None:
    """Launch the kernel that shows what is wrong with asynchronous products."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from benchmarks.kernels.hazard import SIZES, two_products

    left, right = (torch.zeros(8, SIZES["K"], dtype=torch.bfloat16) for _ in range(2))
    out = torch.zeros(8)
    two_products[(1,)](left, left.float(), right, out, **SIZES, num_warps=4, num_stages=3)


CASES: dict[str, Callable[[], None]] = {
    "published ranks": lambda: rank_case(Ranks(400, 4, 400, 4)),
    "16 ranks": lambda: rank_case(Ranks(400, 16, 400, 16)),
    "64 ranks": lambda: rank_case(Ranks(400, 64, 400, 64)),
    "few ranks": lambda: rank_case(Ranks(20, 1, 20, 1)),
    "rules": fused_case,
    "published symbols": lambda: dense_case(15, 45, 15),
    "many symbols": lambda: dense_case(60, 190, 60),
    "hazard": hazard_case,
}


def main() -> None:
    driver.set_active(NoDevice())
    JITFunction.run = compile_only
    for name in sys.argv[1:]:
        CASES[name]()
    wrong = {name for (name, _), code in compiled.items() if ASYNCHRONOUS in code}
    print(json.dumps({"launched": sorted({name for name, _ in compiled}), "asynchronous": sorted(wrong)}))


if __name__ == "__main__":
    main()
