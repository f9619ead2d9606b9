"""Weights of gaps: a derivation is multiplied for each of its gaps, however the sum over all is computed."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from treemean.errors import InvalidOption
from treemean.grammars import GrammarConfig, build_grammar
from treemean.grammars.rank.grammar import LowRankGrammar

WORDS = torch.tensor([[0, 3, 1, 4], [2, 2, 0, 1]])
SIZES: dict[str, Any] = {
    "nonterminals": 3, "preterminals": 4, "discontinuous": 3, "ranks": (4, 3, 4, 2), "embedding": 6,
}  # fmt: skip


def grammar_with(backend: str = "torch", **weights: float) -> LowRankGrammar:
    """Return always the same parameters, with other weights."""
    torch.manual_seed(3)
    grammar = build_grammar(GrammarConfig("tn-lcfrs", **SIZES, **weights, backend=backend), 5).double()
    assert isinstance(grammar, LowRankGrammar)
    with torch.no_grad():
        for parameter in grammar.parameters():
            parameter += torch.randn_like(parameter)
    return grammar


def total(backend: str, wrapping: float, wrapped_words: float, words: Tensor = WORDS) -> Tensor:
    grammar = grammar_with(backend, wrapping=wrapping, wrapped_words=wrapped_words)
    return grammar.log_prob(words).exp().detach()


@pytest.mark.parametrize("backend", ["naive", "torch"])
def test_a_gap_counts_once_and_one_of_a_word_again(backend: str) -> None:
    """Four words have at most one gap, of one word or of two: the sum is linear in the weights."""
    plain, none = total(backend, 1, 1), total(backend, 1e-30, 1)
    longer = total(backend, 1, 0) - none  # by derivations with a gap of two words
    single = plain - none - longer
    assert (longer > 0).all()
    assert (single > 0).all()
    for wrapping, wrapped_words in ((2.0, 1.0), (1.0, 0.25), (3.0, 0.5), (0.5, 4.0)):
        expected = none + wrapping * (longer + wrapped_words * single)
        torch.testing.assert_close(total(backend, wrapping, wrapped_words), expected, rtol=1e-12, atol=0)


@pytest.mark.parametrize("backend", ["naive", "torch"])
def test_a_gap_at_the_root_counts_once_more(backend: str) -> None:
    """Three words have one gap at most, closed at the root; of four, it may also be closed below."""
    for words, below in ((WORDS[:, :3], False), (WORDS, True)):
        plain, none = total(backend, 1, 1, words), total(backend, 1e-30, 1, words)
        forbidden, half = (
            grammar_with(backend, root_wrapping=weight).log_prob(words).exp().detach()
            for weight in (0.0, 0.5)
        )
        torch.testing.assert_close(half, (plain + forbidden) / 2, rtol=1e-12, atol=0)
        assert (((forbidden - none) / none > 1e-6) == below).all()


def test_no_sentence_is_wrapped_where_that_is_forbidden() -> None:
    words = torch.randint(5, (40, 6), generator=torch.Generator().manual_seed(0))
    ends = 0b100001
    for weight in (1.0, 0.0):
        trees = grammar_with(wrapping=50.0, root_wrapping=weight).viterbi(words)
        found = [mask for tree in trees for mask in tree if mask & ends == ends and mask != 0b111111]
        assert bool(found) == (weight > 0)


@pytest.mark.parametrize("share", [0.05, 0.2, 0.6])
def test_gaps_begin_with_a_share(share: float) -> None:
    torch.manual_seed(1)
    config = GrammarConfig("tn-lcfrs", **{**SIZES, "nonterminals": 30, "discontinuous": 20}, gap_share=share)
    grammar = build_grammar(config, 5)
    assert isinstance(grammar, LowRankGrammar)
    factors, (r1, _, r3, _) = grammar.factors(WORDS), config.ranks
    for choices, rank in ((factors.parents, r1), (factors.gapped_parents, r3)):
        assert float(choices[:, rank:].detach().sum(1).mean()) == pytest.approx(share, abs=1e-5)
    torch.manual_seed(1)
    drawn = build_grammar(config.replace(gap_share=0.0), 5).state_dict()
    changed = {name for name, tensor in grammar.state_dict().items() if not torch.equal(tensor, drawn[name])}
    assert changed == {"rank2", "rank4"}


def test_without_weights_it_is_the_grammar_itself() -> None:
    torch.testing.assert_close(total("torch", 1, 1), grammar_with().log_prob(WORDS).exp(), rtol=0, atol=0)


def test_gradients_of_weighted_grammars() -> None:
    words, weights = WORDS, {"wrapping": 2.0, "wrapped_words": 0.1, "root_wrapping": 0.3}
    naive, fast = grammar_with("naive", **weights), grammar_with("torch", **weights)
    for grammar in (naive, fast):
        grammar.log_prob(words).sum().backward()
    for (name, expected), found in zip(naive.named_parameters(), fast.parameters()):
        torch.testing.assert_close(found.grad, expected.grad, rtol=1e-9, atol=1e-12, msg=name)


def one_word_gaps(trees: list[tuple[int, ...]]) -> int:
    """Count constituents whose only missing word within their ends is one."""
    missing = [~mask & ((1 << mask.bit_length()) - 1) & -(mask & -mask) for tree in trees for mask in tree]
    return sum(gap.bit_count() == 1 for gap in missing)


def test_no_tree_has_what_is_forbidden() -> None:
    """Going up a tree, gaps only become narrower: with no gap of one word to close, there is none at all."""
    words = torch.randint(5, (40, 7), generator=torch.Generator().manual_seed(0))
    free, bound = (grammar_with(wrapping=50.0, wrapped_words=weight) for weight in (1.0, 0.0))
    assert one_word_gaps(free.viterbi(words)) > 0
    assert one_word_gaps(bound.viterbi(words)) == 0
    assert one_word_gaps(bound.mbr(words)) < one_word_gaps(free.mbr(words))


@pytest.mark.parametrize(
    ("kind", "weights", "told"),
    [
        ("tn-pcfg", {"wrapping": 2.0}, "wrapping has no meaning for tn-pcfg: leave it out, or set it to 1"),
        ("n-lcfrs", {"wrapped_words": 0.5}, "wrapped_words has no meaning for n-lcfrs"),
        ("tn-lcfrs", {"wrapping": 0.0}, "wrapping must be more than 0, and finite, not 0.0"),
        ("tn-lcfrs", {"wrapping": float("inf")}, "wrapping must be more than 0, and finite, not inf"),
        ("tn-lcfrs", {"wrapped_words": -1.0}, "wrapped_words must be at least 0, and finite, not -1.0"),
        ("tn-lcfrs", {"wrapped_words": float("nan")}, "wrapped_words must be at least 0"),
        ("tn-lcfrs", {"wrapped_words": 0.5, "floor": 1e-9}, "a floor would undo wrapping, wrapped_words"),
        ("tn-lcfrs", {"root_wrapping": -1.0}, "root_wrapping must be at least 0, and finite, not -1.0"),
        ("tn-lcfrs", {"gap_share": 1.0}, "gap_share must be at least 0 and less than 1, not 1.0"),
        ("n-lcfrs", {"gap_share": 0.1}, "gap_share has no meaning for n-lcfrs: leave it out, or set it to 0"),
    ],
)
def test_weights_that_mean_nothing(kind: str, weights: dict[str, float], told: str) -> None:
    with pytest.raises(InvalidOption, match=told):
        GrammarConfig(kind, **weights)  # type: ignore[arg-type]
