"""The page about formats shows what the writers write, and names all formats."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from format_helpers import WAKE, written

from treemean.formats import all_formats
from treemean.trees.continuous import make_continuous

PAGE = Path(__file__).parents[2] / "docs" / "formats.md"
EXAMPLE = re.compile(r"<!-- example: (\w+) -->\n```\w+\n(.*?)```\n", re.DOTALL)


def example(name: str) -> str:
    format = all_formats()[name]
    data = written(format, [make_continuous(WAKE) if name == "ptb" else WAKE])
    if name == "parquet":
        (row,) = pq.read_table(io.BytesIO(data)).to_pylist()
        return "".join(f"{column}: {value!r}\n" for column, value in row.items())
    return data.decode().expandtabs(8)


def test_the_examples_are_what_is_written() -> None:
    shown = dict(EXAMPLE.findall(PAGE.read_text(encoding="utf-8")))
    assert shown == {name: example(name) for name in all_formats()}


@pytest.mark.parametrize("name", sorted(all_formats()))
def test_the_table_has_all_endings(name: str) -> None:
    format = all_formats()[name]
    (row,) = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if f" | `{name}` | " in line]
    assert row.split(" | ")[2] == " ".join(f"`{suffix}`" for suffix in format.suffixes)
