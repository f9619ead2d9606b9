from __future__ import annotations

import random

import pytest
from format_helpers import PLAIN, WAKE, WILD, broken, dressed_trees, spans, trees_but_one, trees_in, written
from fuzzing import check_reader
from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from treemean.errors import FormatError, UnwritableTree
from treemean.formats import get_format
from treemean.formats.conllu import dependencies
from treemean.trees import Child, Constituent, Tree

FORMAT = get_format("conllu")

#: A non-projective sentence with a multiword token and an empty node, and a sentence of one word.
UD = """\
# newdoc id = small
# sent_id = weblog-1
# text = Schön hat sie's im Chor gesungen.
# remark without a value
1\tSchön\tschön\tADJ\tADJD\tDegree=Pos\t6\tadvmod\t_\t_
2\that\thaben\tAUX\tVAFIN\t_\t6\taux\t_\t_
3\tsie\tsie\tPRON\tPPER\t_\t6\tnsubj\t_\tSpaceAfter=No
3.1\tes\tes\tPRON\t_\t_\t_\t_\t6:obj\t_
4-5\tim\t_\t_\t_\t_\t_\t_\t_\t_
4\tin\tin\tADP\tAPPR\t_\t5\tcase\t_\t_
5\tChor\tChor\tNOUN\tNN\t_\t6\tobl\t_\t_
6\tgesungen\tsingen\tVERB\tVVPP\t_\t0\troot\t_\tSpaceAfter=No
7\t.\t.\tPUNCT\t$.\t_\t6\tpunct\t_\t_

# sent_id = 2
1\tJa\tja\t_\tITJ\t_\t0\troot\t_\t_

1\tWas\twas\tPRON\t_\t_\t4\tobj\t_\t_
2\tglaubst\tglauben\tVERB\t_\t_\t0\troot\t_\t_
3\tdu\tdu\tPRON\t_\t_\t4\tnsubj\t_\t_
4\tmagst\tmögen\tVERB\t_\t_\t2\tccomp\t_\t_

# sent_id = two roots
1\tJa\tja\tINTJ\t_\t_\t0\troot\t_\t_
2\tnein\tnein\tINTJ\t_\t_\t0\troot\t_\t_
3\t!\t!\tPUNCT\t_\t_\t2\t_\t_\t_
"""


def test_constituents_of_dependencies() -> None:
    first, second, third, fourth = trees_in(FORMAT, UD)
    assert first.id == "weblog-1"
    assert dict(first.metadata) == {"newdoc id": "small", "text": "Schön hat sie's im Chor gesungen."}
    assert first.words == ("Schön", "hat", "sie", "in", "Chor", "gesungen", ".")
    assert first.tags == ("ADJ", "AUX", "PRON", "ADP", "NOUN", "VERB", "PUNCT")
    assert first.word_functions == ("advmod", "aux", "nsubj", "case", "head", "head", "punct")
    assert spans(first) == [("VERB", [(0, 7)]), ("NOUN", [(3, 5)])]
    assert [c.function for c in first] == ["root", "obl"]
    assert second.tags == ("ITJ",)
    assert second.word_functions == ("root",)
    assert spans(second) == [("ROOT", [(0, 1)])]
    assert spans(third) == [("VERB", [(0, 4)]), ("VERB", [(0, 1), (2, 4)])]
    assert spans(fourth) == [("ROOT", [(0, 3)]), ("INTJ", [(1, 3)])]
    assert fourth.word_functions == ("root", "head", "")


def test_comments_alone_are_no_sentence() -> None:
    assert len(trees_in(FORMAT, "# a file about nothing\n\n\n" + UD)) == 4


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("3\tsie", "3  sie", r"test:7: sentence weblog-1: 9 columns instead of 10"),
        (
            "\t5\tcase",
            "\t8\tcase",
            r"test:10: sentence weblog-1: the head of word 4 is 8, but there are 7 words",
        ),
        (
            "\t5\tcase",
            "\t_\tcase",
            r"test:10: sentence weblog-1: the head of word 4 is '_', which is no number",
        ),
        ("\t5\tcase", "\t4\tcase", r"test:10: sentence weblog-1: the heads above word 4 run in a circle"),
        ("\t6\tobl", "\t4\tobl", r"test:10: sentence weblog-1: the heads above word 4 run in a circle"),
        ("\t0\troot", "\t1\troot", r"test:1: sentence weblog-1: no word has head 0"),
        ("7\t.", "8\t.", r"test:13: sentence weblog-1: word 8 stands where word 7 is expected"),
        ("7\t.", "07\t.", r"test:13: sentence weblog-1: '07' is no number of a word"),
        ("7\t.", "7\t", r"test:13: sentence weblog-1: word 7 is empty"),
        ("1\tJa\tja\t_", "1.1\tJa\tja\t_", r"test:15: sentence 2: the sentence has no words"),
        ("3\tdu", "2\tdu", r"test:20: sentence 3: word 2 stands where word 3 is expected"),
    ],
)
def test_errors_name_their_place(old: str, new: str, message: str) -> None:
    assert len(trees_but_one(FORMAT, broken(UD, old, new), message)) == 3


def test_encoding() -> None:
    assert trees_in(FORMAT, UD, encoding="latin-1")[0].words[0] == "Schön"
    with pytest.raises(FormatError, match="test:3: sentence 1: not valid utf-8"):
        trees_in(FORMAT, UD.encode("latin-1"))


def rows(text: str) -> list[tuple[str, str, str, str]]:
    """Return form, part of speech, head and relation of the words of a file."""
    fields = [line.split("\t") for line in text.splitlines() if line[:1].isdigit()]
    return [(f[1], f[3] if f[3] != "_" else f[4], f[6], f[7]) for f in fields if f[0].isdigit()]


def test_heads_and_relations_survive() -> None:
    trees = trees_in(FORMAT, UD)
    text = written(FORMAT, trees).decode()
    assert rows(text) == rows(UD)
    again = trees_in(FORMAT, text)
    assert again == trees
    assert [(tree.id, tree.metadata) for tree in again] == [(tree.id, tree.metadata) for tree in trees]


@st.composite
def dependency_sentences(draw: st.DrawFn) -> str:
    """Draw a dependency tree, mostly not projective, at times with several roots, as text."""
    n = draw(st.integers(1, 9))
    rng = random.Random(draw(st.integers(0, 2**32 - 1)))
    texts = draw(st.lists(PLAIN.filter(lambda text: text != "_"), min_size=1, max_size=4))
    order = rng.sample(range(1, n + 1), n)
    heads = {}
    for index, word in enumerate(order):
        heads[word] = 0 if index == 0 or rng.random() < 0.1 else rng.choice(order[:index])
    lines = []
    for word in range(1, n + 1):
        form, upos, relation = (
            rng.choice(texts),
            rng.choice([*texts, "_"]),
            rng.choice([*texts, "_", "nsubj"]),
        )
        lines.append("\t".join([str(word), form, "_", upos, "_", "_", str(heads[word]), relation, "_", "_"]))
    return "\n".join(lines) + "\n\n"


def naive_constituents(text: str) -> list[set[int]]:
    """Return the words with dependents, each with its descendants, by asking every word for its ancestors."""
    heads = [int(head) for _, _, head, _ in rows(text)]
    sets: dict[int, set[int]] = {}
    for word in range(len(heads)):
        above = heads[word]
        while above:
            sets.setdefault(above, {above - 1}).add(word)
            above = heads[above - 1]
    return list(sets.values())


@given(dependency_sentences())
@examples(300)
def test_dependency_trees_round_trip(text: str) -> None:
    (tree,) = trees_in(FORMAT, text)
    assert written(FORMAT, [tree]).decode() == text
    expected = naive_constituents(text)
    everything = set(range(len(tree.words)))
    if everything not in expected:
        expected.append(everything)
    assert sorted(map(sorted, expected)) == sorted(list(c.positions) for c in tree)


def test_example() -> None:
    assert written(FORMAT, [WAKE]).decode().expandtabs(8).splitlines() == [
        "# sent_id = 1",
        "1       Wake    _       VB      _       _       0       _       _       _",
        "2       your    _       PRP$    _       _       3       DET     _       _",
        "3       friend  _       NN      _       _       1       OBJ     _       _",
        "4       up      _       RP      _       _       1       PRT     _       _",
        "",
    ]


def test_relations_come_from_the_largest_constituent_that_a_word_heads() -> None:
    tree = Tree(
        ["she", "can", "sing"],
        [
            Constituent(0b111, "S", "top"),
            Constituent(0b001, "NP", "su"),
            Constituent(0b001, "N"),
            Constituent(0b110, "VP", "hd"),
            Constituent(0b100, "V"),
        ],
        word_functions=["", "hd", "vc"],
    )
    assert dependencies(tree) == ([2, 0, 2], ["su", "top", "vc"])


def test_a_sentence_without_a_marked_head_has_several_roots() -> None:
    tree = Tree(["a", "."], [Constituent(0b11, "VROOT", "top")], word_functions=["dp", ""])
    assert dependencies(tree) == ([0, 0], ["dp", "top"])


def naive_head(tree: Tree, child: Child) -> int:
    """Return the lexical head of a child, top down."""
    if child.is_word:
        return child.index
    children = tree.children[child.index]
    marked = [c for c in children if function_of(tree, c).lower() in ("hd", "head")]
    return naive_head(tree, marked[0] if marked else children[0])


def function_of(tree: Tree, child: Child) -> str:
    return tree.word_functions[child.index] if child.is_word else tree.constituents[child.index].function


@st.composite
def headed_trees(draw: st.DrawFn) -> Tree:
    """Draw a tree in which every constituent has one child marked as its head."""
    tree = draw(dressed_trees(PLAIN))
    rng = random.Random(draw(st.integers(0, 2**32 - 1)))
    words = ["mod"] * len(tree.words)
    nodes = ["obj"] * len(tree.constituents)
    for children in tree.children:
        head = rng.choice(children)
        (words if head.is_word else nodes)[head.index] = rng.choice(["hd", "HD", "head"])
    return tree.replace(
        tags=["X"] * len(words),
        word_functions=words,
        constituents=[Constituent(c.mask, c.label, f) for c, f in zip(tree.constituents, nodes, strict=True)],
    )


@given(headed_trees())
def test_headed_trees_become_dependencies(tree: Tree) -> None:
    heads, relations = dependencies(tree)
    expected = {}
    for children in tree.children:
        governor = next(c for c in children if function_of(tree, c).lower() in ("hd", "head"))
        for child in children:
            if child is not governor:
                expected[naive_head(tree, child)] = naive_head(tree, governor) + 1, function_of(tree, child)
    for word, head in enumerate(heads):
        assert (head, relations[word]) == expected.get(word, (0, "obj"))
    assert len(expected) == len(tree.words) - 1
    (read,) = trees_in(FORMAT, written(FORMAT, [tree]))
    assert dependencies(read) == (heads, relations)


@given(dressed_trees(WILD, min_words=0))
@examples(300)
def test_what_is_written_reads_back(tree: Tree) -> None:
    try:
        data = written(FORMAT, [tree])
    except UnwritableTree:
        return
    (read,) = trees_in(FORMAT, data)
    assert (read.words, read.tags, dependencies(read)) == (tree.words, tree.tags, dependencies(tree))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"words": ["a\tb", "b", "c", "d"]}, r"the word 'a\\tb' contains a tab or a line break"),
        ({"words": ["", "b", "c", "d"]}, "a word is empty"),
        ({"tags": ["a b", "b", "c", "d"]}, "the tag 'a b' contains a blank"),
        ({"tags": ["_", "b", "c", "d"]}, "the tag '_' stands for an empty one"),
        (
            {"word_functions": [""] * 4},
            r"constituent NP \[your friend\] has no head child \(function head, hd or HD\)",
        ),
        ({"word_functions": ["hd"] * 4}, r"constituent NP \[your friend\] has several head children"),
        ({"id": "a\nb"}, "does not fit into a comment"),
        ({"metadata": {"sent_id": "x"}}, "its metadata has a sent_id"),
        ({"metadata": {"a=b": "x"}}, "does not fit into a comment"),
    ],
)
def test_unwritable(change: dict[str, object], reason: str) -> None:
    with pytest.raises(UnwritableTree, match=reason):
        written(FORMAT, [WAKE.replace(**change)])


def test_a_sentence_without_words_is_unwritable() -> None:
    with pytest.raises(UnwritableTree, match="it has no words"):
        written(FORMAT, [Tree([], [])])


def test_sniff() -> None:
    assert FORMAT.sniff(UD.encode())
    assert FORMAT.sniff(UD.split("value\n")[1].encode())
    assert not FORMAT.sniff(b"#BOS 1\n")
    assert not FORMAT.sniff(b"\n" * 4096)
    assert not FORMAT.sniff(b"# comment\n(S (X a))")


def test_broken_input() -> None:
    check_reader(FORMAT, UD.encode())
