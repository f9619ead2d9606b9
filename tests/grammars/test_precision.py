"""Batches that overflow in float32 are computed again in float64; batches too large for memory are told."""

from __future__ import annotations

import pytest
import torch

from grammar_instances import make_unequal
from treemean.errors import NumericalError, TreemeanError
from treemean.grammars import KINDS, Careful, Grammar, GrammarConfig, assemble_grammar, build_grammar
from treemean.grammars.memory import told_if_too_little
from treemean.grammars.nan_policy import in_float64

torch.set_num_threads(1)


def grammar_of(kind: str = "tn-lcfrs") -> Grammar:
    torch.manual_seed(1)
    sizes = {"nonterminals": 4, "preterminals": 5, "embedding": 8}
    if "lcfrs" in kind:
        sizes["discontinuous"] = 3
    if kind.startswith("tn"):
        ranks = (3, 2, 3, 2) if "lcfrs" in kind else (3, 0, 0, 0)
        return build_grammar(GrammarConfig(kind, **sizes, ranks=ranks), 10)
    return build_grammar(GrammarConfig(kind, **sizes), 10)


@pytest.mark.parametrize("kind", KINDS)
def test_the_copy_is_the_same_grammar(kind: str) -> None:
    grammar = grammar_of(kind)
    words = torch.randint(10, (2, 5))
    before = torch.get_rng_state()
    copy = in_float64(grammar)
    assert torch.equal(before, torch.get_rng_state())
    assert copy.log_prob(words).dtype == torch.float64
    assert torch.allclose(copy.log_prob(words).float(), grammar.log_prob(words), atol=1e-4)
    assert copy.training == grammar.training
    assert {p.dtype for p in grammar.parameters()} == {torch.float32}


def test_only_batches_that_overflow_are_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    make_unequal(monkeypatch)
    grammar = grammar_of()
    short, long = torch.randint(10, (3, 4)), torch.randint(10, (2, 14))
    with pytest.raises(NumericalError):
        grammar.mbr(long)
    careful = Careful(grammar)
    assert careful.compute(3, lambda g: g.mbr(short)) == grammar.mbr(short)
    assert careful.again == 0
    assert careful.compute(2, lambda g: g.mbr(long)) == grammar.double().mbr(long)
    assert careful.again == 2


def test_broken_parameters_stay_an_error() -> None:
    grammar = grammar_of()
    with torch.no_grad():
        grammar.words.fill_(torch.nan)
    words = torch.randint(10, (2, 4))
    for broken in (grammar, grammar.double()):
        with pytest.raises(
            NumericalError, match="parameters are NaN or infinite, or its rules are too unequal"
        ):
            Careful(broken).compute(2, lambda g: g.mbr(words))
        with pytest.raises(NumericalError, match="parameters of the grammar are NaN or infinite"):
            Careful(broken).compute(2, lambda g: g.viterbi(words))


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_drawn_from_broken_parameters(kind: str) -> None:
    grammar = grammar_of(kind)
    with torch.no_grad():
        for parameter in grammar.parameters():
            parameter.fill_(torch.nan)
    with pytest.raises(NumericalError, match="parameters of the grammar are NaN or infinite"):
        grammar.sample(torch.randint(10, (2, 4)))


def test_nothing_is_allocated_for_sizes_that_tensors_do_not_have() -> None:
    tensors = grammar_of().state_dict()
    for size in (10**10, 10**19):
        config = GrammarConfig("tn-lcfrs", size, 5, 3, ranks=(3, 2, 3, 2), embedding=8)
        with pytest.raises((RuntimeError, TypeError)):
            assemble_grammar(config, 10, tensors)


def test_too_little_memory_is_told_and_other_errors_are_not_hidden() -> None:
    little = told_if_too_little(1, 200, "Less!")
    with pytest.raises(TreemeanError, match=r"not enough memory for 1 × 200 words at a time\. Less!"), little:
        torch.empty(2**60, dtype=torch.uint8)
    with pytest.raises(RuntimeError, match="shape"), told_if_too_little(1, 200, "Less!"):
        torch.zeros(2) @ torch.zeros(3, 4)
