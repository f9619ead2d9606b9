"""Transforms of trees and treebanks, each against its plain definition."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import treebanks, trees
from treemean.errors import TreemeanError
from treemean.trees import Constituent, Tree, Treebank, bitsets, transforms
from treemean.trees.branching import branching_masks
from treemean.trees.statistics import statistics

DIRECTIONS = st.sampled_from(["left", "right", "balanced", "head"])


@given(treebanks(), st.sampled_from(["top", "bottom", "join"]))
def test_collapsing_unaries_leaves_each_set_once(bank, keep):
    for tree, collapsed in zip(bank, transforms.collapse_unaries(bank, keep=keep), strict=True):
        root = (1 << len(tree)) - 1
        expected: dict[int, list[Constituent]] = {}
        for c in tree:
            if len(c) > 1 or c.mask == root:
                expected.setdefault(c.mask, []).append(c)
        assert [c.mask for c in collapsed] == list(expected)
        for c in collapsed:
            labels = [e.label for e in expected[c.mask]]
            wanted = {"top": labels[0], "bottom": labels[-1], "join": "+".join(labels)}[keep]
            assert (c.label, c.function) == (wanted, expected[c.mask][0].function)


def test_collapsing_unaries_in_an_unknown_way():
    with pytest.raises(TreemeanError, match="'join' is kept, not 'both'"):
        transforms.collapse_unaries(Treebank.empty(), keep="both")


@given(trees(), DIRECTIONS)
def test_binarising(tree, direction):
    binary = transforms.binarise(tree, direction)
    assert binary.is_binary
    assert tree.masks <= binary.masks
    assert all(len(children) <= 2 for children in binary.children)
    assert transforms.unbinarise(binary) == tree


def test_directions_of_binarising():
    flat = Tree(list("abcd"), [(range(4), "S")], word_functions=["", "hd", "", ""])

    def added(direction):
        return [c.positions for c in transforms.binarise(flat, direction).constituents[1:]]

    assert added("left") == [(0, 1, 2), (0, 1)]
    assert added("right") == [(1, 2, 3), (2, 3)]
    assert added("balanced") == [(0, 1), (2, 3)]
    assert added("head") == [(1, 2, 3), (1, 2)]
    with pytest.raises(ValueError, match="direction must be"):
        transforms.binarise(flat, "up")


@given(trees(max_words=9))
def test_making_trees_continuous(tree):
    result = transforms.make_continuous(tree)
    assert result.is_continuous
    assert len(result.constituents) == len(tree.constituents)
    by_identity = sorted((c.label, c.function) for c in tree)
    assert sorted((c.label, c.function) for c in result) == by_identity
    if tree.is_continuous:
        assert result == tree


def test_the_part_with_the_head_stays():
    tree = Tree(list("abcd"), [(range(4), "S"), ({0, 2, 3}, "VP")], word_functions=["hd", "su", "obj", "mod"])
    assert [c.positions for c in transforms.make_continuous(tree)] == [(0, 1, 2, 3), (0,)]
    unmarked = tree.replace(word_functions=None)
    assert [c.positions for c in transforms.make_continuous(unmarked)] == [(0, 1, 2, 3), (2, 3)]


def test_functions_in_labels_and_out_of_them():
    tree = Tree(
        ["x", "y"],
        [Constituent(0b11, "S"), Constituent(0b10, "NP", "SBJ")],
        tags=["V", "N"],
        word_functions=["hd", ""],
    )
    joined = transforms.join_functions(Treebank.from_trees([tree]))[0]
    assert [c.label for c in joined] == ["S", "NP-SBJ"]
    assert joined.tags == ("V-hd", "N")
    assert joined.word_functions == ("", "")
    split = transforms.split_functions(Treebank.from_trees([joined]))[0]
    assert [(c.label, c.function) for c in split] == [("S", ""), ("NP", "SBJ")]
    kept = transforms.split_functions(Treebank.from_trees([tree]))[0]
    assert kept == tree
    odd = Tree(["x"], [({0}, "-NONE-"), ({0}, "NP-SBJ-1=2"), ({0}, "")])
    split = transforms.split_functions(Treebank.from_trees([odd]))[0]
    assert [(c.label, c.function) for c in split] == [("-NONE-", ""), ("NP", "SBJ-1"), ("", "")]


@given(treebanks())
def test_dropping_labels_and_functions(bank):
    plain = transforms.drop_functions(transforms.drop_labels(bank, "X"))
    for tree, before in zip(plain, bank, strict=True):
        assert {(c.label, c.function) for c in tree} <= {("X", "")}
        assert [c.mask for c in tree] == [c.mask for c in before]
        assert not any(tree.word_functions)


def test_normalising_words():
    bank = Treebank.from_trees([Tree(["In", "1.200,50", "A4", "x"], [(range(4), "S")])])
    assert transforms.lower_case(bank)[0].words == ("in", "1.200,50", "a4", "x")
    assert transforms.normalise_numbers(bank)[0].words == ("In", "N", "AN", "x")
    ordinal = Treebank.from_trees([Tree(["3.", "1,2,3-4", ",5"], [(range(3), "S")])])
    assert transforms.normalise_numbers(ordinal)[0].words == ("N.", "N-N", ",N")


@given(treebanks(), st.integers(0, 12), st.integers(1, 12) | st.none())
def test_filtering_by_length(bank, low, high):
    kept = [tree for tree in bank if low <= len(tree) and (high is None or len(tree) <= high)]
    assert list(transforms.filter_by_length(bank, low, high)) == kept


@given(treebanks(), st.sampled_from(["left", "right", "random"]), st.integers(1, 3))
def test_branching_trees(bank, kind, max_fan_out):
    result = transforms.branching(bank, kind, seed=3, max_fan_out=max_fan_out)
    assert result == transforms.branching(bank, kind, seed=3, max_fan_out=max_fan_out)
    for tree, before in zip(result, bank, strict=True):
        assert tree.is_binary
        assert tree.fan_out <= max_fan_out
        assert (tree.words, tree.id) == (before.words, before.id)
        spans = {c.spans[0] for c in tree if len(tree) > 1}
        if kind == "left":
            assert spans == {(0, i) for i in range(2, len(tree) + 1)}
        elif kind == "right":
            assert spans == {(i, len(tree)) for i in range(len(tree) - 1)}


def test_random_trees_of_bounded_fan_out_use_it():
    draw = random.Random(1)
    fan_outs = {
        bitsets.fan_out_of(mask) for _ in range(20) for mask in branching_masks(12, "random", draw, 2)
    }
    assert fan_outs == {1, 2}
    for limit in (2, 3):
        masks = branching_masks(300, "random", draw, limit)
        assert len(masks) == 299
        assert max(map(bitsets.fan_out_of, masks)) == limit
    with pytest.raises(ValueError, match="kind must be"):
        branching_masks(3, "up", draw)
    with pytest.raises(ValueError, match="at least 1"):
        branching_masks(3, "random", draw, 0)


@given(treebanks())
def test_statistics_against_counting_by_hand(bank):
    bank = bank[1:]  # a slice shares the vocabulary of the whole, which must not be counted
    found = statistics(bank)
    collapsed = list(transforms.collapse_unaries(bank))
    several = [(tree, i, c) for tree in collapsed for i, c in enumerate(tree.constituents) if len(c) > 1]
    assert found.sentences == len(bank)
    assert found.words == sum(len(tree) for tree in bank)
    assert found.word_types == len({w for tree in bank for w in tree.words})
    assert found.constituents == len(several)
    assert found.unaries == sum(len(tree.constituents) for tree in bank) - len(several)
    assert found.discontinuous == sum(not c.is_continuous for _, _, c in several)
    assert found.binary == sum(len(tree.children[i]) == 2 for tree, i, _ in several)
    assert found.discontinuous_sentences == sum(not tree.is_continuous for tree in bank)
    assert found.ill_nested_sentences == sum(not tree.is_well_nested for tree in bank)
    assert sum(found.labels.values()) == sum(len(tree.constituents) for tree in bank)
    assert sum(found.heights.values()) == len(bank)
    assert found.to_dict()["binary"] == found.binary
