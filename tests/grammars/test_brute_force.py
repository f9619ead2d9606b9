"""Every grammar against the list of all its derivations."""

from __future__ import annotations

import math
from collections import Counter

import pytest
import torch

from grammar_instances import tiny_grammar
from grammar_oracle import Derivation, Symbol, TinyGrammar, from_dense, from_factors, is_well_nested
from treemean.grammars import KINDS, Grammar
from treemean.grammars.dense import naive as dense_naive
from treemean.grammars.dense import torch as dense_torch
from treemean.grammars.dense.grammar import DenseGrammar
from treemean.grammars.dense.rules import DenseRules
from treemean.grammars.grammar import canonical
from treemean.grammars.rank import naive as rank_naive
from treemean.grammars.rank import torch as rank_torch
from treemean.grammars.rank.grammar import LowRankGrammar
from treemean.grammars.rank.rules import RankRules, Ranks
from treemean.trees import bitsets

torch.set_num_threads(1)
WORDS = torch.tensor([[0, 1, 2, 1, 0], [2, 2, 1, 0, 0], [1, 0, 0, 0, 0]])
LENGTHS = torch.tensor([5, 4, 2])


def derivations_of(grammar: Grammar, sentence: int) -> list[Derivation]:
    length = int(LENGTHS[sentence])
    with torch.no_grad():
        if isinstance(grammar, LowRankGrammar):
            tiny = from_factors(grammar.factors(WORDS), grammar.ranks, sentence, length)
        else:
            assert isinstance(grammar, DenseGrammar)
            tiny = from_dense(grammar._expected_rules(WORDS, LENGTHS), sentence, length)
    return tiny.derivations()


@pytest.fixture(scope="module", params=KINDS)
def case(request: pytest.FixtureRequest) -> tuple[Grammar, list[list[Derivation]]]:
    grammar = tiny_grammar(request.param, vocabulary_size=3)
    return grammar, [derivations_of(grammar, sentence) for sentence in range(len(WORDS))]


def test_probabilities(case) -> None:
    grammar, derivations = case
    expected = [math.log(math.fsum(d.probability for d in found)) for found in derivations]
    found = grammar.log_prob(WORDS, LENGTHS).tolist()
    assert found == pytest.approx(expected, rel=1e-12)


def test_posteriors(case) -> None:
    grammar, derivations = case
    spans = grammar.posteriors(WORDS, LENGTHS)
    for sentence, found in enumerate(derivations):
        total = math.fsum(d.probability for d in found)
        length = int(LENGTHS[sentence])
        for mask in range(1, 1 << WORDS.shape[1]):
            expected = math.fsum(d.probability for d in found if mask in d.tree) / total
            if mask.bit_count() == 1:
                expected = float(mask < 1 << length)
            assert spans.of(sentence, mask) == pytest.approx(expected, abs=1e-12)


def test_the_most_probable_derivation(case) -> None:
    grammar, derivations = case
    for tree, found in zip(grammar.viterbi(WORDS, LENGTHS), derivations):
        best = max(found)
        of_this_tree = max(d.probability for d in found if d.tree == frozenset(tree))
        assert of_this_tree == pytest.approx(best.probability, rel=1e-12)
        assert tree == canonical(tree)


def test_the_tree_of_the_largest_expected_score(case) -> None:
    grammar, derivations = case
    spans = grammar.posteriors(WORDS, LENGTHS)
    for sentence, (tree, found) in enumerate(zip(grammar.mbr(WORDS, LENGTHS), derivations)):
        scores = {d.tree: math.fsum(spans.of(sentence, mask) for mask in d.tree) for d in found}
        assert scores[frozenset(tree)] == pytest.approx(max(scores.values()), abs=1e-12)


def test_entropy(case) -> None:
    grammar, derivations = case
    expected = []
    for found in derivations:
        total = math.fsum(d.probability for d in found)
        chances = [d.probability / total for d in found]
        expected.append(-math.fsum(p * math.log(p) for p in chances))
    assert grammar.entropy(WORDS, LENGTHS).tolist() == pytest.approx(expected, rel=1e-10)


def test_samples_follow_the_posterior_distribution(case) -> None:
    """Pearson's statistic has mean k and variance 2k for k degrees of freedom; six deviations are allowed."""
    grammar, derivations = case
    count = 3000
    draw = torch.Generator().manual_seed(7)
    samples = grammar.sample(WORDS[:2], LENGTHS[:2], count=count, generator=draw)
    for found, trees in zip(derivations, samples):
        total = math.fsum(d.probability for d in found)
        expected: Counter[frozenset[int]] = Counter()
        for d in found:
            expected[d.tree] += count * d.probability / total
        observed = Counter(frozenset(tree) for tree in trees)
        assert set(observed) <= set(expected)
        common = [tree for tree, value in expected.items() if value >= 5]
        rare = [tree for tree, value in expected.items() if value < 5]
        cells = [(observed[tree], expected[tree]) for tree in common]
        cells.append((sum(observed[tree] for tree in rare), sum(expected[tree] for tree in rare)))
        statistic = sum((seen - wanted) ** 2 / wanted for seen, wanted in cells if wanted > 0)
        freedom = len(cells) - 1
        assert statistic < freedom + 6 * math.sqrt(2 * freedom)


def test_the_same_seed_draws_the_same_trees(case) -> None:
    grammar, _ = case

    def draw(seed: int):
        return grammar.sample(WORDS, LENGTHS, count=20, generator=torch.Generator().manual_seed(seed))

    assert draw(1) == draw(1)
    assert draw(1) != draw(2)


@pytest.mark.parametrize("gapped", [0, 1, 2])
@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_rules_that_cost_nothing_count_derivations_over_symbols(n: int, gapped: int) -> None:
    nonterminals, preterminals = (2, 1) if n < 5 else (1, 1)
    children = nonterminals + preterminals
    rules = DenseRules(
        words=torch.zeros(1, n, preterminals, dtype=torch.float64),
        root=torch.ones(1, nonterminals, dtype=torch.float64),
        side_by_side=torch.ones(1, nonterminals, children, children, dtype=torch.float64),
        wrapping=torch.ones(1, nonterminals, children, gapped, dtype=torch.float64),
        apart=torch.ones(1, gapped, children, children, dtype=torch.float64),
        attaching=torch.ones(1, gapped, 4, children, gapped, dtype=torch.float64),
    )
    expected = len(from_dense(rules, 0, n).derivations())
    for module in (dense_naive, dense_torch):
        assert module.log_partition(rules).exp().item() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("n", "count"), [(2, 1), (3, 3), (4, 14), (5, 78)])
def test_the_number_of_trees(n: int, count: int) -> None:
    """Binary well-nested trees of fan-out two are the derivations of a grammar of one symbol of each kind."""
    one: Symbol = (1, 0)
    tiny = TinyGrammar(root={one: 1.0}, words=[{one: 1.0}] * n)
    tiny.rules[one] = [("R2", one, one, 1.0), ("R3", one, (2, 0), 1.0)]
    tiny.rules[2, 0] = [("R4", one, one, 1.0)] + [(f"R{k}", one, (2, 0), 1.0) for k in (5, 6, 7, 8)]
    derivations = tiny.derivations()
    assert len(derivations) == len({d.tree for d in derivations}) == count
    assert all(is_well_nested(d.tree) for d in derivations)
    continuous = math.comb(2 * n - 2, n - 1) // n
    assert sum(all(bitsets.fan_out_of(mask) == 1 for mask in d.tree) for d in derivations) == continuous
    for ranks, expected in ((Ranks(1), continuous), (Ranks(1, 1, 1, 1), count)):
        rules = RankRules(
            views=torch.ones(1, n, ranks.views, dtype=torch.float64),
            scales=torch.zeros(1, n, dtype=torch.float64),
            continuous=torch.ones(ranks.r1 + ranks.r2, ranks.views, dtype=torch.float64),
            discontinuous=torch.ones(ranks.r3 + ranks.r4, ranks.r2 + ranks.r4, dtype=torch.float64),
            root=torch.ones(ranks.r1 + ranks.r2, dtype=torch.float64),
            ranks=ranks,
        )
        for module in (rank_naive, rank_torch):
            assert module.log_partition(rules).exp().item() == pytest.approx(expected, rel=1e-12)
