"""Words that mean something in a format: each survives every format, or is refused with the reason."""

from __future__ import annotations

import io
import re
from itertools import product

import pytest
from format_helpers import written
from hypothesis import example, given
from hypothesis import strategies as st

from examples import examples
from treemean import _core
from treemean.errors import FormatError
from treemean.files.source import Source
from treemean.formats import Problems, Unwritable, all_formats, discbracket, get_format, ptb
from treemean.formats.brackets import literally
from treemean.trees import Constituent, Tree, Treebank

#: Names of brackets with what stands around them in one way or another.
BRACKETS = [
    f"{left}{name}{right}"
    for name, (left, right) in product(
        ["LRB", "RRB", "LCB", "RCB", "LSB", "RSB"], ["--", "##", "-#", "~~", "( ", " )"]
    )
]
NASTY = [
    *[text.strip() for text in BRACKETS],
    *[
        "-~LRB-",
        "-~~LRB-",
        "#~LRB#",
        "-LRB-LRB-",
        "(LRB-",
        "-LRB(",
        "#LRB(",
        "#LRB#LRB#",
        "-LRB",
        "LRB-",
        "~",
    ],
    *[
        "(",
        ")",
        "()",
        "{",
        "}",
        "[",
        "]",
        "a(b)c",
        "-",
        "--",
        "---",
        "_",
        "#",
        "##",
        "%%",
        "#500",
        "#BOS",
        "#EOS",
    ],
    *["*", "**", "*T*", "*T*-1", "*-1", "*con*", "*a*", "0", "0=", "0=0", "=", "a=b", "1", "3-4", "5.1"],
    *[
        "/",
        "a/b",
        "a/B",
        "\\/",
        "\\",
        "word/NN",
        "a-b",
        "-NONE-",
        "ID",
        "CODE",
        "XXX",
        "END_OF_TEXT_UNIT",
        "@a",
    ],
    *[
        "",
        " ",
        "a b",
        "\t",
        "\n",
        "\r",
        "\x0b",
        "\x85",
        "\u00a0",
        "\u2003",
        "\u2028",
        "\u200b",
        "\ufeff",
        "\ufeffa",
    ],
    *[
        '"',
        "'",
        "''",
        "&",
        "&amp;",
        "<",
        ">",
        "<!--",
        "]]>",
        "\x00",
        "\x1b[31m",
        "é",
        "e\u0301",
        "猫",
        "\U0001f333",
    ],
]
FORMATS = sorted(all_formats())


def written_or_refused(name: str, tree: Tree) -> bytes | None:
    policy = Unwritable("skip")
    data = written(get_format(name), [tree], policy)
    if not policy.skipped:
        return data
    (reason,) = policy.reasons
    assert re.match(r"(?s)sentence 1 (\(1\) )?cannot be written as .+: .+", reason)
    return None


def read_again(name: str, data: bytes, dialect: str = "ptb") -> Tree:
    options = {"dialect": dialect} if name == "ptb" else {}
    source = Source(io.BytesIO(data), "file")
    batches = get_format(name).read(source, Problems(), encoding="utf-8", **options)
    (tree,) = Treebank.concatenate(list(batches))
    return tree


def tree_of(words: list[str], tags: list[str]) -> Tree:
    everything = (1 << len(words)) - 1
    return Tree(
        words,
        [
            Constituent(everything, "S", ""),
            *([Constituent(everything ^ 1, "X", "hd")] if len(words) > 2 else []),
        ],
        tags=tags,
        word_functions=["hd"] + ["x"] * (len(words) - 1)
        if len(words) < 3
        else ["x", "hd"] + ["x"] * (len(words) - 2),
        id="1",
    )


WORDS = st.sampled_from(NASTY) | st.lists(st.sampled_from(NASTY), min_size=2, max_size=3).map("".join)


@pytest.mark.parametrize("name", FORMATS)
def test_nasty_words_survive_or_are_refused(name):
    for word in NASTY:
        for words, tags in [([word], ["T"]), ([word, "b"], ["", ""])]:
            data = written_or_refused(name, tree_of(words, tags))
            if data is not None:
                assert list(read_again(name, data).words) == words


@given(st.lists(WORDS, min_size=1, max_size=4), st.sampled_from(FORMATS), st.sampled_from(FORMATS), st.data())
@example(["-LRB-"], "ptb", "discbracket", None)
@example(["#LRB#", "("], "discbracket", "ptb", None)
@examples(200)
def test_words_survive_any_two_formats_in_turn(words, one, other, data):
    tags = ["T"] * len(words) if data is None else [data.draw(st.sampled_from(["", "T"])) for _ in words]
    first = written_or_refused(one, tree_of(words, tags))
    if first is None:
        return
    tree = read_again(one, first)
    assert list(tree.words) == words
    second = written_or_refused(other, tree)
    if second is not None:
        assert list(read_again(other, second).words) == words


@given(st.lists(st.sampled_from([*"-#~()", "LRB", "RRB", "LSB", "RCB", "a"]), max_size=8).map("".join))
@examples(300)
def test_what_is_escaped_comes_back(text):
    for module, mark in ((ptb, False), (discbracket, True)):
        escaped = module._escape(text)
        assert not set("()") & set(escaped)
        if not text:
            continue
        leaf = f"0={escaped}" if mark else escaped
        chunk = _core.read_brackets(f"(S (X {leaf}))".encode(), mark, True, False)[0]
        data, offsets = chunk[0]["words"][1]
        assert data.tobytes().decode() == text
        assert len(offsets) == 2


def test_other_programs_files_are_read_as_before():
    for text, word in [
        ("-LRB-", "("),
        ("-RSB-", "]"),
        ("a-LCB-b", "a{b"),
        ("-LRB", "-LRB"),
        ("#LRB#", "#LRB#"),
    ]:
        assert read_again("ptb", f"(S (X {text}) (Y b))".encode()).words[0] == word
    for text, word in [("#LRB#", "("), ("-RRB-", ")"), ("a#RRB#", "a)"), ("-LCB-", "{")]:
        assert read_again("discbracket", f"(S (X 0={text}) (Y 1=b))".encode()).words[0] == word
    assert literally("pre-LSB and -LRB", "-#") == "pre-LSB and -LRB"


def test_no_word_is_lost_or_made_up_where_the_dialect_is_guessed():
    """Reading what we wrote without naming the dialect gives the words, or an error that names dialects."""
    doubtful = set()
    for word in NASTY:
        data = written_or_refused("ptb", tree_of(["a", word, "c"], ["T", "T", "T"]))
        if data is None:
            continue
        try:
            tree = read_again("ptb", data, dialect="auto")
        except FormatError as error:
            doubtful |= {word} if "--dialect ptb" in str(error) else {"no dialect is named"}
        else:
            assert tree.words == ("a", word, "c")
    assert doubtful <= {"*T*-1"}
