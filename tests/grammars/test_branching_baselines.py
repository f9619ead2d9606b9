"""Branching baselines: exact posteriors, entropies and best trees against draws and enumeration."""

from __future__ import annotations

import math
from collections import Counter

import pytest
import torch

from treemean.errors import InvalidOption, NumericalError
from treemean.grammars import BASELINES, BranchingBaseline, SpanPosteriors
from treemean.grammars.baselines import _divisions
from treemean.grammars.rank.decoding import mbr
from treemean.trees import bitsets

torch.set_num_threads(1)
WORDS = torch.zeros(3, 6, dtype=torch.long)
LENGTHS = torch.tensor([6, 1, 2])


def all_trees(kind: str, mask: int) -> list[tuple[float, frozenset[int]]]:
    if mask.bit_count() == 1:
        return [(1.0, frozenset())]
    return [
        (share * p * q, a | b | {mask})
        for (one, other), share in _divisions(kind, mask).items()
        for p, a in all_trees(kind, one)
        for q, b in all_trees(kind, other)
    ]


@pytest.mark.parametrize("kind", BASELINES)
@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_posteriors_entropy_and_best_tree_against_all_trees(kind: str, n: int) -> None:
    baseline, words = BranchingBaseline(kind, 4), torch.zeros(1, n, dtype=torch.long)
    trees = all_trees(kind, (1 << n) - 1)
    assert math.fsum(p for p, _ in trees) == pytest.approx(1.0)
    spans = baseline.posteriors(words)
    for mask in range(1, 1 << n):
        expected = math.fsum(p for p, tree in trees if mask in tree or mask.bit_count() == 1)
        if bitsets.fan_out_of(mask) <= 2:
            assert spans.of(0, mask) == pytest.approx(expected, abs=1e-6)
    entropy = -math.fsum(p * math.log(p) for p, _ in trees)
    assert baseline.entropy(words).item() == pytest.approx(entropy, abs=1e-5)
    (best,) = baseline.viterbi(words)
    assert [p for p, tree in trees if tree == frozenset(best)] == [pytest.approx(max(p for p, _ in trees))]


@pytest.mark.parametrize("kind", BASELINES)
def test_draws_follow_the_posteriors(kind: str) -> None:
    baseline, count = BranchingBaseline(kind, 4), 4000
    trees = baseline.sample(WORDS, LENGTHS, count=count, generator=torch.Generator().manual_seed(5))
    spans = baseline.posteriors(WORDS, LENGTHS)
    seen = Counter(mask for tree in trees[0] for mask in tree)
    for mask in range(1, 1 << 6):
        if mask.bit_count() > 1 and bitsets.fan_out_of(mask) <= 2:
            chance = spans.of(0, mask)
            deviation = math.sqrt(count * chance * (1 - chance)) + 1e-9
            assert abs(seen[mask] - count * chance) < 5 * deviation + 1e-3 * count * (chance == 1)
    assert trees[1] == [[]] * count
    assert trees[2] == [[3]] * count


def test_left_and_right() -> None:
    words = torch.zeros(1, 4, dtype=torch.long)
    for kind, tree in (("left", [15, 7, 3]), ("right", [15, 14, 12])):
        baseline = BranchingBaseline(kind, 4)
        for trees in (baseline.mbr(words), baseline.viterbi(words), baseline.sample(words)[0]):
            assert trees == [tree]
        assert baseline.entropy(words).item() == 0.0
        assert baseline.log_prob(words).item() == pytest.approx(-4 * math.log(4))
        assert baseline.loss(words).negative_log_likelihood.item() == pytest.approx(4 * math.log(4))


def test_unknown_kinds_and_broken_posteriors() -> None:
    with pytest.raises(InvalidOption, match="left, right, random, random-discontinuous"):
        BranchingBaseline("middle", 3)
    spans = SpanPosteriors(torch.zeros(2, 4, 4))
    spans.continuous[1, 0, 2] = torch.nan
    with pytest.raises(NumericalError, match="sentence 2"):
        mbr.best_trees(spans)
