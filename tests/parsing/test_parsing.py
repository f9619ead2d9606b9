"""Parsing: order, words, punctuation, posteriors, short, long and strange sentences."""

from __future__ import annotations

import sys

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from grammar_instances import make_unequal
from strategies import trees
from treemean import Treebank, average
from treemean.errors import InvalidOption
from treemean.grammars import GrammarConfig, build_grammar
from treemean.parsing import Model, ParseCounts, Vocabulary, parse
from treemean.parsing.batches import cut_by_similar_length
from treemean.parsing.parse import put_back, windows
from treemean.trees import Tree
from treemean.trees.bitsets import mask_of
from treemean.trees.punctuation import remove_words

torch.set_num_threads(1)

SENTENCES = [
    "De kat slaapt .".split(),
    [],
    ["Ja"],
    ["!", "?"],
    "( De oude kat , slaapt vandaag )".split(),
    "De kat".split(),
    "De hond slaapt 25 uur".split(),
]


@pytest.fixture(scope="module")
def model() -> Model:
    torch.manual_seed(1)
    vocabulary = Vocabulary(["de", "kat", "slaapt", "N"])
    config = GrammarConfig("tn-lcfrs", 4, 5, 3, ranks=(4, 2, 4, 2), embedding=8)
    return Model(build_grammar(config, len(vocabulary)), vocabulary)


def without_punctuation(bank: Treebank) -> Treebank:
    mask = bank.words.where(lambda word: not any(c.isalnum() for c in word))
    return remove_words(bank, mask, drop_empty=False)


def parsed(model, sentences, **options) -> Treebank:
    return Treebank.concatenate(list(parse(model, sentences, **options)))


def test_the_order_and_the_words_are_those_of_the_input(model):
    counts = ParseCounts()
    bank = parsed(model, SENTENCES, counts=counts)
    assert [" ".join(tree.words) for tree in bank] == [
        *("De kat slaapt", "", "Ja", "! ?", "De oude kat slaapt vandaag", "De kat", "De hond slaapt 25 uur")
    ]
    assert all(tree.is_binary for tree in bank)  # also the two words of punctuation
    assert all(tree.fan_out <= 2 and tree.is_well_nested for tree in bank)
    assert (counts.sentences, counts.words, counts.unknown) == (7, 16, 5)


def test_batches_do_not_change_trees(model):
    many = [sentence for sentence in SENTENCES for _ in range(3)]
    assert parsed(model, many, batch_words=1) == parsed(model, many, batch_words=10_000)


@pytest.mark.parametrize("decoder", ["mbr", "viterbi"])
def test_batches_of_similar_lengths_do_not_change_trees(model, monkeypatch, decoder):
    expected = parsed(model, SENTENCES, decoder=decoder, posteriors=True)
    similar = lambda _, lengths, __: cut_by_similar_length(lengths, 100)  # noqa: E731
    monkeypatch.setattr(sys.modules["treemean.parsing.parse"], "cut_for", similar)
    found = parsed(model, SENTENCES, decoder=decoder, posteriors=True)
    for tree, other in zip(expected, found, strict=True):
        assert [c.mask for c in tree] == [c.mask for c in other]
        worth = [[c.values["posterior"] for c in one] for one in (tree, other)]
        assert worth[0] == pytest.approx(worth[1], rel=1e-5)


def test_trees_are_those_of_the_grammar(model):
    words = torch.tensor([model.vocabulary.numbers(["de", "oud", "kat", "slaapt", "vandaag"])])
    for decoder in ("mbr", "viterbi"):
        (tree,) = parsed(model, [SENTENCES[4]], decoder=decoder)
        assert [c.mask for c in tree] == getattr(model.grammar, decoder)(words)[0]


def test_punctuation_is_put_back_where_it_makes_no_gap(model):
    bare = parsed(model, SENTENCES)
    for way in ("put-back", "root"):
        full = parsed(model, SENTENCES, punctuation=way)
        assert [list(tree.words) for tree in full] == SENTENCES
        assert without_punctuation(full) == without_punctuation(bare)
    full = parsed(model, SENTENCES, punctuation="put-back")
    for with_, without in zip(full, bare, strict=True):
        if without.words != ("!", "?"):
            assert [c.fan_out for c in with_] == [c.fan_out for c in without]


@given(trees(), st.data())
def test_putting_back_is_undone_by_removing(tree, data):
    """And no constituent gets or loses a gap, whatever the tree and wherever the punctuation."""
    slots = data.draw(st.lists(st.integers(0, 2), min_size=len(tree.words) + 1, max_size=len(tree.words) + 1))
    words, kept = [], []
    for word, before in zip([*tree.words, None], slots):
        words += [","] * before
        if word is not None:
            kept.append(len(words))
            words.append(word)
    full = Tree(words, put_back(tree.constituents, kept, len(words)))
    removed = [position not in kept for position in range(len(words))]
    again = remove_words(Treebank.from_trees([full]), removed, drop_empty=False)[0]
    assert [c.mask for c in again] == [c.mask for c in tree]
    for before, after in zip(tree, full, strict=True):
        assert after.fan_out == before.fan_out
        if len(before) < len(tree.words):
            assert mask_of(kept[p] for p in before.positions) & ~after.mask == 0


def test_posteriors_are_the_grammars_and_can_be_averaged(model):
    bank = parsed(model, SENTENCES[4:], posteriors=True)
    words = torch.tensor([model.numbers(s) for s in next(windows(model, SENTENCES[4:5]))])
    found = model.grammar.posteriors(words)
    for constituent in bank[0]:
        assert constituent.values["posterior"] == pytest.approx(found.of(0, constituent.mask), abs=1e-6)
    assert bank[0].constituents[0].values["posterior"] == pytest.approx(1.0, abs=1e-5)
    viterbi = parsed(model, SENTENCES[4:], posteriors=True, decoder="viterbi")
    soft = average([bank, viterbi], hits="posterior")
    assert len(soft) == 3


def test_sentences_over_the_limit_have_only_a_root(model):
    counts = ParseCounts()
    bank = parsed(model, SENTENCES, max_length=4, counts=counts, posteriors=True)
    assert counts.too_long == 2
    assert [len(tree.constituents) for tree in bank] == [2, 0, 1, 1, 1, 1, 1]
    assert bank[4].constituents[0].values["posterior"] == 1.0


@pytest.mark.parametrize("decoder", ["mbr", "viterbi"])
def test_batches_that_overflow_are_parsed_again_in_float64(model, monkeypatch, decoder):
    make_unequal(monkeypatch)
    sentences = [["de", "kat"] * 9, ["kat"] * 4, ["slaapt"] * 18, ["de"] * 3]
    counts = ParseCounts()
    bank = parsed(model, sentences, counts=counts, decoder=decoder, posteriors=True)
    assert [len(tree.words) for tree in bank] == [18, 4, 18, 3]
    values = [c.values["posterior"] for tree in bank for c in tree.constituents]
    assert all(0 <= value <= 1 for value in values)
    assert counts.again == 2
    assert counts.describe(60) == ["2 sentences parsed again in float64, as float32 was not enough"]
    assert {p.dtype for p in model.grammar.parameters()} == {torch.float32}


def test_wrong_options_are_named(model):
    for wrong in ({"decoder": "best"}, {"punctuation": "away"}, {"batch_words": 0}, {"max_length": 0}):
        with pytest.raises(InvalidOption):
            parsed(model, SENTENCES, **wrong)
    with pytest.raises(TypeError, match="not one string"):
        parsed(model, ["De kat"])
