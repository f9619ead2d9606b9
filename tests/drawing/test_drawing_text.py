"""Text drawings: read back by readers that follow the lines, and looked at for their details."""

from __future__ import annotations

import random
import re
import time

import drawing_examples
import pytest
from drawing_oracles import grid_of, read_sideways, read_upright
from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from strategies import trees_over
from treemean.errors import MismatchError, TreemeanError
from treemean.trees import Constituent, Tree
from treemean.trees.drawing import draw
from treemean.trees.drawing.metrics import character_columns, columns

WORDS = ("a", "de", "kat", "Beitragserhöhungen", "猫", "読んだ", "u\u0308ber", "e\u0301te\u0301\u0323", "&")
LABELS = ("S", "NP", "VP-LONG-LABEL", "", "文", "N\u0304")
TAGS = ("N", "VVFIN", "名詞", "$,")
WAKE = drawing_examples.WAKE.replace(tags=None)


@st.composite
def drawn_trees(draw_: st.DrawFn) -> tuple[Tree, bool]:
    """Draw a tree without functions, and whether it has tags."""
    least = draw_(st.sampled_from([1, 5, 8]))  # long sentences are rare otherwise
    words = draw_(st.lists(st.sampled_from(WORDS), min_size=least, max_size=14))
    tree = draw_(trees_over(words, labels=LABELS))
    with_tags = draw_(st.booleans())
    tags = draw_(st.lists(st.sampled_from(TAGS), min_size=len(words), max_size=len(words)))
    plain = [Constituent(c.mask, c.label) for c in tree.constituents]
    return Tree(words, plain, tags=tags if with_tags else None), with_tags


def plain(text: str) -> str:
    return re.sub(r"\x1b\[\d+m", "", text)


@examples(250)
@given(drawn_trees())
def test_upright_drawings_can_be_read_back(drawn: tuple[Tree, bool]) -> None:
    tree, with_tags = drawn
    assert read_upright(draw(tree), with_tags) == tree


@examples(250)
@given(drawn_trees())
def test_narrow_drawings_can_be_read_back(drawn: tuple[Tree, bool]) -> None:
    tree, with_tags = drawn
    upright, narrow = draw(tree), draw(tree, max_width=1)
    if narrow == upright:  # one of very few words
        assert read_upright(narrow, with_tags) == tree
    else:
        assert read_sideways(narrow, with_tags) == tree
        assert len(grid_of(narrow)[0]) < len(grid_of(upright)[0])


@given(drawn_trees(), st.randoms(use_true_random=False))
def test_everything_is_written(drawn: tuple[Tree, bool], rng: random.Random) -> None:
    tree, _ = drawn
    gold = Tree(
        tree.words, [tree.constituents[0], *rng.sample(tree.constituents[1:], k=len(tree.constituents) // 2)]
    )
    text = draw(tree, gold=gold)
    for label in {c.label or "•" for c in tree.constituents}:
        assert text.count(label) >= sum(1 for c in tree.constituents if (c.label or "•") == label)
    for word in set(tree.words):
        assert text.count(word) >= tree.words.count(word)
    counted = [c for c in tree.constituents if 1 < len(c) < len(tree)]
    assert text.count("✓") + text.count("✗") == len(counted)
    assert text.count("✗") == sum(c.mask not in gold.masks for c in counted)
    assert "missed" not in text


@given(drawn_trees(), st.sampled_from([None, 30]))
def test_colours_change_nothing_else(drawn: tuple[Tree, bool], max_width: int | None) -> None:
    tree, _ = drawn
    coloured = draw(tree, color=True, max_width=max_width)
    assert [line.rstrip() for line in plain(coloured).split("\n")] == draw(tree, max_width=max_width).split(
        "\n"
    )
    assert ("\x1b[36m" in coloured) == (not tree.is_continuous)


@given(drawn_trees())
def test_lines_have_no_blank_ends_and_fit(drawn: tuple[Tree, bool]) -> None:
    tree, with_tags = drawn
    lines = draw(tree).split("\n")
    assert all(line == line.rstrip() and line for line in lines)
    words = lines[-1].split()
    assert words == list(tree.words)
    assert columns(lines[-1]) >= sum(map(columns, words)) + len(words) - 1
    assert len(lines) % 2 == (0 if with_tags else 1)


def test_long_sentences() -> None:
    rng = random.Random(5)
    sets: list[set[int]] = [{p} for p in range(200)]
    constituents = []
    while len(sets) > 1:
        first = sets.pop(rng.randrange(len(sets)))
        first |= sets.pop(rng.randrange(len(sets)))
        sets.append(first)
        constituents.append((set(first), "X"))
    tree = Tree([f"w{p}" for p in range(200)], constituents[::-1])
    assert read_upright(draw(tree), with_tags=False) == tree
    assert read_sideways(draw(tree, max_width=80), with_tags=False) == tree


def test_gold() -> None:
    gold = Tree(
        WAKE.words,
        [(range(4), "S"), (range(4), "VP"), ({1, 2, 3}, "X"), ({1, 2, 3}, ""), ({1, 2}, "N"), ({0}, "V")],
    )
    text = draw(WAKE, gold=gold)
    assert all(sign in text for sign in ("V ✗", "NP ✓"))
    assert "S ✓" not in text  # the whole sentence does not count
    assert text.endswith("\n\nmissed:\n  X+•  your friend up")
    assert draw(gold, gold=WAKE).endswith("\n\nmissed:\n  V  Wake … up")
    coloured = draw(WAKE, gold=gold, color=True)
    assert "\x1b[32mNP ✓\x1b[0m" in coloured  # for those who see no colours, too
    assert "\x1b[31mV ✗\x1b[0m" in coloured
    assert "\x1b[33m  X+•  your friend up\x1b[0m" in coloured


def test_the_list_of_missed_constituents_keeps_the_width() -> None:
    words = [f"word{p}" for p in range(12)]
    flat = Tree(words, [(range(12), "S")])
    gold = Tree(words, [(range(12), "S"), (range(11), "VP")])
    text = draw(flat, gold=gold, max_width=30)
    assert max(map(len, text.split("\n"))) <= 30
    assert text.split("missed:")[1].split() == ["VP", *words[:11]]


@pytest.mark.parametrize("words", [["Wake", "your", "friend"], ["Wake", "your", "friends", "up"]])
def test_gold_over_other_words_is_refused(words: list[str]) -> None:
    with pytest.raises(MismatchError, match=r"^sentence s7: (the tree has 4|word 2 is 'friend')"):
        draw(WAKE.replace(id="s7"), gold=Tree.with_root(words, []))


def test_values() -> None:
    shares = [1.0, 0.8, float("nan")]
    constituents = [
        Constituent(c.mask, c.label, c.function, {"support": share})
        for c, share in zip(WAKE.constituents, shares)
    ]
    text = draw(Tree(WAKE.words, constituents), values="support")
    assert [label for label in ("S 1", "V 0.8", "NP") if label in text] == ["S 1", "V 0.8", "NP"]
    assert "nan" not in text
    with pytest.raises(TreemeanError, match="no constituent has a value named 'score'; there are support"):
        draw(Tree(WAKE.words, constituents), values="score")


def test_functions_and_tags() -> None:
    tree = Tree(
        ["she", "sleeps"],
        [Constituent(3, "S"), Constituent(1, "NP", "SB")],
        tags=["PPER", ""],
        word_functions=["HD", "HD"],
    )
    assert draw(tree, functions=True).split("\n") == [
        "      S",
        "   ┌──┴───┐",
        " NP-SB    │",
        "   │      │",
        "PPER-HD   HD",
        "  she   sleeps",
    ]
    assert draw(tree.replace(word_functions=["--", "--"]), functions=True).split("\n")[-2].split() == [
        "PPER",
        "│",
    ]
    assert draw(tree).split("\n")[-2:] == ["PPER   │", "she  sleeps"]
    assert "PPER" not in draw(tree, tags=False)


def test_small_trees() -> None:
    assert draw(Tree([], [])) == "(a tree without words)"
    assert draw(Tree(["hi"], [({0}, "S")])) == "S\n│\nhi"
    assert draw(Tree(["hi"], [({0}, ""), ({0}, "X")], tags=["UH"])) == "•\n│\nX\n│\nUH\nhi"
    assert str(WAKE) == draw(WAKE)


def test_words_that_would_break_lines() -> None:
    tree = Tree(["a\nb", "", "\u200b", " ", "\u0301x", "\x1b[31m", "\u202e"], [(range(7), "S\t")])
    lines = draw(tree).split("\n")
    assert lines[-1].split() == ["a␊b", "∅", "∅", "∅", "◌\u0301x", "␛[31m", "\ufffd"]
    assert lines[0].strip() == "S␉"
    assert len(lines) == 3
    assert "\x1b" not in draw(tree, color=True)


@pytest.mark.parametrize("shape", ["right", "left", "flat", "gaps"])
def test_sentences_of_thousands_of_words(shape: str) -> None:
    """Two thousand words take about a second; quadratic work in Python took half a minute and a gigabyte."""
    n = 2000
    sets = {
        "right": [range(i, n) for i in range(n - 1)],
        "left": [range(i) for i in range(n, 1, -1)],
        "flat": [range(n)],
        "gaps": [range(n), *([i, i + 2] for i in range(0, n - 4, 4))],
    }[shape]
    tree = Tree([f"w{i}" for i in range(n)], [(positions, "LABEL") for positions in sets])
    begun = time.process_time()
    lines = draw(tree).split("\n")
    assert time.process_time() - begun < 10
    assert lines[-1].split() == list(tree.words)
    assert sum(line.count("LABEL") for line in lines) == len(sets)


@given(st.text(st.sampled_from("aé ─┬│猫\u0308\u00ad\u200d\x1b")))
def test_the_columns_of_a_text_are_those_of_its_characters(text: str) -> None:
    usual = len(text) if text.isascii() else sum(map(character_columns, text))
    assert columns(text) == usual
