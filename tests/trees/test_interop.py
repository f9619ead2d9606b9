"""Trees and treebanks in notebooks and other libraries: indexing, data frames, Arrow, NLTK, brackets."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import nltk
import numpy as np
import pytest
from hypothesis import given

import treemean
from strategies import treebanks, trees
from treemean import FormatError, InvalidTree, Tree, Treebank, UnwritableTree, sample, transforms


@pytest.fixture(scope="module")
def bank() -> Treebank:
    return sample.runs()[0][:30]


GAPPED = Tree("Wake your friend up".split(), [({0, 1, 2, 3}, "S"), ({0, 3}, "V"), ({1, 2}, "NP")], id="w")


# ---- indexing -------------------------------------------------------------------------------------------


@given(treebanks())
def test_lists_and_masks_choose_as_lists_do(bank: Treebank) -> None:
    listed = list(bank)
    numbers = [n for n in range(-len(bank), len(bank)) if n % 3 != 1]
    assert list(bank[numbers]) == [listed[n] for n in numbers]
    mask = [len(tree.words) % 2 == 0 for tree in listed]
    assert list(bank[np.array(mask, dtype=bool)]) == [tree for tree, wanted in zip(listed, mask) if wanted]
    assert list(reversed(bank)) == listed[::-1]
    assert list(bank + bank[:1]) == listed + listed[:1]
    assert all(tree in bank for tree in listed)


def test_ids_choose(bank: Treebank) -> None:
    ids = bank.ids.tolist() if any(bank.ids.tolist()) else []
    named = Treebank.from_trees(tree.replace(id=f"s{n}") for n, tree in enumerate(bank)) if not ids else bank
    third = named.ids[2]
    assert named[third] == named[2]
    assert named[[third, named.ids[0]]].ids.tolist() == [third, named.ids[0]]
    with pytest.raises(KeyError, match="did you mean"):
        named[third + "x"]
    with pytest.raises(KeyError, match=r"2 sentences have the id .*: those at 0, 2"):
        Treebank.from_trees([GAPPED, GAPPED.replace(id=""), GAPPED])["w"]


@pytest.mark.parametrize(
    ("index", "error"),
    [
        ([30], IndexError),
        ([-31], IndexError),
        ([True, False], IndexError),
        ([1.5], TypeError),
        ([[1]], TypeError),
        (30, IndexError),
    ],
)
def test_what_is_no_index_is_refused(bank: Treebank, index: object, error: type[Exception]) -> None:
    with pytest.raises(error):
        bank[index]  # type: ignore[call-overload]


def test_numpy_numbers_and_nothing_choose(bank: Treebank) -> None:
    assert bank[np.int32(3)] == bank[3]
    assert len(bank[[]]) == 0


def test_columns_have_slices(bank: Treebank) -> None:
    for column in (bank.ids, bank.words, bank.labels):
        for part in (slice(2, 7), slice(None, None, -3), slice(5, 5)):
            assert column[part].tolist() == column.tolist()[part]
        assert len(repr(column)) < 160


# ---- data frames ----------------------------------------------------------------------------------------


def test_data_frames_have_a_row_for_each(bank: Treebank) -> None:
    mean = treemean.average([bank, bank])
    sentences, constituents, words = (mean.to_pandas(rows) for rows in ("sentences", "constituents", "words"))
    assert len(sentences) == len(mean)
    assert len(constituents) == len(mean.labels)
    assert len(words) == len(mean.words)
    assert sentences["text"][4] == " ".join(mean[4].words)
    assert (constituents["support"] == 1).all()
    of_fifth = constituents[constituents.sentence == 4]
    assert [tuple(p) for p in of_fifth.positions] == [c.positions for c in mean[4]]
    assert words[words.sentence == 4].word.tolist() == list(mean[4].words)
    for rows in ("sentences", "constituents", "words"):
        polars, pandas = mean.to_polars(rows), mean.to_pandas(rows)
        assert polars.columns == list(pandas.columns)
        assert polars.height == len(pandas)


def test_a_value_does_not_hide_a_column() -> None:
    frame = Treebank.from_trees([GAPPED.replace(values={"length": 7.0})]).to_pandas()
    assert frame["length"].tolist() == [4]
    assert frame["value.length"].tolist() == [7.0]


def test_unknown_rows_are_refused(bank: Treebank) -> None:
    with pytest.raises(treemean.InvalidOption, match="'sentences', 'constituents' or 'words'"):
        bank.to_pandas("trees")  # type: ignore[arg-type]


@given(treebanks())
def test_arrow_tables_come_back(bank: Treebank) -> None:
    again = treemean.from_arrow(bank.to_arrow())
    assert again == bank
    assert again.metadata == bank.metadata


def test_a_bad_row_of_an_arrow_table_is_named(bank: Treebank) -> None:
    table = bank.to_arrow()
    words = table.column("words").to_pylist()
    words[5] = words[5][:-1]
    spoilt = table.set_column(table.schema.get_field_index("words"), "words", [words])
    with pytest.raises(FormatError, match="sentence 6: "):
        treemean.from_arrow(spoilt)


# ---- NLTK and brackets ----------------------------------------------------------------------------------


@given(trees())
def test_trees_go_to_nltk_and_back(tree: Tree) -> None:
    if not tree.words:
        return
    kept = transforms.drop_functions(tree)
    assert treemean.from_nltk(tree.to_nltk(positions=True)) == kept
    if tree.is_continuous and not any(re.match(r"\d+=", word) for word in tree.words):
        assert treemean.from_nltk(tree.to_nltk()) == kept


def test_nltk_gets_what_it_knows() -> None:
    tree = treemean.from_brackets("(S (NP (D the) (N cat)) (VP (V sleeps)))")
    assert tree.to_nltk() == nltk.Tree.fromstring("(S (NP (D the) (N cat)) (VP (V sleeps)))")
    assert treemean.from_nltk(tree.to_nltk()) == tree
    with pytest.raises(UnwritableTree, match="positions=True"):
        GAPPED.to_nltk()
    assert treemean.from_nltk(GAPPED.to_nltk(positions=True)) == GAPPED
    with pytest.raises(InvalidTree, match="no tree of NLTK but a str"):
        treemean.from_nltk("(S a)")
    with pytest.raises(InvalidTree, match="'X' has no children"):
        treemean.from_nltk(nltk.Tree("S", ["a", nltk.Tree("X", [])]))


def test_brackets_are_one_tree() -> None:
    assert treemean.from_brackets(treemean.to_brackets(GAPPED), id="w") == GAPPED
    assert (
        treemean.to_brackets(transforms.make_continuous(GAPPED), "ptb")
        == "(S (V ( Wake)) (NP your friend) up)"
    )
    for text, message in [
        ("(S a b) (S c d)", "2 trees"),
        ("", "begins with a bracket"),
        ("wake up", "begins with a bracket"),
        ("(S (V 0=a)", "<text>:1"),
    ]:
        with pytest.raises(FormatError, match=message):
            treemean.from_brackets(text)


# ---- trees and treebanks alike --------------------------------------------------------------------------

TRANSFORMS = {
    "binarise": (),
    "branching": ("right",),
    "collapse_unaries": (),
    "drop_functions": (),
    "drop_labels": (),
    "join_functions": (),
    "lower_case": (),
    "make_continuous": (),
    "move_punctuation": (),
    "normalise_numbers": (),
    "remove_punctuation": (),
    "select_constituents": (),
    "split_functions": (),
    "unbinarise": (),
}
OF_SENTENCES = ("discontinuous_sentences", "filter_by_length", "select_sentences")


def test_every_transform_is_tried() -> None:
    assert {*TRANSFORMS, *OF_SENTENCES, "remove_words"} == set(transforms.__all__)


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms_take_trees_treebanks_and_lists(bank: Treebank, name: str) -> None:
    change, arguments = getattr(transforms, name), TRANSFORMS[name]
    of_bank = change(bank, *arguments)
    assert isinstance(of_bank, Treebank)
    assert change(list(bank), *arguments) == of_bank
    # With tags, what is punctuation is the same for one tree as for all.
    for tree in list(bank)[:5]:
        of_tree = change(tree, *arguments)
        assert isinstance(of_tree, Tree)
        assert of_tree == change(Treebank.from_trees([tree]), *arguments)[0]


@pytest.mark.parametrize("name", OF_SENTENCES)
def test_selections_of_sentences_take_lists(bank: Treebank, name: str) -> None:
    change = getattr(transforms, name)
    assert change(list(bank)) == change(bank)


def test_nothing_left_of_a_tree_is_told() -> None:
    with pytest.raises(InvalidTree, match="remove_punctuation leaves no word"):
        transforms.remove_punctuation(Tree(["!"], [({0}, "S")]))
    with pytest.raises(TypeError, match="not a str"):
        transforms.lower_case("a tree")
    with pytest.raises(TypeError, match="not one with a int"):
        treemean.statistics([1])  # type: ignore[list-item]


def test_scores_and_averages_take_lists_of_trees(bank: Treebank) -> None:
    gold = sample.gold()[:30]
    of_banks = treemean.evaluate(bank, gold)
    assert treemean.evaluate(list(bank), list(gold)).overall == of_banks.overall
    assert treemean.evaluate(bank[3], gold[3]).overall == treemean.evaluate(bank[3:4], gold[3:4]).overall
    assert treemean.average([list(bank), list(bank)]) == treemean.average([bank, bank])
    assert treemean.agree([bank[0], bank[0]]).f1.min() == 100
    assert treemean.statistics(list(bank)) == treemean.statistics(bank)


# ---- notebooks ------------------------------------------------------------------------------------------


def test_everything_shows_itself_in_a_notebook(bank: Treebank) -> None:
    gold = sample.gold()[:30]
    a, b = (treemean.evaluate(trees, gold) for trees in (bank, sample.runs()[1][:30]))
    shown = {
        "treebank": bank,
        "evaluation": a,
        "comparison": treemean.compare(a, b, test="bootstrap", samples=100),
        "agreement": treemean.agree([bank, gold]),
        "statistics": treemean.statistics(bank),
    }
    for name, result in shown.items():
        html = result._repr_html_()
        ElementTree.fromstring(f"<div>{html}</div>")  # well-formed
        assert "<table" in html, name
        assert len(repr(result)) < 160, name
        assert "\n" not in repr(result), name
    assert f"{a.overall.f1:.2f}" in shown["evaluation"]._repr_html_()
    assert "and 20 more" in bank._repr_html_()
    assert ElementTree.fromstring(bank[0]._repr_svg_()).tag.endswith("svg")
    assert "&lt;b&gt;" in Treebank.from_trees([Tree(["<b>"], [({0}, "S")])])._repr_html_()
