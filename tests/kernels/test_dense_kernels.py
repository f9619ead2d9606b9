"""The kernels over symbols against the definition, at small odd sizes, in memory that starts as NaN."""

from __future__ import annotations

from functools import partial

import pytest
import torch

from grammar_instances import random_dense_rules, tiny_grammar, value_and_gradients
from treemean.errors import InvalidOption
from treemean.grammars.dense import naive as dense_naive
from treemean.grammars.dense import torch as dense_torch
from treemean.grammars.dense import triton as dense_kernels
from treemean.grammars.dense.rules import DenseRules
from treemean.grammars.dense.triton import forward_pass
from treemean.grammars.dense.triton.forward_pass import DEFAULT, Settings
from treemean.grammars.gpu.matrices import precision


def few_lines(device: str) -> Settings:
    """Let all loops go round more than once, where tiles may be so small."""
    return (
        DEFAULT
        if device == "cuda"
        else Settings(
            attach_rows=8,
            rows=8,
            sharing=2,
            lines=2,
            chunks=2,
            wrap_chunks=3,
            right_chunks=3,
            attach_chunks=3,
        )
    )


def in_float32(rules: DenseRules, device: str) -> DenseRules:
    return DenseRules(**{name: tensor.float().to(device) for name, tensor in rules.tensors().items()})


def by_halves(
    rules: DenseRules, device: str, monkeypatch: pytest.MonkeyPatch
) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]:
    """Return log Z and gradients in float64, and by kernels that keep halves, as on a GPU."""
    monkeypatch.setattr(forward_pass, "fp16_type", lambda like: torch.float16)
    expected = value_and_gradients(dense_torch.log_partition, rules, None)
    return expected, value_and_gradients(dense_kernels.log_partition, in_float32(rules, device), None)


def agree(rules: DenseRules, lengths: list[int], device: str, settings: Settings = DEFAULT) -> None:
    """Compare in float64 where that is possible: in the interpreter."""
    expected = value_and_gradients(dense_torch.log_partition, rules, torch.tensor(lengths))
    given = rules
    if device == "cuda":
        given = in_float32(rules, device)
    found = value_and_gradients(
        partial(dense_kernels.log_partition, settings=settings), given, torch.tensor(lengths, device=device)
    )
    for name, wanted in expected.items():
        rtol, atol = (1e-3, 1e-5) if device == "cuda" else (1e-10, 1e-10)
        torch.testing.assert_close(found[name].double().cpu(), wanted, rtol=rtol, atol=atol, msg=name)


@pytest.mark.usefixtures("poisoned")
@pytest.mark.parametrize("per_sentence", [False, True])
@pytest.mark.parametrize("gapped", [0, 2])
@pytest.mark.parametrize(("n", "lengths"), [(1, [1]), (2, [2, 1]), (4, [2, 4, 3])])
def test_same_as_vectorised(n: int, lengths: list[int], gapped: int, per_sentence: bool, device: str) -> None:
    rules = random_dense_rules(len(lengths), n, 3, 4, gapped, per_sentence=per_sentence, sharp=2.0, seed=n)
    agree(rules, lengths, device)


@pytest.mark.usefixtures("poisoned")
@pytest.mark.parametrize("n", [6, pytest.param(7, marks=pytest.mark.slow)])
def test_long_loops(n: int, device: str) -> None:
    agree(random_dense_rules(1, n, 2, 3, 2, sharp=2.0), [n], device, few_lines(device))


@pytest.mark.usefixtures("poisoned")
@pytest.mark.parametrize(
    ("batch", "n", "sharp"),
    [(1, 5, 8.0), *(pytest.param(2, 6, sharp, marks=pytest.mark.slow) for sharp in (1.0, 8.0))],
)
def test_halves_are_exact_enough(
    batch: int, n: int, sharp: float, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the interpreter, too, discontinuous spans are kept and multiplied as on a GPU."""
    rules = random_dense_rules(batch, n, 3, 4, 5, sharp=sharp, seed=1)
    expected, found = by_halves(rules, device, monkeypatch)
    assert float((found["log Z"].cpu() - expected["log Z"]).abs().max()) < 1e-3
    for name, wanted in expected.items():
        assert float((found[name].cpu() - wanted).norm() / wanted.norm()) < 1e-3, name


@pytest.mark.usefixtures("poisoned")
def test_improbable_gaps(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a gap is as improbable as 1e-20, and what halves would make 0, its gradients are right."""
    tensors = random_dense_rules(1, 5, 2, 3, 2, seed=2).tensors()
    tensors = {**tensors, "apart": tensors["apart"] * 1e-20}
    rules = DenseRules(**tensors)
    expected, found = by_halves(rules, device, monkeypatch)
    for name in ("wrapping", "apart", "attaching"):
        assert float((found[name].cpu() - expected[name]).norm() / expected[name].norm()) < 1e-3, name


@pytest.mark.usefixtures("poisoned")
@pytest.mark.parametrize("improbable", ["wrapping", "apart"])
def test_improbable_gaps_that_nothing_else_can_do(
    improbable: str, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is as improbable as 1e-20 counts where all else is more improbable still."""
    tensors = random_dense_rules(1, 5, 2, 3, 2, seed=2).tensors()
    tensors["side_by_side"] *= 1e-10
    tensors[improbable] *= 1e-20
    rules = DenseRules(**tensors)
    expected, found = by_halves(rules, device, monkeypatch)
    assert float((found["log Z"].cpu() - expected["log Z"]).abs()) < 1e-3
    for name, wanted in expected.items():
        assert float((found[name].cpu() - wanted).norm() / wanted.norm()) < 1e-3, name


@pytest.mark.usefixtures("poisoned")
def test_more_preterminals_than_nonterminals(device: str) -> None:
    """As at published sizes, symbols of single words take several times the place of those of others."""
    rules = random_dense_rules(2, 3, 3, 30, 16, per_sentence=True, sharp=2.0)
    agree(rules, [3, 2], device, few_lines(device))


@pytest.mark.usefixtures("poisoned")
def test_more_words_than_lines_without_gaps(device: str) -> None:
    agree(random_dense_rules(1, 9, 17, 3, 0, sharp=2.0), [9], device, few_lines(device))


@pytest.mark.usefixtures("poisoned")
@pytest.mark.parametrize("gapped", [0, 1])
def test_posteriors_are_those_of_the_definition(gapped: int, device: str) -> None:
    rules, lengths = random_dense_rules(2, 4, 2, 2, gapped, sharp=2.0), torch.tensor([4, 3])
    expected = dense_naive.span_posteriors(rules, lengths)
    given = DenseRules(**{name: tensor.float().to(device) for name, tensor in rules.tensors().items()})
    found = dense_kernels.span_posteriors(given, lengths.to(device)).to("cpu")
    torch.testing.assert_close(found.continuous.double(), expected.continuous, rtol=0, atol=1e-5)
    assert found.discontinuous.keys() == expected.discontinuous.keys()
    for width, chart in expected.discontinuous.items():
        torch.testing.assert_close(found.discontinuous[width].double(), chart, rtol=0, atol=1e-5)


@pytest.mark.parametrize("kind", ["n-lcfrs", "c-pcfg"])
def test_a_grammar_by_kernels_is_the_same_grammar(kind: str, device: str) -> None:
    fast = tiny_grammar(kind, backend="triton", vocabulary_size=5).float().to(device)
    slow = tiny_grammar(kind, backend="torch", vocabulary_size=5)
    words = torch.tensor([[0, 1, 2, 3], [4, 3, 3, 0]])
    with precision(torch.float32):  # what halves do would not average out over so few words
        for lengths in (torch.tensor([4, 3]), None):
            value, expected = fast.log_prob(words.to(device), lengths), slow.log_prob(words, lengths)
            torch.testing.assert_close(value.detach().cpu().double(), expected.detach(), rtol=0, atol=1e-4)
        value.sum().backward()
    expected.sum().backward()
    for found, wanted in zip(fast.parameters(), slow.parameters()):
        if wanted.grad is not None:
            torch.testing.assert_close(found.grad.cpu().double(), wanted.grad, rtol=1e-3, atol=1e-4)
    assert fast.mbr(words.to(device), lengths) == slow.mbr(words, lengths)


@pytest.mark.parametrize(
    ("kind", "size"), [("n-pcfg", {"nonterminals": 65}), ("n-lcfrs", {"discontinuous": 64})]
)
def test_too_many_symbols_for_kernels_are_refused(kind: str, size: dict[str, int]) -> None:
    with pytest.raises(InvalidOption, match="at most 64 nonterminals, 63 discontinuous"):
        tiny_grammar(kind, backend="triton", **size)


@pytest.mark.parametrize(
    ("kind", "shape", "advice"),
    [
        ("n-lcfrs", (1, 600), "1 × 600 words at a time are too many for kernels: use the backend torch"),
        ("tn-lcfrs", (1, 600), "1 × 600 words at a time are too many for kernels: use the backend torch"),
        ("n-pcfg", (70_000, 2), "70000 × 2 words at a time are too many for kernels: take fewer sentences"),
    ],
)
def test_more_than_kernels_can_count_is_refused(
    kind: str, shape: tuple[int, int], advice: str, device: str
) -> None:
    grammar = tiny_grammar(kind, backend="triton", vocabulary_size=5).float().to(device)
    with pytest.raises(InvalidOption, match=advice), torch.no_grad():
        grammar.log_prob(torch.zeros(shape, dtype=torch.int64, device=device))
