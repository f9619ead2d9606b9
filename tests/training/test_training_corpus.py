"""Prepared corpora on disk: damaged ones, and those of other versions."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from parser_instances import tiny_config
from training_instances import flip
from treemean.errors import FormatError
from treemean.files.sealed import sealed, unsealed
from treemean.training.single import prepare_folder


@pytest.fixture
def config(tmp_path):
    return tiny_config(tmp_path)


def test_a_corpus_that_the_version_before_prepared(config, tmp_path):
    """Gold trees were kept in another format then; without any, nothing has changed."""
    prepare_folder(config, tmp_path / "out")
    path = tmp_path / "out" / "corpus" / "corpus.json"
    path.write_bytes(sealed(unsealed(path.read_bytes()) | {"version": 1}))
    with pytest.raises(
        FormatError, match=r"prepared by another treemean \(version 1, not 2\): remove .*corpus"
    ):
        prepare_folder(config, tmp_path / "out")
    by_likelihood = replace(config.training, select="likelihood")
    text = replace(config, data=replace(config.data, development=""), training=by_likelihood)
    made = prepare_folder(text, tmp_path / "text")
    path = tmp_path / "text" / "corpus" / "corpus.json"
    path.write_bytes(sealed(unsealed(path.read_bytes()) | {"version": 1}))
    assert prepare_folder(text, tmp_path / "text").describe() == made.describe()


@pytest.mark.parametrize("key", ["facts", "vocabulary", "normalisation", "numbers_sha256", "gold_sha256"])
def test_wrong_types_in_a_prepared_corpus_are_told(config, tmp_path, key):
    prepare_folder(config, tmp_path / "out")
    path = tmp_path / "out" / "corpus" / "corpus.json"
    told = unsealed(path.read_bytes())
    for value in (None, 3, [1], {"files": None}):
        path.write_bytes(sealed(told | {key: value}))
        with pytest.raises(FormatError, match=r"corpus\.json: the prepared corpus is damaged"):
            prepare_folder(config, tmp_path / "out")
    path.write_bytes(sealed({name: value for name, value in told.items() if name != key}))
    with pytest.raises(FormatError, match=rf"damaged \(it has no '{key}'\): remove .*corpus"):
        prepare_folder(config, tmp_path / "out")
    path.write_text(json.dumps(told))  # as it was written before there were checksums
    prepare_folder(config, tmp_path / "out")
    path.write_bytes(sealed(told))
    flip(path, 4321)
    with pytest.raises(FormatError, match="the prepared corpus is damaged"):
        prepare_folder(config, tmp_path / "out")
