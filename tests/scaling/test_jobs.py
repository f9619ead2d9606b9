"""Parsing and scoring over shards give what the plain functions give."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scaling_instances import content, make_model, runs_of, write_runs

import treemean
from commands import run
from parser_instances import SENTENCES
from treemean import sample, scaling
from treemean.fitting import fit
from treemean.trees import Treebank
from treemean.trees.strings import CodedStrings


def plain(evaluation: treemean.Evaluation) -> dict[str, object]:
    return json.loads(json.dumps(evaluation.to_dict()))


@pytest.mark.parametrize("protocol", ["standard", "discodop"])
@pytest.mark.parametrize("labelled", [False, True])
def test_scores_of_shards_are_the_scores(tmp_path: Path, protocol: str, labelled: bool) -> None:
    gold, *runs = runs_of(3, 130)
    paths = write_runs(tmp_path)
    found = scaling.evaluate(paths[1:], paths[0], protocol, labelled=labelled, workers=1, shard_size=50)
    for evaluation, bank in zip(found, runs, strict=True):
        assert plain(evaluation) == plain(treemean.evaluate(bank, gold, protocol, labelled=labelled))


def test_means_over_sentences_are_the_same(tmp_path: Path) -> None:
    gold, prediction = runs_of(2, 130)
    paths = write_runs(tmp_path, 2)
    (found,) = scaling.evaluate(paths[1:], paths[0], "sentence", workers=1, shard_size=50)
    expected = treemean.evaluate(prediction, gold, "sentence")
    assert found.overall.f1 == pytest.approx(expected.overall.f1, abs=1e-9)
    assert found.discontinuous.recall == pytest.approx(expected.discontinuous.recall, abs=1e-9)
    assert [part.overall.f1 for part in found.by_length] == pytest.approx(
        [part.overall.f1 for part in expected.by_length], abs=1e-9
    )


def test_punctuation_tags_that_come_late_are_seen(tmp_path: Path) -> None:
    """The first sentences have none, so punctuation seems to be told by words; then a comma has a tag."""
    gold = sample.gold()
    late = Treebank.concatenate([gold.with_columns(tags=CodedStrings.constant("X", len(gold.words))), gold])
    treemean.write(late, tmp_path / "gold.parquet")
    (found,) = scaling.evaluate(
        [tmp_path / "gold.parquet"], tmp_path / "gold.parquet", workers=1, shard_size=360
    )
    assert plain(found) == plain(treemean.evaluate(late, late))
    told = json.loads(run("evaluate", *[tmp_path / "gold.parquet"] * 2, "--json").stdout)
    told.pop("prediction")
    assert told == plain(treemean.evaluate(late, late))


def test_the_command_scores_shards(tmp_path: Path) -> None:
    paths = write_runs(tmp_path, 2)
    at_once = run("evaluate", *paths, "--json").stdout
    assert run("evaluate", *paths, "--json", "--engine", "local", "--workers", 2).stdout == at_once


@pytest.mark.parametrize("model", ["logistic", "agreement"])
def test_averages_with_hits(tmp_path: Path, model: str) -> None:
    """A model of the whole corpus is settled by passes over sums; trees are those of the plain average."""
    runs = runs_of(3, 330)
    gold = Treebank.concatenate([treemean.transforms.remove_punctuation(sample.gold())])[:330]
    fitted = fit(runs, gold.with_columns(ids=runs[0].ids) if model == "logistic" else None, model)
    fitted.save(tmp_path / "hits.json")
    paths = write_runs(tmp_path, 3, 330)
    scaling.average(
        paths,
        tmp_path / "mean",
        hits=str(tmp_path / "hits.json"),
        probability=True,
        workers=1,
        shard_size=100,
    )
    expected = fitted.average(runs, probability=True)
    found = treemean.read(tmp_path / "mean")
    assert found == expected
    assert found.constituent_values["probability"] == pytest.approx(
        expected.constituent_values["probability"]
    )


@pytest.fixture(scope="module")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A parser that learnt nothing yet."""
    return make_model(tmp_path_factory.mktemp("parser"))


def test_parsing_shards(tmp_path: Path, model_folder: Path) -> None:
    from treemean.parsing import Model, parse, read_sentences

    text = tmp_path / "text.txt"
    text.write_text("\n".join([*SENTENCES, "", *SENTENCES]) + "\n")
    expected = Treebank.concatenate(list(parse(Model.load(model_folder), read_sentences(text))))
    for workers in (1, 2):
        scaling.parse(
            model_folder,
            text,
            tmp_path / f"trees{workers}",
            reading={"format": "text"},
            shard_size=10,
            workers=workers,
        )
    assert treemean.read(tmp_path / "trees1") == expected
    assert content(tmp_path / "trees1") == content(tmp_path / "trees2")


def test_parsing_a_treebank_by_command(tmp_path: Path, model_folder: Path) -> None:
    """Punctuation is told by what the first sentences say, in all shards."""
    treemean.write(sample.gold(), tmp_path / "gold.parquet")
    run("parse", model_folder, tmp_path / "gold.parquet", "-o", tmp_path / "plain.parquet", "--max-length", 9)
    found = run(
        *("parse", model_folder, tmp_path / "gold.parquet", "-o", tmp_path / "trees"),
        *("--engine", "local", "--workers", 1, "--max-length", 9, "--shard-size", 200),
    )
    assert "360 sentences parsed" in found.stderr
    assert treemean.read(tmp_path / "trees") == treemean.read(tmp_path / "plain.parquet")
