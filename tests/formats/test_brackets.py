"""Discbracket and the brackets of the Penn Treebank."""

from __future__ import annotations

import io
import re
import time
from itertools import pairwise
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treemean
from strategies import treebanks, trees
from treemean import _core
from treemean.errors import FormatError, UnwritableTree
from treemean.files.source import Source
from treemean.formats import discbracket, get_format, ptb
from treemean.formats.problems import Problems
from treemean.formats.writing import Unwritable
from treemean.trees import Tree, Treebank, transforms


def read(module, text, problems=None, encoding="utf-8"):
    data = text if isinstance(text, bytes) else text.encode()
    source = Source(io.BytesIO(data), "file")
    return Treebank.concatenate(list(module.read(source, problems or Problems(), encoding=encoding)))


def naive_discbracket(line: str) -> Tree:
    """Read one tagged tree the plain way: recursion over tokens."""
    tokens = re.findall(r"[()]|[^\s()]+", line)
    words: dict[int, tuple[str, str]] = {}
    constituents = []

    def node(at: int) -> tuple[set[int], int]:
        label = tokens[at + 1]
        at += 2
        if tokens[at] not in "()":
            position, _, word = tokens[at].partition("=")
            words[int(position)] = (word, label)
            return {int(position)}, at + 2
        index = len(constituents)
        constituents.append(None)
        inside: set[int] = set()
        while tokens[at] != ")":
            part, at = node(at)
            inside |= part
        constituents[index] = (inside, label)
        return inside, at + 1

    node(0)
    ordered = [words[i] for i in range(len(words))]
    return Tree([w for w, _ in ordered], constituents, tags=[t for _, t in ordered])


@given(treebanks(labels=("S", "NP", "VP"), max_words=70))
def test_discbracket_against_a_naive_reader(bank):
    text = "".join(discbracket.serialise(tree) for tree in bank)
    expected = [naive_discbracket(line) for line in text.splitlines()]
    assert list(read(discbracket, text)) == expected


def without_functions(tree):
    return transforms.drop_functions(Treebank.from_trees([tree]))[0]


TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"]), max_size=4)


@given(trees(), st.data())
def test_discbracket_round_trip_with_any_words_labels_and_tags(tree, data):
    odd = st.sampled_from(["(", ")", "a(b)c", "=", "0=1", "#", "\u200b", "'"]) | TEXTS
    words = [data.draw(odd.filter(lambda w: w and "RB#" not in w and "RB-" not in w)) for _ in tree.words]
    tags = [data.draw(st.sampled_from(["", "X", "$(", "("])) for _ in tree.words]
    tree = without_functions(tree).replace(words=words, tags=tags)
    assert list(read(discbracket, discbracket.serialise(tree))) == [tree]


@given(trees(max_fan_out=1), st.data())
def test_ptb_round_trip(tree, data):
    tags = [data.draw(st.sampled_from(["", "X", "("])) for _ in tree.words]
    words = [data.draw(st.sampled_from(["(", "a", "0=b"])) for _ in tree.words]
    tree = without_functions(tree).replace(words=words, tags=tags)
    assert list(read(ptb, ptb.serialise(tree))) == [tree]


@given(treebanks(min_sentences=1), st.data())
def test_the_core_writes_what_the_naive_writer_writes(bank, data):
    texts = st.sampled_from(["a", "(b)", "", "c d", "-NONE-", "é", "0"])
    trees_ = []
    for tree in bank:
        words = [data.draw(texts) for _ in tree.words]
        comment = {"comment": "x"} if data.draw(st.booleans()) else None
        trees_.append(tree.replace(words=words, tags=words[::-1], metadata=comment))
    bank = Treebank.from_trees([*trees_, Tree([], [])])
    for module in (discbracket, ptb):
        stream, policy = io.BytesIO(), Unwritable("skip")
        writer = module.writer(stream, policy)
        writer.write(bank)
        writer.close()
        expected, skipped = "", 0
        for tree in bank:
            try:
                expected += module.serialise(tree)
            except UnwritableTree:
                skipped += 1
        assert stream.getvalue().decode() == expected
        assert (policy.seen, policy.skipped) == (len(bank), skipped)


def test_the_core_refuses_columns_that_are_no_treebank():
    text = (np.array([0], np.int32), np.frombuffer(b"a", np.uint8), np.array([0, 1]))
    trees_, words, tags, labels = range(4)
    good = [(np.array([0, 1]), np.array([0, 1]), np.array([1], np.uint64)), text, text, text]
    assert _core.write_brackets(*good, positions=True) == b"(a (a 0=a))\n"
    changes = [
        (trees_, 0, [0, 2]),
        (trees_, 0, [0, 65]),
        (trees_, 0, [1, 1]),
        (trees_, 1, [0, 2]),
        (trees_, 1, [0, 1, 1]),
        (trees_, 2, [3]),
        (trees_, 2, [1, 1]),
        (words, 0, [0, 0]),
        (words, 0, [1]),
        (words, 0, [-1]),
        (words, 2, [0, 2]),
        (words, 2, [-1, 1]),
        (labels, 0, []),
        (tags, 0, []),
    ]
    for column, part, values in changes:
        bad = [list(arrays) for arrays in good]
        bad[column][part] = np.array(values, bad[column][part].dtype)
        with pytest.raises((ValueError, IndexError)):
            _core.write_brackets(*(tuple(arrays) for arrays in bad), positions=True)


def test_flavours_of_discbracket():
    tagged = "(S (VP (V 0=Wake) (P 3=up)) (NP (D 1=your) (N 2=friend)))"
    [tree] = read(discbracket, tagged)
    assert tree.words == ("Wake", "your", "friend", "up")
    assert tree.tags == ("V", "D", "N", "P")
    [bare] = read(discbracket, "(S (VP 0=Wake 3=up) (NP 1=your 2=friend))\n")
    assert bare.same_structure(tree)
    assert bare.tags == ("",) * 4
    [numbers] = read(discbracket, "(S (VP (V 0) (P 3)) (NP (D 1) (N 2)))\tWake your friend up\n")
    assert numbers == tree
    [escaped] = read(discbracket, "(S (X 0=#LRB#) (X 1=-RRB-) (X 2=a=b))")
    assert escaped.words == ("(", ")", "a=b")
    [commented] = read(discbracket, "(S (X 0=a) (X 1=b))\tsome remark \n")
    assert commented.metadata["comment"] == "some remark"
    assert discbracket.serialise(commented) == "(S (X 0=a) (X 1=b))\tsome remark\n"


def test_penn_trees_over_several_lines_wrapped_and_with_traces():
    text = """
( (S
    (NP-SBJ-1 (NNP Jan))
    (VP (VBZ wants)
      (S (NP-SBJ (-NONE- *-1))
        (VP (TO to) (VP (VB sleep)))))
    (. .)))
(X (A a)
   (B -LRB-))
"""
    first, second = read(ptb, text)
    assert first.words == ("Jan", "wants", "to", "sleep", ".")
    assert [c.label for c in first] == ["S", "NP-SBJ-1", "VP", "S", "VP", "VP"]
    assert second.words == ("a", "(")


def test_wrappers_are_kept_if_asked_for(tmp_path):
    path = tmp_path / "trees.ptb"
    path.write_text("( (S (A a) (B b)))\n(S (A a) (B b))\n( (X (A a)) (B b))\n")
    labels = [[c.label for c in tree] for tree in treemean.read(path, keep_wrapper=True)]
    assert labels == [["", "S"], ["S"], ["", "X"]]
    assert [[c.label for c in tree] for tree in treemean.read(path)] == [["S"], ["S"], ["", "X"]]
    (tmp_path / "trees.dbr").write_text("( (S (A 0=a) (B 1=b)))\n")  # other formats have no wrappers
    assert treemean.read(tmp_path / "trees.dbr", keep_wrapper=True) == treemean.read(tmp_path / "trees.dbr")


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("(S (X 0=a) (X 1=b)", 1, "not closed"),
        ("\n\n(S (X 0=a)\n(S (X 0=a) (X 1=b))", 3, "not closed before the next one begins"),
        ("(S (X 0=a) (X 0=b))", 1, "word 0 occurs twice"),
        ("(S (X 0=a) (X 2=b))", 1, "word 2 in a tree of 2 words"),
        ("(S (X 0=a) (X 99999999999999999999=b))", 1, "INDEX=word"),
        ("(S (X a) (X 1=b))", 1, "the leaf 'a' is not of the form INDEX=word"),
        ("(S (X 0=a) (X 1=))", 1, "'1=' has no word"),
        ("(S (X 0=a) (NP ))", 1, "'NP' has no words"),
        ("()", 1, "'' has no words"),
        ("hello", 1, "begin with ("),
        (") (S (X 0=a))", 1, "begin with ("),
        ("(S (X 0=a)) trailing", 1, "unexpected 'trailing' after the tree"),
        ("(S (X 0) (X 1))", 1, "no sentence follows"),
        ("(S (X 0) (X 1))\tone", 1, "2 words and the sentence after it 1"),
        ("( S (X 0=a) (X 1=b))", 1, "'S' is not of the form"),
        (b"(S (X 0=\xff) (X 1=b))", 1, "not valid UTF-8"),
    ],
)
def test_bad_discbracket(text, line, message):
    with pytest.raises(FormatError, match=re.escape(message)) as caught:
        read(discbracket, text)
    assert caught.value.line == line
    assert str(caught.value).startswith(f"file:{line}: sentence 1: ")


def test_a_blank_before_a_label_is_not_taken_for_a_word():
    with pytest.raises(FormatError, match="a blank between"):
        read(ptb, "( S (NP (D a) (N b)))")


def test_bad_trees_are_skipped_counted_and_set_aside(tmp_path):
    lines = ["(S (X 0=a))", "(S (X 0=a", "(S (X 1=a))", "oops", "(S (X 0=b))", ""]
    aside = tmp_path / "bad"
    with Problems(skip=True, aside=aside) as problems:
        bank = read(discbracket, "\n".join(lines), problems)
    assert [tree.words for tree in bank] == [("a",), ("b",)]
    assert problems.count == 3
    assert [e.line for e in problems.errors] == [2, 3, 4]
    assert aside.read_text() == "(S (X 0=a\n(S (X 1=a))\noops\n"


def test_blocks_of_any_size_give_the_same_trees():
    text = "".join(f"(S (X 0=a{i}) (VP (Y 1=b) (Z 2=ü)))\n" for i in range(50)).encode()
    whole = read(discbracket, text)

    class Slow(Source):
        def read(self, count=None):
            return super().read(7)

    source = Slow(io.BytesIO(text), "file")
    with mock.patch.multiple("treemean.formats.blocks", BLOCK=16, LARGEST_BLOCK=16):
        parts = list(discbracket.read(source, Problems(), encoding="utf-8"))
    assert len(parts) > 10
    assert Treebank.concatenate(parts) == whole
    for one, other in pairwise(parts):  # so that they are put together without comparing texts
        assert one.words.vocabulary.begins(other.words.vocabulary)
        assert one.labels.vocabulary.begins(other.labels.vocabulary)


def test_other_encodings():
    [tree] = read(discbracket, "(S (X 0=é))".encode("latin-1"), encoding="iso8859-1")
    assert tree.words == ("é",)
    with pytest.raises(FormatError, match="not valid utf-16"):
        read(discbracket, b"\xff\xfe(\x00S", encoding="utf-16")


def test_a_deep_tree_does_not_overflow():
    n = 3000
    deep = transforms.branching(
        Treebank.from_trees([Tree([f"w{i}" for i in range(n)], [(range(n), "S")], tags=["X"] * n)]), "right"
    )
    text = discbracket.serialise(deep[0])
    assert read(discbracket, text) == deep
    with pytest.raises(FormatError, match="too large"):
        read(discbracket, "(a" * 1_000_000)
    with pytest.raises(FormatError, match="not closed"):
        read(discbracket, "(a" * 30_000)


def test_a_small_file_cannot_ask_for_unbounded_memory():
    text = "(a" * 20_000 + " " + " ".join(f"(X {i}=w)" for i in range(20_000)) + ")" * 20_000
    with pytest.raises(FormatError, match="20000 constituents over 20000 words"):
        read(discbracket, text)


def test_a_long_word_of_brackets_takes_linear_time():
    """Two megabytes; quadratic work would take many seconds."""
    begun = time.process_time()
    [tree] = read(discbracket, b"(S 0=" + b"#LRB#-RRB-" * 200_000 + b")")
    assert tree.words == ("()" * 200_000,)
    assert time.process_time() - begun < 3


def test_what_brackets_cannot_express():
    tree = Tree(["Wake", "your", "friend", "up"], [(range(4), "S"), ({0, 3}, "V")])
    with pytest.raises(UnwritableTree, match=r"V \[Wake … up\] is discontinuous"):
        ptb.serialise(tree)
    with pytest.raises(UnwritableTree, match="the word 'a b' contains white space"):
        discbracket.serialise(Tree(["a b"], [({0}, "S")]))
    with pytest.raises(UnwritableTree, match="the word '' is empty"):
        discbracket.serialise(Tree([""], [({0}, "S")]))
    with pytest.raises(UnwritableTree, match="no words"):
        discbracket.serialise(Tree([], []))
    with pytest.raises(UnwritableTree, match="-NONE-"):
        ptb.serialise(Tree(["a"], [({0}, "S")], tags=["-NONE-"]))


def test_names_and_beginnings():
    is_discbracket = get_format("discbracket").sniff
    assert is_discbracket(b"(S (VP (V 0=Wake)")
    assert is_discbracket(b" (S 0=Wake 1=up)")
    assert not is_discbracket(b"(S (NP (D the) (N 0)))")
    assert is_discbracket(b"(S (NP (D 0) (N 1)))\tthe cat\n")
    for number in (b"30", b"1990s", b"3.5"):
        assert not is_discbracket(b"( (S (NP (CD " + number + b") (NNS years)) (VP (VBD passed))))\n\t\n")
    assert get_format("ptb").sniff(b"\n( (S (NP")
