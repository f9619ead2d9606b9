"""The order of sentences and the learning rate."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from parser_instances import tiny_config
from treemean.errors import InvalidOption
from treemean.training import load_config, train
from treemean.training.batches import BatchOrder
from treemean.training.corpus import Corpus
from treemean.training.inspection import inspect
from treemean.training.schedule import learning_rate
from treemean.training.sections import OptimiserConfig

CONFIG = load_config("tn-lcfrs")
lengths = st.lists(st.integers(2, 40), min_size=1, max_size=200).map(np.array)


def order_of(sizes, run=1, **changes):
    config = replace(CONFIG, batches=replace(CONFIG.batches, **changes))
    return BatchOrder(sizes, config, run)


@given(lengths, st.integers(1, 5), st.integers(1, 30), st.sampled_from(["equal", "mixed"]))
def test_every_sentence_within_the_limit_is_in_one_batch(lengths, epoch, size, kind):
    order = order_of(lengths, size=size, lengths=kind)
    batches = order.of_epoch(epoch)
    limit = min(40, 30 + 4 * (epoch - 1))
    assert sorted(p for batch in batches for p in batch) == np.flatnonzero(lengths <= limit).tolist()
    assert all(0 < len(batch) <= size for batch in batches)
    assert len(batches) == order.count(epoch)
    assert order.words(epoch) == lengths[lengths <= limit].sum()
    if kind == "equal":
        assert all(len(set(lengths[batch])) == 1 for batch in batches)


@given(lengths, st.integers(2, 50), st.integers(1, 9), st.integers(1, 40), st.integers(0, 40))
def test_totals_are_sums_over_epochs(lengths, first_limit, limit_step, epoch, more):
    order = order_of(lengths, first_limit=first_limit, limit_step=limit_step)
    epochs = range(epoch, epoch + more + 1)
    assert order.count_from(epoch, epoch + more) == sum(map(order.count, epochs))
    assert order.words_from(epoch, epoch + more) == sum(map(order.words, epochs))


def test_a_billion_epochs_are_counted_at_once():
    order = order_of(np.array([2, 3]), first_limit=2, limit_step=1)
    assert order.count_from(1, 10**9) == 2 * 10**9 - 1
    assert order.words_from(1, 10**9) == 5 * 10**9 - 3


@given(lengths, st.integers(1, 3))
def test_the_order_is_decided_by_seed_run_and_epoch(lengths, epoch):
    again = [order_of(lengths).of_epoch(epoch) for _ in range(2)]
    assert all(np.array_equal(a, b) for a, b in zip(*again, strict=True))


def test_runs_differ_in_sentences_and_not_in_lengths():
    lengths = np.repeat(np.arange(2, 12), 50)
    first, second = (order_of(lengths, run).of_epoch(1) for run in (1, 2))
    assert [lengths[b[0]] for b in first] == [lengths[b[0]] for b in second]
    assert not any(np.array_equal(a, b) for a, b in zip(first, second, strict=True))
    config = replace(CONFIG, run=replace(CONFIG.run, shared_lengths=False))
    own = BatchOrder(lengths, config, 2).of_epoch(1)
    assert [lengths[b[0]] for b in own] != [lengths[b[0]] for b in first]
    assert [b.tolist() for b in first] != [b.tolist() for b in order_of(lengths).of_epoch(2)]


def test_batches_of_mixed_lengths_are_padded():
    corpus = Corpus.of([[1, 2], [3, 4, 5], [6, 7]])
    words, sizes = corpus.batch(np.array([0, 1]))
    assert words.tolist() == [[1, 2, 0], [3, 4, 5]]
    assert sizes is not None
    assert sizes.tolist() == [2, 3]
    words, sizes = corpus.batch(np.array([2, 0]))
    assert words.tolist() == [[6, 7], [1, 2]]
    assert sizes is None


@pytest.mark.parametrize("schedule", ["constant", "linear", "cosine"])
def test_the_rate_rises_and_falls_as_configured(schedule):
    config = OptimiserConfig(rate=2.0, schedule=schedule, warm_up=10, final=0.25)
    rates = [learning_rate(config, step, 100) for step in range(100)]
    assert rates[:10] == pytest.approx([0.2 * (step + 1) for step in range(10)])
    assert max(rates) == 2.0
    assert rates[-1] == pytest.approx(2.0 if schedule == "constant" else 0.5)
    assert all(a >= b for a, b in pairwise(rates[9:]))
    assert learning_rate(config, 1000, 100) == pytest.approx(rates[-1])


def test_corpora_need_no_tensors_until_batches_are_asked_for():
    assert Corpus.of([[1, 2]]).numbers.dtype == np.int32
    assert Corpus.of([[1, 2]]).batch(np.array([0]))[0].dtype == torch.int64


def test_a_curriculum_that_begins_with_nothing_is_refused(tmp_path):
    config = tiny_config(tmp_path)
    (tmp_path / "train.txt").write_text("de hond ziet de kat\nde kat ziet de hond\n" * 9)
    config = replace(config, batches=replace(config.batches, first_limit=4))
    message = r"batches\.first_limit lets sentences of up to 4 words through, and the shortest .* has 5"
    with pytest.raises(InvalidOption, match=message):
        train(config, tmp_path / "out")
    assert any(
        "batches.first_limit is 4, and the shortest sentence has 5" in error
        for error in inspect(config).errors
    )
    config = replace(config, batches=replace(config.batches, first_limit=5))
    assert not inspect(config).errors
    assert train(config, tmp_path / "out").steps > 0
