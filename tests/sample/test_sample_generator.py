"""Generated treebanks: the same everywhere, valid, and of the shape that the documentation promises."""

from itertools import pairwise

import pytest
from sample_scores import f1, spans

from treemean.errors import TreemeanError
from treemean.sample import LANGUAGES, UnknownLanguage, generate
from treemean.trees import Tree
from treemean.trees.transforms import remove_punctuation

languages = pytest.mark.parametrize("language", sorted(LANGUAGES))


@pytest.fixture(scope="module")
def banks():
    return {
        language: generate(1000, language=language, punctuation=False, max_length=20)
        for language in LANGUAGES
    }


@languages
def test_the_same_seed_gives_the_same_sentences_and_more_continue_them(language):
    few, many = (generate(count, language=language, seed=5) for count in (20, 50))
    assert few == many[:20]
    assert few != generate(20, language=language, seed=6)


@languages
def test_ids_count_from_one(language):
    assert generate(3, language=language).ids.tolist() == [f"{language}-{i:04}" for i in (1, 2, 3)]


@languages
def test_punctuation_is_an_option_and_attached_to_the_root(language):
    full = generate(200, language=language)
    bare = generate(200, language=language, punctuation=False)
    assert remove_punctuation(full, by="tag") == bare
    for tree in full:
        marks = [p for p, tag in enumerate(tree.tags) if tag == "punct"]
        assert marks[-1] == len(tree) - 1
        assert all(tree.word_parents[p] == 0 for p in marks)
        assert not any(b == a + 1 for a, b in pairwise(marks))


def test_only_german_has_commas():
    assert ["," in generate(300, language=language).words.tolist() for language in ("nl", "de", "en")] == [
        False,
        True,
        False,
    ]


@languages
def test_trees_are_valid_and_complete(language):
    for tree in generate(300, language=language):
        rebuilt = Tree(
            tree.words, tree.constituents, tags=tree.tags, word_functions=tree.word_functions, id=tree.id
        )
        assert rebuilt == tree
        assert tree.constituents[0].label == "S"
        assert tree.words[0][0].isupper()
        assert all(tree.tags)
        assert all(tree.word_functions)
        assert all(c.label.isupper() for c in tree)
        assert all(c.function for c in tree.constituents[1:])


@languages
def test_nothing_is_said_twice(language):
    for tree in generate(300, language=language):
        nouns = [word for word, tag in zip(tree.words, tree.tags) if tag in {"noun", "name", "verb"}]
        assert len(set(nouns)) == len(nouns)


@languages
def test_lengths(language, banks):
    lengths = banks[language].lengths
    assert lengths.min() >= 3
    assert lengths.max() <= 20
    assert 7.5 <= lengths.mean() <= 9.5


@languages
def test_shares_of_discontinuity(language, banks):
    trees = list(banks[language])
    phrases = [c for tree in trees for c in tree if len(c) > 1]
    gapped = [c for c in phrases if not c.is_continuous]
    assert 0.08 <= len(gapped) / len(phrases) <= 0.15
    assert 0.38 <= sum(not tree.is_continuous for tree in trees) / len(trees) <= 0.58
    assert max(c.fan_out for c in phrases) == (2 if language == "en" else 3)
    wild = sum(not tree.is_well_nested for tree in trees)
    assert wild == 0 if language == "en" else 5 <= wild <= 40


@languages
def test_flat_and_binary_nodes_mix(language, banks):
    degrees = [len(children) for tree in banks[language] for children in tree.children]
    assert sum(d == 2 for d in degrees) > 0.3 * len(degrees)
    assert sum(d > 2 for d in degrees) > 0.15 * len(degrees)


@pytest.mark.parametrize(("language", "right", "left"), [("nl", 25, 15), ("de", 25, 15), ("en", 50, 15)])
def test_branching_is_no_solution(language, right, left, banks):
    trees = list(banks[language])
    gold = [spans(tree) for tree in trees]
    rights = [{frozenset(range(i, len(tree))) for i in range(1, len(tree) - 1)} for tree in trees]
    lefts = [{frozenset(range(i)) for i in range(2, len(tree))} for tree in trees]
    assert f1(rights, gold) < right
    assert f1(lefts, gold) < left


def test_only_known_languages():
    with pytest.raises(UnknownLanguage, match="no grammar of 'xx'; there are nl, de, en"):
        generate(1, language="xx")


def test_too_short_sentences_are_not_waited_for():
    assert set(generate(5, max_length=3, punctuation=False).lengths.tolist()) == {3}
    with pytest.raises(TreemeanError, match="no sentence has 2 words or fewer"):
        generate(1, max_length=2)


def test_no_sentences():
    assert len(generate(0)) == 0
