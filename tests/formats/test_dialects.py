"""Dialects of brackets: small texts of the shapes that treebanks have, and the real files where they are."""

from __future__ import annotations

import io
import logging
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import treemean
from examples import examples
from treemean import _core
from treemean.errors import FormatError, InvalidOption
from treemean.files.source import Source
from treemean.formats import Notes, Problems, discbracket, ptb
from treemean.formats.dialects import all_dialects, recognise
from treemean.trees import Treebank

HELSINKI = """
( (CODE <P_12>))

( (IP-MAT (CONJ and)
          (NP-SBJ *con*)
          (VBD saw) (CODE {COM:unsure})
          (CP-THT (C 0)
                  (IP-SUB (NP-SBJ (D the) (N half-moon))
                          (PP (P (CODE {in})))
                          (NP-OB1 *T*-1)
                          (VBD rose)))
          (. .)) (ID CMTALE,12.3))

( (METADATA (AUTHOR somebody)) (FRAG (N rain)) (ID CMTALE,12.4))
"""
LEMMAS = """
( (IP-MAT (NP-SBJ (D-N sá-sá) (N-N köttur$-köttur) (D-N $inn-hinn))
          (VBDI svaf-sofa) (WADVP-1 0) (ADVP *T*-1) (NP-PRN *ICH*-2) (, ---) (. .-.)) (ID 1300.KETTIR-A,.1))
"""
TAG_WORD_LEMMA = """
(
  (S
    (sn.e-SUJ *0*)
    (grup.verb
      (vmip3s0 Duerme dormir))
    (sn
      (Fpa -Fpa- -Fpa-)
      (da0ms0 el el) (Fe -fe- -fe-)
      (ncms000 gato gato)
      (Fpt -Fpt- -Fpt-))
    (Fp . .)))

(
  (S
    (rg No no)))
"""
SLASHES = """( @u012-a/CD )
( END_OF_TEXT_UNIT )
( (S
    (NP-SBJ */XXX )
    (VP Show/VB
      (NP me/PRP )
      (NP all/DT 1\\/2/CD seats/NNS ))))
( END_OF_TEXT_UNIT )
( @u012-b/CD )
"""
COMMENTS = """######################
#A forest (of (some) trees
#Made by hand: (nobody)

#1 CP1-1 Um gato (um só).
(STA+fcl (SUBJ+np (>N+art Um)
                  (H+n gato))
         (P+v-fin dorme)
         («)
         (.))

# this one has no id
((S (NP (DT A) (NN cat)) (VP (VBZ sleeps) (S (NP (-NONE- *-1))))
    (# #)
    (. .)))
# sent_id = third one
(S (X (Y a)) (...))
"""


def read(text: str, module=ptb, problems: Problems | None = None, **options) -> list[treemean.Tree]:
    source = Source(io.BytesIO(text.encode()), "file")
    return list(
        Treebank.concatenate(list(module.read(source, problems or Problems(), encoding="utf-8", **options)))
    )


def words(text: str, **options) -> list[str]:
    return [" ".join(tree.words) for tree in read(text, **options)]


def test_penn_helsinki():
    notes = Notes()
    one, two = read(HELSINKI, notes=notes)
    assert [d.name for d in notes.recognised] == ["helsinki"]
    assert one.id == "CMTALE,12.3"
    assert two.id == "CMTALE,12.4"
    assert one.words == ("and", "saw", "the", "half-moon", "rose", ".")
    assert one.tags == ("CONJ", "VBD", "D", "N", "VBD", ".")
    assert [c.label for c in one.constituents] == ["IP-MAT", "CP-THT", "IP-SUB", "NP-SBJ"]
    assert two.words == ("rain",)
    assert (notes.empty_leaves, notes.wordless) == (3, 1)
    (kept, _) = read(HELSINKI, keep_empty=True)
    assert kept.words == ("and", "*con*", "saw", "0", "the", "half-moon", "*T*-1", "rose", ".")


def test_words_with_lemmas_after_a_hyphen():
    notes = Notes()
    [tree] = read(LEMMAS, notes=notes, keep_lemmas=True)
    assert [d.name for d in notes.recognised] == ["helsinki-lemma"]
    assert tree.id == "1300.KETTIR-A,.1"
    assert tree.words == ("sá", "köttur$", "$inn", "svaf", "-", ".")
    assert tree.metadata == {"lemmas": "sá köttur hinn sofa - ."}
    assert words(LEMMAS, dialect="helsinki") == ["sá-sá köttur$-köttur $inn-hinn svaf-sofa --- .-."]
    assert read(LEMMAS)[0].metadata == {}


def test_leaves_of_tag_word_and_lemma():
    notes = Notes()
    trees = read(TAG_WORD_LEMMA, notes=notes, keep_lemmas=True)
    assert [d.name for d in notes.recognised] == ["tag-word-lemma"]
    assert trees[0].words == ("Duerme", "(", "el", '"', "gato", ")", ".")
    assert trees[0].tags == ("vmip3s0", "Fpa", "da0ms0", "Fe", "ncms000", "Fpt", "Fp")
    assert [c.label for c in trees[0].constituents] == ["S", "grup.verb", "sn"]
    assert trees[0].metadata == {"lemmas": 'dormir ( el " gato ) .'}
    assert trees[1].words == ("No",)
    assert notes.empty_leaves == 1
    assert read(TAG_WORD_LEMMA, keep_empty=True)[0].words[0] == "*0*"
    for bad, reason in [
        ("(S (a b))", "has no lemma"),
        ("(S (a b c d))", "not of the form"),
        ("(S a (b c d))", "form"),
    ]:
        with pytest.raises(FormatError, match=reason):
            read(bad, dialect="tag-word-lemma")


def test_tags_after_a_slash():
    notes = Notes()
    [tree] = read(SLASHES, notes=notes)
    assert [d.name for d in notes.recognised] == ["word-slash-tag"]
    assert tree.id == "u012-a"
    assert tree.words == ("Show", "me", "all", "1\\/2", "seats")
    assert tree.tags == ("VB", "PRP", "DT", "CD", "NNS")
    assert [c.label for c in tree.constituents] == ["S", "VP", "NP", "NP"]
    assert (notes.empty_leaves, notes.wordless) == (1, 3)  # two ends of units, and an id of nothing
    assert read(SLASHES, keep_empty=True)[0].tags[0] == "XXX"
    with pytest.raises(FormatError, match="'a' is not of the form word/TAG"):
        read("(S a b/B)", dialect="word-slash-tag")


def test_comments_tell_ids_and_nodes_may_be_bare_marks():
    notes = Notes()
    one, two, three = read(COMMENTS, notes=notes)
    assert not [d.name for d in notes.recognised if d.name != "ptb"]
    assert (one.id, two.id, three.id) == ("CP1-1", "", "third one")
    assert one.words == ("Um", "gato", "dorme", "«", ".")
    assert one.tags[-2:] == ("«", ".")
    assert two.words == ("A", "cat", "sleeps", "#", ".")
    assert three.words == ("a", "...")
    assert notes.empty_leaves == 1
    for bad in ("(S (NP) (X a))", "(S (é) (X a))", "(,)", "()"):
        with pytest.raises(FormatError, match="has no words"):
            read(bad)


def test_line_breaks_mean_nothing_where_trees_are_closed():
    text = " ((S(WP Who)(VB did)(NNP Jim)(VP(VB tell)(SBAR(IN that)\n(NP(NNP Ann))(VP(VB left)))))(? ?))\n"
    assert words(text + text) == ["Who did Jim tell that Ann left ?"] * 2
    assert words("(S\n(NP (D the)\n(N cat))\n(V\nsleeps)\n)\n(S (X a))") == ["the cat sleeps", "a"]


UNCLOSED = """#1 A-1 x
(S (X (Y a))
   (Y b))

#2 A-2 x
(S (X (Y c))
   (Y d)

#3 A-3 x
(S (X (Y e)))
"""


def test_reading_goes_on_after_a_tree_that_is_not_closed():
    for text in (UNCLOSED, UNCLOSED.replace("#2 A-2 x\n", "").replace("#3 A-3 x\n", "")):
        with pytest.raises(FormatError, match=r"sentence 2: the tree is not closed before the next one"):
            read(text)
        problems = Problems(skip=True)
        assert words(text, problems=problems) == ["a b", "e"]
        assert problems.count == 1
    problems = Problems(skip=True)
    assert [tree.id for tree in read(UNCLOSED, problems=problems)] == ["A-1", "A-3"]
    # One tree a line, indented or not; nothing but the brackets tells.
    for indent in ("", " "):
        lines = f"{indent}(S (X a) (Y b)\n{indent}(S (X c))\n{indent}(S (X d))\n"
        problems = Problems(skip=True)
        assert words(lines, problems=problems) == ["c", "d"]
        assert problems.count == 1
    problems = Problems(skip=True)
    assert words("(S (X (Y a))\n(S (X b)) )x\n(S (X c))", problems=problems)[-1] == "c"


def test_a_node_without_label_holds_words_in_discbracket():
    [tree] = read("(  (O 0=a 1=b) 2=c)\n", discbracket)
    assert [c.label for c in tree.constituents] == ["", "O"]
    assert tree.words == ("a", "b", "c")
    with pytest.raises(FormatError, match="a word stands directly in a node without label"):
        read("( NP (D the))")


AMBIGUOUS = [
    (
        "( (S (X a)) (ID 1))\n( (S (X b-b) (Y c-c)) (ID 2))\n( (S (X d-d)) (ID 3))",
        ("helsinki", "helsinki-lemma"),
    ),
    ("(S (X a) (CODE <x>))", ("helsinki", "ptb")),
    ("(S (NP *T*-1) (X a))", ("helsinki", "ptb")),
    ("(SBAR *con* (X a))", ("helsinki", "ptb")),
    ("(S (X a/A) (Y b/B))", ("word-slash-tag", "ptb")),
    ("(S a/A b/B c/C d/D e)", ("word-slash-tag", "ptb")),
    ("(S (NP el el) (VP el gato))", ("tag-word-lemma", "ptb")),
]


@pytest.mark.parametrize(("text", "names"), AMBIGUOUS)
def test_what_is_in_doubt_is_an_error_that_names_the_dialects(text, names):
    for problems in (Problems(), Problems(skip=True)):
        with pytest.raises(FormatError, match="the dialect is not clear") as error:
            read(text, problems=problems)
        assert error.value.path == "file"
        assert tuple(re.findall(r"--dialect ([\w-]+)", str(error.value))) == names
    assert read(text, dialect="ptb")


@pytest.mark.parametrize(
    "text",
    ["(S (NP the cat) (VP sleeps well))", "(S the (CD 0) (SYM *))", "(S (NNP AC/DC) (X a))", "(S a b)"],
)
def test_plain_trees_are_in_no_doubt(text):
    assert recognise(text.encode()).name == "ptb"


def test_what_comes_late_is_noticed_too():
    plain = f"(S (X {'a' * 2000}) (Y b))\n" * 1000  # more than a block
    for late, what in [
        ("( (S (X c)) (ID x))", r"\(ID …\)"),
        ("(S (CODE <x>) (X c))", r"\(CODE …\)"),
        ("(NP *T*-2)", r"\*T\*-2"),
    ]:
        with pytest.raises(
            FormatError, match=rf"file:1001: the dialect is not clear: .*{what}.* --dialect ptb"
        ):
            read(plain + late, problems=Problems(skip=True))
    assert len(read(plain + "(S (NP *T*-2) (X c))", dialect="ptb")[-1].words) == 2


@given(st.sampled_from([HELSINKI, LEMMAS, TAG_WORD_LEMMA, SLASHES, COMMENTS, UNCLOSED]), st.data())
@examples(40)
def test_pieces_of_any_size_give_the_same(text, data):
    """What is given piece by piece, as blocks come, is read as the whole is."""
    dialect = recognise(text.encode())
    options = {"leaves": dialect.leaves, "helsinki": dialect.helsinki, "guessed": True}
    whole, *counts = _core.read_brackets(text.encode(), False, True, True, **options)
    ids, found, left_out, rest, raw = [], [], [0, 0], b"", text.encode()
    while raw or rest:
        size = data.draw(st.integers(1, 40))
        rest, raw = rest + raw[:size], raw[size:]
        chunk, empty, wordless, _, _ = _core.read_brackets(rest, False, not raw, True, **options)
        bank = treemean.formats.native.treebank_from_columns(chunk[0])
        ids += bank.ids.tolist()
        found += bank.words.tolist()
        left_out = [left_out[0] + empty, left_out[1] + wordless]
        rest = rest[chunk[1] :]
        if not raw:
            break
    expected = treemean.formats.native.treebank_from_columns(whole[0])
    assert (ids, found) == (expected.ids.tolist(), expected.words.tolist())
    assert left_out == counts[:2]


def test_unknown_dialects_and_notes(tmp_path, caplog):
    path = tmp_path / "tale.psd"
    path.write_text(HELSINKI)
    with pytest.raises(InvalidOption, match=r"there is no dialect 'x'; known are auto, ptb, helsinki, "):
        treemean.read(path, dialect="x")
    with caplog.at_level(logging.WARNING, "treemean"):
        assert len(treemean.read(path)) == 2
    [line] = [record.getMessage() for record in caplog.records]
    assert line.startswith(f"{path}: read as the dialect helsinki (Penn-Helsinki, leaves (tag word)); ")
    assert line.endswith("; 3 empty leaves left out (--keep-empty keeps them); 1 unit without words skipped")
    caplog.clear()
    notes = Notes()
    treemean.read(path, dialect="helsinki", notes=notes)
    assert not caplog.records
    assert notes.describe()[0].startswith("3 empty leaves")


def test_empty_leaves_that_are_kept_can_be_written_again(tmp_path):
    source, target = tmp_path / "a.mrg", tmp_path / "b.mrg"
    source.write_text("(S (NP (-NONE- *T*-1)) (V sleeps))\n")
    kept = treemean.read(source, keep_empty=True)
    with pytest.raises(treemean.errors.UnwritableTree, match="tag -NONE-"):
        treemean.write(kept, target)
    treemean.write(kept, target, keep_empty=True)
    assert target.read_text() == source.read_text()


# ---- real files, where they are ------------------------------------------------------------------------


def naive_leaves(text: str, dialect: str) -> list[str]:
    """Return the words of a file by regular expressions alone."""
    text = re.sub(r"(?m)^#.*$", "", text)
    text = re.sub(r"\((?:ID|CODE|METADATA) [^()]*\)", "", text)
    empty = r"0|\*|\*-\d+|\*\w+\*(-\w+)?"
    if dialect == "tag-word-lemma":
        found = re.findall(r"\([^\s()]+ ([^\s()]+) [^\s()]+\)", text)
        return [{"-Fpa-": "(", "-Fpt-": ")"}.get(word, word) for word in found]
    if dialect == "word-slash-tag":
        found = [leaf.rpartition("/") for leaf in re.findall(r"(?<=\s)[^\s()]+/[A-Z]+", text)]
        return [word for word, _, tag in found if tag != "XXX" and not word.startswith("@")]
    found = re.findall(r"\(([^\s()]+)(?:\s+([^\s()]+))?\s*\)", text)
    leaves = [word or tag for tag, word in found if tag != "-NONE-" and not re.fullmatch(empty, word)]
    return [word.rpartition("-")[0] for word in leaves] if dialect == "helsinki-lemma" else leaves


@pytest.mark.parametrize(
    ("name", "dialect", "sentences"),
    [
        ("icepahc-25.psd", "helsinki-lemma", 25),
        ("cess-esp.tbf", "tag-word-lemma", None),
        ("floresta.ptb", "ptb", None),
        ("handparsed.mrg", "ptb", 9),
        ("atis.mrg", "word-slash-tag", 1),
        ("treetools-continuous.brackets", "ptb", 1),
    ],
)
def test_real_files(data_folder: Path, name: str, dialect: str, sentences: int | None):
    path = data_folder / "dialects" / name
    if not path.exists():
        pytest.skip(f"there is no {name}")
    notes = Notes()
    bank = treemean.read(path, notes=notes)
    assert [found.name for found in notes.recognised] == [dialect]
    text = path.read_text()
    assert bank.words.tolist() == naive_leaves(text, dialect)
    assert len(bank) == sentences if sentences else len(re.findall(r"(?m)^\(", text))
    if name in ("icepahc-25.psd", "floresta.ptb"):
        ids = re.findall(r"\(ID ([^()]*)\)", text) or re.findall(r"(?m)^#\d+ (\S*)", text)
        assert bank.ids.tolist() == ids


def test_every_dialect_has_a_sample_here():
    samples = {
        recognise(text.encode()).name for text in (HELSINKI, LEMMAS, TAG_WORD_LEMMA, SLASHES, COMMENTS)
    }
    assert samples == set(all_dialects())
