"""Imitated parsers: binary trees over the same sentences, as good and as bad as promised."""

from itertools import combinations

import pytest
from sample_scores import agreement, f1, majority, spans

from treemean import sample
from treemean.sample import generate, noisy_parses
from treemean.trees import Constituent, Tree, Treebank
from treemean.trees.transforms import remove_punctuation


@pytest.fixture(scope="module")
def gold():
    return generate(400, seed=11, max_length=20)


@pytest.fixture(scope="module")
def bare(gold):
    return remove_punctuation(gold)


@pytest.fixture(scope="module")
def parses(gold):
    return noisy_parses(gold, seed=2)


def test_same_sentences_without_punctuation_and_tags(bare, parses):
    assert len(parses) == 5
    for parse in parses:
        assert parse.ids == bare.ids
        assert parse.words == bare.words
        assert set(parse.tags.tolist()) == {""}
        assert set(parse.labels.tolist()) == {"NT"}


def test_trees_are_binary_and_of_fan_out_two(parses):
    for parse in parses:
        assert all(tree.is_binary for tree in parse)
        assert all(len(tree.constituents) == len(tree) - 1 for tree in parse)
        assert max(tree.fan_out for tree in parse) == 2


def test_the_same_seed_gives_the_same_trees(gold, parses):
    again = noisy_parses(gold, seed=2)
    assert all(one == other for one, other in zip(again, parses, strict=True))
    assert noisy_parses(gold, seed=3)[0] != parses[0]


def test_scores(bare, parses):
    for parse in parses:
        assert 43 <= agreement(parse, bare) <= 60
        assert 5 <= agreement(parse, bare, gapped_only=True) <= 25
    for one, other in combinations(parses, 2):
        assert 50 <= agreement(one, other) <= 67


def test_a_majority_is_better_than_every_run(bare, parses):
    answers = [spans(tree) for tree in bare]
    best = max(agreement(parse, bare) for parse in parses)
    assert f1(majority(parses), answers) > best + 4


def test_the_same_holds_for_the_sample_that_is_shipped():
    answers, runs = remove_punctuation(sample.gold()), sample.runs()
    scores = [agreement(run, answers) for run in runs]
    gapped = [agreement(run, answers, gapped_only=True) for run in runs]
    between = [agreement(one, other) for one, other in combinations(runs, 2)]
    assert 44 <= min(scores) <= max(scores) <= 60
    assert 5 <= min(gapped) <= max(gapped) <= 25
    assert 50 <= min(between) <= max(between) <= 67
    assert f1(majority(runs), [spans(tree) for tree in answers]) > max(scores) + 4


@pytest.mark.parametrize("runs", [0, 1, 2])
def test_any_number_of_runs(runs, gold):
    assert len(noisy_parses(gold[:10], runs=runs)) == runs


def test_small_sentences():
    one = Tree(["Ja"], [Constituent(1, "S")], id="one")
    none = Tree(["."], [Constituent(1, "S")], tags=["punct"], id="none")
    two = Tree(["Kom", "nou", "!"], [({0, 1, 2}, "S")], tags=["verb", "adv", "punct"], id="two")
    (parse,) = noisy_parses(Treebank.from_trees([one, none, two]), runs=1)
    assert parse.ids.tolist() == ["one", "none", "two"]
    assert [[c.positions for c in tree] for tree in parse] == [[(0,)], [], [(0, 1)]]
