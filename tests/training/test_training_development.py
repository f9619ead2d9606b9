"""Measuring a grammar on the development set."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from parser_instances import tiny_config
from treemean.training import development
from treemean.training.train import initial_grammar, prepare_folder


@given(st.lists(st.integers(2, 40), min_size=1, max_size=300))
def test_batches_of_similar_lengths_take_every_sentence_once(given_lengths):
    lengths = np.array(given_lengths)
    order = np.argsort(lengths, kind="stable")
    batches = development._mixed_batches(order, lengths)
    assert sorted(np.concatenate(batches).tolist()) == list(range(len(lengths)))
    for batch in batches:
        assert np.ptp(lengths[batch]) <= 4
        assert len(batch) * lengths[batch].max() <= 4000


def test_scores_do_not_depend_on_how_sentences_are_batched(tmp_path, monkeypatch):
    torch.set_num_threads(1)
    config = tiny_config(tmp_path, "training.precision=float64")
    data = prepare_folder(config, tmp_path / "out")
    grammar = initial_grammar(config, len(data.vocabulary)).eval()
    expected = development.measure(grammar, data, config)
    monkeypatch.setattr(development, "_batches", development._mixed_batches)
    found = development.measure(grammar, data, config)
    assert found.log_likelihood == pytest.approx(expected.log_likelihood, rel=1e-12)
    assert found.f1 == expected.f1
