"""Whatever arrays the core is given, it refuses them or returns trees."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from instances import mixed_trees
from treemean import _core
from treemean.averaging.exact import core_individuals
from treemean.averaging.request import make_request
from treemean.trees import Treebank
from treemean.trees.treebank import offsets_of


def solve(columns: dict[str, object], **options: object) -> dict[str, np.ndarray] | None:
    """Return the core's answer, None if it refuses."""
    try:
        return _core.average(individuals_of(columns), options_of(**options), threads=2)
    except ValueError:
        return None


def options_of(**changes: object) -> _core.Options:
    options = {"goal": "average", "direction": "right", "p": 1, "q": 1, "node_limit": 500, "time_limit": 0.0}
    options |= {"labelled": False, "keep_chains": True, "ties": "canonical"}
    return _core.Options(**{**options, **changes})


def individuals_of(columns: dict[str, object]) -> _core.Individuals:
    individuals = _core.Individuals(columns["word_offsets"], columns["value_scale"])
    for k, offsets in enumerate(columns["constituent_offsets"]):
        individuals.add(
            offsets,
            columns["bits"][k],
            (columns["labels"][k], columns["label_ranks"][k]),
            (columns["labels"][k], columns["label_ranks"][k]) if columns.get("functions") else None,
            columns["values"][k] if columns["values"] else None,
            None,
            columns["posteriors"][k] if columns.get("posteriors") else None,
            columns["sizes"][k] if columns.get("sizes") else None,
            (columns["continuous"][k], columns["discontinuous"][k]),
        )
    return individuals


def check_result(word_offsets: np.ndarray, found: dict[str, np.ndarray]) -> None:
    sentences = len(word_offsets) - 1
    assert all(len(found[name]) == sentences for name in ("objective", "upper_bound", "optimal", "nodes"))
    offsets = offsets_of(found["constituent_counts"])
    assert len(found["labels"]) == len(found["support"]) == offsets[-1]
    assert _core.find_invalid(word_offsets, offsets, found["bits"]) is None


numbers = st.integers(-(2**63), 2**63 - 1) | st.integers(-2, 70)


@given(st.data())
@examples(200)
def test_random_numbers(data: st.DataObject) -> None:
    count = data.draw(st.integers(0, 3))

    def array(dtype: type, values: st.SearchStrategy[int]) -> np.ndarray:
        return np.array(data.draw(st.lists(values, max_size=6)), dtype=dtype)

    columns = {
        "word_offsets": array(np.int64, numbers),
        "constituent_offsets": [array(np.int64, numbers) for _ in range(count)],
        "bits": [array(np.uint64, st.integers(0, 2**64 - 1)) for _ in range(count)],
        "labels": [array(np.int32, st.integers(-(2**31), 2**31 - 1)) for _ in range(count)],
        "label_ranks": [array(np.int32, st.integers(-(2**31), 2**31 - 1)) for _ in range(count)],
        "values": [],
        "continuous": [1] * count,
        "discontinuous": [1] * count,
        "value_scale": 1.0,
    }
    found = solve(columns, labelled=data.draw(st.booleans()))
    if found is not None:
        check_result(columns["word_offsets"], found)


@given(st.integers(0, 2**32 - 1))
@examples(150)
def test_sets_that_are_no_trees(seed: int) -> None:
    """Sound offsets and roots, but sets that cross and repeat at random, in some with posteriors."""
    rng = random.Random(seed)
    lengths = [rng.choice([0, 1, 2, 5, 63, 64, 65, 130]) for _ in range(rng.randint(0, 4))]
    count = rng.randint(1, 5)
    offsets, bits, labels = [], [], []
    for _ in range(count):
        counts, words = [], []
        for n in lengths:
            masks = [(1 << n) - 1, *(rng.getrandbits(n) or 1 for _ in range(rng.randint(0, 12)))] if n else []
            counts.append(len(masks))
            for mask in masks:
                words += list(np.frombuffer(mask.to_bytes((n + 63) // 64 * 8, "little"), dtype="<u8"))
        offsets.append(offsets_of(counts))
        bits.append(np.array(words, dtype=np.uint64))
        labels.append(np.array([rng.randrange(3) for _ in range(sum(counts))], dtype=np.int32))
    columns = {
        "word_offsets": offsets_of(lengths),
        "constituent_offsets": offsets,
        "bits": bits,
        "labels": labels,
        "label_ranks": [np.arange(3, dtype=np.int32)] * count,
        "values": [],
        "continuous": [rng.randint(0, 3) for _ in range(count - 1)] + [1],
        "discontinuous": [rng.randint(0, 3) for _ in range(count)],
        "value_scale": 1.0,
    }
    if seed % 2:
        tables = [k > 0 for k in range(count)]
        columns["posteriors"] = [
            np.array([rng.random() for _ in range(int(own[-1]))]) if is_table else None
            for own, is_table in zip(offsets, tables)
        ]
        columns["sizes"] = [
            np.array([rng.randint(0, max(n - 2, 0)) for n in lengths], dtype=np.int64) if is_table else None
            for is_table in tables
        ]
    for goal in ("average", "binary", "sum"):
        for labelled, ties in ((False, "canonical"), (False, "right"), (True, "left"), (True, "canonical")):
            keep_chains = rng.random() < 0.5
            found = solve(columns, goal=goal, labelled=labelled, ties=ties, keep_chains=keep_chains)
            assert found is not None
            check_result(columns["word_offsets"], found)


@given(st.integers(0, 2**32 - 1))
@examples(150)
def test_best_trees_of_sets_that_are_no_trees(seed: int) -> None:
    """With equal weights, so that more than half of the individuals may have sets that cross."""
    rng = random.Random(seed)
    n, count = rng.randint(1, 6), rng.randint(1, 4)
    pool = [rng.randrange(1, 1 << n) for _ in range(4)]
    sets = [[(1 << n) - 1, *rng.sample(pool, rng.randint(0, 4))] for _ in range(count)]
    columns = {
        "word_offsets": offsets_of([n]),
        "constituent_offsets": [offsets_of([len(masks)]) for masks in sets],
        "bits": [np.array(masks, dtype=np.uint64) for masks in sets],
        "labels": [np.zeros(len(masks), dtype=np.int32) for masks in sets],
        "label_ranks": [np.zeros(1, dtype=np.int32)] * count,
        "values": [],
        "continuous": [1] * count,
        "discontinuous": [1] * count,
        "value_scale": 1.0,
    }
    given = {"labelled": rng.random() < 0.5, "ties": rng.choice(["canonical", "right", "left"])}
    best = solve(columns, **given)
    assert best is not None
    individuals = individuals_of(columns)
    options = options_of(node_limit=100_000, **given)
    found = _core.best_trees(individuals, options, limit=100, only_optimal=True)
    check_result(offsets_of([n] * len(found["objective"])), found)
    assert found["objective"].tolist() == [best["objective"][0]] * len(found["objective"])
    counted = 1
    for high, low in _core.count_best_trees(individuals, options):
        counted *= (high << 64) + low
    assert counted == len(found["objective"])


def test_hundreds_of_thousands_of_sets_in_a_short_sentence() -> None:
    """Their conflicts fit into no memory; the time limit holds all the same."""
    count = 600_000
    bits = np.random.default_rng(1).integers(1, 2**64 - 1, count, dtype=np.uint64)
    bits[0] = 2**64 - 1
    columns = {
        "word_offsets": offsets_of([64]),
        "constituent_offsets": [offsets_of([count])],
        "bits": [bits],
        "labels": [np.zeros(count, dtype=np.int32)],
        "label_ranks": [np.zeros(1, dtype=np.int32)],
        "values": [],
        "continuous": [1],
        "discontinuous": [1],
        "value_scale": 1.0,
    }
    found = solve(columns, goal="sum", time_limit=0.1)
    assert found is not None
    check_result(columns["word_offsets"], found)
    assert found["optimal"].tolist() == [0]
    assert found["seconds"][0] < 5


def test_absurd_numbers_of_words_are_refused() -> None:
    columns = columns_of([Treebank.from_trees(mixed_trees(5, 1, 1, 0, random.Random(1)))])
    for words in (2**31, 2**62, 2**63 - 1):
        assert solve({**columns, "word_offsets": np.array([0, words], dtype=np.int64)}) is None


def columns_of(banks: list[Treebank]) -> dict[str, object]:
    return {
        "word_offsets": banks[0].word_offsets.copy(),
        "constituent_offsets": [bank.constituent_offsets.copy() for bank in banks],
        "bits": [bank.bits.copy() for bank in banks],
        "labels": [bank.labels.codes.copy() for bank in banks],
        "label_ranks": [np.arange(len(bank.labels.texts), dtype=np.int32) for bank in banks],
        "values": [],
        "continuous": [1] * len(banks),
        "discontinuous": [1] * len(banks),
        "value_scale": 1.0,
    }


@given(st.integers(0, 2**32 - 1))
@examples(200)
def test_one_number_changed(seed: int) -> None:
    rng = random.Random(seed)
    sentences = [mixed_trees(rng.choice([1, 3, 10, 64, 70]), 3, 2, 2, rng) for _ in range(3)]
    columns = columns_of([Treebank.from_trees([s[k] for s in sentences]) for k in range(3)])
    name = rng.choice(["word_offsets", "constituent_offsets", "bits", "labels", "label_ranks"])
    array = columns[name] if name == "word_offsets" else rng.choice(columns[name])
    change = rng.choice(["drop", "set", "flip"])
    if change == "drop":
        shorter = array[:-1].copy()
        if name == "word_offsets":
            columns[name] = shorter
        else:
            columns[name] = [shorter if a is array else a for a in columns[name]]
    else:
        at = rng.randrange(len(array))
        unsigned = array.view(np.uint64 if array.dtype.itemsize == 8 else np.uint32)
        width = 8 * array.dtype.itemsize
        unsigned[at] = (
            rng.getrandbits(width) if change == "set" else unsigned[at] ^ (1 << rng.randrange(width))
        )
    found = solve(columns)
    if found is not None and name != "word_offsets":
        check_result(columns["word_offsets"], found)


def test_options_are_checked() -> None:
    bank = Treebank.from_trees(mixed_trees(5, 1, 1, 0, random.Random(1)))
    individuals, _ = core_individuals([bank], make_request(1, None))
    assert _core.average(individuals, options_of(), threads=1)["optimal"].tolist() == [1]
    for wrong in ({"goal": "x"}, {"direction": "x"}, {"q": 0}, {"p": -1}, {"q": 10**9}, {"p": 10**18}):
        with pytest.raises(ValueError):
            options_of(**wrong)
    with pytest.raises(ValueError, match="at least one tree"):
        _core.best_trees(individuals, options_of(), limit=0, only_optimal=False)
    for goal in ("binary", "sum"):
        with pytest.raises(ValueError, match="the goal must be average"):
            _core.best_trees(individuals, options_of(goal=goal), limit=1, only_optimal=False)
        with pytest.raises(ValueError, match="the goal must be average"):
            _core.count_best_trees(individuals, options_of(goal=goal))


def test_weights_and_values_are_checked() -> None:
    bank = Treebank.from_trees(mixed_trees(5, 1, 1, 0, random.Random(1)))
    sound = columns_of([bank])
    assert solve(sound) is not None
    count = len(bank.labels)
    for wrong in (
        {"continuous": [-1]},
        {"continuous": [0]},
        {"continuous": [2**62]},
        {"values": [np.zeros(count + 1)]},
        {"values": [np.full(count, np.nan)]},
        {"values": [np.full(count, 1e300)]},
        {"values": [np.zeros(count)], "value_scale": 0.0},
    ):
        assert solve({**sound, **wrong}) is None
