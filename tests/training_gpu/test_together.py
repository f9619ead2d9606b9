"""Runs trained together: the same as alone, in pieces, in trouble each on its own."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import treemean.training.together
from parser_instances import tiny_config, write_instance
from training_instances import CONTINUOUS, metrics, model_bytes
from treemean.errors import InvalidOption, TreemeanError
from treemean.parsing import Model
from treemean.program import STOPPED
from treemean.training import TrainingConfig, train, train_runs
from treemean.training.__main__ import main
from treemean.training.gpu import StackedLearner
from treemean.training.stopping import Stopped
from treemean.training.together import Job, can_be_together, train_together

torch.set_num_threads(1)


def of_kind(event: str, folder: Path, run: int) -> list[dict]:
    return [entry for entry in metrics(folder, run) if entry["event"] == event]


def jobs(config: TrainingConfig, folder: Path, *runs: int) -> list[Job]:
    return [Job(config, folder, run) for run in runs]


class After:
    """Stops after some steps."""

    def __init__(self, steps: int) -> None:
        self.left = steps

    def __call__(self) -> bool:
        self.left -= 1
        return self.left < 0


def assert_close(a: Path, run_a: int, b: Path, run_b: int) -> None:
    """Compare two runs to rounding."""
    for kind, name in (("step", "loss"), ("step", "norm"), ("step", "rate")):
        found = [
            [entry[name] for entry in of_kind(kind, folder, run)] for folder, run in ((a, run_a), (b, run_b))
        ]
        assert found[0] == pytest.approx(found[1], rel=1e-5)
    scores = [of_kind("epoch", folder, run)[-1]["development"] for folder, run in ((a, run_a), (b, run_b))]
    assert scores[0]["log_likelihood"] == pytest.approx(scores[1]["log_likelihood"], rel=1e-6)


@pytest.mark.parametrize("overrides", [(), ("batches.lengths=mixed", "optimiser.average=0.9")])
def test_runs_together_are_the_runs_one_after_the_other(tmp_path, overrides):
    config = tiny_config(tmp_path, "training.precision=float64", "optimiser.schedule=cosine", *overrides)
    apart = train_runs(config, tmp_path / "apart", runs=2, together=False)
    told = []
    results = train_runs(config, tmp_path / "together", runs=2, together=True, progress=told.append)
    assert [(r.run, r.steps, r.finished) for r in results] == [(r.run, r.steps, r.finished) for r in apart]
    for run in (1, 2):
        assert_close(tmp_path / "apart", run, tmp_path / "together", run)
        Model.load(results[run - 1].model)
    assert {event.run for event in told} == {1, 2}
    assert not (tmp_path / "together" / "run01" / "checkpoint").exists()
    assert train_runs(config, tmp_path / "together", runs=2, together=True) == [
        replace(result, metrics=dict(result.metrics)) for result in results
    ]


def test_pieces_make_the_same_runs_to_the_last_bit(tmp_path):
    config = tiny_config(tmp_path)
    train_together(jobs(config, tmp_path / "whole", 1, 2))
    pieces = 0
    for steps in (1, 4, 0, 2, 99):
        try:
            train_together(jobs(config, tmp_path / "parts", 1, 2), stop=After(steps))
        except Stopped:
            pieces += 1
    assert pieces == 4
    for run in (1, 2):
        assert model_bytes(tmp_path / "whole", run) == model_bytes(tmp_path / "parts", run)
        assert metrics(tmp_path / "whole", run) == metrics(tmp_path / "parts", run)


def test_a_run_that_is_behind_catches_up(tmp_path):
    config = tiny_config(tmp_path, "training.precision=float64", *CONTINUOUS)
    train_together(jobs(config, tmp_path / "whole", 1, 2))
    with pytest.raises(Stopped):
        train(config, tmp_path / "parts", run=2, stop=After(1))
    results = train_together(jobs(config, tmp_path / "parts", 1, 2))
    assert [result.steps for result in results] == [19, 19]
    for run in (1, 2):
        assert_close(tmp_path / "whole", run, tmp_path / "parts", run)


def test_runs_of_different_lengths_seeds_and_rates(tmp_path):
    config = tiny_config(tmp_path, "training.precision=float64", *CONTINUOUS)
    short = replace(
        config,
        training=replace(config.training, epochs=1),
        run=replace(config.run, init_seed=7),
        optimiser=replace(config.optimiser, rate=0.01, warm_up=4, average=0.9),
    )
    together = [Job(short, tmp_path / "short"), Job(config, tmp_path / "long")]
    assert [result.epoch <= epochs for result, epochs in zip(train_together(together), (1, 2))] == [
        True,
        True,
    ]
    train(short, tmp_path / "short-alone")
    train(config, tmp_path / "long-alone")
    for name in ("short", "long"):
        assert_close(tmp_path / name, 1, tmp_path / f"{name}-alone", 1)


class Troubled(StackedLearner):
    """Runs of which the second meets batches of no use for a while."""

    made = 0

    def step(self, requests):
        self.made += 1
        if 1 in requests and 12 <= self.made < 16:
            requests = {**requests, 1: replace(requests[1], limit=-math.inf)}
        return super().step(requests)


def test_trouble_of_one_run_is_not_that_of_others(tmp_path, monkeypatch):
    settings = ("recovery.skips=3", "training.epochs=3", "training.precision=float64")
    config = tiny_config(tmp_path, *settings, *CONTINUOUS)
    train_together(jobs(config, tmp_path / "good", 1, 2))
    monkeypatch.setattr(treemean.training.together, "StackedLearner", Troubled)
    results = train_together(jobs(config, tmp_path / "bad", 1, 2))
    assert [result.finished for result in results] == ["all 3 epochs are over"] * 2
    assert not of_kind("restore", tmp_path / "bad", 1)
    assert metrics(tmp_path / "bad", 1) == metrics(tmp_path / "good", 1)
    (restored,) = of_kind("restore", tmp_path / "bad", 2)
    assert restored["factor"] == 0.5
    assert len(of_kind("skip", tmp_path / "bad", 2)) == 4


class Overflowing(StackedLearner):
    """Runs of which the second has some steps that are no numbers but in full precision."""

    def _quickly(self, requests):
        overflowing = 1 in requests and requests[1].step in (2, 3, 10)
        if overflowing:
            requests = {**requests, 1: replace(requests[1], limit=-math.inf)}
        outcomes = super()._quickly(requests)
        if overflowing:
            outcomes[1, 0] = math.nan
        return outcomes


def test_steps_that_overflow_are_made_in_full_precision_for_their_run(tmp_path, monkeypatch):
    config = tiny_config(tmp_path, *CONTINUOUS)
    train_together(jobs(config, tmp_path / "good", 1, 2))
    monkeypatch.setattr(treemean.training.together, "StackedLearner", Overflowing)
    train_together(jobs(config, tmp_path / "bad", 1, 2))
    assert metrics(tmp_path / "bad", 1) == metrics(tmp_path / "good", 1)
    assert not of_kind("skip", tmp_path / "bad", 2)
    assert [entry["applied"] for entry in of_kind("redo", tmp_path / "bad", 2)] == [True] * 3
    losses = [[e["loss"] for e in of_kind("step", tmp_path / name, 2)] for name in ("good", "bad")]
    assert losses[0] == pytest.approx(losses[1], rel=1e-2)  # the same steps, in another order
    for steps in (1, 4, 99):
        with suppress(Stopped):
            train_together(jobs(config, tmp_path / "parts", 1, 2), stop=After(steps))
    for run in (1, 2):
        assert model_bytes(tmp_path / "bad", run) == model_bytes(tmp_path / "parts", run)
        assert metrics(tmp_path / "bad", run) == metrics(tmp_path / "parts", run)


def test_the_program_trains_together_in_pieces(tmp_path, capsys):
    command = [str(write_instance(tmp_path)), "--folder", str(tmp_path / "out"), "--runs", "2"]
    assert main([*command, "--together", "--seconds", "0"]) == STOPPED
    assert "the same command goes on" in capsys.readouterr().out
    assert main([*command, "--together", "--seconds", "600"]) == 0
    assert "run02/model: epoch" in capsys.readouterr().out
    assert (
        main(
            [str(tmp_path / "config.toml"), "--folder", str(tmp_path / "one"), "--run", "1", "--seconds", "0"]
        )
        == 75
    )


def test_what_cannot_be_together_is_refused(tmp_path):
    config = tiny_config(tmp_path)
    assert not can_be_together(config)  # there is no GPU
    with pytest.raises(InvalidOption, match="trained together share one process"):
        train_runs(config, tmp_path / "out", runs=2, together=True, parallel=2)
    with pytest.raises(InvalidOption, match="cannot be stopped"):
        train_runs(config, tmp_path / "out", runs=2, parallel=2, stop=After(1))
    other = replace(config, data=replace(config.data, vocabulary=3))
    with pytest.raises(InvalidOption, match="different vocabularies"):
        train_together([Job(config, tmp_path / "a"), Job(other, tmp_path / "b")])


def test_too_little_memory_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    config = tiny_config(tmp_path)
    for method in ("prepare", "step"):
        with monkeypatch.context() as patched:
            patched.setattr(StackedLearner, method, fail)
            with pytest.raises(TreemeanError, match=r"not enough memory .* Train fewer runs together"):
                train_together(jobs(config, tmp_path / "out", 1, 2))
    assert len(train_together(jobs(config, tmp_path / "out", 1, 2))) == 2
