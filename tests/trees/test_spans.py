"""Tables of spans: columns say the same as the rows they were made from, and unsound rows are refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from span_instances import rows_of, span_rows
from treemean import SpanTable
from treemean.errors import InvalidTree, WrongType
from treemean.trees import SpanRow

WORDS = "a b c".split()
SMALL = SpanRow(WORDS, "s1", [(0b011, 0.7), (0b101, 0.3)], 1.0)
NOTHING = SpanRow([], "nothing", [], 0.0)
ALONE = SpanRow(["x"], "alone", [], 0.0)


def test_columns() -> None:
    table = SpanTable.from_rows([SMALL, NOTHING, ALONE], label="X")
    columns = table.columns
    assert columns.ids.tolist() == ["s1", "nothing", "alone"]
    assert columns.words.tolist() == ["a", "b", "c", "x"]
    assert columns.word_offsets.tolist() == [0, 3, 3, 4]
    assert columns.constituent_offsets.tolist() == [0, 3, 3, 4]
    assert columns.bits.tolist() == [0b111, 0b011, 0b101, 0b1]
    assert columns.labels.tolist() == ["X"] * 4
    assert not any([*columns.functions.tolist(), *columns.tags.tolist(), *columns.metadata.tolist()])
    assert columns.fan_outs.tolist() == [1, 1, 2, 1]
    assert table.posteriors.tolist() == [1.0, 0.7, 0.3, 1.0]
    assert table.expected.tolist() == [1.0, 0.0, 0.0]
    assert len(table) == 3
    assert repr(table) == "<SpanTable of 3 sentences with 4 spans>"


def test_labels_are_empty_if_none_is_given() -> None:
    assert SpanTable.from_rows([SMALL]).columns.labels.tolist() == [""] * 3


@given(span_rows())
def test_rows_come_back_as_they_were(rows: list[SpanRow]) -> None:
    assert rows_of(SpanTable.from_rows(rows)) == rows
    assert rows_of(SpanTable.from_rows(iter(rows))) == rows


@given(span_rows(max_sentences=8), st.data())
def test_slices_and_choices(rows: list[SpanRow], data: st.DataObject) -> None:
    table = SpanTable.from_rows(rows)
    start = data.draw(st.integers(-10, 10))
    stop = data.draw(st.integers(-10, 10) | st.none())
    step = data.draw(st.sampled_from([1, 2, -1]))
    assert rows_of(table[start:stop:step]) == rows[start:stop:step]
    chosen = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=5)) if rows else []
    assert rows_of(table.take(chosen)) == [rows[i] for i in chosen]
    mask = np.array([i % 2 == 0 for i in range(len(rows))], dtype=bool)
    assert rows_of(table.take(mask)) == rows[::2]


def test_a_table_has_slices_only() -> None:
    with pytest.raises(WrongType, match="the sentences of a table must be a slice, not a int"):
        SpanTable.from_rows([SMALL])[0]  # type: ignore[index]


@given(st.lists(span_rows(max_sentences=3), max_size=3))
def test_concatenation(parts: list[list[SpanRow]]) -> None:
    joined = SpanTable.concatenate([SpanTable.from_rows(rows) for rows in parts])
    assert rows_of(joined) == [row for rows in parts for row in rows]


@pytest.mark.parametrize(
    ("words", "expected", "count"),
    [
        (6, 0.0, 0),
        (6, 1.49, 1),
        (6, 1.51, 2),
        (6, 0.5, 0),  # halves go to the even number
        (6, 1.5, 2),
        (6, 4.0, 4),
        (6, 4.6, 4),  # no tree over six words has five
        (6, 1e300, 4),
        (3, 1.0, 1),
        (2, 0.4, 0),
        (2, 1.0, 0),
        (1, 1.0, 0),
        (0, 1.0, 0),
    ],
)
def test_expected_counts(words: int, expected: float, count: int) -> None:
    table = SpanTable.from_rows([NOTHING, SpanRow(["w"] * words, "", [], expected)])
    assert table.expected.tolist() == [0.0, expected]
    assert table.expected_counts.tolist() == [0, count]
    assert table.expected_counts.dtype == np.int64


def test_to_pandas() -> None:
    pytest.importorskip("pandas")
    frame = SpanTable.from_rows([NOTHING, SMALL, ALONE]).to_pandas()
    assert [*frame.columns] == ["sentence", "id", "size", "fan_out", "positions", "text", "posterior"]
    assert frame.sentence.tolist() == [1, 1, 1, 2]
    assert frame.id.tolist() == ["s1", "s1", "s1", "alone"]
    assert frame["size"].tolist() == [3, 2, 2, 1]
    assert frame.fan_out.tolist() == [1, 1, 2, 1]
    assert frame.positions.tolist() == [[0, 1, 2], [0, 1], [0, 2], [0]]
    assert frame.text.tolist() == ["a b c", "a b", "a … c", "x"]
    assert frame.posterior.tolist() == [1.0, 0.7, 0.3, 1.0]


def test_more_than_64_words() -> None:
    n = 130
    ends = 1 | 1 << n - 1
    most = (1 << n - 1) - 1
    row = SpanRow([f"w{i}" for i in range(n)], "long", [(ends, 0.25), (most, 0.5)], 100.4)
    table = SpanTable.from_rows([row, SMALL])
    full = 2**64 - 1
    assert table.columns.bits.tolist()[:9] == [full, full, 3, 1, 0, 2, full, full, 1]
    assert table.columns.sizes.tolist() == [130, 2, 129, 3, 2, 2]
    assert table.columns.fan_outs.tolist() == [1, 2, 1, 1, 1, 2]
    assert table.expected_counts.tolist() == [100, 1]


# ---- what is refused --------------------------------------------------------------------------------


NO_SPAN = "a span has two words or more, but not all of the"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (SMALL._replace(spans=[(0b010, 0.5)]), f"{NO_SPAN} 3"),
        (SMALL._replace(spans=[(0, 0.5)]), f"{NO_SPAN} 3"),
        (SMALL._replace(spans=[(0b111, 0.5)]), f"{NO_SPAN} 3"),
        (SMALL._replace(spans=[(0b1001, 0.5)]), f"{NO_SPAN} 3"),
        (SpanRow(["a"] * 70, "", [(1 << 70 | 1, 0.5)], 1), f"{NO_SPAN} 70"),
        (SMALL._replace(spans=[(-3, 0.5)]), f"{NO_SPAN} 3"),
        (SMALL._replace(spans=[(3, 0.5), (5, -0.001)]), "the posterior -0.001 is not between 0 and 1"),
        (SMALL._replace(spans=[(3, 1.001)]), "the posterior 1.001 is not between 0 and 1"),
        (SMALL._replace(spans=[(3, float("nan"))]), "the posterior nan is not between 0 and 1"),
        (SMALL._replace(expected=-0.1), "-0.1 constituents cannot be expected"),
        (SMALL._replace(expected=float("inf")), "inf constituents cannot be expected"),
        (SMALL._replace(expected=float("nan")), "nan constituents cannot be expected"),
    ],
)
def test_unsound_rows(row: SpanRow, message: str) -> None:
    with pytest.raises(InvalidTree, match=rf"^sentence 2: {message}$"):
        SpanTable.from_rows([SMALL, row])


@pytest.mark.parametrize("span", [("x", 0.5), (1.5, 0.5), (3, "x"), (3, None), (None, 0.5)])
def test_spans_that_are_no_numbers(span: tuple[object, object]) -> None:
    with pytest.raises(WrongType, match=r"^sentence 2: a span is a bit mask with a number, not "):
        SpanTable.from_rows([SMALL, SMALL._replace(spans=[span])])  # type: ignore[list-item]


def test_numbers_of_numpy() -> None:
    row = SMALL._replace(spans=[(np.int64(3), np.float32(0.5))])
    assert rows_of(SpanTable.from_rows([row])) == [SMALL._replace(spans=[(3, 0.5)])]


def test_a_span_that_is_told_twice() -> None:
    with pytest.raises(InvalidTree, match=r"^sentence 3 has a span twice$"):
        SpanTable.from_rows([SMALL, SMALL, SMALL._replace(spans=[(3, 0.5), (5, 0.5), (3, 0.2)])])


@pytest.mark.parametrize("row", [NOTHING, ALONE, SpanRow(["a", "b"], "", [], 0.0)])
@pytest.mark.parametrize("mask", [0b1, 0b10, 0b11, 0b110])
def test_sentences_too_short_for_a_span(row: SpanRow, mask: int) -> None:
    with pytest.raises(InvalidTree, match=r"^sentence 1: a span has"):
        SpanTable.from_rows([row._replace(spans=[(mask, 0.5)])])


def test_words_that_are_one_text() -> None:
    for words in ("abc", b"abc"):
        with pytest.raises(WrongType, match=r"^the words of sentence 2 must be a list, not one text$"):
            SpanTable.from_rows([SMALL, SMALL._replace(words=words)])  # type: ignore[arg-type]


def test_the_limits_are_allowed() -> None:
    rows = [SMALL._replace(spans=[(0b011, 0.0), (0b110, 1.0)], expected=0.0), ALONE._replace(expected=3.0)]
    assert rows_of(SpanTable.from_rows(rows)) == rows
