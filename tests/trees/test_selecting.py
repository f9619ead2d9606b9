"""Ranges of numbers, and what is selected by them, by ids, by numbers of constituents and by labels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import LABELS, treebanks
from treemean.errors import InvalidOption, TreemeanError
from treemean.trees import Constituent, Tree, Treebank, transforms
from treemean.trees.ranges import Ranges
from treemean.trees.selecting import ConstituentSelector, SentenceSelector

WAKE = Tree(
    "Wake your friend up".split(),
    [
        Constituent(0b1111, "S", values={"support": float("nan")}),
        Constituent(0b1111, "VP", values={"support": 0.4}),
        Constituent(0b1001, "V", values={"support": 0.6, "probability": 0.9}),
        Constituent(0b0110, "NP", values={"support": 0.8, "probability": 0.2}),
    ],
    id="wake",
)


def kept(tree: Tree, **conditions: object) -> list[str]:
    return [c.label for c in transforms.select_constituents(Treebank.from_trees([tree]), **conditions)[0]]


# ---- ranges -----------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.integers(1, 30), st.integers(0, 5)), min_size=1, max_size=6), st.integers(0, 40))
def test_ranges_are_sets_of_numbers(parts, number):
    text = ",".join(str(a) if more == 0 else f"{a}-{a + more}" for a, more in parts)
    numbers = {n for a, more in parts for n in range(a, a + more + 1)}
    ranges = Ranges.parse(text)
    assert ranges == Ranges.of(numbers) == Ranges.parse(str(ranges))
    assert ranges.last == max(numbers)
    assert ranges.first_above(number) == min((n for n in numbers if n > number), default=None)
    assert ranges.among(number + 1, 7).tolist() == [n in numbers for n in range(number + 1, number + 8)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0", "no sentence 0"),
        ("0-3", "no sentence 0"),
        ("5-3", "'5-3' ends before it begins; 3-5 would"),
        ("1-", "'1-' is no range"),
        ("", "'' is no range"),
        ("3,,4", "'3,,4' is no range"),
        ("3,-4", "'-4' in '3,-4' is no range"),
        ("1-2-3", "no range"),
        ("two", "as in 3,7-9"),
        ("1.5", "no range"),
        ("٣", "no range"),
        ("9" * 5000, "no range"),
    ],
)
def test_what_is_no_range_is_told(text, said):
    with pytest.raises(InvalidOption, match=said):
        Ranges.parse(text)


def test_a_huge_range_costs_nothing():
    assert Ranges.parse("2-999999999999999999").among(1, 3).tolist() == [False, True, True]


# ---- sentences --------------------------------------------------------------------------------------


@given(treebanks(min_sentences=1), st.data())
def test_sentences_by_number_id_and_gaps(bank, data):
    numbers = data.draw(st.none() | st.sets(st.integers(1, len(bank)), min_size=1))
    ids = data.draw(st.none() | st.sets(st.sampled_from(bank.ids.tolist()), min_size=1))
    gaps = data.draw(st.booleans())
    expected = [
        tree
        for number, tree in enumerate(bank, 1)
        if (numbers is None or number in numbers)
        and (ids is None or tree.id in ids)
        and (not gaps or not tree.is_continuous)
    ]
    found = transforms.select_sentences(bank, numbers=numbers, ids=ids, discontinuous=gaps)
    assert found == Treebank.from_trees(expected)


@given(treebanks(min_sentences=1, max_sentences=8), st.data())
def test_batches_do_not_matter(bank, data):
    ranges = Ranges.of(data.draw(st.sets(st.integers(1, len(bank)), min_size=1)))
    cut = data.draw(st.integers(0, len(bank)))
    selector = SentenceSelector(ranges)
    parts = []
    for part in (bank[:cut], bank[cut:]):
        if not selector.done:
            parts.append(selector.take(part))
    selector.finish()
    assert Treebank.concatenate(parts) == transforms.select_sentences(bank, numbers=str(ranges))


def test_sentences_that_are_not_there():
    bank = Treebank.from_trees([WAKE, WAKE.replace(id="two")])
    with pytest.raises(TreemeanError, match="the treebank: there is no sentence 3; it has 2"):
        transforms.select_sentences(bank, numbers="2-900")
    with pytest.raises(TreemeanError, match=r"no sentence has any of the ids 'x', 'y'$"):
        transforms.select_sentences(bank, ids=["x", "two", "y"])
    with pytest.raises(TreemeanError, match="no sentence has the id 'x'; its sentences have no ids"):
        transforms.select_sentences(Treebank.from_trees([WAKE.replace(id="")]), ids=["x"])
    with pytest.raises(InvalidOption, match="no sentence 0"):
        transforms.select_sentences(bank, numbers=[0, 1])
    with pytest.raises(TypeError):
        transforms.select_sentences(bank, ids="two")


def test_an_id_that_several_sentences_have_takes_them_all():
    bank = Treebank.from_trees([WAKE, WAKE.replace(id="two"), WAKE])
    assert len(transforms.select_sentences(bank, ids=["wake"])) == 2


# ---- constituents -----------------------------------------------------------------------------------


@given(treebanks(), st.sets(st.sampled_from(LABELS), min_size=1), st.floats(0, 1), st.randoms())
def test_constituents_that_fail_are_removed_and_the_root_stays(bank, labels, least, rng):
    support = np.array([rng.random() for _ in bank.labels.tolist()])
    bank = bank.with_columns(constituent_values={"support": support, "other": support * 2})
    selector = ConstituentSelector({"support": least}, labels)
    found = selector.take(bank)
    for before, after in zip(bank, found, strict=True):
        expected = [
            c for i, c in enumerate(before) if i == 0 or (c.label in labels and c.values["support"] >= least)
        ]
        assert list(after) == expected
        assert [dict(c.values) for c in after] == [dict(c.values) for c in expected]
        assert after == before.replace(constituents=expected)  # checked: they are a tree
    assert selector.removed == len(bank.labels) - len(found.labels)


def test_what_each_condition_keeps():
    assert kept(WAKE, minimum={"support": 0.6}) == ["S", "V", "NP"]
    assert kept(WAKE, minimum={"support": 0.61}) == ["S", "NP"]
    assert kept(WAKE, labels=["VP"]) == ["S", "VP"]
    assert kept(WAKE, labels=["V", "NP"], minimum={"support": 0.7}) == ["S", "NP"]
    assert kept(WAKE, labels=[]) == ["S"]
    assert kept(WAKE) == ["S", "VP", "V", "NP"]


def test_numbers_that_are_not_there():
    with pytest.raises(TreemeanError, match=r"sentence wake: VP \[Wake your friend up\] has no probability"):
        kept(WAKE, minimum={"probability": 0.5})
    with pytest.raises(TreemeanError, match="has no certainty; constituents here have probability, support"):
        kept(WAKE, minimum={"certainty": 0.5})
    with pytest.raises(TreemeanError, match="constituents here have no numbers"):
        kept(Tree(["a", "b", "c"], [(range(3), "S"), ({0, 1}, "X")]), minimum={"support": 0})
    with pytest.raises(InvalidOption, match="the least support must be a number"):
        kept(WAKE, minimum={"support": float("nan")})


def test_labels_that_are_not_there():
    with pytest.raises(TreemeanError, match="no constituent has the label 'XP'; there are NP, S, V, VP"):
        kept(WAKE, labels=["XP"])
    with pytest.raises(TreemeanError, match="no constituent has any of the labels 'A', 'B'; they have no la"):
        kept(Tree(["a"], [({0}, "")]), labels=["A", "B"])
    with pytest.raises(TypeError):
        kept(WAKE, labels="NP")
    selector = ConstituentSelector(labels=["NP", "XP"])
    assert selector.absent_labels == []  # nothing was seen
    selector.take(Treebank.from_trees([WAKE]))
    selector.finish()
    assert selector.absent_labels == ["XP"]
