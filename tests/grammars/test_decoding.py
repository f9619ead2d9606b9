"""Trees from posteriors and charts: optimal, binary, well-nested, of fan-out two at most."""

from __future__ import annotations

import math
import random

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from grammar_instances import tiny_grammar
from grammar_oracle import Symbol, TinyGrammar, is_binary, is_well_nested
from treemean.grammars import KINDS, SpanPosteriors
from treemean.grammars.decoding.semirings import MAX, SUM
from treemean.grammars.rank.decoding import mbr
from treemean.grammars.spans import empty_discontinuous
from treemean.trees import bitsets
from treemean.trees.branching import branching_masks

torch.set_num_threads(1)


def random_posteriors(batch: int, n: int, seed: int, gaps: bool, levels: int = 0) -> SpanPosteriors:
    """Draw weights of spans; few `levels` make ties likely."""
    draw = torch.Generator().manual_seed(seed)

    def weights(*shape: int):
        if levels:
            return torch.randint(levels, shape, generator=draw).double()
        return torch.rand(*shape, generator=draw, dtype=torch.float64)

    charts = empty_discontinuous(batch, n, dtype=torch.float64) if gaps else {}
    for width, chart in charts.items():
        chart.copy_(weights(*chart.shape).triu())
        assert chart.shape[1] == width - 1
    return SpanPosteriors(weights(batch, n + 1, n + 1).triu(1), charts)


def all_trees(n: int, gaps: bool) -> list[frozenset[int]]:
    one: Symbol = (1, 0)
    grammar = TinyGrammar(root={one: 1.0}, words=[{one: 1.0}] * n)
    grammar.rules[one] = [("R2", one, one, 1.0)]
    if gaps:
        grammar.rules[one].append(("R3", one, (2, 0), 1.0))
        grammar.rules[2, 0] = [("R4", one, one, 1.0)] + [(f"R{k}", one, (2, 0), 1.0) for k in (5, 6, 7, 8)]
    return [d.tree for d in grammar.derivations()]


TREES = {(n, gaps): all_trees(n, gaps) for n in range(1, 7) for gaps in (False, True)}


@examples(40)
@given(st.integers(1, 6), st.integers(0, 10**6), st.booleans(), st.sampled_from([0, 2]))
def test_the_best_tree_is_the_best_of_all_trees(n: int, seed: int, gaps: bool, levels: int) -> None:
    spans = random_posteriors(2, n, seed, gaps, levels)
    lengths = torch.tensor([n, max(1, n - 1)])
    for sentence, tree in enumerate(mbr.best_trees(spans, lengths)):
        values = {
            tree: math.fsum(spans.of(sentence, mask) for mask in tree)
            for tree in TREES[int(lengths[sentence]), gaps]
        }
        found = frozenset(tree) if int(lengths[sentence]) > 1 else frozenset()
        assert len(tree) == int(lengths[sentence]) - 1
        assert values[found] == pytest.approx(max(values.values()), abs=1e-12)


def test_ties_are_broken_the_same_way_alone_and_in_a_batch() -> None:
    spans = random_posteriors(4, 9, 1, True, levels=2)
    together = mbr.best_trees(spans)
    for sentence, tree in enumerate(together):
        one = slice(sentence, sentence + 1)
        charts = {width: chart[one] for width, chart in spans.discontinuous.items()}
        assert mbr.best_trees(SpanPosteriors(spans.continuous[one], charts)) == [tree]
    nothing = SpanPosteriors(torch.zeros(1, 5, 5), empty_discontinuous(1, 4))
    assert mbr.best_trees(nothing) == [[0b1111, 0b1110, 0b1100]]


@pytest.mark.parametrize("kind", KINDS)
def test_all_trees_are_binary_well_nested_and_of_fan_out_two_at_most(kind: str) -> None:
    grammar = tiny_grammar(kind, 5)
    lengths = torch.tensor([11, 1, 2, 6])
    words = torch.randint(5, (4, 11), generator=torch.Generator().manual_seed(0))
    draw = torch.Generator().manual_seed(0)
    samples = [list(trees) for trees in zip(*grammar.sample(words, lengths, count=10, generator=draw))]
    gaps = 0
    for trees in (grammar.mbr(words, lengths), grammar.viterbi(words, lengths), *samples):
        for tree, length in zip(trees, lengths.tolist()):
            assert len(tree) == length - 1
            assert not tree or tree[0] == (1 << length) - 1
            assert is_binary(tree)
            assert is_well_nested(tree)
            assert all(bitsets.fan_out_of(mask) <= 2 for mask in tree)
            gaps += sum(bitsets.fan_out_of(mask) == 2 for mask in tree)
    assert (gaps > 0) == kind.endswith("lcfrs")


def test_forty_words_are_feasible() -> None:
    spans = random_posteriors(1, 40, 0, True)
    (tree,) = mbr.best_trees(spans)
    assert len(tree) == 39
    assert is_binary(tree)
    assert is_well_nested(tree)
    value = sum(spans.of(0, mask) for mask in tree)
    draw = random.Random(0)
    for _ in range(20):
        assert value > sum(spans.of(0, mask) for mask in branching_masks(40, "random", draw))


@examples(30)
@given(st.integers(1, 3), st.integers(1, 4), st.integers(1, 4), st.integers(0, 1000))
def test_semirings(rows: int, inner: int, columns: int, seed: int) -> None:
    draw = torch.Generator().manual_seed(seed)
    x, y = (torch.randn(2, rows, inner, generator=draw, dtype=torch.float64) for _ in range(2))
    x[0, 0, 0] = -torch.inf
    matrix = torch.randn(inner, columns, generator=draw, dtype=torch.float64)
    for semiring, reduce in ((SUM, torch.logsumexp), (MAX, torch.amax)):
        expected = reduce(x[..., None] + matrix, -2)
        torch.testing.assert_close(semiring.product(x, matrix), expected)
        torch.testing.assert_close(semiring.product(x, matrix.expand(2, rows, -1, -1)), expected)
        pairs = reduce(x[:, :, None, :, None] + y[:, None, :, :, None] + matrix, -2)
        torch.testing.assert_close(semiring.pairs(x, y, matrix), pairs)
        torch.testing.assert_close(semiring.either(x, y), reduce(torch.stack([x, y]), 0))
