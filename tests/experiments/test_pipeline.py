"""The whole experiment, tiny: everything is made once, and again when what it depends on changed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from demo_instances import write_small_demo

import treemean
from parser_instances import TINY_ENSEMBLE
from treemean import transforms
from treemean.errors import InvalidOption
from treemean.experiments import pipeline
from treemean.experiments.config import load_config
from treemean.experiments.demo import telling_sentence
from treemean.experiments.individuals import left_out
from treemean.experiments.parser import EnsembleParser
from treemean.experiments.pipeline import run_ensemble


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The files of the demo, fewer of them."""
    folder = tmp_path_factory.mktemp("files")
    return write_small_demo(folder)


def run(config, folder, *overrides):
    told = []
    outcome = run_ensemble(
        load_config(config, [*TINY_ENSEMBLE, *overrides]),
        folder,
        progress=lambda event: told.append(f"trained run {event.run}") if event.kind == "end" else None,
        tell=told.append,
    )
    return outcome, told


@pytest.fixture(scope="module")
def made(files, tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    return folder, *run(files, folder)


def test_everything_is_made(made):
    folder, outcome, told = made
    assert [line for line in told if line.startswith("trained")] == ["trained run 1", "trained run 2"]
    data = json.loads((folder / "results.json").read_text())
    assert [entry["selected_by"] for entry in data["training"]] == ["f1", "f1"]
    assert data["results"]["individuals"].keys() == {"run01", "run02"}
    assert data["config"]["ensemble"]["keep"] == 2
    assert "non-binary ensemble" in (folder / "results.md").read_text()
    gold = transforms.remove_punctuation(outcome.gold)
    average = treemean.read(outcome.files["average"])
    assert list(average.lengths) == list(gold.lengths)
    assert 0 <= telling_sentence(gold, average) < len(gold)
    # What the table says is what one gets by scoring the files.
    score = treemean.evaluate(average, outcome.gold, "paper").overall.f1
    assert data["results"]["ensembles"]["non-binary ensemble"]["overall"]["f1"] == pytest.approx(score)


def test_other_runs_that_kept_no_epochs_are_named(made, tmp_path):
    runs = made[0] / "runs"
    (tmp_path / "run03").mkdir()
    assert left_out([str(runs), str(tmp_path)], "runs") == [tmp_path / "run03"]
    expected = [runs / "run01", runs / "run02", tmp_path / "run03"]
    assert left_out([str(runs), str(tmp_path)], "epochs") == expected


def test_every_epoch_is_an_individual(files, tmp_path):
    kept = ("checkpoint.epochs=true", "training.epochs=2", "ensemble.individuals=epochs", "ensemble.keep=3")
    run(files, tmp_path, *kept)
    results = json.loads((tmp_path / "results.json").read_text())["results"]
    names = {f"run{number}-epoch{epoch}" for number in ("01", "02") for epoch in ("01", "02")}
    assert results["individuals"].keys() == names
    parser = EnsembleParser.read(tmp_path)  # that of the three that were chosen
    models = {tmp_path / "runs" / name[:5] / "epochs" / name[-2:] for name in names}
    assert len(set(parser.models)) == 3
    assert set(parser.models) < models
    assert len(parser.load()) == 3


def test_runs_of_other_folders_are_individuals(made, files, tmp_path):
    shutil.copytree(made[0] / "runs", tmp_path / "copy")
    (tmp_path / "copy" / "run01-old" / "model").mkdir(parents=True)  # no run
    (tmp_path / "copy" / "run03").mkdir()  # no model yet
    others = (str(made[0] / "runs"), str(tmp_path / "copy"))
    _, told = run(files, tmp_path, "run.runs=1", f"ensemble.others={json.dumps(others)}", "ensemble.keep=4")
    left_out = [line for line in told if "left out" in line]
    assert left_out == [f"{tmp_path / 'copy' / 'run03'} has no model, and is left out"]
    results = json.loads((tmp_path / "results.json").read_text())["results"]
    names = ["run01", "run01-of2", "run01-of3", "run02-of2", "run02-of3"]
    assert sorted(results["individuals"]) == names
    assert results["individuals"]["run02-of2"] == results["individuals"]["run02-of3"]
    parser = EnsembleParser.read(tmp_path)
    of_folder = {"of2": 0, "of3": 1}
    for name, model in zip(parser.runs, parser.models, strict=True):
        _, _, place = name.partition("-")
        home = Path(others[of_folder[place]]) if place else tmp_path / "runs"
        assert model == home / name[:5] / "model"
    assert len(parser.load()) == 4


@pytest.mark.parametrize(("individuals", "kept"), [("runs", ""), ("epochs", " that kept the models")])
def test_folders_without_runs(made, files, tmp_path, individuals, kept):
    settings = ("checkpoint.epochs=true", f"ensemble.individuals={individuals}")
    folder = tmp_path if individuals == "runs" else made[0] / "runs"
    with pytest.raises(InvalidOption, match=f"ensemble.others: there are no trained runs{kept}"):
        run(files, tmp_path, *settings, f"ensemble.others={json.dumps([str(folder)])}")


def test_other_runs_that_do_not_fit_are_noticed_before_training(made, files, tmp_path):
    runs = str(made[0] / "runs")
    own = str(tmp_path / "runs")
    shutil.copytree(runs, own)
    for others, overrides, message in (
        ([runs, runs], (), "is named twice, or is the ensemble's own"),
        ([own], (), "is named twice, or is the ensemble's own"),
        ([runs], ("data.lower_case=false",), "data.lower_case = True, and this ensemble has False"),
        ([runs], ("data.punctuation=keep",), "and this ensemble has 'keep'"),
    ):
        with pytest.raises(InvalidOption, match=message):
            run(files, tmp_path, *overrides, f"ensemble.others={json.dumps(others)}")
    assert not (tmp_path / "stages").exists()


def test_epochs_must_be_kept(files, tmp_path):
    with pytest.raises(InvalidOption, match=r"set checkpoint\.epochs = true"):
        run(files, tmp_path, "ensemble.individuals=epochs")


def test_nothing_is_made_twice(made, files):
    folder, first, _ = made
    second, told = run(files, folder)
    assert not [line for line in told if line.startswith("trained")]
    assert [line for line in told if "parses" in line or "averaging" in line] == [
        *(f"run0{i} parses the dev set: done before" for i in (1, 2)),
        *(f"run0{i} parses the test set: done before" for i in (1, 2)),
        "averaging 2 runs: done before",
    ]
    assert second.results.to_dict() == first.results.to_dict()


def test_only_what_changed_is_made_again(made, files):
    folder, *_ = made
    _, told = run(files, folder, "ensemble.keep=1", "ensemble.weigh=equal")
    assert not [line for line in told if line.startswith("trained")]
    assert "run01 parses the test set: done before" in told
    assert "averaging 1 run" in told
    alone = json.loads((folder / "results.json").read_text(), parse_constant=pytest.fail)  # no NaN in JSON
    assert alone["results"]["standard_deviation"]["overall"] is None
    assert "±" not in (folder / "results.md").read_text().partition("\n\n1 of 2")[0]
    (folder / "parses" / "test" / "run02.discbracket").unlink()
    _, told = run(files, folder)
    assert "run02 parses the test set" in told
    assert "run01 parses the test set: done before" in told


def test_sentences_of_great_length_do_not_stop_everything(made, files, tmp_path, monkeypatch):
    """They would take hours and much memory: they get nothing but a root, and that is told."""
    folder, *_ = made
    monkeypatch.setattr(pipeline, "MAX_LENGTH", 6)
    (folder / "parses" / "test" / "run01.discbracket").unlink()
    outcome, told = run(files, folder)
    lengths = transforms.remove_punctuation(outcome.gold).lengths
    assert 0 < (lengths == 7).sum() < len(lengths)
    assert f"{(lengths == 7).sum()} sentences of more than 6 words with nothing but a root" in "\n".join(told)
    for length, tree in zip(lengths, outcome.individuals["run01"], strict=True):
        assert len(tree.constituents) == (1 if length == 7 else length - 1)
    (folder / "parses" / "test" / "run01.discbracket").unlink()


def test_without_development_trees_all_runs_are_equal(files, tmp_path):
    outcome, told = run(files, tmp_path, "data.development=", "training.select=likelihood", "run.runs=2")
    assert outcome.results.selection.weights == (1.0, 1.0)
    assert any("no gold development trees" in line for line in told)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("ensemble.test=", "names no file"),
        ("ensemble.keep=3", "3 of 2 runs"),
        ("ensemble.weigh=luck", "ensemble.weigh should be one of .* not 'luck'"),
        ("ensemble.protocol=mine", "mine"),
    ],
)
def test_what_cannot_work_is_told_before_training(files, tmp_path, override, message):
    with pytest.raises(treemean.TreemeanError, match=message):
        run(files, tmp_path, override)
    assert not (tmp_path / "runs").exists()


def test_test_trees_may_be_a_folder_but_not_nothing(files, tmp_path):
    """Some treebanks are folders with a file for every sentence."""
    folder = tmp_path / "trees"
    folder.mkdir()
    treemean.write(treemean.read(files.parent / "test.discbracket")[:4], folder / "a.discbracket")
    outcome, _ = run(files, tmp_path / "out", f"ensemble.test={folder}", "run.runs=1", "ensemble.keep=1")
    assert len(outcome.gold) == 4
    (tmp_path / "empty.discbracket").touch()
    (tmp_path / "text.txt").write_text("de kat\n")
    for name, message in (("empty.discbracket", "there are no trees in"), ("text.txt", "is plain text")):
        with pytest.raises(InvalidOption, match=message):
            run(files, tmp_path / "none", f"ensemble.test={tmp_path / name}")
    assert not (tmp_path / "none").exists()


def test_invalid_options_are_of_one_kind(files, tmp_path):
    with pytest.raises(InvalidOption):
        run(files, tmp_path, "ensemble.keep=0")
