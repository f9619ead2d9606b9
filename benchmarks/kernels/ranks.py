"""What do more ranks for wrapping and attachment cost? `python3 -m benchmarks.kernels.ranks`.

log Z and its gradient from the parameters, published sizes but for the ranks, as one CUDA graph.
"""

from __future__ import annotations

import argparse

import torch

from benchmarks.kernels.timing import graph_milliseconds
from benchmarks.reports import need_gpu
from treemean.grammars import GrammarConfig, build_grammar

RANKS, LENGTHS, SENTENCES, VOCABULARY = (4, 16, 64), (20, 40), 20, 10_000


def measure(n: int, ranks: int) -> float:
    """Return the milliseconds for a batch of sentences of one length."""
    torch.manual_seed(0)
    config = GrammarConfig("tn-lcfrs", ranks=(400, ranks, 400, ranks))
    grammar = build_grammar(config, VOCABULARY).cuda()
    words = torch.randint(0, VOCABULARY, (SENTENCES, n), device="cuda")
    return graph_milliseconds(lambda: grammar.log_prob(words).sum().backward())


def main() -> None:
    argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0]).parse_args()
    need_gpu()
    for n in LENGTHS:
        for ranks in RANKS:
            print(f"{n} words, {ranks} ranks: {measure(n, ranks):.2f} ms", flush=True)


if __name__ == "__main__":
    main()
