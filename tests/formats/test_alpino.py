"""Alpino XML."""

from __future__ import annotations

import io
import re

import numpy as np
import pytest
from format_helpers import written
from hypothesis import given
from hypothesis import strategies as st

from strategies import treebanks
from treemean.errors import FormatError, UnwritableTree
from treemean.files.source import BLOCK, Source
from treemean.formats import alpino, get_format
from treemean.formats.problems import Problems
from treemean.trees import Tree, Treebank, transforms

EXAMPLE = """<?xml version="1.0" encoding="UTF-8"?>
<alpino_ds version="1.3">
  <parser/>
  <node begin="0" cat="top" end="6" id="0" rel="top">
    <node begin="0" cat="smain" end="5" id="1" rel="--">
      <node begin="0" end="1" id="2" index="1" pos="name" rel="su" word="Jan"/>
      <node begin="1" end="2" id="3" pos="verb" rel="hd" word="heeft"/>
      <node begin="0" cat="ppart" end="5" id="4" rel="vc">
        <node begin="0" end="1" id="5" index="1" rel="su"/>
        <node begin="4" end="5" id="7" pos="verb" rel="hd" word="gelezen &amp;&#233;"/>
        <node begin="2" cat="np" end="4" id="6" rel="obj1">
          <node begin="2" end="3" id="8" pos="det" rel="det" word="een"/>
          <node begin="3" end="4" id="9" pos="noun" rel="hd" word='"boek"'/>
        </node>
      </node>
    </node>
    <!-- the full stop hangs under the top -->
    <node begin="5" end="6" id="10" pos="punct" rel="--" word="."/>
  </node>
  <sentence sentid="s1">Jan heeft een boek gelezen .</sentence>
</alpino_ds>
"""


def read(text, problems=None, name="file.xml"):
    data = text if isinstance(text, bytes) else text.encode()
    source = Source(io.BytesIO(data), name)
    return Treebank.concatenate(list(alpino.read(source, problems or Problems(), encoding="utf-8")))


def test_words_come_by_begin_and_secondary_nodes_are_no_words():
    [tree] = read(EXAMPLE)
    assert tree.words == ("Jan", "heeft", "een", '"boek"', "gelezen &é", ".")
    assert [(c.label, c.function, c.positions) for c in tree] == [
        ("top", "top", (0, 1, 2, 3, 4, 5)),
        ("smain", "--", (0, 1, 2, 3, 4)),
        ("ppart", "vc", (2, 3, 4)),
        ("np", "obj1", (2, 3)),
    ]
    assert tree.tags[1] == "verb"
    assert tree.word_functions[3] == "hd"
    assert tree.id == "s1"


def test_a_sentence_without_id_is_called_as_its_file():
    nameless = EXAMPLE.replace(' sentid="s1"', "")
    [tree] = read(nameless, name="lassy/dpc-12.p.3.s.1.xml")
    assert tree.id == "dpc-12.p.3.s.1"
    # Only if it is the only one, however the file is cut into blocks.
    one = nameless.split("\n", 1)[1]
    for count in (2, BLOCK // len(one), BLOCK // len(one) + 1, BLOCK // len(one) + 2):
        assert set(read(one * count, name="many.xml").ids.tolist()) == {""}


def test_other_encodings_are_declared():
    text = EXAMPLE.replace("UTF-8", "ISO-8859-1").replace("Jan", "Zoë")
    [tree] = read(text.encode("latin-1"))
    assert tree.words[0] == "Zoë"
    [tree] = read(EXAMPLE.replace("UTF-8", "UTF-16").encode("utf-16"))
    assert tree.words[0] == "Jan"
    with pytest.raises(FormatError, match="not valid cp1252, in which the file says it is") as told:
        read(EXAMPLE.replace("UTF-8", "cp1252").replace("Jan", "J\x81").encode("latin-1"))
    assert "--encoding" not in str(told.value)
    with pytest.raises(FormatError, match="the encoding 'martian' is not known"):
        read(EXAMPLE.replace("UTF-8", "martian"))


@pytest.mark.parametrize("before", ['<?xml version="1.0"?>', "<!-- one -->", "<?a?><!-- <alpino_ds> -->"])
def test_nothing_need_stand_between_a_comment_and_a_sentence(before):
    one = EXAMPLE.split("\n", 1)[1].strip()
    assert len(read(before + one)) == 1
    assert len(read(f"<treebank>{before}{one}{before}{one}</treebank>")) == 2


@given(treebanks(max_words=70), st.data())
def test_round_trip(bank, data):
    odd = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=3)
    odd = odd.filter(lambda t: not re.search("[\ufffe\uffff]", t))
    words = data.draw(st.lists(odd, min_size=len(bank.words), max_size=len(bank.words)))
    trees, start = [], 0
    for tree in bank:
        trees.append(tree.replace(words=words[start : start + len(tree)]))
        start += len(tree)
    bank = Treebank.from_trees(trees)
    assert read(written(get_format("alpino"), bank)) == bank


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ('<node begin="5" end="6"', '<node begin="x" end="6"', 18, "'begin' is not a number"),
        ('<node begin="5" end="6"', '<node begin="4" end="6"', 2, "two words begin at 4"),
        ('index="1" rel="su"/>', 'rel="su"/>', 9, "without word, children and index"),
        ("&amp;", "&nbsp;", 10, "entity &nbsp; is not expanded"),
        ("&amp;", "&#xD800;", 10, "is not a character"),
        ('word="."', 'word=""', 18, "empty word"),
        ('word="."', 'word="."  word=","', 18, "word is given twice"),
        ('word="."', "word=.", 18, "not in quotes"),
        ("    </node>\n    <!--", "    </nod>\n    <!--", 16, "</nod> where <node> is open"),
        ("<parser/>", "<parser>", 4, "a node inside something that is not a constituent"),
        ('pos="punct"', 'pos="<"', 18, "a < inside the value"),
    ],
)
def test_bad_sentences(old, new, line, message):
    assert old in EXAMPLE
    with pytest.raises(FormatError, match=re.escape(message)) as caught:
        read(EXAMPLE.replace(old, new))
    assert caught.value.line == line
    assert caught.value.sentence == "1"


def test_bad_sentences_are_skipped_and_set_aside(tmp_path):
    body = EXAMPLE.split("\n", 1)[1]
    bad = body.replace('begin="5"', 'begin="4"')
    unclosed = body.replace("</alpino_ds>\n", "")
    text = f"<treebank>\n{body}{bad}{unclosed}{body}</treebank>\n"
    with Problems(skip=True, aside=tmp_path / "bad.xml") as problems:
        bank = read(text, problems)
    assert len(bank) == 2
    assert problems.count == 2
    assert [e.sentence for e in problems.errors] == ["2", "3"]
    assert (tmp_path / "bad.xml").read_text().count("<alpino_ds") == 2


def test_entities_are_never_expanded():
    laughs = '<?xml version="1.0"?>\n<!DOCTYPE lolz [<!ENTITY lol "lol">]>\n' + EXAMPLE.split("\n", 1)[1]
    with pytest.raises(FormatError, match="document type declaration"):
        read(laughs)
    problems = Problems(skip=True)
    assert len(read(laughs, problems)) == 0
    assert "document type declaration" in str(problems.errors[0])
    with pytest.raises(FormatError, match="text outside") as caught:
        read("<treebank>\n\noops</treebank>")
    assert caught.value.line == 3
    with pytest.raises(FormatError, match="markup is not complete"):
        read("<treebank><alpino_ds")


def test_many_attributes_are_refused():
    """They are compared one by one, which must not take quadratic time."""
    tag = " ".join(f'a{i}=""' for i in range(50_000))
    with pytest.raises(FormatError, match="more than 256 attributes"):
        read(EXAMPLE.replace("<parser/>", f"<parser {tag}/>"))


def test_a_file_that_is_cut_off_is_noticed():
    body = EXAMPLE.split("\n", 1)[1]
    with pytest.raises(FormatError, match="is it cut off"):
        read(f"<treebank>\n{body}")
    with pytest.raises(FormatError, match="closes nothing"):
        read(f"{body}</treebank>\n")
    problems = Problems(skip=True)
    assert len(read(f"<treebank>\n{body}", problems)) == 1
    assert problems.count == 1


def test_control_characters_cannot_be_written():
    with pytest.raises(UnwritableTree, match="character that XML cannot express"):
        alpino.serialise(Tree(["\x01"], [({0}, "top")]))


def test_the_alpino_treebank(data_folder):
    """The counts are those of the data's README."""
    import treemean

    bank = treemean.read(data_folder / "dutch" / "alpino.xml.gz")
    assert len(bank) == 7136
    assert len(bank.words) == 140_780
    plain = transforms.collapse_unaries(transforms.remove_punctuation(bank, "tag"))
    assert len(bank) - len(plain) == 2  # nothing but punctuation
    several = plain.sizes >= 2
    assert several.sum() == 73_453
    assert np.bincount(plain.fan_outs[several]).tolist() == [0, 67_210, 5_681, 543, 19]
    assert len(np.unique(plain.sentence_of[several & (plain.fan_outs > 1)])) == 3_459
