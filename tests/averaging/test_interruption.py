"""Ctrl-C and other signals reach every search in the core, and the clock is kept in its set-up too."""

from __future__ import annotations

import gc
import os
import random
import signal
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

from instances import flattened, independent_trees, mixed_trees
from treemean.averaging import all_optima, average, count_optima, k_best
from treemean.trees import Tree, Treebank

#: So long after the signal the search must have ended, on a busy machine, too; alone it takes much longer.
PROMPT = 5.0


def hard_trees() -> list[Tree]:
    """Return trees whose best binary tree takes the search many seconds."""
    return independent_trees(80, 14, random.Random(1), 0.3)


def many_sizes() -> list[Tree]:
    rng = random.Random(200)
    return [flattened(tree, rng.choice([0.1, 0.2, 0.3]), rng) for tree in mixed_trees(200, 60, 2, 20, rng)]


def hard_treebanks() -> list[Treebank]:
    return [Treebank.from_trees([tree] * 64) for tree in hard_trees()]


def many_easy_sentences() -> list[Treebank]:
    rng = random.Random(3)
    trees = mixed_trees(30, 5, 2, 3, rng)
    return [Treebank.from_trees([tree]).take(np.zeros(150_000, dtype=np.int64)) for tree in trees]


@pytest.mark.parametrize(
    ("make", "search"),
    [
        (hard_trees, lambda trees: average(trees, binary=True, jobs=1)),
        (hard_treebanks, lambda banks: average(banks, binary=True, jobs=1)),
        (hard_treebanks, lambda banks: average(banks, binary=True, jobs=2)),
        (many_easy_sentences, lambda banks: average(banks, jobs=2)),
        (many_sizes, lambda trees: count_optima(trees, beta=1.23456)),
        (many_sizes, lambda trees: all_optima(trees, beta=1.23456)),
        (many_sizes, lambda trees: k_best(trees, 1000)),
    ],
)
def test_ctrl_c_ends_the_search_at_once(make: Callable[[], object], search: Callable[..., object]) -> None:
    individuals = make()
    sent = []

    def interrupt() -> None:
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.05, interrupt)  # before the fastest machine is done
    gc.disable()  # what is raised while garbage is collected is lost
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            search(individuals)
        ended = time.perf_counter()
    finally:
        timer.join()
        gc.enable()
    assert ended - sent[0] < PROMPT


def test_what_a_handler_raises_is_passed_on() -> None:
    class Enough(Exception):
        pass

    def handler(*_: object) -> None:
        raise Enough

    trees = hard_trees()
    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(Enough):
            average(trees, binary=True)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_handlers_that_raise_nothing_do_not_end_the_search() -> None:
    calls = []
    trees = independent_trees(40, 10, random.Random(1), 0.3)
    expected = average(trees, binary=True)
    before = signal.signal(signal.SIGALRM, lambda *_: calls.append(1))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
        result = average(trees, binary=True)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert calls
    assert result == expected


@pytest.mark.parametrize("kind", ["binary", "different sizes", "negative hits"])
def test_the_time_limit_holds_for_very_long_sentences(kind: str) -> None:
    rng = random.Random(4)
    n, limit = 2500, 0.3
    options: dict[str, object] = {}
    trees = independent_trees(n, 6, rng)
    if kind == "binary":
        options["binary"] = True
    else:
        trees = [flattened(tree, rng.choice([0.1, 0.2]), rng) for tree in trees]
    if kind == "negative hits":
        options["hits"] = [[rng.choice([1.0, 0.5, -0.5]) for _ in tree] for tree in trees]
    found = average(trees, time_limit=limit, **options).values
    assert found["seconds"] < limit + 1
    assert found["objective"] <= found["upper_bound"]
    assert (found["objective"] == found["upper_bound"]) == found["optimal"]
