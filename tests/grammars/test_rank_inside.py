"""The vectorised inside algorithm in rank space against the naive one."""

from __future__ import annotations

import dataclasses

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from examples import examples
from grammar_instances import (
    check_that_unwritten_memory_is_never_read,
    random_rank_rules,
    unequal,
    value_and_gradients,
)
from treemean.errors import NumericalError
from treemean.grammars.rank import naive as rank_naive
from treemean.grammars.rank import torch as rank_torch
from treemean.grammars.rank.decoding import mbr
from treemean.grammars.rank.rules import RankRules, Ranks

torch.set_num_threads(1)
GAPS, NO_GAPS = Ranks(3, 2, 4, 3), Ranks(5)
TENSORS = ("views", "continuous", "discontinuous", "root")


def in_float32(rules: RankRules) -> RankRules:
    return dataclasses.replace(rules, **{n: getattr(rules, n).float() for n in (*TENSORS, "scales")})


def assert_same(rules: RankRules, lengths: Tensor | None) -> None:
    naive = value_and_gradients(rank_naive.log_partition, rules, lengths)
    fast = value_and_gradients(rank_torch.log_partition, rules, lengths)
    for name, expected in naive.items():
        torch.testing.assert_close(fast[name], expected, rtol=1e-10, atol=1e-10)
    expected_spans = rank_naive.span_posteriors(rules, lengths)
    spans = rank_torch.span_posteriors(rules, lengths)
    torch.testing.assert_close(spans.continuous, expected_spans.continuous, rtol=1e-10, atol=1e-10)
    assert spans.discontinuous.keys() == expected_spans.discontinuous.keys()
    for width, chart in expected_spans.discontinuous.items():
        torch.testing.assert_close(spans.discontinuous[width], chart, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("ranks", [GAPS, NO_GAPS])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 7])
def test_same_values_gradients_and_posteriors_as_naive(n: int, ranks: Ranks) -> None:
    assert_same(random_rank_rules(2, n, ranks, seed=n), None)


@examples(25)
@given(st.data())
def test_same_as_naive_whatever_the_sizes(data) -> None:
    size = st.integers(1, 4)
    gaps = data.draw(st.booleans())
    ranks = Ranks(*(data.draw(size) for _ in range(4))) if gaps else Ranks(data.draw(size))
    n, batch = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 3))
    lengths = torch.tensor(data.draw(st.lists(st.integers(1, n), min_size=batch, max_size=batch)))
    floor = data.draw(st.sampled_from([0.0, 1e-9, 0.01]))
    sharp = data.draw(st.sampled_from([0.5, 2.0, 6.0]))
    seed = data.draw(st.integers(0, 1000))
    assert_same(random_rank_rules(batch, n, ranks, seed=seed, sharp=sharp, floor=floor), lengths)


@pytest.mark.parametrize("ranks", [GAPS, NO_GAPS])
def test_gradcheck(ranks: Ranks) -> None:
    rules = random_rank_rules(2, 5, ranks)
    lengths = torch.tensor([5, 3])

    def log_partition(*tensors: Tensor) -> Tensor:
        return rank_torch.log_partition(dataclasses.replace(rules, **dict(zip(TENSORS, tensors))), lengths)

    leaves = [getattr(rules, name).clone().requires_grad_() for name in TENSORS]
    assert torch.autograd.gradcheck(log_partition, leaves)


def test_a_stack_of_grammars_is_the_grammars_one_by_one() -> None:
    parts = [random_rank_rules(2, 5, GAPS, seed=seed) for seed in range(3)]
    names = (*TENSORS, "scales")
    stacked = dataclasses.replace(
        parts[0], **{name: torch.stack([getattr(part, name) for part in parts]) for name in names}
    )
    lengths = torch.tensor([[5, 4], [3, 5], [1, 2]])
    for module in (rank_naive, rank_torch):
        together = value_and_gradients(module.log_partition, stacked, lengths)
        for run, part in enumerate(parts):
            alone = value_and_gradients(rank_torch.log_partition, part, lengths[run])
            for name, expected in alone.items():
                torch.testing.assert_close(together[name][run], expected, rtol=1e-10, atol=1e-10)


def test_what_lies_beyond_a_sentence_does_not_matter() -> None:
    rules = random_rank_rules(2, 6, GAPS)
    lengths = torch.tensor([4, 2])
    noisy = dataclasses.replace(rules, views=rules.views.clone(), scales=rules.scales.clone())
    for sentence, length in enumerate(lengths.tolist()):
        noisy.views[sentence, length:] *= 7
        noisy.scales[sentence, length:] = 30.0
    before, after = (value_and_gradients(rank_torch.log_partition, r, lengths) for r in (rules, noisy))
    torch.testing.assert_close(before["log Z"], after["log Z"], rtol=1e-12, atol=1e-12)
    assert all((after["views"][k, length:] == 0).all() for k, length in enumerate(lengths.tolist()))
    alone = rank_torch.log_partition(
        dataclasses.replace(rules, views=rules.views[:1, :4], scales=rules.scales[:1, :4])
    )
    torch.testing.assert_close(before["log Z"][:1], alone, rtol=1e-12, atol=1e-12)


def test_unwritten_memory_is_never_read(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = random_rank_rules(2, 6, GAPS, floor=0.01)
    check_that_unwritten_memory_is_never_read(monkeypatch, rank_torch.log_partition, rules)


def test_the_same_input_gives_the_same_bits() -> None:
    rules = in_float32(random_rank_rules(3, 8, GAPS))
    first, second = (value_and_gradients(rank_torch.log_partition, rules) for _ in range(2))
    assert all(torch.equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize("sharp", [1.0, 6.0])
@pytest.mark.parametrize(
    ("ranks", "n"),
    [(Ranks(8), 100), (Ranks(4, 2, 4, 2), 36), pytest.param(Ranks(4, 2, 4, 2), 60, marks=pytest.mark.slow)],
)
def test_long_sentences_neither_underflow_nor_overflow_in_float32(ranks: Ranks, n: int, sharp: float) -> None:
    rules = random_rank_rules(1, n, ranks, sharp=sharp)
    double = rank_torch.log_partition(rules)
    single = value_and_gradients(rank_torch.log_partition, in_float32(rules))
    assert double.item() < -150  # float32 ends near -87
    torch.testing.assert_close(single["log Z"].double(), double, rtol=1e-5, atol=1e-3)
    assert all(found.isfinite().all() for found in single.values())
    spans = rank_torch.span_posteriors(in_float32(rules))
    total = spans.continuous.sum() + sum(chart.sum() for chart in spans.discontinuous.values())
    assert total.item() == pytest.approx(2 * n - 1, rel=1e-3)


def test_impossible_sentences_have_no_gradient() -> None:
    rules = random_rank_rules(2, 4, GAPS)
    rules.views[0] = 0.0
    found = value_and_gradients(rank_torch.log_partition, rules)
    value = found.pop("log Z")
    assert value[0] == -torch.inf
    assert value[1].isfinite()
    assert (found["views"][0] == 0).all()
    assert all(grad.isfinite().all() for grad in found.values())


def test_rules_too_unequal_for_float32_are_noticed() -> None:
    rules = unequal(random_rank_rules(1, 14, Ranks(3, 2, 3, 2)))
    assert rank_torch.log_partition(rules).isfinite().all()
    single = in_float32(rules)
    assert rank_torch.log_partition(single).isnan().all()
    with pytest.raises(NumericalError, match="sentence 1 of the batch"):
        mbr.best_trees(rank_torch.span_posteriors(single))
