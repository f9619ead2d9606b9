"""The vectorised inside algorithm over symbols against the naive one."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from examples import examples
from grammar_instances import (
    check_that_unwritten_memory_is_never_read,
    random_dense_rules,
    value_and_gradients,
)
from treemean.grammars.dense import naive as dense_naive
from treemean.grammars.dense import torch as dense_torch
from treemean.grammars.dense.rules import DenseRules

torch.set_num_threads(1)


@examples(25)
@given(st.data())
def test_same_as_naive_whatever_the_sizes(data) -> None:
    size = st.integers(1, 3)
    n, batch = data.draw(st.integers(1, 6)), data.draw(size)
    lengths = torch.tensor(data.draw(st.lists(st.integers(1, n), min_size=batch, max_size=batch)))
    rules = random_dense_rules(
        batch,
        n,
        data.draw(size),
        data.draw(size),
        data.draw(st.integers(0, 2)),
        per_sentence=data.draw(st.booleans()),
        seed=data.draw(st.integers(0, 1000)),
        sharp=data.draw(st.sampled_from([0.5, 2.0, 6.0])),
    )
    naive, fast = (
        value_and_gradients(module.log_partition, rules, lengths) for module in (dense_naive, dense_torch)
    )
    for name, expected in naive.items():
        torch.testing.assert_close(fast[name], expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("gapped", [0, 2])
def test_gradcheck(gapped: int) -> None:
    rules = random_dense_rules(2, 4, 2, 2, gapped, per_sentence=True)
    names = list(rules.tensors())
    lengths = torch.tensor([4, 3])

    def log_partition(*tensors: Tensor) -> Tensor:
        return dense_torch.log_partition(DenseRules(**dict(zip(names, tensors))), lengths)

    leaves = [tensor.clone().requires_grad_() for tensor in rules.tensors().values()]
    assert torch.autograd.gradcheck(log_partition, leaves)


@pytest.mark.parametrize("gapped", [0, 2])
def test_posteriors_count_the_nodes_of_a_binary_tree(gapped: int) -> None:
    lengths = torch.tensor([7, 5, 1])
    rules = random_dense_rules(3, 7, 3, 2, gapped)
    spans = dense_torch.span_posteriors(rules, lengths)
    total = spans.continuous.sum((1, 2))
    for chart in spans.discontinuous.values():
        total = total + chart.sum((1, 2, 3))
    torch.testing.assert_close(total, 2.0 * lengths.double() - 1)
    assert bool(spans.discontinuous) == (gapped > 0)


@pytest.mark.parametrize(("gapped", "n"), [(0, 100), (1, 60)])
def test_long_sentences_neither_underflow_nor_overflow_in_float32(gapped: int, n: int) -> None:
    rules = random_dense_rules(1, n, 2, 2, gapped, sharp=2.0)
    single = DenseRules(**{name: tensor.float() for name, tensor in rules.tensors().items()})
    with torch.no_grad():
        double = dense_torch.log_partition(rules)
        found = dense_torch.log_partition(single)
    assert double.item() < -100  # float32 ends near -87
    torch.testing.assert_close(found.double(), double, rtol=1e-5, atol=1e-3)


def test_unwritten_memory_is_never_read(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = random_dense_rules(2, 6, 2, 2, 2)
    check_that_unwritten_memory_is_never_read(monkeypatch, dense_torch.log_partition, rules)
