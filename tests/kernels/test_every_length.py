"""All kernels at one to nine words against the definitions in float64, in memory that starts as NaN.

Values, the gradients of all tensors, and posteriors. Batches of three have sentences of three lengths; with
gaps there are but two, since the interpreter takes its time for every program of a kernel. In it, sentences
of more than four words are left to `make test-slow`.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from kernel_checks import assert_same_gradients, assert_same_spans, differentiate, moved, tensors_of
from torch import Tensor

from grammar_instances import random_dense_rules, random_rank_rules, tiny_grammar
from treemean.grammars.dense import naive as dense_naive
from treemean.grammars.dense import triton as dense_kernels
from treemean.grammars.rank import naive as rank_naive
from treemean.grammars.rank import triton as rank_kernels
from treemean.grammars.rank.grammar import LowRankGrammar
from treemean.grammars.rank.rules import RankRules, Ranks
from treemean.grammars.rank.triton.parameters import rank_rules

pytestmark = pytest.mark.usefixtures("poisoned")

#: Tensor cores keep ten binary digits of an operand; with so few ranks little of that error averages out.
TOLERANCE = 1e-3

RANKS = {"gaps": Ranks(5, 2, 3, 1), "no gaps": Ranks(5)}
#: Words of the longest sentence, and sentences.
ALONE = [(n, 1) for n in range(1, 10)]
BATCHES = {"no gaps": [(3, 3), (6, 3), (9, 3)], "gaps": [(4, 3), (9, 3)]}


def marked(*case: Any) -> Any:
    """Return a case that ends with words and sentences, marked if it takes long."""
    return pytest.param(*case, marks=[pytest.mark.slow] * (case[-2] > 4))


SIZES = [marked(*size) for size in (*ALONE, *BATCHES["no gaps"])]
CASES = [marked(gaps, *size) for gaps in BATCHES for size in (*ALONE, *BATCHES[gaps])]


def lengths_of(n: int, batch: int) -> Tensor:
    """Return n and numbers below it."""
    return torch.tensor([max(n - place, 1) for place in range(batch)])


@pytest.mark.parametrize(("gaps", "n", "batch"), CASES)
def test_ranks(gaps: str, n: int, batch: int, device: str) -> None:
    rules = random_rank_rules(batch, n, RANKS[gaps], seed=n, sharp=2.0)
    given, lengths = moved(rules, device, torch.float32), lengths_of(n, batch)
    value, gradients = differentiate(rank_kernels.log_partition, given, lengths.to(device))
    expected, wanted = differentiate(rank_naive.log_partition, rules, lengths)
    torch.testing.assert_close(value, expected, rtol=0, atol=TOLERANCE)
    assert_same_gradients(gradients, wanted, TOLERANCE)
    found = rank_kernels.span_posteriors(given, lengths.to(device))
    assert_same_spans(found, rank_naive.span_posteriors(rules, lengths), TOLERANCE)


@pytest.mark.parametrize(("gaps", "n", "batch"), CASES)
def test_symbols(gaps: str, n: int, batch: int, device: str) -> None:
    """In float64, where that is possible: in the interpreter."""
    rules = random_dense_rules(batch, n, 2, 3, int(gaps == "gaps"), seed=n, sharp=2.0)
    on_gpu, lengths = device == "cuda", lengths_of(n, batch)
    given = moved(rules, device, torch.float32 if on_gpu else torch.float64)
    value, gradients = differentiate(dense_kernels.log_partition, given, lengths.to(device))
    expected, wanted = differentiate(dense_naive.log_partition, rules, lengths)
    tolerance = TOLERANCE if on_gpu else 1e-10
    torch.testing.assert_close(value, expected, rtol=0, atol=tolerance)
    assert_same_gradients(gradients, wanted, tolerance)


@pytest.mark.parametrize("kind", ["tn-lcfrs", "tn-pcfg"])
@pytest.mark.parametrize(("n", "batch"), SIZES)
def test_from_parameters_to_ranks(kind: str, n: int, batch: int, device: str) -> None:
    grammar = tiny_grammar(kind, vocabulary_size=11, nonterminals=3, preterminals=5, embedding=19)
    assert isinstance(grammar, LowRankGrammar)
    with torch.no_grad():
        for parameter in grammar.parameters():
            parameter.mul_(0.5)  # or the root would be so decided that it has no gradients
    parameters = dict(grammar.named_parameters())
    stacked = {
        name: p.detach()[None].to(device, torch.float32).requires_grad_() for name, p in parameters.items()
    }
    words = torch.randint(11, (1, batch, n), generator=torch.Generator().manual_seed(n))
    found = rank_rules(stacked, words.to(device), grammar.config, dtype=torch.float32)
    value, gradients = differentiate_rules(found, stacked)
    expected, wanted = differentiate_rules(grammar.rules(words[0]).stack(), parameters)
    torch.testing.assert_close(value, expected, rtol=0, atol=1e-5)
    assert_same_gradients({name: gradient[0] for name, gradient in gradients.items()}, wanted, TOLERANCE)


def differentiate_rules(rules: RankRules, parameters: dict[str, Tensor]) -> tuple[Tensor, dict[str, Tensor]]:
    """Return a random linear function of all rules, and its gradients."""
    draw = torch.Generator().manual_seed(1)
    parts = {**tensors_of(rules), "views": rules.views * rules.scales.exp()[..., None]}
    del parts["scales"]
    total = torch.zeros((), dtype=torch.float64)
    for part in parts.values():
        total = total + (torch.randn(part.shape, generator=draw, dtype=total.dtype) * part.cpu()).sum()
    gradients = torch.autograd.grad(
        total, list(parameters.values()), allow_unused=True, materialize_grads=True
    )
    return total.detach(), {name: g.cpu().double() for name, g in zip(parameters, gradients)}
