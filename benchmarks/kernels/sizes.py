"""Do grammars of other than published sizes work on the GPU? log Z and its gradient against float64.

Ranks, symbols, embeddings, vocabularies and batches, odd and large. Where kernels cannot take a size, PyTorch
must be used, with a warning, and be right, too.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import torch

from benchmarks.kernels.instances import LARGEST_DIFFERENCE, gradients_of, largest, whole_off
from benchmarks.kernels.timing import milliseconds
from treemean.grammars import Grammar, GrammarConfig, build_grammar
from treemean.grammars.nan_policy import in_float64


@dataclass(frozen=True)
class Size:
    """One grammar, and a batch for it; sizes of 0 are the published ones."""

    kind: str
    symbols: tuple[int, int, int] = (0, 0, 0)
    ranks: tuple[int, ...] = ()
    embedding: int = 0
    vocabulary: int = 1000
    batch: int = 2
    n: int = 9
    falls_back: bool = False

    def build(self) -> Grammar:
        torch.manual_seed(0)
        sizes: dict[str, Any] = {"embedding": self.embedding} if self.embedding else {}
        config = GrammarConfig(self.kind, *self.symbols, ranks=self.ranks, **sizes)
        return build_grammar(config, self.vocabulary).cuda()


SIZES = [
    Size("tn-lcfrs", (7, 11, 5), (37, 5, 43, 3), 33, 101, 3),
    Size("tn-lcfrs", (7, 11, 5), (1, 1, 1, 1), 3, 7, 1),
    Size("tn-lcfrs", (30, 60, 20), (400, 16, 400, 16)),
    Size("tn-lcfrs", (30, 60, 20), (400, 48, 400, 48)),
    Size("tn-lcfrs", (30, 60, 20), (100, 64, 100, 17), batch=5, n=14),
    Size("tn-lcfrs", (30, 60, 20), (1000, 4, 700, 4), 100),
    Size("tn-lcfrs", (30, 60, 20), (3000, 8, 3000, 8), 64, batch=1),
    Size("tn-lcfrs", (4000, 9000, 3000), (200, 4, 200, 4), 512),
    Size("tn-lcfrs", (30, 60, 20), (64, 4, 64, 4), 1000, 60_001),
    Size("tn-lcfrs", (30, 60, 20), (64, 4, 64, 4), 32, batch=300),
    Size("tn-lcfrs", (30, 60, 20), (64, 300, 64, 300), 32, falls_back=True),
    Size("tn-pcfg", (30, 60, 0), (2000, 0, 0, 0), 40, batch=3, n=20),
    Size("n-lcfrs", (3, 5, 2), vocabulary=11, batch=3),
    Size("n-lcfrs", (30, 34, 20)),
    Size("n-lcfrs", (40, 90, 30)),
    Size("n-lcfrs", (70, 90, 20), falls_back=True),
    Size("c-lcfrs", (13, 31, 7), vocabulary=50_000),
    Size("n-pcfg", (30, 90, 0)),
]


def check(size: Size) -> dict[str, object]:
    """Compare one size with float64; tell whether kernels were used, and how long a step took."""
    grammar = size.build()
    precise = in_float64(grammar)
    words = torch.randint(0, size.vocabulary, (size.batch, size.n), device="cuda")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        value = grammar.log_prob(words)
    found = gradients_of(value.sum(), grammar.parameters())
    expected = precise.log_prob(words)
    gradients = whole_off(found, gradients_of(expected.sum(), precise.parameters()))
    log_z = float((value.double() - expected).abs().max().detach())
    trees = grammar.mbr(words) == precise.mbr(words)
    warned = [str(w.message) for w in told if "torch is used" in str(w.message)]
    time = milliseconds(lambda: grammar.log_prob(words).sum().backward(), repeats=3, warm_up=1)
    good = largest([log_z, gradients]) <= LARGEST_DIFFERENCE and bool(warned) == size.falls_back
    print(
        f"  {size}: log Z off by {log_z:.1e}, gradient {gradients:.1e}, "
        f"{'same' if trees else 'other'} MBR trees, {time:.1f} ms"
        + (f" ({warned[0]})" if warned else "")
        + ("" if good else "  WRONG"),
        flush=True,
    )
    return {"log_z": log_z, "gradients": gradients, "milliseconds": time, "warned": warned, "good": good}
