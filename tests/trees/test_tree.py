"""Trees: construction, validity, structure, each against a naive definition."""

from __future__ import annotations

import copy
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import trees
from treemean.errors import InvalidTree
from treemean.trees import Constituent, Tree, bitsets, compatible

WAKE = Tree(["Wake", "your", "friend", "up"], [({0, 1, 2, 3}, "S"), ({0, 3}, "V"), ({1, 2}, "NP")])


def test_constituents_are_in_canonical_order_with_the_root_first():
    tree = Tree(list("abc"), [({1, 2}, "B"), ({0}, "A"), ({0, 1, 2}, "S")])
    assert [c.label for c in tree] == ["S", "A", "B"]


def test_of_equal_sets_the_one_given_first_is_the_upper_one():
    tree = Tree(["a"], [({0}, "S"), ({0}, "NP")])
    assert [c.label for c in tree] == ["S", "NP"]
    assert tree.parents == (-1, 0)
    assert tree != Tree(["a"], [({0}, "NP"), ({0}, "S")])


@pytest.mark.parametrize(
    ("words", "constituents", "message"),
    [
        ("a b c", [({0, 1}, "A")], "spans the whole sentence"),
        ("a b c", [], "spans the whole sentence"),
        ("a b c", [({0, 1, 2}, "S"), ({0, 1}, "A"), ({1, 2}, "B")], "B .b c. and A .a b. overlap"),
        ("a b c", [({0, 1, 2}, "S"), ({0, 3}, "A")], "has word 3"),
        ("a b c", [({0, 1, 2}, "S"), ({-1}, "A")], "has word -1"),
        ("a b c", [({0, 1, 2}, "S"), (set(), "A")], "'A' has no words"),
        ("", [({0}, "S")], "has word 0"),
    ],
)
def test_what_is_no_tree_is_refused_with_the_reason(words, constituents, message):
    with pytest.raises(InvalidTree, match=message):
        Tree(words.split(), constituents)


def test_a_mask_beyond_the_sentence_is_refused():
    with pytest.raises(InvalidTree, match="ends with word 0"):
        Tree(["a"], [Constituent(0b11, "S")])


def test_tags_must_be_as_many_as_words():
    with pytest.raises(InvalidTree, match="1 tags for 2 words"):
        Tree(["a", "b"], [({0, 1}, "S")], tags=["X"])


def test_one_string_is_not_a_list_of_words():
    with pytest.raises(TypeError, match="split it"):
        Tree("ab", [({0, 1}, "S")])
    with pytest.raises(TypeError, match="tags must be a sequence"):
        Tree(["a", "b"], [({0, 1}, "S")], tags="NN")


def test_trees_are_immutable():
    with pytest.raises(AttributeError, match="immutable"):
        WAKE.words = ()
    with pytest.raises(TypeError):
        WAKE.metadata["a"] = "b"


def test_trees_can_be_copied_and_sent_to_other_processes():
    tree = WAKE.replace(
        constituents=[Constituent(c.mask, c.label, "", {"support": 0.5}) for c in WAKE],
        metadata={"a": "b"},
        values={"score": 1.0},
    )
    other = copy.deepcopy(tree)  # goes the same way as pickling
    assert other == tree
    assert (other.metadata, other.values) == (tree.metadata, tree.values)
    assert [c.values for c in other] == [c.values for c in tree]
    with pytest.raises(TypeError):
        other.metadata["a"] = "c"
    with pytest.raises(AttributeError, match="immutable"):
        del tree.words


def test_equality_looks_at_words_tags_functions_and_constituents_only():
    assert WAKE.replace(id="7", metadata={"a": "b"}, values={"score": 1.0}) == WAKE
    assert hash(WAKE) == hash(WAKE.replace(id="7"))
    assert WAKE.replace(tags=["V", "D", "N", "P"]) != WAKE
    assert WAKE.same_structure(WAKE.replace(constituents=[Constituent(c.mask, "X") for c in WAKE]))
    with pytest.raises(TypeError, match="no field colour"):
        WAKE.replace(colour="red")


def test_a_root_is_added_only_where_there_is_none():
    assert Tree.with_root(["a", "b"], [({0, 1}, "S")]) == Tree(["a", "b"], [({0, 1}, "S")])
    assert [c.label for c in Tree.with_root(["a", "b"], [({0}, "A")], root_label="TOP")] == ["TOP", "A"]
    assert Tree.with_root([], []).height == 0


def test_the_figure_of_the_paper():
    assert (WAKE.fan_out, WAKE.gap_degree, WAKE.is_continuous, WAKE.is_binary) == (2, 1, False, True)
    assert WAKE.constituents[1].spans == [(0, 1), (3, 4)]
    assert WAKE.heights == (2, 1, 1)
    assert WAKE.depths == (0, 1, 1)
    german = Tree(
        ["Damit", "sollen", "den", "Kassen", "Beitragserhöhungen", "erschwert", "werden"],
        [(range(7), "S"), ({0, 2, 3, 5, 6}, "VP"), ({0, 2, 3, 5}, "VP"), ({2, 3}, "NP")],
    )
    assert [c.fan_out for c in german] == [1, 3, 3, 1]
    assert not german.is_binary


def test_interleaving_siblings_are_not_well_nested():
    words = list("abcd")
    assert not Tree(words, [(range(4), "S"), ({0, 2}, "A"), ({1, 3}, "B")]).is_well_nested
    assert Tree(words, [(range(4), "S"), ({0, 3}, "A"), ({1, 2}, "B")]).is_well_nested


@given(trees(max_words=9))
def test_well_nestedness_equals_its_definition(tree):
    def interleave(a, b):
        fours = combinations(range(len(tree)), 4)
        return any(w in a and x in b and y in a and z in b for w, x, y, z in fours)

    sets = [set(c.positions) for c in tree]
    assert tree.is_well_nested == (not any(interleave(a, b) for a in sets for b in sets if not a & b))


@given(trees())
def test_parents_are_the_smallest_sets_around(tree):
    for index, c in enumerate(tree.constituents):
        above = [
            i
            for i, other in enumerate(tree.constituents)
            if (other.mask | c.mask) == other.mask and (other.mask != c.mask or i < index)
        ]
        # The smallest one; of a unary chain the lowest.
        expected = min(above, key=lambda i: (len(tree.constituents[i]), -i), default=-1)
        assert tree.parents[index] == expected
    for position, parent in enumerate(tree.word_parents):
        holding = [i for i, c in enumerate(tree.constituents) if position in c]
        assert parent == min(holding, key=lambda i: (len(tree.constituents[i]), -i))


@given(trees())
def test_children_partition_their_parent(tree):
    for index, children in enumerate(tree.children):
        masks = [1 << c.index if c.is_word else tree.constituents[c.index].mask for c in children]
        assert sum(masks) == tree.constituents[index].mask
        assert [bitsets.first_of(m) for m in masks] == sorted(bitsets.first_of(m) for m in masks)


@given(trees())
def test_binarity_is_two_children_for_every_set_of_several_words(tree):
    merged = Tree(tree.words, {c.mask: c for c in tree if len(c) > 1 or len(tree) == 1}.values())
    assert tree.is_binary == all(len(c) == 2 for c in merged.children if len(tree) > 1)


@given(st.lists(st.integers(1, 2**7 - 1), max_size=6))
def test_validity_is_pairwise_compatibility(masks):
    constituents = [Constituent(m, str(m)) for m in [2**7 - 1, *masks]]
    if all(compatible(a, b) for a, b in combinations(masks, 2)):
        assert Tree(list("abcdefg"), constituents).masks == {2**7 - 1, *masks}
    else:
        with pytest.raises(InvalidTree, match="overlap"):
            Tree(list("abcdefg"), constituents)


@given(st.sets(st.integers(0, 700), min_size=1))
def test_sets_as_integers(positions):
    mask = bitsets.mask_of(positions)
    assert list(bitsets.positions_of(mask)) == sorted(positions)
    spans = bitsets.spans_of(mask)
    assert [p for start, end in spans for p in range(start, end)] == sorted(positions)
    assert bitsets.fan_out_of(mask) == len(spans)
    assert all(spans[i][1] < spans[i + 1][0] for i in range(len(spans) - 1))
    assert bitsets.first_of(mask) == min(positions)


def test_a_sentence_of_ten_thousand_words():
    n = 10_000
    tree = Tree(["w"] * n, [Constituent(((1 << n) - 1) >> i << i) for i in range(0, n - 1, 10)])
    assert tree.parents[-1] == len(tree.constituents) - 2
    assert tree.heights[0] == len(tree.constituents)
    assert tree.is_well_nested
