"""What the core reads and writes is what the modules of the formats in Python read and write, bit by bit."""

from __future__ import annotations

import contextlib
import io
import json
import math
import random
from collections.abc import Iterator
from types import ModuleType
from typing import Any
from unittest import mock

import format_helpers
import pytest
from format_helpers import FULL, WAKE, WILD, dressed_trees
from fuzzing import MUTATIONS
from hypothesis import given
from hypothesis import strategies as st
from test_conllu_format import UD, headed_trees
from test_export_format import NEGRA, VERSION_4
from test_tiger_format import TIGER

import treemean
from examples import examples
from treemean.errors import FormatError, TreemeanError
from treemean.files.source import BLOCK, Source
from treemean.formats import Problems, Unwritable, conllu, export, get_format, jsonl, tiger
from treemean.formats.plain import core_function
from treemean.trees import Constituent, Tree, Treebank

MODULES: dict[str, ModuleType] = {
    "export": export,
    "export4": export,
    "conllu": conllu,
    "tiger": tiger,
    "jsonl": jsonl,
}
NAMES = sorted(MODULES)


@contextlib.contextmanager
def in_python(name: str) -> Iterator[None]:
    """Do without the core."""
    with mock.patch.object(MODULES[name], "core_function", return_value=None):
        yield


def number(value: float) -> object:
    return "nan" if isinstance(value, float) and math.isnan(value) else (type(value).__name__, value)


def described(tree: Tree) -> object:
    """Return all that a tree holds."""
    return (
        tree.id,
        tree.words,
        tree.tags,
        tree.word_functions,
        [(c.mask, c.label, c.function, {k: number(v) for k, v in c.values.items()}) for c in tree],
        dict(tree.metadata),
        {key: number(value) for key, value in tree.values.items()},
    )


def outcome(name: str, data: bytes, *, skip: bool, encoding: str = "utf-8") -> object:
    """Return what becomes of a file: trees and errors, or the error that ends it."""
    problems = Problems(skip=skip)
    raw: list[bytes] = []
    report = problems.report

    def reported(error: FormatError, record: bytes = b"") -> None:
        raw.append(record)
        report(error, record)

    problems.report = reported  # type: ignore[method-assign]
    source = Source(io.BytesIO(data), "file")
    bank: list[Treebank] = []
    try:
        for batch in get_format(name).read(source, problems, encoding=encoding):
            bank.append(batch)
    except FormatError as error:
        return str(error)
    # Batches end at other places; as one treebank they are the same.
    trees = [described(tree) for tree in Treebank.concatenate(bank)]
    return trees, [str(error) for error in problems.errors], problems.count, raw


def check_same(name: str, data: bytes, **options: Any) -> None:
    for skip in (False, True):
        found = outcome(name, data, skip=skip, **options)
        with in_python(name):
            expected = outcome(name, data, skip=skip, **options)
        assert found == expected


def written(name: str, bank: Treebank, policy: str = "error") -> object:
    stream = io.BytesIO()
    unwritable = Unwritable(policy)  # type: ignore[arg-type]
    try:
        writer = get_format(name).writer(stream, unwritable)
        writer.write(bank)
        writer.write(bank[:1])
        writer.close()
    except TreemeanError as error:
        return str(error)
    return stream.getvalue(), unwritable.seen, unwritable.skipped, unwritable.reasons


def in_format(name: str, trees: list[Tree]) -> bytes:
    return format_helpers.written(get_format(name), trees, Unwritable("skip"))


SAMPLES = {
    "export": (NEGRA + "#FORMAT 4\n" + VERSION_4 + NEGRA.replace("#FORMAT 3\n", "")).encode(),
    "export4": VERSION_4.encode() * 3,
    "conllu": UD.encode(),
    "tiger": TIGER.encode("latin-1"),
    "jsonl": in_format("jsonl", [WAKE, FULL, Tree([], []), WAKE.replace(id='a"\\\n')]),
}
#: What is odd, or looks odd, in each format.
NASTY = {
    "export": [
        "#BOS 1 %% id= a\u00a0\n#EOS 1\n",
        "#BOS 1 %%\u2003id=x\n#EOS 1\n",
        "#BOS 1 %% x %% id=y z \n#EOS\n",
        "#BOS 1\r\nja\tX\t--\t--\t0\r\n#EOS 1\r\n",
        "#BOS 1\nja X -- -- 500\n#500 NP -- -- 0\n#500 NP -- -- 0\n#EOS 1\n",
        "#BOS 1\nja X -- -- 0\n#500 NP -- -- 0\nnein Y -- -- 0\n#EOS 1\n",
        "#BOS 1\n#501 X -- -- 500\nja X -- -- 500\n#500 NP -- -- 0\n#EOS 1\n",
        "#BOS 1\nja X -- -- 0\n#0500 NP -- -- 0\n#EOS 1\n",
        "#BOS 1\nja X -- -- 999999999\n#999999999 NP -- -- 0\n#EOS 1\n",
        "#BOS 1\nja X -- -- 1000000000\n#EOS 1\n",
        "#BOS 1\nja ja X -- -- 0\nnein nein X -- -- 0\n#EOS 1\n",
        "#BOS 1\nja X -- -- 0 5\n#EOS 1\n",
        "#BOS 1\nja X -- -- 0 SB 500 %% x\n#EOS 1\n",
        "#BOS 1\nja X -- -- 0" + " SB 500" * 20 + "\n#EOS 1\n",
        "#FORMAT 3 \x0c\n#BOS 1\nja X -- -- 0\n#EOS 1\n",
        "#FORMAT\n#BOS 1\n#EOS 1\n",
        "#BOT x\n#BOS 1\n#EOT\n#BOS 2\n#EOS 2\n#BOT\n",
        "#BOS 1\n#BOS 2\n#EOS 2\n#EOS 3\nx\n#BOS 4\nx",
        "%% c\n  \n\x0b\n#BOS 1\n%% c\n#EOS 1",
    ],
    "conllu": [
        "# sent_id =\u00a0x\n1\ta\t_\t_\t_\t_\t0\t_\t_\t_\n",
        "# a = 1\n# a = 2\n1\ta\t_\t_\t_\t_\t0\t_\t_\t_\n",
        "# sent_id = 1\n# sent_id = 2\n1\ta\t_\t_\t_\t_\t0\t_\t_\t_\n",
        "# sent_id =\n# = x\n#x=\n1\ta\t_\t_\t_\t_\t0\t_\t_\t_\n# late = 1\n",
        "# k\x1f=\x1fv\n1\ta\t_\t_\t_\t_\t0\t_\t_\t_\r\n \t\n\x0b\n1\tb\t_\t_\t_\t_\t0\t_\t_\t_",
        "# only a comment\n\n1\ta\t_\t_\t_\t_\t0\t_\t_\t_\n",
        "1\ta\t_\t_\t_\t_\t00\t_\t_\t_\n",
        "1\ta\t_\t_\t_\t_\t1\t_\t_\t_\n",
        "1\ta\t_\t_\t_\t_\t2\t_\t_\t_\n2\tb\t_\t_\t_\t_\t1\t_\t_\t_\n3\tc\t_\t_\t_\t_\t0\t_\t_\t_\n",
        "1\ta\t_\t_\t_\t_\t0\t_\t_\t_\t_\n",
        "1-2\ta\t_\t_\t_\t_\t_\t_\t_\t_\n",
    ],
    "jsonl": [
        '{"words": [], "tags": []}\n',
        '{"words": ["\\ud83d\\ude00", "\\u00e9\\/\\n"], "constituents": [{"spans": [[0, 2]]}]}\n',
        '{"words": ["\\ud83d"], "constituents": [{"spans": [[0, 1]]}]}\n',
        '{"words": ["a\\"], "constituents": [{"spans": [[0, 1]]}]}\n',
        ' {"words" : [ "a" ] ,\t"constituents":[{"spans":[[0,1]],"values":{"x":1,"y":-0.0}}]} \r\n',
        '{"words": ["a"], "constituents": [{"spans": [[0, 1]], "values": {"x": 1e400}}]}\n',
        '{"words": ["a"], "constituents": [{"spans": [[0, 1]], "values": {"x": 01}}]}\n',
        '{"words": ["a"], "constituents": [{"spans": [[0, 1]], "values": {"x": 1.}}]}\n',
        '{"words": ["a"], "constituents": [{"spans": [[00, 1]]}]}\n',
        '{"words": ["a"], "constituents": [{"spans": [[0, 1e0]]}]}\n',
        '{"words": [], "values": {"a": 2, "b": 2.0, "c": null, "d": "Infinity", "e": 9007199254740993}}\n',
        '{"words": [], "values": {"a": 2}}\n{"words": [], "values": {"b": true}}\n{"words": []}\n',
        '{"words": [], "values": {"a": 1, "a": 2}}\n{"words": [], "metadata": {"a": "1", "a": "2"}}\n',
        '{"words": [], "metadata": {"\\u0061": "x", "b": "\\t\x7f\u2028"}}\n\n \x0b\n',
        '{"words": ["a", "b"], "constituents": [{"spans": [[0, 1]]}, {"spans": [[0, 2]], "label": "S"}]}\n',
        '{"words": ["a", "b", "c"], "constituents": [{"spans": [[0, 3]]}, {"spans": [[0, 2]]},'
        ' {"spans": [[1, 3]]}]}\n',
        "{}\n[]\n\x00\n",
    ],
    "tiger": [
        "<corpus>" + body + "</corpus>"
        for body in [
            "<s id='1'/><s id='2'></s ><s/>",
            '<s id="1"><graph root="s_VROOT"><terminals><t id="a" word="x&#10;&#x41;&amp;"/></terminals>'
            '<nonterminals><nt id="s_VROOT" cat="VROOT"><edge idref="a"/></nt></nonterminals></graph></s>',
            '<s id="1"><graph><terminals><t id="a" word="x" lemma="&uuml;"/></terminals></graph></s>',
            '<s id="1"><graph><terminals><t id="a" word="x" lemma="&#1;"/></terminals></graph></s>',
            '<s id="1"><graph><terminals><t id="a"word="x"/></terminals></graph></s>',
            '<s id="1"><graph><terminals><t id="a" word="x" word="y"/></terminals></graph></s>',
            '<s id="1"><graph><terminals><t id="a" word="\x0b"/></terminals></graph></s>',
            '<s id="1"><graph><terminals>text &amp; more<t id="a" word="x"/></terminals></graph></s>',
            '<s id="1"><graph><terminals><t id="a" word="\ta\nb"/></terminals></graph></s>\n\n<s>',
            '<!-- <s id="0"/> --><s id="1"><!-- </s> --></s><?x <s/> ?><s id="2"/>',
            '<![CDATA[<s id="0"/>]]><s id="1"/>',
            '<s id="1"><s id="2"/><x></s><s id="3"/>',
            '<s id="1"><s id="2"></s></s><s id="3"/>',
            '<x:s id="1" xmlns:x="y"><s id="4"/></x:s><s id="2"/>',
            '<x:s id="1"/><s id="2"/>',
            "<s id='1'/>text<s id='2'/><",
            "<a b='<s/>'/><s id='2'/>",
            "<s id='1'/></corpus><s id='2'/><corpus>",
            '<s id="1"><graph root="s_VROOT"><terminals><t id="a" word="x"/></terminals><nonterminals>'
            '<nt id="s_VROOT" cat="VROOT"><edge idref="b"/></nt><nt id="b" cat="S"><edge idref="a"/></nt>'
            "</nonterminals></graph></s>",
            '<s id="1"><graph root="s_VROOT"><terminals><t id="a" word="x"/></terminals><nonterminals>'
            '<nt id="s_VROOT" cat="VROOT"/><nt id="b" cat="S"><edge idref="a"/><edge idref="s_VROOT"/></nt>'
            "</nonterminals></graph></s>",
        ]
    ],
}
NASTY["export4"] = NASTY["export"][:3]


@pytest.mark.parametrize("name", NAMES)
def test_the_core_is_asked(name: str) -> None:
    """Otherwise these tests would compare Python with itself."""
    reader = f"read_{name.removesuffix('4')}"
    with mock.patch.object(MODULES[name], "core_function", side_effect=core_function) as asked:
        outcome(name, SAMPLES[name], skip=False)
    assert mock.call(reader) in asked.call_args_list
    assert core_function(reader) is not None


@pytest.mark.parametrize("name", NAMES)
def test_odd_files(name: str) -> None:
    check_same(name, SAMPLES[name])
    for text in NASTY[name]:
        check_same(name, text.encode())
        check_same(name, text.encode().replace(b"\n", b"\r\n"))
    if name != "tiger":
        check_same(name, "\n".join(NASTY[name]).encode() + SAMPLES[name])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("encoding", ["latin-1", "iso8859-15", "cp1252", "ascii", "utf-16", "shift-jis"])
def test_encodings(name: str, encoding: str) -> None:
    data = SAMPLES[name] if name == "tiger" else SAMPLES[name].decode().encode("latin-1", "replace")
    check_same(name, data, encoding=treemean.files.source.text_encoding(encoding))


@pytest.mark.parametrize("name", NAMES)
def test_broken_files(name: str) -> None:
    for run in range(150):
        rng = random.Random(f"{name} {run}")
        data = SAMPLES[name]
        for _ in range(rng.choice([1, 1, 2, 4])):
            data = rng.choice(MUTATIONS[:-1])(data or SAMPLES[name], rng)
        check_same(name, data)


@pytest.mark.parametrize("name", NAMES)
def test_blocks_may_end_anywhere(name: str) -> None:
    """The core gets a file in pieces, and keeps what is not complete."""
    expected = outcome(name, SAMPLES[name], skip=True)
    for size in (1, 2, 3, 7, 50):
        with mock.patch.multiple("treemean.formats.blocks", BLOCK=size, LARGEST_BLOCK=size):
            assert outcome(name, SAMPLES[name], skip=True) == expected


def test_a_record_may_be_longer_than_a_block() -> None:
    words = [f"w{i}" for i in range(BLOCK // 40)]
    tree = Tree(words, [(range(len(words)), "S"), (range(7, len(words)), "X")], id="1")
    for name in NAMES:
        headed = tree.replace(
            word_functions=["hd", *[""] * (len(words) - 1)],
            constituents=[Constituent((1 << len(words)) - 1, "S")],
        )
        given = headed if name == "conllu" else tree
        (read,) = treemean.formats.reading.rebatch(
            get_format(name).read(
                Source(io.BytesIO(in_format(name, [given])), "long"), Problems(), encoding="utf-8"
            )
        )
        assert read[0].words == given.words
        assert read[0].masks == given.masks


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
@examples(150)
def test_trees_are_written_alike(name: str, data: st.DataObject) -> None:
    kinds = [dressed_trees(), dressed_trees(WILD, min_words=0)]
    if name == "conllu":
        kinds.append(headed_trees())
    trees = data.draw(st.lists(st.one_of(kinds), min_size=1, max_size=4))
    metadata = data.draw(st.dictionaries(WILD, WILD, max_size=2))
    values = data.draw(st.dictionaries(WILD, st.floats() | st.integers(-(2**53), 2**53), max_size=2))
    trees[0] = trees[0].replace(
        metadata=metadata,
        values=values,
        constituents=[
            Constituent(c.mask, c.label, c.function, {k: float(v) * (i + 1) for k, v in values.items()})
            for i, c in enumerate(trees[0])
        ],
    )
    bank = Treebank.from_trees(trees)
    for policy in ("error", "skip", "make-continuous"):
        found = written(name, bank, policy)
        with in_python(name):
            assert found == written(name, bank, policy)
    check_same(name, in_format(name, trees))


@pytest.mark.parametrize("name", NAMES)
def test_long_sentences_are_written_alike(name: str) -> None:
    rng = random.Random(1)
    n = 300
    trees = []
    for _ in range(5):
        some = sorted(rng.sample(range(1, n), 150))
        sets = [range(n), some, some[20:90], range(some[30], some[30] + 1)]
        constituents = [Constituent.over(list(positions), "X") for positions in sets]
        trees.append(Tree([f"w{i}" for i in range(n)], constituents, word_functions=["hd", *["x"] * (n - 1)]))
    bank = Treebank.from_trees(trees)
    found = written(name, bank, "skip")
    with in_python(name):
        assert found == written(name, bank, "skip")


@pytest.mark.parametrize("name", NAMES)
def test_what_we_write_is_plain(name: str) -> None:
    """Otherwise reading would be right, but slow; at the ends of blocks too."""
    bank = Treebank.from_trees([WAKE.replace(id=str(i)) for i in range(1, 300)])
    data = in_format(name, list(bank))
    with (
        mock.patch.multiple("treemean.formats.blocks", BLOCK=1000, LARGEST_BLOCK=1000),
        mock.patch.object(Treebank, "from_trees", side_effect=AssertionError("a sentence was odd")),
    ):
        batches = list(get_format(name).read(Source(io.BytesIO(data), "file"), Problems(), encoding="utf-8"))
    assert len(batches) > 20
    assert sum(map(len, batches)) == len(bank)


def test_many_odd_records_take_linear_time() -> None:
    """Two thousand records that all go back to Python."""
    record = "#BOS 1\nja X -- -- 0 SB\n#EOS 1\n"
    problems = Problems(skip=True)
    assert not list(
        get_format("export").read(
            Source(io.BytesIO(record.encode() * 2000), "odd"), problems, encoding="utf-8"
        )
    )
    assert problems.count == 2000


def test_small_files_cannot_ask_for_much_memory_at_once() -> None:
    """A batch ends when its sets take eight megabytes, however short their text is."""
    n = 4096
    line = json.dumps(
        {"words": ["a"] * n, "constituents": [{"spans": [[0, n]]} for _ in range(n)]}, separators=(",", ":")
    )
    raw = io.BytesIO((line + "\n").encode() * 16)
    sizes = [
        len(batch.bits) for batch in get_format("jsonl").read(Source(raw, "x"), Problems(), encoding="utf-8")
    ]
    assert sum(sizes) == 16 * n * n // 64
    assert max(sizes) <= (1 << 20) + n * n // 64
