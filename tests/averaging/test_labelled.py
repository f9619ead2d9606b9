"""The joint average of labelled trees: against brute force over all of them, and integer programming."""

from __future__ import annotations

import random
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treemean
from examples import examples
from labelled_instances import random_tree
from treemean.averaging import all_optima, average, count_optima, k_best
from treemean.averaging.reference.labelled import all_trees, make_labelled_problem, solution_of
from treemean.averaging.reference.labels import Voters
from treemean.averaging.request import squared_beta
from treemean.averaging.weights import WeightsLike, make_weights
from treemean.errors import InvalidOption
from treemean.trees import Constituent, Tree, Treebank

ALPINO = Path(__file__).resolve().parents[2] / "../shared/data/dutch/alpino.xml.gz"


@st.composite
def instances(draw: st.DrawFn) -> tuple[list[Tree], WeightsLike, float]:
    rng = random.Random(draw(st.integers(0, 2**32 - 1)))
    n, count = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    trees = [random_tree(n, rng, rng.choice([1, 2])) for _ in range(count)]
    # Copies, so that trees agree, and sizes are equal at times.
    trees = [rng.choice(trees) if rng.random() < 0.4 else tree for tree in trees]
    weights = rng.choice([None, [rng.randint(1, 4) for _ in trees]])
    if rng.random() < 0.2:
        weights = {kind: [rng.randint(1, 3) for _ in trees] for kind in ("continuous", "discontinuous")}
    return trees, weights, rng.choice([1, 1, 0.5, 2, 0])


@given(instances(), st.sampled_from(["keep", "none"]), st.sampled_from([False, "right", "left"]))
@examples(150)
def test_the_core_finds_what_brute_force_finds(instance, unaries, binary) -> None:
    trees, weights, beta = instance
    options = {"beta": beta, "labelled": True, "unaries": unaries, "binary": binary}
    fast, slow = (average(trees, weights, method=m, **options) for m in ("exact", "exhaustive"))
    assert fast.values["objective"] == pytest.approx(slow.values["objective"], rel=1e-12)
    assert fast.values["average_f1"] == pytest.approx(slow.values["average_f1"], rel=1e-12)
    assert fast.values["optimal"] == 1
    if not binary:
        assert fast == slow
        assert [dict(c.values) for c in fast] == [dict(c.values) for c in slow]
    else:
        assert fast.is_binary


@given(instances())
@examples(40)
def test_integer_programming_finds_the_same(instance) -> None:
    pytest.importorskip("scipy")
    trees, weights, beta = instance
    for options in ({}, {"unaries": "none"}, {"binary": True}):
        both = [
            average(trees, weights, beta=beta, labelled=True, method=method, **options).values["objective"]
            for method in ("exact", "integer-programming")
        ]
        assert both[0] == pytest.approx(both[1], rel=1e-9)


@given(instances(), st.sampled_from(["keep", "none"]))
@examples(50)
def test_best_trees_are_those_of_brute_force(instance, unaries) -> None:
    trees, weights, beta = instance
    checked = make_weights(weights, len(trees))
    counted = treemean.averaging.count_labels([[Treebank.from_trees([tree]) for tree in trees]])
    chains = Voters(trees, checked, counted).chains
    problem = make_labelled_problem(trees, checked, squared_beta(beta), unaries, chains)
    found = islice(all_trees(problem), 3000)
    ranked = sorted(
        (-solution_of(problem, tree, None).objective, sum(len(problem.candidates[c][1]) for c in tree), tree)
        for tree in found
    )
    if len(ranked) == 3000:
        return
    options = {"beta": beta, "labelled": True, "unaries": unaries}
    optima = sum(entry[0] == ranked[0][0] for entry in ranked)
    assert count_optima(trees, weights, **options) == optima
    listed = all_optima(trees, weights, limit=20, **options)
    assert len(listed) == min(20, optima)
    best = k_best(trees, 12, weights, **options)
    assert len(best) == min(12, len(ranked))
    for tree, (value, _, chosen) in zip(best, ranked):
        assert tree.values["objective"] == pytest.approx(-float(value), rel=1e-12)
        expected = [(m, label) for m, chain in (problem.candidates[c] for c in chosen) for label in chain]
        assert sorted((c.mask, c.label) for c in tree) == sorted(expected)
    assert [a == b for a, b in zip(listed, best)] == [True] * min(len(listed), len(best))


def test_sets_with_disputed_labels_are_left_out() -> None:
    """Example 4 of docs/theory.md."""
    trees = [Tree(list("abc"), [({0, 1, 2}, "S"), ({0, 1}, label)]) for label in "ABCDE"]
    joint = average(trees, labelled=True)
    assert [c.label for c in joint] == ["S"]
    assert joint.values["objective"] == pytest.approx(20 / 9 * 2 / 5)
    assert [c.label for c in average(trees)] == ["S", "A"]


def test_hits_count_by_label() -> None:
    def tree(*labels: str) -> Tree:
        return Tree(list("abc"), [Constituent(7, "S"), *(Constituent(3, label) for label in labels)])

    trees = [tree("A", "B"), tree("B"), tree("C")]
    worth = [[1, 0.5, 0.75], [1, 0.5], [1, 9]]
    result = average(trees, hits=worth, labelled=True)
    assert [c.label for c in result] == ["S", "C"]
    values = [np.array(given) for given in worth]
    single = average(trees, [1, 1, 0], hits=values, labelled=True, unaries="none")
    assert [c.label for c in single] == ["S", "B"]
    # Plain sums: the sentence's chain counts, too.
    added = average(trees, hits=worth, labelled=True, additive=True)
    assert added.values["objective"] == pytest.approx((3 + 9) / 3)
    negative = average(trees, hits=[[1, -1, -1], [1, -1], [1, -2]], labelled=True)
    assert [c.label for c in negative] == ["S"]


def test_what_labels_do_not_go_with() -> None:
    trees = [Tree(list("ab"), [({0, 1}, "S")])]
    with pytest.raises(InvalidOption, match="the method greedy does not average labels"):
        average(trees, labelled=True, method="greedy")
    with pytest.raises(InvalidOption, match="give labelled=True"):
        average(trees, unaries="none")
    with pytest.raises(InvalidOption, match="unaries must be keep or none"):
        average(trees, labelled=True, unaries="some")
    with pytest.raises(InvalidOption, match="labelled must be True or False"):
        average(trees, labelled="yes")


def spoilt(tree: Tree, labels: list[str], rng: random.Random) -> Tree:
    """Return a tree with some labels changed and some constituents left out."""
    whole = (1 << len(tree.words)) - 1
    kept = [c for c in tree.constituents if c.mask == whole or rng.random() < 0.8]
    changed = [
        Constituent(c.mask, rng.choice(labels) if rng.random() < 0.3 else c.label, c.function) for c in kept
    ]
    return tree.replace(constituents=changed)


@pytest.mark.skipif(not ALPINO.exists(), reason="the Alpino treebank is not here")
@pytest.mark.parametrize("sentences", [12, pytest.param(40, marks=pytest.mark.slow)])
def test_pieces_of_alpino_by_integer_programming(sentences: int) -> None:
    pytest.importorskip("scipy")
    bank = treemean.read(ALPINO)
    rng = random.Random(5)
    labels = sorted(set(bank.labels.texts))
    chosen = [bank[i] for i in rng.sample(range(len(bank)), sentences)]
    pieces = [Tree(t.words[:12], pieces_of(t, 12)) for t in chosen]
    runs = [Treebank.from_trees(spoilt(tree, labels, rng) for tree in pieces) for _ in range(5)]
    for options in ({}, {"unaries": "none"}, {"weights": [3, 2, 2, 1, 1], "beta": 0.5}):
        exact = average(runs, labelled=True, **options)
        assert (exact.sentence_values["optimal"] == 1).all()
        other = average(runs, labelled=True, method="integer-programming", **options)
        assert exact.sentence_values["objective"] == pytest.approx(
            other.sentence_values["objective"], rel=1e-9
        )


def pieces_of(tree: Tree, words: int) -> list[Constituent]:
    """Return what is left of a tree's constituents in the first words of its sentence."""
    window = (1 << min(words, len(tree.words))) - 1
    return [Constituent(c.mask & window, c.label) for c in tree.constituents if c.mask & window]


@pytest.mark.skipif(not ALPINO.exists(), reason="the Alpino treebank is not here")
def test_the_alpino_treebank_is_its_own_labelled_average() -> None:
    bank = treemean.read(ALPINO)
    for binary in (False, True):
        mean = average([bank] * 3, labelled=True, binary=binary)
        assert (mean.sentence_values["optimal"] == 1).all()
    mean = average([bank] * 3, labelled=True)
    assert mean == bank
    assert (mean.sentence_values["objective"] == 1).all()
