"""Random rules for tests."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest
import torch
from torch import Tensor

from treemean.grammars import Grammar, GrammarConfig, build_grammar
from treemean.grammars.charts.weights import SpanWeights
from treemean.grammars.dense.rules import DenseRules
from treemean.grammars.rank import grammar as low_rank
from treemean.grammars.rank.rules import RankRules, Ranks


def random_rank_rules(
    batch: int, n: int, ranks: Ranks, *, seed: int = 0, sharp: float = 1.0, floor: float = 0.0
) -> RankRules:
    """Draw rules in float64 as a grammar of many symbols would give them; `sharp` says how peaked."""
    draw = torch.Generator().manual_seed(seed)

    def random(*shape: int) -> Tensor:
        return (sharp * torch.randn(*shape, generator=draw, dtype=torch.float64)).softmax(-1)

    symbols = 2 * sum(ranks)
    parents, gapped_parents = (random(symbols, ranks.r1 + ranks.r2), random(symbols, ranks.r3 + ranks.r4))
    return RankRules(
        views=torch.rand(batch, n, ranks.views, generator=draw, dtype=torch.float64) ** 2 + 0.01,
        scales=-5 + 2 * torch.randn(batch, n, generator=draw, dtype=torch.float64),
        continuous=(random(ranks.views, symbols) @ parents).T.contiguous(),
        discontinuous=(random(ranks.r2 + ranks.r4, symbols) @ gapped_parents).T.contiguous(),
        root=random(1, symbols)[0] @ parents,
        ranks=ranks,
        floor=floor,
    )


def unequal(rules: RankRules) -> RankRules:
    """Return rules by which neighbours hardly ever join and nothing fills a gap.

    Spans with gaps outgrow their parts by them, and overflow in float32 from 14 words on.
    """
    columns, factor = rules.ranks.columns, torch.ones_like(rules.views[0, 0])
    factor[columns.left] = factor[columns.right] = 1e-2
    factor[columns.wrapped] = 1e-20
    return replace(rules, views=rules.views * factor, continuous=rules.continuous * factor)


def make_unequal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every TN- grammar `unequal` rules."""
    contract = low_rank.contract
    monkeypatch.setattr(low_rank, "contract", lambda *arguments: unequal(contract(*arguments)))


def random_dense_rules(
    batch: int,
    n: int,
    nonterminals: int,
    preterminals: int,
    discontinuous: int,
    *,
    per_sentence: bool = False,
    seed: int = 0,
    sharp: float = 1.0,
) -> DenseRules:
    """Draw normalised rules in float64."""
    draw = torch.Generator().manual_seed(seed)
    sets, symbols = batch if per_sentence else 1, nonterminals + preterminals

    def random(parents: int, *shapes: tuple[int, ...]) -> list[Tensor]:
        sizes = [math.prod(shape) for shape in shapes]
        logits = sharp * torch.randn(sets, parents, sum(sizes), generator=draw, dtype=torch.float64)
        return [p.view(sets, parents, *s) for p, s in zip(logits.softmax(-1).split(sizes, -1), shapes)]

    side_by_side, wrapping = random(nonterminals, (symbols, symbols), (symbols, discontinuous))
    apart, attaching = random(discontinuous, (symbols, symbols), (4, symbols, discontinuous))
    words = torch.randn(batch, n, preterminals, generator=draw, dtype=torch.float64)
    return DenseRules(
        words=words.log_softmax(-1) - 2 * torch.rand(batch, n, 1, generator=draw, dtype=torch.float64),
        root=random(1, (nonterminals,))[0][:, 0],
        side_by_side=side_by_side,
        wrapping=wrapping,
        apart=apart,
        attaching=attaching,
    )


def tiny_grammar(kind: str, vocabulary_size: int = 3, *, seed: int = 3, **sizes: Any) -> Grammar:
    """Return a grammar of few symbols with random parameters, in float64."""
    torch.manual_seed(seed)
    tiny: dict[str, Any] = {"nonterminals": 2, "preterminals": 2, "embedding": 4}
    if kind.startswith("tn-"):
        tiny |= {"nonterminals": 1, "ranks": (2, 1, 1, 1) if kind == "tn-lcfrs" else (2, 0, 0, 0)}
    if kind.endswith("lcfrs"):
        tiny["discontinuous"] = 1
    if kind.startswith("c-"):
        tiny["latent"] = 2
    grammar = build_grammar(GrammarConfig(kind, **(tiny | sizes)), vocabulary_size).double()
    with torch.no_grad():
        for parameter in grammar.parameters():
            parameter.mul_(2.0)  # peaked distributions, so that nothing is right by symmetry
    return grammar


def cells_of(n: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield left and right length, start, and end of the gap as kernels count it, of each cell in order."""
    for left in range(1, n - 1):
        for right in range(1, n - left):
            size = n - left - right
            yield from ((left, right, i, p) for i in range(size) for p in range(i, size))


def value_and_gradients(
    log_partition: Callable[..., Tensor], rules: RankRules | DenseRules, lengths: Tensor | None = None
) -> dict[str, Tensor]:
    """Return log Z, and the gradients of its sum by all tensors of the rules but scales, by name."""
    tensors = {name: x for name, x in vars(rules).items() if isinstance(x, Tensor) and name != "scales"}
    leaves = {name: tensor.clone().requires_grad_() for name, tensor in tensors.items()}
    value = log_partition(replace(rules, **leaves), lengths)
    total = torch.where(value.isfinite(), value, 0.0).sum()
    grads = torch.autograd.grad(total, list(leaves.values()), allow_unused=True, materialize_grads=True)
    return {"log Z": value.detach(), **dict(zip(leaves, grads))}


def check_that_unwritten_memory_is_never_read(
    monkeypatch: pytest.MonkeyPatch, log_partition: Callable[..., Tensor], rules: RankRules | DenseRules
) -> None:
    """Compute the same twice, the second time with NaN in memory that is reserved without being set."""
    expected = value_and_gradients(log_partition, rules)
    monkeypatch.setattr(Tensor, "new_empty", lambda self, *size: self.new_full(size, torch.nan))
    for name, found in value_and_gradients(log_partition, rules).items():
        assert torch.equal(found, expected[name]), name


def spans_of(n: int) -> list[tuple[int, ...]]:
    """Return all spans of two words or more, as `SpanWeights` has them."""
    continuous = [(i, j, j, j) for i, j in combinations(range(n + 1), 2) if j > i + 1]
    return continuous + list(combinations(range(n + 1), 4))


def random_span_weights(seed: int, batch: int, n: int, size: float = 3.0) -> SpanWeights:
    """Draw weights, larger and smaller than 1, of about half of the spans; some entries have no words.

    For odd seeds, each sentence has a weight of all other spans with a gap, too.
    """
    random = torch.Generator().manual_seed(seed)
    both = [
        (sentence, span)
        for sentence in range(batch)
        for span in spans_of(n)
        if torch.rand((), generator=random) < 0.5
    ]
    both += [(sentence, (0, 0, 0, 0)) for sentence in range(batch)]
    logs = size * torch.randn(len(both), generator=random, dtype=torch.float64)
    spans = torch.tensor([span for _, span in both], dtype=torch.int64).reshape(-1, 4)
    others = size * torch.randn(batch, generator=random, dtype=torch.float64) if seed % 2 else None
    return SpanWeights(
        torch.tensor([sentence for sentence, _ in both], dtype=torch.int64), spans, logs, others
    )
