"""Treebanks: columns say the same as the trees they were made from."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import treebanks
from treemean.trees import CodedStrings, Constituent, Strings, Tree, Treebank

LONG = Tree(["w"] * 130, [(range(130), "S"), ([0, 64, 129], "A"), ([64], "B")], id="long")
SHORT = Tree(
    ["a", "b"], [({0, 1}, "S")], tags=["X", "Y"], id="short", metadata={"source": "us"}, values={"f1": 0.5}
)
EMPTY = Tree([], [], id="empty")


def test_trees_come_back_as_they_were():
    bank = Treebank.from_trees([LONG, EMPTY, SHORT])
    assert list(bank) == [LONG, EMPTY, SHORT]
    assert [tree.id for tree in bank] == ["long", "empty", "short"]
    assert dict(bank[2].metadata) == {"source": "us"}
    assert bank[2].values["f1"] == 0.5
    assert np.isnan(bank[0].values["f1"])
    assert repr(bank) == "<Treebank: 3 sentences, 132 words, 4 constituents>"


def test_numbers_of_constituents_travel_along():
    tree = Tree(["a", "b"], [Constituent(0b11, "S", values={"support": 0.75})])
    bank = Treebank.concatenate([Treebank.from_trees([tree]), Treebank.from_trees([SHORT])])
    assert bank[0].constituents[0].values["support"] == 0.75
    assert np.isnan(bank[1].constituents[0].values["support"])
    assert bank[1:][0].constituents[0].values.keys() == {"support"}


@given(treebanks(max_sentences=8), st.data())
def test_slices_and_choices(bank, data):
    listed = list(bank)
    start = data.draw(st.integers(-10, 10))
    stop = data.draw(st.integers(-10, 10) | st.none())
    step = data.draw(st.sampled_from([1, 2, -1]))
    assert list(bank[start:stop:step]) == listed[start:stop:step]
    chosen = data.draw(st.lists(st.integers(0, len(bank) - 1), max_size=5)) if len(bank) else []
    assert list(bank.take(chosen)) == [listed[i] for i in chosen]
    mask = np.array([i % 2 == 0 for i in range(len(bank))], dtype=bool)
    assert list(bank.take(mask)) == listed[::2]


@given(treebanks(), treebanks())
def test_concatenation(a, b):
    joined = Treebank.concatenate([a, b])
    assert list(joined) == [*a, *b]
    assert joined.ids.tolist() == [*a.ids.tolist(), *b.ids.tolist()]
    assert joined[len(a) :] == b
    assert joined[: len(a)] == a


@given(treebanks(max_words=70))
def test_derived_columns_say_what_trees_say(bank):
    constituents = [c for tree in bank for c in tree]
    assert bank.sizes.tolist() == [len(c) for c in constituents]
    assert bank.firsts.tolist() == [c.first for c in constituents]
    assert bank.fan_outs.tolist() == [c.fan_out for c in constituents]
    assert bank.lengths.tolist() == [len(tree) for tree in bank]
    assert bank.sentence_of.tolist() == [i for i, tree in enumerate(bank) for _ in tree]
    repeats = [i > 0 and tree.constituents[i - 1].mask == c.mask for tree in bank for i, c in enumerate(tree)]
    assert bank.repeats.tolist() == repeats


def test_slices_share_memory():
    bank = Treebank.from_trees([SHORT] * 100)
    assert np.shares_memory(bank[10:50].bits, bank.bits)
    assert np.shares_memory(bank[10:50].words.codes, bank.words.codes)


def test_what_is_out_of_range():
    bank = Treebank.from_trees([SHORT])
    with pytest.raises(IndexError, match="sentence 1 of a treebank of 1"):
        bank[1]
    with pytest.raises(IndexError, match="mask of 2"):
        bank.take(np.array([True, False]))
    assert bank[-1] == SHORT


def test_treebanks_differ_in_ids_words_and_constituents():
    bank = Treebank.from_trees([SHORT])
    assert bank == Treebank.from_trees([SHORT])
    assert bank != Treebank.from_trees([SHORT.replace(id="other")])
    assert bank != Treebank.from_trees([SHORT.replace(words=["a", "c"])])
    assert bank != Treebank.empty()
    assert bank != "bank"


@given(st.lists(st.text(max_size=5)), st.lists(st.text(max_size=5)))
def test_columns_of_text(a, b):
    assert Strings.of(a).tolist() == a
    assert Strings.concatenate([Strings.of(a), Strings.of(b)]).tolist() == a + b
    assert (Strings.of(a) == Strings.of(b)) == (a == b)
    order = np.arange(len(a))[::-1]
    assert Strings.of(a).take(order).tolist() == a[::-1]
    assert Strings.of(a).slice(1, len(a)).tolist() == a[1:] if a else True
    coded = CodedStrings.of(a)
    assert coded.tolist() == a
    assert len(set(coded.texts)) == len(coded.texts)
    assert CodedStrings.concatenate([coded, CodedStrings.of(b)]).tolist() == a + b
    assert (coded == CodedStrings.of(b)) == (a == b)
    shared = min(len(a), len(b))
    for other in (
        CodedStrings.of(b).slice(0, shared),
        CodedStrings.of([*a, *b]).slice(len(a), len(a) + shared),
    ):
        assert coded.slice(0, shared).differs(other).tolist() == [x != y for x, y in zip(a, b)]
    assert not coded.differs(CodedStrings.of(a)).any()
    assert coded.map(str.upper).tolist() == [t.upper() for t in a]
    assert coded.take(order).compact().tolist() == a[::-1]
    assert coded.where(str.isalpha).tolist() == [t.isalpha() for t in a]


def test_positions_may_be_numbers_of_numpy():
    words = [f"w{i}" for i in range(71)]
    tree = Tree(words, [(np.arange(71), "S"), (np.array([0, 70]), "X")])
    assert tree == Tree(words, [(range(71), "S"), ({0, 70}, "X")])
