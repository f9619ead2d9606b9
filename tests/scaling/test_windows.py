"""Several processes parse a stream of sentences as one does, also when some of them are killed."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from scaling_instances import make_model
from scaling_tasks import divide

from killing import children_of
from parser_instances import SENTENCES
from treemean.errors import FormatError
from treemean.parsing import Model, ParseCounts, parse
from treemean.parsing.parse import ParseOptions
from treemean.scaling.engines.local import LocalEngine
from treemean.scaling.windows import parse_in_parallel
from treemean.trees import SpanTable, Treebank

WORDS = [text.split() for text in SENTENCES]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model(tmp_path_factory.mktemp("parser"))


@pytest.fixture(autouse=True)
def small_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["treemean.parsing.parse"], "WINDOW", 3)


def test_several_processes_give_the_same_trees(folder: Path) -> None:
    """Posteriors to the last bit, and a sentence so long that a number of its words has too many digits."""
    words = [*WORDS, ["kat"] * 20_000]
    options = ParseOptions(posteriors=True, punctuation="put-back")
    alone, together = ParseCounts(), ParseCounts()
    wanted: list[SpanTable] = []
    tables: list[SpanTable] = []
    expected = list(parse(Model.load(folder), words, options=options, counts=alone, spans=wanted.append))
    found = list(
        parse_in_parallel(folder, iter(words), options, jobs=2, counts=together, spans=tables.append)
    )
    assert [len(batch) for batch in found] == [len(batch) for batch in expected]
    assert Treebank.concatenate(found) == Treebank.concatenate(expected)
    assert together == alone
    assert [len(table) for table in tables] == [len(batch) for batch in expected]
    assert SpanTable.concatenate(tables).columns == SpanTable.concatenate(wanted).columns


def test_a_worker_that_is_killed_is_replaced(folder: Path) -> None:
    killed = []

    def kill_one() -> None:
        while not (workers := children_of(os.getpid())):
            time.sleep(0.01)
        os.kill(workers[0], signal.SIGKILL)
        killed.append(workers[0])

    killer = threading.Thread(target=kill_one)
    killer.start()
    found = list(parse_in_parallel(folder, iter(WORDS), ParseOptions(), jobs=2))
    killer.join()
    assert killed
    expected = list(parse(Model.load(folder), WORDS))
    assert Treebank.concatenate(found) == Treebank.concatenate(expected)


def test_errors_of_what_is_read_come_through(folder: Path) -> None:
    def sentences() -> Iterator[list[str]]:
        yield from WORDS
        raise FormatError("odd", path="text.txt", line=8)

    with pytest.raises(FormatError, match=r"text\.txt:8: odd"):
        list(parse_in_parallel(folder, sentences(), ParseOptions(), jobs=2))


def test_a_stream_is_taken_as_workers_need_it() -> None:
    taken = []

    def tasks() -> Iterator[float]:
        for number in range(1, 41):
            taken.append(number)
            yield number

    with LocalEngine(2) as engine:
        results = engine.stream(divide, 1, tasks())
        assert next(results) == 1.0
        assert len(taken) <= 6
        assert list(results) == [1 / number for number in range(2, 41)]
