"""How fast the vectorised inside algorithms are: `python -m benchmarks.cpu.inside [--quick]`.

Value and gradients of log Z, naive and vectorised, on one thread and in one run, so that the ratio is fair.
It is printed only after both have given the same numbers. Times are those of the processor.
"""

from __future__ import annotations

import argparse
import dataclasses
import time
from functools import partial
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from benchmarks.common import show, times
from tests.grammar_instances import random_dense_rules, random_rank_rules
from treemean.grammars import Grammar, GrammarConfig, build_grammar
from treemean.grammars.dense import naive as dense_naive
from treemean.grammars.dense import torch as dense_torch
from treemean.grammars.dense.rules import DenseRules
from treemean.grammars.rank import naive as rank_naive
from treemean.grammars.rank import torch as rank_torch
from treemean.grammars.rank.rules import RankRules, Ranks
from treemean.reporting.tables import Cell

SYMBOLS: dict[str, Any] = {"nonterminals": 30, "preterminals": 60, "embedding": 64}
CONFIGS = {
    "TN-LCFRS 30/60/15, 24/4/24/4": GrammarConfig(
        "tn-lcfrs", discontinuous=15, ranks=(24, 4, 24, 4), **SYMBOLS
    ),
    "TN-PCFG 30/60, rank 24": GrammarConfig("tn-pcfg", ranks=(24, 0, 0, 0), **SYMBOLS),
    "N-PCFG 15/45": GrammarConfig("n-pcfg", embedding=64),
    "N-LCFRS 15/45/15": GrammarConfig("n-lcfrs", embedding=64),
}


def differentiate(module: ModuleType, rules: RankRules | DenseRules) -> list[Tensor]:
    names = [f.name for f in dataclasses.fields(rules) if f.name not in ("ranks", "floor", "scales")]
    leaves = {name: getattr(rules, name).clone().requires_grad_() for name in names}
    value = module.log_partition(dataclasses.replace(rules, **leaves))
    grads = torch.autograd.grad(value.sum(), list(leaves.values()), allow_unused=True, materialize_grads=True)
    return [value.detach(), *grads]


def compare(
    name: str, naive: ModuleType, fast: ModuleType, rules: RankRules | DenseRules, repeats: int
) -> list[str | int | float]:
    start = time.process_time()
    expected = differentiate(naive, rules)
    slow = time.process_time() - start
    for wanted, found in zip(expected, differentiate(fast, rules)):
        torch.testing.assert_close(found, wanted, rtol=1e-8, atol=1e-10)
    quick = times(lambda: differentiate(fast, rules), repeats, time.process_time)[0]
    return [name, len(expected[0]), f"{1e3 * slow:.0f}", f"{1e3 * quick:.1f}", f"{slow / quick:.0f}"]


def ratios(n: int, repeats: int) -> None:
    rows = []
    for batch in (1, 16):
        rules = random_rank_rules(batch, n, Ranks(24, 4, 24, 4))
        rows.append(compare("TN-LCFRS, ranks 24/4/24/4", rank_naive, rank_torch, rules, repeats))
    dense = random_dense_rules(16, n, 3, 6, 3)
    rows.append(compare("N-LCFRS, 3/6/3 symbols", dense_naive, dense_torch, dense, repeats))
    title = f"value and gradients of log Z, {n} words, float64, milliseconds on one core"
    show(["rules", "batch", "naive", "vectorised", "ratio"], rows, title)


def step(grammar: Grammar, optimizer: torch.optim.Optimizer, words: torch.Tensor) -> None:
    optimizer.zero_grad()
    grammar.loss(words).negative_log_likelihood.mean().backward()
    optimizer.step()


def steps(lengths: list[int], repeats: int) -> None:
    rows: list[list[Cell]] = []
    torch.manual_seed(0)
    for name, config in CONFIGS.items():
        grammar = build_grammar(config, 2000)
        optimizer = torch.optim.Adam(grammar.parameters())
        for n in lengths:
            words = torch.randint(2000, (32, n))

            learn = partial(step, grammar, optimizer, words)
            learn()
            tasks = (learn, partial(grammar.posteriors, words), partial(grammar.mbr, words))
            found = [1e3 * times(task, repeats, time.process_time)[0] for task in tasks]
            rows.append([name, n, *(f"{milliseconds:.0f}" for milliseconds in found)])
    title = "whole training steps, and trees, of 32 sentences, float32, milliseconds on one core"
    show(["grammar", "words", "step", "posteriors", "MBR trees"], rows, title)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="short sentences, few repetitions")
    quick = parser.parse_args().quick
    torch.set_num_threads(1)
    ratios(*((8, 2) if quick else (12, 10)))
    steps([8] if quick else [8, 15], 2 if quick else 3)


if __name__ == "__main__":
    main()
