"""What travels between processes comes out as it went in, and nothing else comes out."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from treemean.averaging import Frequencies
from treemean.evaluation import PROTOCOLS, Counts
from treemean.evaluation.streaming import Scoring
from treemean.fitting.models.objectives import CorpusObjective
from treemean.formats.sharded import Shard
from treemean.scaling.averages import Averaging
from treemean.scaling.conversion import Conversion
from treemean.scaling.engines import messages
from treemean.scaling.engines.engine import Failure, result_of
from treemean.scaling.inputs import Cut, File, Rows
from treemean.scaling.parses import Parsing
from treemean.scaling.shards import AsItIs, Made, ShardTask
from treemean.scaling.streams import StreamTask
from treemean.scaling.sums import Sums

leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
keys = st.text() | st.integers() | st.tuples(st.text(), st.text())
values = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(keys, inner)
        | st.dictionaries(keys, st.integers()).map(Counter)
        | st.frozensets(st.text())
    ),
    max_leaves=20,
)


@given(values)
@examples(150)
def test_plain_values_come_back(value: object) -> None:
    back = messages.loads(messages.dumps(value))
    assert back == value
    assert type(back) is type(value)


CUT = Cut(("a", "b"), ((Rows(File("a.parquet", 9, "00"), 1, 5),), ()), 40)
SUMS = Sums(3, 20, 12, Frequencies(Counter({("S", "NP"): 2})), Counter({"bad": 1}), {"bad": [{"line": 3}]})


@pytest.mark.parametrize(
    "value",
    [
        CUT,
        ShardTask(3, CUT, "folder", "part"),
        StreamTask("a.dbr", "folder", 16, {"format": "discbracket", "encoding": "utf-8"}),
        Made(Shard("part", 3, 20, 12, 999, "ff"), SUMS, new=False),
        AsItIs(),
        Averaging(
            {"weights": [0.1, 0.2]},
            "corpus",
            frequencies=(SUMS.frequencies,),
            settled=CorpusObjective(0.1, 1 / 3, 1e-300),
        ),
        Conversion(ids=("a", "b"), minimum={"support": 0.3}, punctuation=frozenset({",", "."})),
        Parsing("model", {"max_length": 9}, "cuda", gpu=True),
        *(Scoring(protocol, 40) for protocol in PROTOCOLS.values()),
        Counts(1, 2, 3),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_jobs_send_comes_back(value: object) -> None:
    back = messages.loads(messages.dumps(value))
    assert back == value
    assert type(back) is type(value)
    assert messages.dumps(back) == messages.dumps(value)


def test_arrays_and_numbers_of_numpy_come_back() -> None:
    back = messages.loads(messages.dumps([np.array([1, 2]), np.array([True]), np.float64(0.1), np.empty(0)]))
    assert [one.dtype for one in (back[0], back[1], back[3])] == [np.int64, np.bool_, np.float64]
    assert back[0].tolist() == [1, 2]
    assert back[2] == 0.1


def test_other_values_are_not_sent() -> None:
    for value in (object(), bytearray(b"bytes"), lambda: 0, np.zeros((2, 2)), st):
        with pytest.raises(messages.NotPlain, match="is not sent"):
            messages.dumps(value)
    with pytest.raises(messages.NotPlain, match="cannot import"):
        messages.dump_call(lambda shared, task: task, None)


@pytest.mark.parametrize(
    "text",
    [
        b"\x80\x04.",
        b"{",
        b'{"$":"os:system","of":["true"]}',
        b'{"$":"treemean.scaling.engines:open_engine","of":{}}',
        b'{"$":"treemean.scaling.engines.local:LocalEngine","of":{"workers":1}}',
        b'{"$":"treemean.nothing:Class","of":{}}',
        b'{"$":"treemean.scaling.inputs:File","of":{"path":"a"}}',
        b'{"$":"tuple"}',
        b'{"$":"bytes","of":"a!=="}',
        b'{"$":"bytes","of":[1]}',
    ],
)
def test_nothing_else_is_built(text: bytes) -> None:
    with pytest.raises(ValueError):
        messages.loads(text)


@pytest.mark.parametrize(
    "kind", ["builtins:SystemExit", "os:system", "treemean.scaling.inputs:File", "treemean.errors:reason_of"]
)
def test_only_errors_of_ours_are_raised_by_name(kind: str) -> None:
    answer = messages.dumps([None, Failure("said", kind)])
    with pytest.raises((TypeError, ValueError), match=r"is no error of ours|is not a class of treemean"):
        result_of(answer)
