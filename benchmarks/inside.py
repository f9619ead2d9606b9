"""How fast the vectorised inside algorithms are: `python benchmarks/inside.py [--quick]`.

Value and gradients of log Z, naive and vectorised, on one thread and in one run, so that the ratio is fair.
It is printed only after both have given the same numbers. Times are those of the processor.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import torch
from torch import Tensor

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from grammar_instances import random_dense_rules, random_rank_rules  # noqa: E402
from treemean.grammars import GrammarConfig, build_grammar  # noqa: E402
from treemean.grammars.inside import dense_naive, dense_torch, rank_naive, rank_torch  # noqa: E402
from treemean.grammars.inside.dense_rules import DenseRules  # noqa: E402
from treemean.grammars.inside.rules import RankRules, Ranks  # noqa: E402

SYMBOLS = {"nonterminals": 30, "preterminals": 60, "embedding": 64}
CONFIGS = {
    "TN-LCFRS 30/60/15, 24/4/24/4": GrammarConfig(
        "tn-lcfrs", discontinuous=15, ranks=(24, 4, 24, 4), **SYMBOLS
    ),
    "TN-PCFG 30/60, rank 24": GrammarConfig("tn-pcfg", ranks=(24, 0, 0, 0), **SYMBOLS),
    "N-PCFG 15/45": GrammarConfig("n-pcfg", embedding=64),
    "N-LCFRS 15/45/15": GrammarConfig("n-lcfrs", embedding=64),
}


def shortest(task: Callable[[], object], repeats: int) -> float:
    """Return the processor seconds of the fastest of some repetitions: the one that was disturbed least."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        task()
        times.append(time.process_time() - start)
    return min(times)


def differentiate(module: ModuleType, rules: RankRules | DenseRules) -> list[Tensor]:
    names = [f.name for f in dataclasses.fields(rules) if f.name not in ("ranks", "floor", "scales")]
    leaves = {name: getattr(rules, name).clone().requires_grad_() for name in names}
    value = module.log_partition(dataclasses.replace(rules, **leaves))
    grads = torch.autograd.grad(value.sum(), list(leaves.values()), allow_unused=True, materialize_grads=True)
    return [value.detach(), *grads]


def compare(
    name: str, naive: ModuleType, fast: ModuleType, rules: RankRules | DenseRules, repeats: int
) -> None:
    start = time.process_time()
    expected = differentiate(naive, rules)
    slow = time.process_time() - start
    for wanted, found in zip(expected, differentiate(fast, rules)):
        torch.testing.assert_close(found, wanted, rtol=1e-8, atol=1e-10)
    quick = shortest(lambda: differentiate(fast, rules), repeats)
    numbers = f"{len(expected[0]):>5} | {1e3 * slow:>9.0f} | {1e3 * quick:>10.1f} | {slow / quick:>6.0f}"
    print(f"| {name:<30} | {numbers} |", flush=True)


def ratios(n: int, repeats: int) -> None:
    print(f"\nvalue and gradients of log Z, {n} words, float64, milliseconds on one core\n")
    print("| rules                          | batch |     naive | vectorised |  ratio |")
    print("|--------------------------------|-------|-----------|------------|--------|")
    for batch in (1, 16):
        rules = random_rank_rules(batch, n, Ranks(24, 4, 24, 4))
        compare("TN-LCFRS, ranks 24/4/24/4", rank_naive, rank_torch, rules, repeats)
    dense = random_dense_rules(16, n, 3, 6, 3)
    compare("N-LCFRS, 3/6/3 symbols", dense_naive, dense_torch, dense, repeats)


def steps(lengths: list[int], repeats: int) -> None:
    print("\nwhole training steps, and trees, of 32 sentences, float32, milliseconds on one core\n")
    print("| grammar                        | words |  step | posteriors | MBR trees |")
    print("|--------------------------------|-------|-------|------------|-----------|")
    torch.manual_seed(0)
    for name, config in CONFIGS.items():
        grammar = build_grammar(config, 2000)
        optimizer = torch.optim.Adam(grammar.parameters())
        for n in lengths:
            words = torch.randint(2000, (32, n))

            def step(grammar=grammar, optimizer=optimizer, words=words) -> None:
                optimizer.zero_grad()
                grammar.loss(words).negative_log_likelihood.mean().backward()
                optimizer.step()

            step()
            train = 1e3 * shortest(step, repeats)
            posteriors = 1e3 * shortest(lambda g=grammar, w=words: g.posteriors(w), repeats)
            trees = 1e3 * shortest(lambda g=grammar, w=words: g.mbr(w), repeats)
            print(
                f"| {name:<30} | {n:>5} | {train:>5.0f} | {posteriors:>10.0f} | {trees:>9.0f} |", flush=True
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="short sentences, few repetitions")
    quick = parser.parse_args().quick
    torch.set_num_threads(1)
    ratios(*((8, 2) if quick else (12, 10)))
    steps([8] if quick else [8, 15], 2 if quick else 3)


if __name__ == "__main__":
    main()
