from __future__ import annotations

import pytest
from format_helpers import (
    WAKE,
    WILD,
    assert_same,
    broken,
    check_gesungen,
    dressed_trees,
    spans,
    trees_but_one,
    trees_in,
    without_dashes,
    written,
)
from fuzzing import check_reader
from hypothesis import given

from examples import examples
from treemean.errors import FormatError, UnwritableTree
from treemean.formats import Problems, Unwritable, get_format
from treemean.trees import Constituent, Tree

FORMAT = get_format("export")
FORMAT_4 = get_format("export4")

#: Version 3 with tables, comments, a secondary edge, a word that looks like a node, and latin letters.
NEGRA = """\
%% a small corpus
#FORMAT 3
#BOT ORIGIN
0\tunknown
1\t#BOS of nothing
#EOT ORIGIN
#BOT WORDTAG
1\tY\tNN\tnoun
#EOT WORDTAG
#BOS 1 2 899973978 1 %% first
Schön\t\t\tADJD\t--\t\tMO\t500
hat\t\t\tVAFIN\t3.Sg\t\tHD\t502
sie\t\t\tPPER\t--\t\tSB\t502\tSB\t500\t%% both
gesungen\t\tVVPP\t--\t\tHD\t500
.\t\t\t$.\t--\t\t--\t0
#500\t\t\tVP\t--\t\tOC\t502
#502\t\t\tS\t--\t\t--\t0
#EOS 1
#BOS 2 2 899973978 1
Nummer\t\t\tNN\t--\t\tNK\t500
#700\t\t\tCARD\t--\t\tNK\t500
da\t\t\tADV\t--\t\tMO\t500
#500\t\t\tNP\t--\t\t--\t0
#EOS 2

#BOS 3 2 899973978 1
Ja\t\t\tITJ\t--\t\t--\t0
#EOS 3
#BOS 4 2 899973978 1
#EOS 4
"""

#: Version 4, separated by blanks, without #FORMAT.
VERSION_4 = """\
#BOS 17 0 0 0
Hunde  Hund   NNS --      SB 500
bellen bellen VV  3.Pl    HD 500
#500   --     S   --      -- 0
#EOS 17
"""


def test_version_3() -> None:
    first, second, third, fourth = trees_in(FORMAT, NEGRA)
    assert first.id == "1"
    check_gesungen(first)
    assert second.words == ("Nummer", "#700", "da")
    assert spans(second) == [("NP", [(0, 3)])]
    assert spans(third) == [("VROOT", [(0, 1)])]
    assert fourth.words == ()
    assert fourth.id == "4"


def test_only_blanks_and_tabs_divide_columns() -> None:
    trees = [Tree(["#EOS\x0bx", "\x0c", "#BOS\x0cy"], [(range(3), "S")], tags=["#BOS", "#EOS", "X"], id="1")]
    assert_same(trees_in(FORMAT, written(FORMAT, trees)), trees)


def test_version_4_without_declaration() -> None:
    (tree,) = trees_in(FORMAT, VERSION_4)
    assert tree.words == ("Hunde", "bellen")
    assert tree.tags == ("NNS", "VV")
    assert tree.word_functions == ("SB", "HD")
    assert spans(tree) == [("S", [(0, 2)])]
    assert trees_in(FORMAT, "#FORMAT 4\n" + VERSION_4) == [tree]


def test_encoding() -> None:
    assert trees_in(FORMAT, NEGRA, encoding="latin-1")[0].words[0] == "Schön"
    with pytest.raises(FormatError, match=r"test:11: sentence 1: not valid utf-8"):
        trees_in(FORMAT, NEGRA.encode("latin-1"))


def test_example() -> None:
    text = written(FORMAT, [WAKE]).decode()
    assert text.expandtabs(8).splitlines() == [
        "#FORMAT 3",
        "#BOS 1 0 0 0",
        "Wake                    VB      --              HD      500",
        "your                    PRP$    --              DET     501",
        "friend                  NN      --              HD      501",
        "up                      RP      --              PRT     500",
        "#500                    VP      --              HD      502",
        "#501                    NP      --              OBJ     502",
        "#502                    S       --              --      0",
        "#EOS 1",
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("\tHD\t502", "\tHD\t503", r"test:12: sentence 1: 'hat' has parent 503, which is no node"),
        ("OC\t502", "OC\t500", r"test:10: sentence 1: node 'VP' is above itself"),
        ("#EOS 1\n", "#EOS 2\n", r"test:18: sentence 1: #EOS 2 ends a sentence that began with #BOS 1"),
        ("#EOS 1\n", "", r"test:10: sentence 1: the sentence has no #EOS"),
        ("\tSB\t500\t%%", "\tSB\t%%", r"test:13: sentence 1: secondary edges"),
        ("#BOS 1 2", "#BOS\n1 2", r"test:10: sentence 1: #BOS without a number"),
        ("#FORMAT 3", "#FORMAT 5", r"test:2: sentence 1: '#FORMAT 5': versions 3 and 4 are known"),
        ("\t502\tSB", "\tx\tSB", r"test:13: sentence 1: no number of a parent in column 5"),
        ("#BOS 3", "hello\n#BOS 3", r"test:26: sentence 3: 'hello' stands outside"),
        ("#502\t", "#500\t", r"test:17: sentence 1: node #500 is given twice, here and on line 16"),
        ("#700\t", "#500\t", r"test:23: sentence 2: node #500 is given twice, here and on line 21"),
        ("da\t", "#500\t", r"test:23: sentence 2: node #500 is given twice, here and on line 22"),
    ],
)
def test_errors_name_their_place(old: str, new: str, message: str) -> None:
    rest = trees_but_one(FORMAT, broken(NEGRA, old, new), message)
    assert len(rest) == (4 if "FORMAT" in new or "hello" in new else 3)


def test_a_table_without_end_is_an_error() -> None:
    with pytest.raises(FormatError, match="test:1: sentence 1: the table that begins here has no #EOT"):
        trees_in(FORMAT, "#BOT WORDTAG\n" + NEGRA.split("#EOT WORDTAG\n")[1])


def test_skipped_sentences_are_set_aside(tmp_path) -> None:
    aside = tmp_path / "bad.export"
    with Problems(skip=True, aside=aside) as problems:
        trees_in(FORMAT, NEGRA.replace("OC\t502", "OC\t77"), problems)
    assert aside.read_text() == NEGRA[NEGRA.index("#BOS 1 2") : NEGRA.index("#BOS 2")].replace(
        "OC\t502", "OC\t77"
    )


@given(dressed_trees())
def test_round_trip(tree: Tree) -> None:
    assert_same(trees_in(FORMAT, written(FORMAT, [tree, tree])), [tree, tree])


@given(dressed_trees(WILD, min_words=0))
@examples(300)
def test_what_is_written_reads_back(tree: Tree) -> None:
    try:
        data = written(FORMAT, [tree])
    except UnwritableTree:
        return
    (read,) = trees_in(FORMAT, data)
    assert read == without_dashes(tree)
    assert read.id == (tree.id or "1")


@pytest.mark.parametrize("root", ["VROOT", "S"])
@pytest.mark.parametrize("function", ["", "OC"])
def test_unary_chains_over_the_root(root: str, function: str) -> None:
    chains = [
        Tree(["a"], [Constituent(1, root, function)]),
        Tree(["a"], [Constituent(1, root, function), Constituent(1, "VROOT")]),
        Tree(
            ["a", "b"], [Constituent(3, root, function), Constituent(3, "S"), Constituent(2, "VROOT", "HD")]
        ),
    ]
    assert trees_in(FORMAT, written(FORMAT, chains)) == chains


def test_more_nodes_than_numbers_of_three_digits() -> None:
    n = 700
    deep = Tree([f"w{i}" for i in range(n)], [(range(i, n), "X") for i in range(n)])
    assert trees_in(FORMAT, written(FORMAT, [deep])) == [deep]


def test_ids() -> None:
    trees = [WAKE.replace(id=id) for id in ("12", "", "s-1 %% id=x", "12345678901", "a b")]
    read = trees_in(FORMAT, written(FORMAT, trees))
    assert [tree.id for tree in read] == ["12", "2", "s-1 %% id=x", "12345678901", "a b"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"words": ["#500", "a", "b", "c"]}, "'#500' is reserved"),
        ({"words": ["#BOS", "a", "b", "c"]}, "'#BOS' is reserved"),
        ({"words": ["%%x", "a", "b", "c"]}, "'%%x' is reserved"),
        ({"words": ["a b", "a", "b", "c"]}, "'a b' contains a blank"),
        ({"words": ["", "a", "b", "c"]}, "a word is empty"),
        ({"tags": ["--", "a", "b", "c"]}, "the tag '--' stands for an empty one"),
        ({"constituents": [Constituent(15, "--")]}, "the label '--' stands for an empty one"),
        ({"id": "x\ny"}, "does not fit into a comment"),
    ],
)
def test_unwritable(change: dict[str, object], reason: str) -> None:
    bad = WAKE.replace(**change)
    with pytest.raises(UnwritableTree, match=reason):
        written(FORMAT, [bad])
    policy = Unwritable("skip")
    assert trees_in(FORMAT, written(FORMAT, [WAKE, bad, WAKE], policy)) == [WAKE, WAKE]
    assert policy.skipped == 1


def test_sniff() -> None:
    assert FORMAT.sniff(NEGRA.encode())
    assert FORMAT.sniff(VERSION_4.encode())
    assert not FORMAT.sniff(b"# sent_id = 1\n1\ta")
    assert not FORMAT.sniff(b"(S (X #BOS))")


def test_broken_input() -> None:
    check_reader(FORMAT, (NEGRA + "#FORMAT 4\n" + VERSION_4).encode())


@given(dressed_trees())
def test_round_trip_of_version_4(tree: Tree) -> None:
    data = written(FORMAT_4, [tree, tree])
    assert data.startswith(b"#FORMAT 4\n")
    assert_same(trees_in(FORMAT, data), [tree, tree])
