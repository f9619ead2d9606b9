from __future__ import annotations

import gzip
import re
import resource

import pytest
from format_helpers import (
    WAKE,
    WILD,
    LongStream,
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
from treemean.files.source import Source
from treemean.formats import Problems, get_format
from treemean.trees import Constituent, Tree

FORMAT = get_format("tiger")

#: What TIGERSearch and the corpus 2.2 write, and what other readers stumble over.
TIGER = """\
<?xml version="1.0" encoding="ISO-8859-1" standalone="yes"?>
<corpus xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" id="small" version="2.2">
<head>
  <meta><name>small</name></meta>
  <annotation>
    <feature name="word" domain="T"/>
    <edgelabel><value name="--">bound to the root</value></edgelabel>
  </annotation>
</head>
<body>
<subcorpus name="one">
<s id="s1" art_id="1">
  <!-- punctuation hangs under VROOT, and terminals are not in the order of the edges -->
  <graph root="s1_VROOT" discontinuous="true">
    <terminals>
      <t id="s1_1" word="Schön" lemma="schön" pos="ADJD" morph="Pos"/>
      <t id="s1_2" word="hat" lemma="haben" pos="VAFIN" morph="3.Sg"/>
      <t id="s1_3" word="sie" lemma="sie" pos="PPER" morph="--">
        <secedge label="SB" idref="s1_500"/>
      </t>
      <t id="s1_4" word="gesungen" pos="VVPP"/>
      <t id="s1_5" word="." pos="$."/>
    </terminals>
    <nonterminals>
      <nt id="s1_VROOT" cat="VROOT">
        <edge label="--" idref="s1_5"/>
        <edge label="--" idref="s1_501"/>
      </nt>
      <nt id="s1_501" cat="S">
        <edge label="HD" idref="s1_2"/>
        <edge label="OC" idref="s1_500"/>
        <edge label="SB" idref="s1_3"/>
      </nt>
      <nt id="s1_500" cat="VP">
        <edge label="HD" idref="s1_4"/>
        <edge label="MO" idref="s1_1"/>
        <secedge label="SB" idref="s1_3"/>
      </nt>
    </nonterminals>
  </graph>
  <matches><match subgraph="s1_500"><variable name="#v" idref="s1_500"/></match></matches>
</s>
</subcorpus>
<s id="s2"><graph root="s2_1"><terminals><t id="s2_1" word="Ja" pos="ITJ"/></terminals></graph></s>
<s id="s3">
<graph><terminals><t id="x" word="&lt;" pos="--"/><t id="y" word=""/></terminals><nonterminals/></graph>
</s>
<s id="s4"/>
<s id="s5">
<graph root="a:b">
<terminals>
<t id="s1_1" word="Zwei" pos="CARD"/>
<t id="s1_2" word="Wurzeln" pos="NN"/>
</terminals>
<nonterminals>
<nt id="A" cat="NP"><edge idref="s1_1" label="NK"/></nt>
<nt id="B" cat="--"><edge idref="s1_2" label="NK"/></nt>
</nonterminals>
</graph>
</s>
</body>
</corpus>
"""
LATIN = TIGER.encode("latin-1")


def test_what_others_stumble_over() -> None:
    trees = trees_in(FORMAT, LATIN)
    assert [tree.id for tree in trees] == ["s1", "s2", "s3", "s4", "s5"]
    first, second, third, fourth, fifth = trees
    check_gesungen(first)
    assert spans(second) == [("VROOT", [(0, 1)])]
    assert third.words == ("<", "")
    assert third.tags == ("", "")
    assert spans(third) == [("VROOT", [(0, 2)])]
    assert fourth.words == ()
    assert spans(fifth) == [("VROOT", [(0, 2)]), ("NP", [(0, 1)]), ("", [(1, 2)])]


def line_of(text: str, piece: str) -> int:
    return text[: text.index(piece)].count("\n") + 1


@pytest.mark.parametrize(
    ("old", "new", "place", "message"),
    [
        (
            'HD" idref="s1_4"',
            'HD" idref="s1_9"',
            "s1_9",
            "sentence s1: an edge leads to 's1_9', which is no node",
        ),
        ('MO" idref="s1_1"', 'MO" idref="s1_2"', 'MO" idref', "sentence s1: two edges lead to 's1_2'"),
        ('MO" idref="s1_1"', 'MO" idref="s1_501"', 'MO" idref', "sentence s1: two edges lead to 's1_501'"),
        (
            '--" idref="s1_501"',
            '--" idref="s1_VROOT"',
            '--" idref="s1_VROOT"',
            "sentence s1: an edge leads to 's1_VROOT', the root of everything",
        ),
        (
            'HD" idref="s1_4"',
            'HD" idref="s1_500"',
            'HD" idref="s1_500"',
            "sentence s1: two edges lead to 's1_500': from 's1_501' (OC), 's1_500' (HD)",
        ),
        ('<t id="s1_4" ', '<t id="s1_3" ', "gesungen", "sentence s1: the id 's1_3' is given twice"),
        ('<t id="s1_4" ', "<t ", "gesungen", "sentence s1: <t> has no 'id'"),
        ('word="gesungen"', "", "VVPP", "sentence s1: <t> has no 'word'"),
        ('HD" idref="s1_4"', 'HHDD"', "HHDD", "sentence s1: <edge> has no 'idref'"),
        ('<edge idref="s1_2" label="NK"/>', "", '<s id="s5"', "sentence s5: node '' has no words"),
    ],
)
def test_bad_sentences(old: str, new: str, place: str, message: str) -> None:
    text = broken(TIGER, old, new)
    said = f"^test:{line_of(text, place)}: {re.escape(message)}"
    assert len(trees_but_one(FORMAT, text.encode("latin-1"), said)) == 4


def test_skipped_sentences_are_set_aside_as_xml(tmp_path) -> None:
    aside = tmp_path / "bad.xml"
    with Problems(skip=True, aside=aside) as problems:
        trees_in(FORMAT, TIGER.replace('"s1_4"/>', '"s1_9"/>').encode("latin-1"), problems)
    text = aside.read_text(encoding="utf-8")
    assert re.match(r'<s [^>]*id="s1"', text)
    assert "Schön" in text
    assert text.endswith("</s>\n")


@pytest.mark.parametrize(
    ("old", "new", "place", "message", "count"),
    [
        ('"s4"/>', '"s4">', "</body>", "Opening and ending tag mismatch", 4),
        ('<s id="s4"/>', "&nbsp;", "&nbsp;", "Entity 'nbsp' not defined", 3),
        ("\n</corpus>\n", "", "</body>", "Premature end of data", 5),
        ("</corpus>", "</corpus>rest", "</corpus>", "Extra content", 5),
        ('id="s4"', 'id="s4" id="s5"', 'id="s4"', "Attribute id redefined", 3),
    ],
)
def test_a_syntax_error_ends_reading(old: str, new: str, place: str, message: str, count: int) -> None:
    text = broken(TIGER, old, new)
    said = f"^test:{line_of(text, place)}: not valid XML: {message}"
    assert len(trees_but_one(FORMAT, text.encode("latin-1"), said)) == count


@pytest.mark.parametrize(
    "doctype",
    [
        '<!DOCTYPE corpus [<!ENTITY a "aa"><!ENTITY b "&a;&a;"><!ENTITY c "&b;&b;">]>',
        '<!DOCTYPE corpus [<!ENTITY c SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE corpus [<!ENTITY % c SYSTEM "http://localhost/x.dtd"> %c;]>',
    ],
)
def test_entities_are_refused(doctype: str) -> None:
    text = TIGER.replace("<corpus", doctype + "<corpus", 1).replace('word="hat"', 'word="&c;"')
    with pytest.raises(FormatError, match="test:1: the document declares entities, which are not read"):
        trees_in(FORMAT, text.encode("latin-1"))


def test_entities_of_a_dtd_that_is_not_read_do_not_vanish() -> None:
    doctype = '<!DOCTYPE corpus SYSTEM "tiger.dtd">'
    text = TIGER.replace('standalone="yes"', "").replace("<corpus", doctype + "<corpus", 1)
    assert len(trees_in(FORMAT, text.encode("latin-1"))) == 5
    with pytest.raises(FormatError, match="Entity 'uuml' not defined"):
        trees_in(FORMAT, text.replace("gesungen", "&uuml;ben").encode("latin-1"))


def test_many_entities_cost_nothing() -> None:
    levels = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 12))
    text = (
        f'<!DOCTYPE corpus [<!ENTITY e0 "ha">{levels}]><corpus><body><s id="&e11;">&e11;</s></body></corpus>'
    )
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(FormatError, match="entities"):
        trees_in(FORMAT, text)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50 * 1024


@pytest.mark.parametrize("text", ["", "   ", "(S (X a))", "<html><s/></html>", "<!-- only a comment -->"])
def test_other_documents(text: str) -> None:
    with pytest.raises(FormatError, match="test:1: "):
        trees_in(FORMAT, text)


def test_namespaces() -> None:
    text = TIGER.replace('id="small"', 'id="small" xmlns="http://example.org/tiger"')
    assert trees_in(FORMAT, text.encode("latin-1")) == trees_in(FORMAT, LATIN)


def test_lines_of_long_files() -> None:
    sentence = '<s id="{}">\n<graph>\n<terminals>\n<t id="a" word="a"/>\n</terminals>\n</graph>\n</s>\n'
    bad = sentence.replace(' word="a"', "")
    text = "<corpus>\n" + sentence.format(1) * 10_000 + bad.format(2) + "</corpus>"
    with pytest.raises(FormatError, match=r"test:70005: sentence 2: <t> has no 'word'"):
        trees_in(FORMAT, text)


def test_memory_stays_flat() -> None:
    filler = "<matches>" + "<match/>" * 3000 + "</matches>"
    one = f'<s id="s"><graph><terminals><t id="a" word="a"/></terminals></graph>{filler}</s>\n'.encode()

    def read(count: int) -> int:
        raw = LongStream([b"<corpus><body>", *[one] * count, b"</body></corpus>"])
        return sum(len(batch) for batch in FORMAT.read(Source(raw, "long"), Problems(), encoding="utf-8"))

    assert read(20) == 20
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert read(400) == 400  # ten megabytes, and more than ten times that as elements
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20 * 1024


def test_example() -> None:
    body = written(FORMAT, [WAKE]).decode().split("<body>\n")[1]
    assert (
        body
        == """\
<s id="1">
<graph root="s1_VROOT" discontinuous="true">
<terminals>
<t id="s1_1" word="Wake" lemma="--" pos="VB" morph="--"/>
<t id="s1_2" word="your" lemma="--" pos="PRP$" morph="--"/>
<t id="s1_3" word="friend" lemma="--" pos="NN" morph="--"/>
<t id="s1_4" word="up" lemma="--" pos="RP" morph="--"/>
</terminals>
<nonterminals>
<nt id="s1_502" cat="NP">
<edge label="DET" idref="s1_2"/>
<edge label="HD" idref="s1_3"/>
</nt>
<nt id="s1_501" cat="VP">
<edge label="HD" idref="s1_1"/>
<edge label="PRT" idref="s1_4"/>
</nt>
<nt id="s1_500" cat="S">
<edge label="HD" idref="s1_501"/>
<edge label="OBJ" idref="s1_502"/>
</nt>
<nt id="s1_VROOT" cat="VROOT">
<edge label="--" idref="s1_500"/>
</nt>
</nonterminals>
</graph>
</s>
</body>
</corpus>
"""
    )


@given(dressed_trees())
def test_round_trip(tree: Tree) -> None:
    assert_same(trees_in(FORMAT, written(FORMAT, [tree, tree])), [tree, tree])


@given(dressed_trees(WILD, min_words=0))
@examples(300)
def test_what_is_written_reads_back(tree: Tree) -> None:
    labels = [*tree.tags, *(c.label for c in tree)]
    characters = "".join([*tree.words, *tree.word_functions, *(c.function for c in tree), *labels, tree.id])
    if "--" in labels or any((ord(c) < 32 and c not in "\t\n\r") or c in "\ufffe\uffff" for c in characters):
        with pytest.raises(UnwritableTree):
            written(FORMAT, [tree])
        return
    (read,) = trees_in(FORMAT, written(FORMAT, [tree]))
    assert read == without_dashes(tree)
    assert read.id == (tree.id or "s1")


def test_unwritable() -> None:
    with pytest.raises(
        UnwritableTree, match=r"sentence 1 \(1\) cannot be written as TIGER XML: the word 'a\\x00'"
    ):
        written(FORMAT, [WAKE.replace(words=["a\0", "b", "c", "d"])])
    with pytest.raises(UnwritableTree, match="the label '--' stands for an empty one"):
        written(FORMAT, [WAKE.replace(constituents=[Constituent(15, "--")])])


def test_gzip() -> None:
    assert trees_in(FORMAT, gzip.compress(LATIN)) == trees_in(FORMAT, LATIN)
    with pytest.raises(FormatError, match="test: "):
        trees_in(FORMAT, gzip.compress(LATIN)[:-20])


def test_sniff() -> None:
    assert FORMAT.sniff(LATIN[:4096])
    assert FORMAT.sniff(b"<subcorpus name='x'>")
    assert not FORMAT.sniff(b"<alpino_ds version='1.3'><node/></alpino_ds>")


def test_broken_input() -> None:
    check_reader(FORMAT, TIGER.encode("latin-1"), runs=1000)


def test_more_words_than_the_usual_first_number_of_a_node() -> None:
    tree = Tree(["w"] * 1200, [(range(1200), "S"), (range(600), "X")], id="s1")
    assert trees_in(FORMAT, written(FORMAT, [tree])) == [tree]
