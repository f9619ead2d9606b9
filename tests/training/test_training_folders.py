"""Folders of runs that somebody or something has changed: what is whole is used, all else is told."""

from __future__ import annotations

import json
import math
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
import torch

import treemean.training.together
from parser_instances import tiny_config, write_instance
from training_instances import CONTINUOUS, Interrupted, failing, flip, interrupted, metrics, model_bytes
from treemean.errors import FormatError, TreemeanError
from treemean.files.sealed import sealed, unsealed
from treemean.training import load_config, train, train_runs
from treemean.training.folders import Metrics, NoModel, RunFolder
from treemean.training.gpu import StackedLearner
from treemean.training.learner import EagerLearner
from treemean.training.single import eager_learner, prepare_folder
from treemean.training.state import RunState
from treemean.training.together import Job, train_together

torch.set_num_threads(1)


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    return tiny_config(tmp_path_factory.mktemp("instance"), *CONTINUOUS)


@pytest.fixture(scope="module")
def whole(config, tmp_path_factory) -> Path:
    """The folder of a run to which nothing happened."""
    folder = tmp_path_factory.mktemp("whole")
    train(config, folder)
    return folder


@pytest.fixture(scope="module")
def begun(config, tmp_path_factory) -> Callable[[Path, int], Path]:
    """A function that makes a folder of a run that ended after some reports, and returns its checkpoint.

    Runs are trained once, and copied.
    """

    @cache
    def trained(steps: int) -> Path:
        folder = tmp_path_factory.mktemp("begun")
        interrupted(config, folder, steps)
        return folder

    def make(folder: Path, steps: int) -> Path:
        shutil.copytree(trained(steps), folder, dirs_exist_ok=True)
        return folder / "run01" / "checkpoint"

    return make


@pytest.fixture
def finished(whole, tmp_path) -> Path:
    """A copy of that folder."""
    return Path(shutil.copytree(whole, tmp_path / "finished"))


def notes_of_training(config, folder: Path, **options) -> list[str]:
    """Train to the end and return what was noted on the way."""
    events = []
    train(config, folder, progress=events.append, **options)
    return [event.message for event in events if event.kind == "note"]


def assert_same(folder: Path, whole: Path) -> None:
    assert model_bytes(folder) == model_bytes(whole)
    assert metrics(folder) == metrics(whole)


def tensors_of(description: Path) -> dict[str, Path]:
    files = json.loads(description.read_text())["files"]
    return {role: description.parent / entry["name"] for role, entry in files.items()}


# ---- checkpoints ------------------------------------------------------------------------------------


@pytest.mark.parametrize("damage", ["gone", "cut", "empty", "bit", "tensors cut", "tensors gone"])
def test_the_checkpoint_before_is_used_and_told(config, begun, whole, tmp_path, damage):
    place = begun(tmp_path / "parts", 6)
    path = place / "checkpoint.json"
    target = tensors_of(path)["current"] if damage.startswith("tensors") else path
    if damage.endswith("gone"):
        target.unlink()
    elif damage == "bit":
        flip(target, 4321)
    else:
        target.write_bytes(target.read_bytes()[: 0 if damage == "empty" else -30])
    before = json.loads((place / "previous.json").read_text())["state"]["step"]
    notes = notes_of_training(config, tmp_path / "parts")
    assert "going on from the checkpoint before it (previous.json)" in notes[0]
    assert str(path) in notes[0]
    assert notes[1] == f"going on after step {before}"
    assert_same(tmp_path / "parts", whole)


def test_a_damaged_checkpoint_never_becomes_the_one_before(config, begun, tmp_path):
    """The next interruption, too, finds two checkpoints that are whole."""
    place = begun(tmp_path, 6)
    (place / "checkpoint.json").write_text("{")
    interrupted(config, tmp_path, 3)
    for name in ("checkpoint.json", "previous.json"):
        RunState.from_dict(unsealed((place / name).read_bytes())["state"])
        assert all(path.exists() for path in tensors_of(place / name).values())


def test_any_flipped_bit_of_a_checkpoint_is_survived(config, begun, tmp_path):
    place = begun(tmp_path, 5)
    kept = {path.name: path.read_bytes() for path in place.iterdir()}
    size = 8 * len(kept["checkpoint.json"])
    for bit in range(0, size, size // 23):
        for name, data in kept.items():
            (place / name).write_bytes(data)
        flip(place / "checkpoint.json", bit)
        with pytest.raises(Interrupted):
            train(config, tmp_path, make_learner=failing(stop=0))


def test_two_damaged_checkpoints_are_an_error_that_says_what_to_do(config, begun, tmp_path):
    place = begun(tmp_path, 5)
    for name in ("checkpoint.json", "previous.json"):
        flip(place / name, 4321)
    files = sorted(place.iterdir())
    with pytest.raises(FormatError, match=r"checkpoint\.json: the checkpoint is damaged .*remove .* anew"):
        train(config, tmp_path)
    for name in ("checkpoint.json", "previous.json"):
        (place / name).unlink()
    with pytest.raises(FormatError, match=r"neither checkpoint\.json nor previous\.json is there"):
        train(config, tmp_path)
    assert sorted(place.iterdir()) == [path for path in files if path.suffix != ".json"]  # nothing is deleted


def test_a_damaged_best_model_is_mended_from_the_one_in_use(config, begun, whole, tmp_path):
    place = begun(tmp_path / "parts", 6)
    best = tensors_of(place / "checkpoint.json")["best"]
    assert best == tensors_of(place / "previous.json")["best"]  # so the checkpoint before is of no help
    data = best.read_bytes()
    flip(best, 99)
    with pytest.raises(Interrupted):
        train(config, tmp_path / "parts", make_learner=failing(stop=0))
    assert best.read_bytes() == data
    best.unlink()
    notes = notes_of_training(config, tmp_path / "parts")
    assert "model.safetensors has the same content and is used instead" in notes[0]
    assert_same(tmp_path / "parts", whole)


def test_a_best_model_that_is_nowhere_is_an_error_that_says_what_to_do(config, begun, tmp_path):
    place = begun(tmp_path, 6)
    best = tensors_of(place / "checkpoint.json")["best"]
    flip(best, 99)
    (tmp_path / "run01" / "model" / "model.safetensors").unlink()
    with pytest.raises(FormatError, match=rf"{best.name}, which .* damaged or incomplete.* remove .* anew"):
        train(config, tmp_path)


def test_a_checkpoint_without_a_checksum_is_used(config, begun, whole, tmp_path):
    place = begun(tmp_path / "parts", 4)
    for name in ("checkpoint.json", "previous.json"):
        told = unsealed((place / name).read_bytes())
        del told["checksum"]
        (place / name).write_text(json.dumps(told))
    assert notes_of_training(config, tmp_path / "parts")[0].startswith("going on after step")
    assert_same(tmp_path / "parts", whole)


def test_a_checkpoint_of_another_version_is_refused(config, begun, tmp_path):
    path = begun(tmp_path, 4) / "checkpoint.json"
    path.write_bytes(sealed(unsealed(path.read_bytes()) | {"version": 7}))
    with pytest.raises(FormatError, match="a checkpoint of version 7"):
        train(config, tmp_path)


WRONG = [None, "text", -1, [], {"a": 1}, True]


@pytest.mark.parametrize("every", [pytest.param(1, marks=pytest.mark.slow), 7])
def test_wrong_types_in_a_checkpoint_are_errors_that_name_the_file(config, begun, tmp_path, every):
    """Not by damage, which the checksum tells, but as another treemean might have written it."""
    place = begun(tmp_path, 5)
    told = unsealed((place / "checkpoint.json").read_bytes())
    state = told["state"]
    wrong = [{"state": value} for value in WRONG] + [{"files": value} for value in WRONG]
    wrong += [{"files": {**told["files"], "current": value}} for value in WRONG]
    wrong += [{"files": {}}, {"files": {"current": {"name": "../x", "sha256": "0"}}}]
    wrong += [{"state": state | {"new": 1}}, {"state": {}}]
    wrong += [{"state": state | {"factor": factor}} for factor in (0, -0.5, 2.0, math.nan)]
    for key, value in state.items():
        fitting = {bool: [True], str: ["text"]}.get(type(value), [])
        wrong += [
            {"state": state | {key: w}} for w in WRONG if w not in fitting and (w, key) != (None, "best")
        ]
    for key, value in state["watch"].items():
        may_be = {"lowest": [None, -1], "mean": [-1]}.get(key, [])
        some = [w for w in WRONG if w not in may_be]
        wrong += [{"state": state | {"watch": state["watch"] | {key: w}}} for w in some if w is not value]
    for change in wrong[::every]:
        for name in ("checkpoint.json", "previous.json"):
            (place / name).write_bytes(sealed(told | change))
        with pytest.raises(FormatError, match=r"checkpoint\.json: .*another treemean"):
            train(config, tmp_path, make_learner=failing(stop=0))


# ---- metrics ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [None, 0, 100, -7])
def test_lost_metrics_do_not_stop_a_run(config, begun, whole, tmp_path, size):
    begun(tmp_path / "parts", 4)
    path = tmp_path / "parts" / "run01" / "metrics.jsonl"
    place = tmp_path / "parts" / "run01" / "checkpoint" / "checkpoint.json"
    kept = path.read_bytes()[: json.loads(place.read_text())["state"]["metrics_size"]]
    path.unlink()
    if size is not None:
        path.write_bytes(kept[:size])
    assert any(
        "metrics.jsonl was removed or shortened" in n for n in notes_of_training(config, tmp_path / "parts")
    )
    assert model_bytes(tmp_path / "parts") == model_bytes(whole)
    found, expected = metrics(tmp_path / "parts"), metrics(whole)
    assert found[-1] == expected[-1]
    assert all(entry in expected for entry in found)


def test_metrics_know_their_size_at_once(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(b'{"a": 1}\n{"b": 2}\n')
    kept = Metrics(path, 9)
    assert (kept.flush(), kept.lost) == (9, 0)
    kept.write({"c": math.inf})
    kept.close()
    assert path.read_text() == '{"a": 1}\n{"c": null}\n'


# ---- what is mixed up -------------------------------------------------------------------------------


def test_a_checkpoint_of_other_settings_or_data_is_refused(tmp_path):
    path = write_instance(tmp_path)
    interrupted(load_config(path), tmp_path / "out", 3)
    (tmp_path / "out" / "resolved.toml").unlink()
    with pytest.raises(TreemeanError, match=r"checkpoint\.json is of another configuration .*another folder"):
        train(load_config(path, ["optimiser.rate=0.5"]), tmp_path / "out")
    train(load_config(path), tmp_path / "out", run=2)  # the folder is still that of the first
    for file in (tmp_path / "out" / "corpus").iterdir():
        file.unlink()
    (tmp_path / "train.txt").write_text("de kat slaapt\nde hond ziet de kat\n" * 9)
    with pytest.raises(TreemeanError, match=r"\.json is of another configuration or of other data"):
        train(load_config(path), tmp_path / "out")


def test_a_checkpoint_of_another_run_is_refused(config, begun, tmp_path):
    place = begun(tmp_path / "out", 4)
    shutil.copytree(place, tmp_path / "new" / "run02" / "checkpoint")
    message = r"run02/checkpoint/checkpoint\.json is of another run \(run01, not run02\).* to begin anew"
    with pytest.raises(TreemeanError, match=message):
        train(config, tmp_path / "new", run=2)
    place.parent.parent.rename(tmp_path / "moved")  # which is no other run
    assert notes_of_training(config, tmp_path / "moved")[0].startswith("going on after step")


def test_a_result_of_another_run_is_refused(config, finished):
    shutil.copytree(finished / "run01", finished / "run02")
    with pytest.raises(TreemeanError, match=r"run02 holds run 1, not run 2: remove it to train the run anew"):
        train(config, finished, run=2)


@pytest.mark.parametrize("damaged", [b"[grammar\n", b"\xff", b"", b"[grammer]\n"])
def test_a_damaged_configuration_of_a_folder_says_what_to_do(config, begun, tmp_path, damaged):
    begun(tmp_path, 3)
    path = tmp_path / "resolved.toml"
    path.write_bytes(damaged)
    with pytest.raises(
        FormatError, match=r"resolved\.toml: .* is damaged.*: remove .*, and it is written anew"
    ):
        train(config, tmp_path)
    path.unlink()  # as it advises
    assert train(config, tmp_path).run == 1
    assert load_config(path) == config


def test_other_settings_are_refused_while_a_run_begins(config, tmp_path):
    """Also before there is a checkpoint that would show that it has."""
    other = replace(config, optimiser=replace(config.optimiser, rate=0.5))
    same = replace(config, checkpoint=replace(config.checkpoint, steps=5))

    def intrude(grammar, config, world):
        with pytest.raises(TreemeanError, match=r"optimiser\.rate was 0\.002 and is 0\.5.*another folder"):
            train(other, tmp_path / "out", run=2)
        train(same, tmp_path / "out", run=2)
        return eager_learner(grammar, config, world)

    train(config, tmp_path / "out", make_learner=intrude)
    assert load_config(tmp_path / "out" / "resolved.toml").optimiser.rate == 0.002


def test_of_two_processes_that_begin_at_once_with_other_settings_one_is_refused(config, tmp_path):
    other = replace(config, optimiser=replace(config.optimiser, rate=0.5))
    prepare_folder(config, tmp_path / "out")
    prepare_folder(other, tmp_path / "out")
    with (
        pytest.raises(TreemeanError, match=r"optimiser\.rate was 0\.5 and is 0\.002"),
        RunFolder(tmp_path / "out", 1).locked(config),
    ):
        pass
    with RunFolder(tmp_path / "out", 2).locked(other), pytest.raises(TreemeanError, match="rate was"):
        prepare_folder(config, tmp_path / "out")


# ---- runs without a model ---------------------------------------------------------------------------


class Hopeless(EagerLearner):
    """A learner that makes no step."""

    def step(self, request):
        return super().step(replace(request, limit=-math.inf))


class HopelessSecond(StackedLearner):
    """Runs of which the second makes no step."""

    def step(self, requests):
        return super().step({p: replace(r, limit=-math.inf) if p else r for p, r in requests.items()})


def test_parameters_as_they_were_drawn_are_no_model(config, tmp_path):
    def hopeless(grammar, config, world):
        return Hopeless(grammar, config, seed=1, world=world)

    for _ in range(2):
        with pytest.raises(NoModel, match="run 1 ended without a model"):
            train(config, tmp_path, make_learner=hopeless)
    assert not (tmp_path / "run01" / "model").exists()


def test_a_run_without_a_model_does_not_keep_others_from_theirs(config, tmp_path):
    made = []

    def first_is_hopeless(grammar, config, world):
        made.append(len(made))
        kind = EagerLearner if len(made) == 2 else Hopeless
        return kind(grammar, config, seed=1, world=world)

    message = r"1 of 2 runs has no model; those that are finished are not trained again\. run 1 ended without"
    for times in (2, 3):  # the second time, only the one without a model is asked again
        with pytest.raises(NoModel, match=message):
            train_runs(config, tmp_path, runs=2, make_learner=first_is_hopeless)
        assert len(made) == times
    assert model_bytes(tmp_path, 2)
    assert (tmp_path / "run02" / "result.json").exists()


def test_together_a_run_without_a_model_does_not_keep_others_from_theirs(config, tmp_path, monkeypatch):
    jobs = [Job(config, tmp_path / "out", run) for run in (1, 2)]
    monkeypatch.setattr(treemean.training.together, "StackedLearner", HopelessSecond)
    for _ in range(2):
        with pytest.raises(NoModel, match=r"1 of 2 runs has no model.* run 2 ended without a model"):
            train_together(jobs)
        result = (tmp_path / "out" / "run01" / "result.json").stat()
    assert train_together(jobs[:1])[0].steps == 19
    assert (tmp_path / "out" / "run01" / "result.json").stat() == result
    assert metrics(tmp_path / "out", 1)[-1]["train"]["sentences"] == 33


@pytest.mark.slow
def test_side_by_side_a_run_that_fails_does_not_keep_others_from_their_results(config, tmp_path):
    (tmp_path / "out" / "run01" / "metrics.jsonl").mkdir(parents=True)
    with pytest.raises(TreemeanError, match=r"run 1 failed: .*Is a directory"):
        train_runs(config, tmp_path / "out", runs=3, parallel=2)
    assert all((tmp_path / "out" / f"run0{run}" / "result.json").exists() for run in (2, 3))


def test_a_finished_run_whose_model_is_damaged_says_so(config, finished):
    for name in ("model.safetensors", "model.json"):
        path = finished / "run01" / "model" / name
        good = path.read_bytes()
        for bad in (good[:-2], good[:-9] + b"x" + good[-8:], b""):
            path.write_bytes(bad)
            message = rf"run 1 is finished, but its model is damaged \(.*{name}: .* remove .*run01 to train"
            with pytest.raises(TreemeanError, match=message):
                train_runs(config, finished, runs=1)
        path.write_bytes(good)
    assert train_runs(config, finished, runs=1)[0].run == 1


@pytest.mark.parametrize(
    ("name", "together"),
    [
        ("model.json", False),
        ("model.safetensors", True),
        pytest.param("model.json", True, marks=pytest.mark.slow),
        pytest.param("model.safetensors", False, marks=pytest.mark.slow),
    ],
)
def test_a_finished_run_whose_model_is_gone_says_so(config, finished, name, together):
    (finished / "run01" / "model" / name).unlink()
    message = rf"run 1 is finished, but its model is gone: there is no .*{name}.* remove .*run01 to train"
    with pytest.raises(NoModel, match=message):
        train(config, finished)
    with pytest.raises(NoModel, match=message):  # and the other one is trained
        train_runs(config, finished, runs=2, together=together)
    assert train(config, finished, run=2, make_learner=failing(stop=0)).run == 2
    for path in (finished / "run01").iterdir():  # as it advises
        if path.is_file():
            os.remove(path)
    assert train(config, finished).run == 1


def test_a_damaged_result_says_what_to_do(config, finished):
    path = finished / "run01" / "result.json"
    told = unsealed(path.read_bytes())
    for change in ({"steps": -3}, {"metrics": None}, {"epoch": "2"}, {"new": 1}):
        path.write_bytes(sealed(told | change))
        with pytest.raises(
            FormatError, match=r"result\.json: the result is damaged .* to train the run anew"
        ):
            train(config, finished)
    path.write_text(json.dumps(told))
    assert train(config, finished).steps == 19
