"""The readers of the core on broken input."""

from __future__ import annotations

import gzip
import io
import time

import pytest
from format_helpers import written
from fuzzing import check_reader

import treemean
from treemean.files.source import Source
from treemean.formats import Problems, alpino, discbracket, get_format, ptb
from treemean.formats.writing import Unwritable


@pytest.mark.parametrize("name", ["discbracket", "ptb", "alpino"])
def test_broken_input(name):
    format = get_format(name)
    data = written(format, treemean.sample.gold()[:12], Unwritable("make-continuous"))
    check_reader(format, data)


def test_broken_real_files(data_folder):
    dutch = gzip.decompress((data_folder / "dutch" / "alpino.xml.gz").read_bytes())[:20_000]
    check_reader(get_format("alpino"), dutch[: dutch.rindex(b"<alpino_ds")] + b"</alpino>", runs=100)
    gold = gzip.decompress((data_folder / "lassy-predictions" / "test" / "gold.discbracket.gz").read_bytes())
    check_reader(get_format("discbracket"), gold[: gold.index(b"\n", 4000)], runs=100)


def test_many_trees_on_one_line_take_linear_time():
    """Four megabytes; quadratic work would take half a minute."""
    count = 500_000
    begun = time.process_time()
    batches = discbracket.read(Source(io.BytesIO(b"(S 0=a) " * count), "line"), Problems(), encoding="utf-8")
    assert sum(len(batch) for batch in batches) == count
    assert time.process_time() - begun < 10


@pytest.mark.parametrize(
    ("module", "bad"),
    [(discbracket, b"(S\n"), (discbracket, b"x\n"), (ptb, b"()\n"), (alpino, b"<alpino_ds></a>\n")],
)
def test_many_bad_records_take_linear_time(module, bad):
    """A megabyte of nothing but bad records; quadratic work would take minutes."""
    count = 1_000_000 // len(bad)
    problems = Problems(skip=True)
    begun = time.process_time()
    assert list(module.read(Source(io.BytesIO(bad * count), "bad"), problems, encoding="utf-8")) == []
    assert time.process_time() - begun < 30
    assert problems.count >= 1
    assert len(problems.errors) <= 100
