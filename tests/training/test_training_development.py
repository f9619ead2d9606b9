"""Measuring a grammar on the development set."""

from __future__ import annotations

import pytest
import torch

from parser_instances import tiny_config
from treemean.errors import TreemeanError
from treemean.parsing.batches import cut_by_similar_length
from treemean.training import development
from treemean.training.single import initial_grammar, prepare_folder


def test_scores_do_not_depend_on_how_sentences_are_batched(tmp_path, monkeypatch):
    torch.set_num_threads(1)
    config = tiny_config(tmp_path, "training.precision=float64")
    data = prepare_folder(config, tmp_path / "out")
    grammar = initial_grammar(config, len(data.vocabulary)).eval()
    expected = development.measure(grammar, data, config)
    monkeypatch.setattr(development, "cut_for", lambda _, lengths: cut_by_similar_length(lengths, 200))
    found = development.measure(grammar, data, config)
    assert found.log_likelihood == pytest.approx(expected.log_likelihood, rel=1e-12)
    assert found.f1 == expected.f1


def test_too_little_memory_is_told(tmp_path, monkeypatch):
    def fail(*_: object, **__: object) -> None:
        raise MemoryError

    config = tiny_config(tmp_path)
    data = prepare_folder(config, tmp_path / "out")
    grammar = initial_grammar(config, len(data.vocabulary))
    monkeypatch.setattr(development, "_measured", fail)
    with pytest.raises(TreemeanError, match=r"not enough memory .* development sentences; leave"):
        development.measure(grammar, data, config)
