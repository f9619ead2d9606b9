from __future__ import annotations

import json
import math

import pytest
from format_helpers import FULL, WAKE, WILD, assert_same, dressed_trees, trees_but_one, trees_in, written
from fuzzing import check_reader
from hypothesis import example, given
from hypothesis import strategies as st

from treemean.errors import FormatError
from treemean.formats import get_format
from treemean.formats.limits import MAX_WORDS
from treemean.trees import Constituent, Tree

FORMAT = get_format("jsonl")


def test_example() -> None:
    assert json.loads(written(FORMAT, [WAKE])) == {
        "id": "1",
        "words": ["Wake", "your", "friend", "up"],
        "tags": ["VB", "PRP$", "NN", "RP"],
        "functions": ["HD", "DET", "HD", "PRT"],
        "constituents": [
            {"spans": [[0, 4]], "label": "S"},
            {"spans": [[0, 1], [3, 4]], "label": "VP", "function": "HD"},
            {"spans": [[1, 3]], "label": "NP", "function": "OBJ"},
        ],
    }


def test_everything_survives() -> None:
    data = written(FORMAT, [FULL])
    assert "“猫”" in data.decode("utf-8")
    (read,) = trees_in(FORMAT, data)
    assert_same([read], [FULL])
    assert dict(read.metadata) == dict(FULL.metadata)
    assert dict(read.values) == {"score": 2, "loss": -0.5}
    assert isinstance(read.values["score"], int)
    assert [c.values["support"] for c in read] == [1.0, 0.25]


def test_nothing_is_written_of_what_is_empty() -> None:
    assert written(FORMAT, [Tree([], [])]) == b'{"words": []}\n'
    assert (
        written(FORMAT, [Tree(["a"], [({0}, "")])])
        == b'{"words": ["a"], "constituents": [{"spans": [[0, 1]]}]}\n'
    )
    assert trees_in(FORMAT, '{"words": []}') == [Tree([], [])]


numbers = st.one_of(st.floats(), st.integers(-(2**63), 2**63 - 1), st.booleans())


@given(
    dressed_trees(WILD, min_words=0),
    st.dictionaries(WILD, WILD, max_size=3),
    st.dictionaries(WILD, numbers, max_size=3),
)
@example(FULL, {"a\0b": "c\0d"}, {"a\0b": 1.0, "a\0c": 2.0})
def test_round_trip(tree: Tree, metadata: dict[str, str], values: dict[str, float]) -> None:
    full = tree.replace(
        metadata=metadata,
        values=values,
        constituents=[
            Constituent(c.mask, c.label, c.function, {name: float(v) for name, v in values.items()})
            for c in tree
        ],
    )
    (read,) = trees_in(FORMAT, written(FORMAT, [full]))
    assert_same([read], [full])
    assert dict(read.metadata) == metadata
    for found, wanted in [(read, full), *zip(read.constituents, full.constituents, strict=True)]:
        assert found.values.keys() == wanted.values.keys()
        for name, value in wanted.values.items():  # those of constituents are floats, however large
            assert found.values[name] == value or (math.isnan(value) and math.isnan(found.values[name]))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[1]", "the line is no JSON object"),
        ("{", "not valid JSON: Expecting property name"),
        ('{"words": ["a"]} x', "not valid JSON: Extra data"),
        ('{"id": "1"}', "a sentence has no 'words'"),
        ('{"words": "ab"}', "words should be a list, not a text"),
        ('{"words": ["a", 1]}', "every entry of words should be a text, not a number"),
        ('{"words": ["a"], "word": 1}', "a sentence has the unknown key 'word'; known are id, words, tags"),
        ('{"words": ["a"], "words": ["b"]}', "an object has a key twice"),
        ('{"id": 1, "words": []}', "id should be a text, not a number"),
        ('{"words": ["a"], "tags": []}', "0 tags for 1 words"),
        ('{"words": ["a"]}', "no constituent spans the whole sentence"),
        ('{"words": ["a"], "constituents": {}}', "constituents should be a list, not an object"),
        ('{"words": ["a"], "constituents": [[0, 1]]}', "constituent 1 is no object"),
        ('{"words": ["a"], "constituents": [{"label": "S"}]}', "constituent 1 has no 'spans'"),
        ('{"words": ["a"], "constituents": [{"spans": [[0]]}]}', "constituent 1 has a span that is no pair"),
        (
            '{"words": ["a"], "constituents": [{"spans": [[0, 1.0]]}]}',
            "constituent 1 has a span that is no pair",
        ),
        (
            '{"words": ["a"], "constituents": [{"spans": [[false, true]]}]}',
            "constituent 1 has a span that is no",
        ),
        (
            '{"words": ["a"], "constituents": [{"spans": [[0, 2]]}]}',
            r"constituent 1 has the span \[0, 2\], but",
        ),
        (
            '{"words": ["a"], "constituents": [{"spans": [[-1, 1]]}]}',
            r"constituent 1 has the span \[-1, 1\], but",
        ),
        (
            '{"words": ["a"], "constituents": [{"spans": [[0, 1], [0, 1]]}]}',
            "spans should be in ascending order",
        ),
        ('{"words": ["a"], "constituents": [{"spans": []}]}', "constituent '' has no words"),
        (
            '{"words": ["a"], "constituents": [{"spans": [[0, 1]], "x": 1}]}',
            "constituent 1 has the unknown key 'x'",
        ),
        (
            '{"words": ["a"], "constituents": [{"spans": [[0, 1]], "label": 1}]}',
            "the label of constituent 1 should",
        ),
        ('{"words": [], "constituents": [{"spans": [[0, 0]]}]}', "constituent 1 has the span"),
        ('{"words": [], "values": {"a": NaN}}', "NaN is no JSON"),
        ('{"words": [], "values": {"a": -Infinity}}', "-Infinity is no JSON"),
        ('{"words": [], "values": {"a": 1e999}}', "value 'a' is too large"),
        ('{"words": [], "values": {"a": true}}', "value 'a' should be a number, not a Boolean"),
        ('{"words": [], "values": [1]}', "values should be an object, not a list"),
        ('{"words": [], "metadata": {"a": 1}}', "metadata 'a' should be a text, not a number"),
        ('{"words": [], "metadata": null}', "metadata should be an object, not null"),
        ('{"words": [], "values": {"a": 1' + "0" * 400 + "}}", "value 'a' is too large"),
        ('{"words": [], "values": {"a": 1' + "0" * 9000 + "}}", "not valid JSON"),
        ('{"words": ["\\ud800"]}', "half of a surrogate pair"),
        ('{"words": [], "metadata": {"\\udfff": ""}}', "half of a surrogate pair"),
        ("[" * 100_000, "too deeply nested"),
        ('{"a":' * 100_000, "too deeply nested"),
        (json.dumps({"words": ["a"] * (MAX_WORDS + 1)}), "more than 131072 words"),
    ],
)
def test_bad_lines(line: str, message: str) -> None:
    good = written(FORMAT, [WAKE])
    data = good + line.encode() + b"\n" + good
    assert trees_but_one(FORMAT, data, f"^test:2: sentence [12]: .*{message}") == [WAKE, WAKE]


def test_the_id_names_the_sentence() -> None:
    with pytest.raises(FormatError, match=r"^test:1: sentence x7: no constituent spans"):
        trees_in(FORMAT, '{"id": "x7", "words": ["a"]}')


def test_a_small_line_cannot_ask_for_much_memory() -> None:
    words = json.dumps(["a"] * 100_000)
    constituents = ",".join(['{"spans": [[0, 100000]]}'] * 100_000)
    with pytest.raises(FormatError, match="100000 constituents over 100000 words"):
        trees_in(FORMAT, f'{{"words": {words}, "constituents": [{constituents}]}}')


def test_numbers_beyond_those_of_machines() -> None:
    (tree,) = trees_in(
        FORMAT, '{"words": [], "values": {"big": 100000000000000000000, "none": null, "low": "-Infinity"}}'
    )
    assert tree.values["big"] == 1e20
    assert math.isnan(tree.values["none"])
    assert tree.values["low"] == -math.inf


def test_encoding_is_always_utf_8() -> None:
    data = written(FORMAT, [FULL])
    assert trees_in(FORMAT, data, encoding="latin-1") == [FULL]
    with pytest.raises(FormatError, match="test:1: sentence 1: not valid utf-8") as told:
        trees_in(FORMAT, data.decode("utf-8").replace("“猫”", "ä").encode("latin-1"))
    assert str(told.value).endswith("JSON Lines are always in UTF-8")  # --encoding would not help
    assert trees_in(FORMAT, b"\xef\xbb\xbf" + data) == [FULL]


def test_sniff() -> None:
    assert FORMAT.sniff(written(FORMAT, [FULL]))
    assert FORMAT.sniff(b'\n { "id"')
    assert not FORMAT.sniff(b"(S (X {a}))")
    assert not FORMAT.sniff(b"[1]")


def test_broken_input() -> None:
    check_reader(FORMAT, written(FORMAT, [WAKE, FULL, Tree([], [])]))
