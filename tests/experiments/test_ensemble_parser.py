"""An ensemble used as a parser: the trees of its own test sentences come out again, and mistakes are told."""

from __future__ import annotations

import json
import shutil

import pytest
from demo_instances import write_small_demo

import treemean
from commands import run
from parser_instances import SENTENCES, TINY_ENSEMBLE
from treemean import transforms
from treemean.cli.parse import parse as command
from treemean.errors import FormatError, InvalidOption, MismatchError
from treemean.experiments.config import load_config
from treemean.experiments.ensemble import ensemble_of_trees
from treemean.experiments.parser import EnsembleParser, is_ensemble
from treemean.experiments.pipeline import run_ensemble
from treemean.parsing import Model, ParseCounts, read_sentences
from treemean.parsing.parse import ParseOptions
from treemean.trees import Treebank

MODELS = ("paper", "logistic")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Ensembles with weights and with fitted hits: their folders; and that of the files."""
    files = tmp_path_factory.mktemp("files")
    config = write_small_demo(files)
    folders = {"files": files}
    for model in MODELS:
        folders[model] = files.parent / f"ensemble-{model}"
        if model != MODELS[0]:  # what was trained is not trained again
            shutil.copytree(folders[MODELS[0]], folders[model])
        settings = [*TINY_ENSEMBLE, f"ensemble.model={model}", "ensemble.decoder=viterbi"]
        run_ensemble(load_config(config, settings), folders[model])
    return folders


def parsed(parser: EnsembleParser, path, *, binary: bool = False, jobs: int = 1, **options) -> Treebank:
    models, chosen = parser.load(), ParseOptions(parser.decoder, **options)
    sentences = read_sentences(path, models[0].normalisation)
    windows = parser.parse(models, sentences, chosen, jobs=jobs)
    return Treebank.concatenate(list(parser.averages(windows, chosen, binary=binary)))


@pytest.mark.parametrize("model", MODELS)
def test_the_test_sentences_get_the_trees_of_the_ensemble(made, model) -> None:
    parser = EnsembleParser.read(made[model])
    assert (parser.hits is None) == (model == "paper")
    assert parser.decoder == "viterbi"
    for binary, name in ((False, "non-binary"), (True, "binary")):
        expected = treemean.read(made[model] / "ensemble" / f"{name}.discbracket")
        found = parsed(parser, made["files"] / "test.discbracket", binary=binary)
        assert [tree.masks for tree in found] == [tree.masks for tree in expected]
        assert [tree.words for tree in found] == [tree.words for tree in expected]


def test_punctuation_is_put_back_into_the_average(made, tmp_path) -> None:
    (tmp_path / "text.txt").write_text("\n".join([*SENTENCES, "! ?"]) + "\n")
    parser = EnsembleParser.read(made["paper"])
    without = parsed(parser, tmp_path / "text.txt")
    for how in ("put-back", "root"):
        put = parsed(parser, tmp_path / "text.txt", punctuation=how)
        assert [" ".join(tree.words) for tree in put] == [*SENTENCES, "! ?"]
        again = transforms.remove_punctuation(put[: len(SENTENCES)])
        assert [tree.masks for tree in again] == [tree.masks for tree in without[: len(SENTENCES)]]
        assert put.sentence_values.keys() == without.sentence_values.keys()


@pytest.mark.slow
def test_several_processes_give_the_same_trees(made) -> None:
    parser = EnsembleParser.read(made["logistic"])
    path = made["files"] / "test.discbracket"
    assert [t.masks for t in parsed(parser, path, jobs=2)] == [t.masks for t in parsed(parser, path)]


def test_a_window_is_counted_once(made) -> None:
    parser = EnsembleParser.read(made["paper"])
    counts = ParseCounts()
    sentences = [text.split() for text in SENTENCES]
    list(parser.parse(parser.load(), sentences, ParseOptions(max_length=3), counts=counts))
    assert counts.sentences == len(SENTENCES)
    assert counts.too_long == sum(len([w for w in text.split() if w[0].isalnum()]) > 3 for text in SENTENCES)


def test_the_command(made, tmp_path, capsys) -> None:
    (tmp_path / "text.txt").write_text("\n".join(SENTENCES) + "\n")
    text, folder = str(tmp_path / "text.txt"), str(made["paper"])
    command(folder, text, str(tmp_path / "trees.jsonl"), binary=True)
    assert f"{len(SENTENCES)} sentences parsed by 2 models and averaged" in capsys.readouterr().err
    found = treemean.read(tmp_path / "trees.jsonl")
    expected = parsed(EnsembleParser.read(made["paper"]), tmp_path / "text.txt", binary=True)
    assert [tree.masks for tree in found] == [tree.masks for tree in expected]
    assert "support" in found.constituent_values
    with pytest.raises(InvalidOption, match="an average has no posteriors"):
        command(folder, text, posteriors=True)
    with pytest.raises(InvalidOption, match="--binary is for ensembles"):
        command(str(made["paper"] / "runs" / "run01" / "model"), text, binary=True)


SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    ("model", "options"),
    [
        ("logistic", ("--binary", "--punctuation", "put-back")),  # hits of all sentences: the hardest
        pytest.param("logistic", (), marks=SLOW),
        pytest.param("paper", ("--binary", "--punctuation", "put-back"), marks=SLOW),
        pytest.param("paper", (), marks=SLOW),
    ],
    ids=str,
)
def test_shards_have_the_trees_of_the_plain_command(made, tmp_path, model, options) -> None:
    """Hits of a corpus are settled over all shards; nothing but shards is left, and it is not done twice."""
    (tmp_path / "text.txt").write_text("\n".join(SENTENCES * (-(-120 // len(SENTENCES)))) + "\n")
    command = ["parse", made[model], tmp_path / "text.txt", *options, "-o"]
    run(*command, tmp_path / "plain.parquet")
    expected = treemean.read(tmp_path / "plain.parquet")
    for workers in (1, 2):
        engine = ["--engine", "local", "--workers", workers, "--shard-size", 50]
        found = run(*command, tmp_path / f"trees{workers}", *engine)
        assert f"{len(expected)} sentences parsed" in found.stderr
    assert treemean.read(tmp_path / "trees1") == expected
    first, second = ({p.name: p.read_bytes() for p in (tmp_path / f"trees{n}").iterdir()} for n in (1, 2))
    assert first == second
    assert all(name.startswith(("part-", "_manifest")) for name in first)
    assert "nothing to do" in run(*command, tmp_path / "trees2", *engine).stderr


def test_shards_of_an_average_have_no_posteriors(made, tmp_path) -> None:
    (tmp_path / "text.txt").write_text("a b\n")
    command = ["parse", made["paper"], tmp_path / "text.txt", "-o", tmp_path / "trees", "--engine", "local"]
    assert "no posteriors" in run(*command, "--posteriors", code=1).stderr


def test_which_folders_are_ensembles(made, tmp_path) -> None:
    assert is_ensemble(made["paper"])
    assert not is_ensemble(made["paper"] / "runs" / "run01" / "model")
    assert not is_ensemble(tmp_path)


def test_mistakes_are_told(made, tmp_path) -> None:
    folder = shutil.copytree(made["logistic"], tmp_path / "copy")
    shutil.rmtree(folder / "runs" / "run02" / "model")
    with pytest.raises(FormatError, match=r"run02.model: there is no such folder"):
        EnsembleParser.read(folder).load()
    (folder / "ensemble" / "hits.json").unlink()
    with pytest.raises(FormatError, match=r"hits\.json"):
        EnsembleParser.read(folder)
    data = json.loads((folder / "results.json").read_text())
    for damaged in (
        "[]",
        "{",
        "{}",
        json.dumps({**data, "results": {}}),
        json.dumps({**data, "results": {"selection": {"chosen": [1], "weights": [1], "model": None}}}),
        json.dumps({**data, "results": {"selection": {"chosen": ["run01"], "weights": [], "model": None}}}),
    ):
        (folder / "results.json").write_text(damaged)
        with pytest.raises(FormatError, match=r"results\.json: the results of the ensemble are damaged"):
            EnsembleParser.read(folder)
    (folder / "results.json").unlink()
    assert is_ensemble(folder)
    with pytest.raises(FormatError, match="the ensemble is not finished"):
        EnsembleParser.read(folder)


def test_models_that_see_words_in_different_ways_are_refused(made, monkeypatch) -> None:
    from dataclasses import replace

    load = Model.load

    def other(folder, **options):
        model = load(folder, **options)
        if "run02" in str(folder):
            model.normalisation = replace(model.normalisation, lower_case=not model.normalisation.lower_case)
        return model

    monkeypatch.setattr(Model, "load", other)
    with pytest.raises(MismatchError, match="run01 and run02 see words in different ways"):
        EnsembleParser.read(made["paper"]).load()


def test_an_ensemble_of_trees_has_no_models(made, tmp_path) -> None:
    parses = made["paper"] / "parses"
    ensemble_of_trees(parses / "test", parses / "dev", tmp_path / "out")
    assert is_ensemble(tmp_path / "out")
    with pytest.raises(InvalidOption, match="has no models to parse with"):
        EnsembleParser.read(tmp_path / "out")
