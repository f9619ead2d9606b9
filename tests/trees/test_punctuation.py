from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from strategies import PUNCTUATION, treebanks, trees
from treemean.errors import TreemeanError
from treemean.trees import Constituent, Tree, Treebank
from treemean.trees.punctuation import (
    is_punctuation_tag,
    is_punctuation_word,
    move_punctuation,
    punctuation_mask,
    remove_punctuation,
    remove_words,
    unescape_brackets,
)
from treemean.trees.strings import CodedStrings, Strings


def naive_remove(tree: Tree, removed: list[bool]) -> Tree:
    """Remove words one tree at a time, from the definition."""
    left = [p for p in range(len(tree)) if not removed[p]]
    new = {old: position for position, old in enumerate(left)}
    constituents = []
    for c in tree.constituents:
        mask = sum(1 << new[p] for p in c.positions if p in new)
        if mask:
            constituents.append(Constituent(mask, c.label, c.function, c.values))
    return Tree(
        [tree.words[p] for p in left],
        constituents,
        tags=[tree.tags[p] for p in left],
        word_functions=[tree.word_functions[p] for p in left],
        id=tree.id,
        metadata=tree.metadata,
        values=tree.values,
    )


def adorned(bank: Treebank) -> Treebank:
    """Give every column something to say."""
    return Treebank.from_trees(
        Tree(
            tree.words,
            [Constituent(c.mask, c.label, c.function, {"support": float(i)}) for i, c in enumerate(tree)],
            tags=tree.tags,
            word_functions=[f"f{p}" for p in range(len(tree))],
            id=tree.id,
            metadata={"source": f"file {s}"},
            values={"score": s / 2},
        )
        for s, tree in enumerate(bank)
    )


def assert_same(bank: Treebank, expected: list[Tree]) -> None:
    assert list(bank) == expected
    for tree, other in zip(bank, expected):
        assert (tree.id, tree.metadata, tree.values) == (other.id, other.metadata, other.values)
        assert [c.values for c in tree] == [c.values for c in other]
        tree.replace()  # validates, and sorts: a tree not in canonical order would change
        assert tree.replace().constituents == tree.constituents


@given(st.data(), st.booleans())
def test_remove_words_equals_naive(data: st.DataObject, drop_empty: bool) -> None:
    bank = adorned(data.draw(treebanks(max_words=10)))
    n = len(bank.words)
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)), dtype=bool)
    ends = bank.word_offsets.tolist()
    expected = [naive_remove(t, mask[a:b].tolist()) for t, a, b in zip(bank, ends, ends[1:])]
    if drop_empty:
        expected = [tree for tree in expected if len(tree)]
    assert_same(remove_words(bank, mask, drop_empty=drop_empty), expected)


@examples(20)
@given(st.data())
def test_remove_words_across_widths(data: st.DataObject) -> None:
    bank = adorned(Treebank.from_trees(data.draw(st.lists(trees(50, 140), min_size=1, max_size=3))))
    seed = data.draw(st.integers(0, 1000))
    mask = np.random.default_rng(seed).random(len(bank.words)) < data.draw(st.sampled_from([0.02, 0.3, 0.9]))
    ends = bank.word_offsets.tolist()
    expected = [naive_remove(t, mask[a:b].tolist()) for t, a, b in zip(bank, ends, ends[1:])]
    assert_same(remove_words(bank, mask, drop_empty=False), expected)


def test_sets_that_become_equal_keep_the_upper_one_first() -> None:
    tree = Tree(["a", ",", "b"], [({0, 1, 2}, "S"), ({0, 2}, "lower"), ({0, 1, 2}, "T")])
    changed = remove_punctuation(Treebank.from_trees([tree]))[0]
    assert [(c.label, c.positions) for c in changed] == [("S", (0, 1)), ("T", (0, 1)), ("lower", (0, 1))]


def test_order_changes_when_first_words_go() -> None:
    tree = Tree([",", "a", "b", "c"], [(range(4), "S"), ({0, 3}, "X"), ({1, 2}, "Y")])
    changed = remove_punctuation(Treebank.from_trees([tree]))[0]
    assert [(c.label, c.positions) for c in changed] == [("S", (0, 1, 2)), ("Y", (0, 1)), ("X", (2,))]


def test_empty_sentences() -> None:
    bank = Treebank.from_trees(
        [Tree(["."], [({0}, "S")], id="a"), Tree([], [], id="b"), Tree(["x", "!"], [({0, 1}, "S")], id="c")]
    )
    assert remove_punctuation(bank).ids.tolist() == ["c"]
    kept = remove_punctuation(bank, drop_empty=False)
    assert kept.ids.tolist() == ["a", "b", "c"]
    assert kept.lengths.tolist() == [0, 0, 1]
    assert kept.constituent_counts.tolist() == [0, 0, 1]
    assert remove_words(bank, np.zeros(3, dtype=bool)).ids.tolist() == ["a", "c"]
    assert len(remove_punctuation(Treebank.empty())) == 0


def test_mask_of_the_wrong_length() -> None:
    with pytest.raises(IndexError, match="a mask of 1 for a treebank of 2 words"):
        remove_words(Treebank.from_trees([Tree(["a", "b"], [({0, 1}, "S")])]), np.ones(1, dtype=bool))


def right_branching(n: int) -> Treebank:
    """Make a right-branching tree without Python objects for its constituents."""
    width = (n + 63) // 64
    flags = np.triu(np.ones((n, n), dtype=bool))[: n - 1]
    raw = np.zeros((n - 1, width * 8), dtype=np.uint8)
    raw[:, : (n + 7) // 8] = np.packbits(flags, axis=1, bitorder="little")
    return Treebank(
        ids=Strings.blank(1),
        metadata=Strings.blank(1),
        word_offsets=np.array([0, n]),
        words=CodedStrings.of([f"w{i}" for i in range(n)]),
        tags=CodedStrings.constant("", n),
        word_functions=CodedStrings.constant("", n),
        constituent_offsets=np.array([0, n - 1]),
        labels=CodedStrings.constant("X", n - 1),
        functions=CodedStrings.constant("", n - 1),
        bits=raw.view("<u8").astype(np.uint64).ravel(),
    )


def test_a_long_right_branching_tree_takes_little_memory() -> None:
    n = 3000
    bank = right_branching(n)
    mask = np.arange(n) % 4 == 0  # the last word stays: only the last constituent keeps its size
    tracemalloc.start()
    changed = remove_words(bank, mask)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 80 * 2**20
    left = np.flatnonzero(~mask)
    expected = np.array([len(left) - np.searchsorted(left, start) for start in range(n - 1)])
    assert changed.sizes.tolist() == sorted(expected.tolist(), reverse=True)
    assert (changed.firsts + changed.sizes == len(left)).all()
    assert (changed.fan_outs == 1).all()


@pytest.mark.parametrize(
    "tag",
    ["punct", "PUNCT", "$.", "$,", "$(", "$*LRB*", ".", ",", ":", "``", "''", "-LRB-", "LET()", "LET[]"],
)
def test_known_tags(tag: str) -> None:
    assert is_punctuation_tag(tag)
    assert is_punctuation_tag("punct(komma)")


@pytest.mark.parametrize("tag", ["", "noun", "NN", "$", "#", "X", "N(soort)", "LETTER", "punctual"])
def test_other_tags(tag: str) -> None:
    assert not is_punctuation_tag(tag)


@pytest.mark.parametrize("word", [".", "...", "--", "«", "-LRB-", "#RRB#", "、", "%", "؟"])
def test_words_without_letters_and_digits(word: str) -> None:
    assert is_punctuation_word(word)


@pytest.mark.parametrize("word", ["a", "’s", "3,5", "½", "猫", "हिन्दी", "-LRB-a", ""])
def test_words_with_letters_or_digits(word: str) -> None:
    assert not is_punctuation_word(word)


def test_unescape_brackets() -> None:
    assert unescape_brackets("f-LRB-x-RRB-") == "f(x)"
    assert unescape_brackets("-LRB#") == "-LRB#"


def test_auto_looks_at_tags_first() -> None:
    tagged = Tree(["a", "?", "%"], [(range(3), "S")], tags=["noun", "punct", "noun"])
    untagged = tagged.replace(tags=None)
    assert punctuation_mask(Treebank.from_trees([tagged])).tolist() == [False, True, False]
    assert punctuation_mask(Treebank.from_trees([untagged])).tolist() == [False, True, True]
    assert punctuation_mask(Treebank.from_trees([tagged]), "word").tolist() == [False, True, True]
    assert not punctuation_mask(Treebank.from_trees([untagged]), "tag").any()
    assert punctuation_mask(Treebank.from_trees([tagged]), {"a"}).tolist() == [True, False, False]


def test_unknown_way() -> None:
    with pytest.raises(TreemeanError, match="'auto', 'tag', 'word' or a list of words, not by 'tags'"):
        punctuation_mask(Treebank.empty(), "tags")


@given(treebanks(punctuation=True))
def test_no_punctuation_is_left(bank: Treebank) -> None:
    left = remove_punctuation(bank, "tag")
    assert not set(left.words.tolist()) & set(PUNCTUATION)
    assert len(left.words) == sum(word not in PUNCTUATION for word in bank.words.tolist())


# ---- moving -----------------------------------------------------------------------------------------


def moved_naively(tree: Tree) -> Tree:
    """Go through the marks one by one, and through the constituents that may have them."""
    words = [p for p, tag in enumerate(tree.tags) if tag != "punct"]
    everything = (1 << len(tree)) - 1
    result = []
    for c in tree:
        own = set(c.positions)
        new = own & set(words)
        for mark in set(range(len(tree))) - set(words):
            left = max((p for p in words if p < mark), default=None)
            right = min((p for p in words if p > mark), default=None)
            if {left, right} <= own:
                new.add(mark)
        if c.mask == everything or (c.is_continuous and not own & set(words)):
            new = own
        if new:
            result.append(Constituent.over(sorted(new), c.label, c.function))
    return tree.replace(constituents=result)


@given(treebanks(punctuation=True, max_words=14))
def test_moving_punctuation(bank):
    found = move_punctuation(bank, "tag")
    assert [list(tree) for tree in found] == [list(moved_naively(tree)) for tree in bank]


@given(treebanks(punctuation=True, max_words=14))
def test_moved_punctuation_makes_no_gap(bank):
    """With its punctuation a tree has just the gaps that it has without it."""
    found = move_punctuation(bank, "tag")
    plain = remove_punctuation(bank, "tag", drop_empty=False)
    assert remove_punctuation(found, "tag", drop_empty=False) == plain
    assert move_punctuation(found, "tag") == found
    for tree, bare in zip(found, plain, strict=True):
        marks = {p for p, tag in enumerate(tree.tags) if tag == "punct"}
        with_words = [c for c in tree if not marks.issuperset(c.positions)]
        assert sorted(c.fan_out for c in with_words) == sorted(c.fan_out for c in bare)
        assert all(c.is_continuous for c in tree if marks.issuperset(c.positions))


def test_moving_punctuation_in_long_sentences_keeps_numbers():
    words = ["a", ","] * 70
    tree = Tree(
        words,
        [(range(140), "S"), Constituent.over(range(0, 140, 2), "X"), Constituent.over([3], "P")],
        tags=["n", "punct"] * 70,
    )
    bank = Treebank.from_trees([tree, Tree(["b"], [({0}, "S")])])
    bank = bank.with_columns(constituent_values={"support": np.arange(4.0)})
    found = move_punctuation(bank)
    assert [(c.label, len(c), c.fan_out) for c in found[0]] == [("S", 140, 1), ("X", 139, 1), ("P", 1, 1)]
    assert found.constituent_values["support"].tolist() == [0, 1, 2, 3]


def test_a_period_outside_stays_outside():
    tree = Tree(
        ["(", "Ja", ")", "nee", "."], [(range(5), "ROOT"), (range(5), "X"), ({1, 3}, "S"), ({0, 2}, "PRN")]
    )
    found = move_punctuation(Treebank.from_trees([tree]))[0]
    assert [(c.label, c.positions) for c in found] == [
        ("ROOT", (0, 1, 2, 3, 4)),
        ("X", (0, 1, 2, 3, 4)),
        ("S", (1, 2, 3)),
    ]
