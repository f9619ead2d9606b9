"""Weights of spans: every tree counts for as much more as the factors of its spans say."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from examples import examples
from grammar_instances import (
    random_dense_rules,
    random_rank_rules,
    random_span_weights,
    value_and_gradients,
)
from treemean.grammars import GrammarConfig, build_grammar
from treemean.grammars.charts.weights import SpanWeights
from treemean.grammars.dense import naive as dense_naive
from treemean.grammars.dense import torch as dense_torch
from treemean.grammars.rank import naive as rank_naive
from treemean.grammars.rank import torch as rank_torch
from treemean.grammars.rank.rules import Ranks

torch.set_num_threads(1)


def assert_same(
    naive: ModuleType, fast: ModuleType, rules: Any, lengths: Tensor, weights: SpanWeights
) -> None:
    def weighted(module: ModuleType) -> Callable[..., Tensor]:
        return lambda rules, lengths: module.log_partition(rules, lengths, weights)

    expected = value_and_gradients(weighted(naive), rules, lengths)
    found = value_and_gradients(weighted(fast), rules, lengths)
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        torch.testing.assert_close(found[name], value, rtol=1e-9, atol=1e-9)


@examples(25)
@given(st.data())
def test_in_rank_space_as_naive(data) -> None:
    n, batch = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 3))
    lengths = torch.tensor(data.draw(st.lists(st.integers(1, n), min_size=batch, max_size=batch)))
    floor = data.draw(st.sampled_from([0.0, 0.01]))
    seed = data.draw(st.integers(0, 1000))
    ranks = data.draw(st.sampled_from([Ranks(3, 2, 4, 3), Ranks(4)]))
    rules = random_rank_rules(batch, n, ranks, seed=seed, floor=floor)
    assert_same(rank_naive, rank_torch, rules, lengths, random_span_weights(seed, batch, n))


@examples(15)
@given(st.data())
def test_over_symbols_as_naive(data) -> None:
    n, batch = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 2))
    lengths = torch.tensor(data.draw(st.lists(st.integers(1, n), min_size=batch, max_size=batch)))
    seed = data.draw(st.integers(0, 1000))
    rules = random_dense_rules(batch, n, 2, 3, 2, seed=seed)
    assert_same(dense_naive, dense_torch, rules, lengths, random_span_weights(seed, batch, n))


def test_naive_is_the_sum_over_trees() -> None:
    """If trees with a span have the share p of the sum, a factor f on it makes the sum 1 + (f - 1) p."""
    rules = random_rank_rules(1, 5, Ranks(3, 2, 4, 3), seed=4)
    plain, posteriors = rank_naive.log_partition(rules), rank_naive.span_posteriors(rules)
    for span, mask in (((1, 3, 3, 3), 0b00110), ((0, 1, 2, 4), 0b01101)):
        weights = SpanWeights(torch.tensor([0]), torch.tensor([span]), torch.tensor([2.0]).log())
        share = posteriors.of(0, mask)
        assert 0 < share < 1
        gained = (rank_naive.log_partition(rules, None, weights) - plain).exp()
        torch.testing.assert_close(gained, torch.tensor([1 + share], dtype=torch.float64))


def test_weights_of_some_sentences() -> None:
    weights = random_span_weights(1, 4, 4)
    chosen = weights.chosen(torch.tensor([2, 0]))
    for place, sentence in enumerate((2, 0)):
        assert chosen.of(place, 4) == weights.of(sentence, 4)
    assert set(chosen.sentences.tolist()) == {0, 1}


@pytest.mark.parametrize("kind", ["tn-lcfrs", "tn-pcfg", "n-lcfrs", "c-lcfrs", "n-pcfg"])
def test_heavy_spans_are_learnt(kind: Any) -> None:
    """Steps along the gradient of the weighted objective make the weighted tree the likeliest one."""
    torch.manual_seed(2)
    grammar = build_grammar(GrammarConfig(kind, nonterminals=4, preterminals=5, embedding=8), 6).double()
    words = torch.tensor([[0, 3, 1, 4, 2]])
    tree = [(1, 3, 3, 3), (1, 4, 4, 4), (0, 4, 4, 4)]
    if grammar.config.has_gaps:
        tree = [(0, 1, 2, 3), (0, 3, 3, 3), (0, 4, 4, 4)]
    weights = SpanWeights(torch.zeros(3, dtype=torch.int64), torch.tensor(tree), torch.full((3,), 4.0))
    optimiser = torch.optim.Adam(grammar.parameters(), lr=0.02)
    draw = torch.Generator().manual_seed(1)
    for _ in range(150):
        optimiser.zero_grad()
        loss = grammar.loss(words, generator=draw, weights=weights)
        torch.stack(loss).sum().backward()
        optimiser.step()
    masks = [sum(1 << p for a, b in ((i, j), (m, e)) for p in range(a, b)) for i, j, m, e in tree]
    assert set(masks) < set(grammar.mbr(words)[0])
