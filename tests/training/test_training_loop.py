"""One run: what it writes, resuming, spikes, early stopping, and many runs."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest
import torch

from parser_instances import SENTENCES, tiny_config, write_instance
from training_instances import COMPOUND, CONTINUOUS, Interrupted, failing, metrics, model_bytes
from treemean.errors import FormatError, InvalidOption, TreemeanError
from treemean.parsing import Model
from treemean.training import StepOutcome, load_config, train, train_runs
from treemean.training.adam import Adam
from treemean.training.distributed import World
from treemean.training.learner import Request
from treemean.training.sections import OptimiserConfig
from treemean.training.single import eager_learner, initial_grammar

torch.set_num_threads(1)


def test_a_run_writes_model_metrics_and_result(tmp_path):
    config = tiny_config(tmp_path)
    told = []
    result = train(config, tmp_path / "out", progress=told.append)
    assert result.model == tmp_path / "out" / "run01" / "model"
    assert (result.select, result.steps, result.finished) == ("f1", 19, "all 2 epochs are over")
    assert set(result.metrics) >= {"f1", "f1_continuous", "f1_discontinuous", "perplexity", "log_likelihood"}
    events = metrics(tmp_path / "out")
    assert [e["epoch"] for e in events if e["event"] == "epoch"] == [1, 2]
    assert all(e["select"] == "f1" for e in events if e["event"] == "epoch")
    lengths = [sum(any(c.isalnum() for c in word) for word in text.split()) for text in SENTENCES * 3]
    used = sum(n for limit in (6, 7) for n in lengths if 2 <= n <= limit)
    assert sum(e["words"] for e in events if e["event"] == "step") == used
    assert told[0].message == (
        "33 sentences to train on, 21 known words, 12 development sentences with gold trees; "
        "left out: 3 sentences of one word"
    )
    steps = [e for e in told if e.kind == "step"]
    assert steps[-1].step == steps[-1].steps
    assert all(e.perplexity > 1 and e.words_per_second > 0 and e.seconds_left >= 0 for e in steps)
    provenance = Model.load(result.model).provenance
    assert set(provenance["software"]) == {"treemean", "torch", "numpy", "python"}
    assert provenance["config"]["run.init_seed"] == 1
    assert provenance["selected"]["by"] == "f1"
    assert str(tmp_path) not in json.dumps(provenance)  # no folders of this machine
    assert len(provenance["data"]["files"]["train"]["1: train.txt"]) == 64
    assert provenance["data"]["train"]["one_word"] == 3
    assert not (tmp_path / "out" / "run01" / "checkpoint").exists()


def test_a_finished_run_is_not_trained_again(tmp_path):
    config = tiny_config(tmp_path)
    first = train(config, tmp_path / "out")

    def refuse(*_):
        raise AssertionError("trained again")

    again = train(config, tmp_path / "out", make_learner=refuse)
    assert again == replace(first, metrics=dict(first.metrics))


def check_interrupted(config, folder, stops):
    """Train again, interrupted after so many steps each time; some are lost, as between checkpoints."""
    for stop in stops:
        with pytest.raises(Interrupted):
            train(config, folder / "parts", make_learner=failing(stop=stop))
    train(config, folder / "parts")
    assert model_bytes(folder / "whole") == model_bytes(folder / "parts")
    assert metrics(folder / "whole") == metrics(folder / "parts")


@pytest.mark.parametrize("overrides", [(), ("optimiser.average=0.9", "optimiser.schedule=cosine"), COMPOUND])
def test_interrupted_runs_end_bit_for_bit_the_same(tmp_path, overrides):
    config = tiny_config(tmp_path, *overrides)
    train(config, tmp_path / "whole")
    check_interrupted(config, tmp_path, (0, 1, 4, 7, 5, 2))


def test_steps_that_are_no_numbers_are_left_out_and_told(tmp_path):
    config = tiny_config(tmp_path)
    told = []
    train(config, tmp_path / "out", make_learner=failing(bad=(2, 5)), progress=told.append)
    events = metrics(tmp_path / "out")
    skips = [e for e in events if e["event"] == "skip"]
    assert len(skips) == 2
    assert skips[0]["objective"] is None
    assert sum("a step was left out" in e.message for e in told) == 2
    assert [e["train"]["skipped"] for e in events if e["event"] == "epoch"] == [2, 0]
    assert [e["applied"] for e in events if e["event"] == "redo"] == [False, False]


def test_the_learner_leaves_out_what_is_over_the_limit(tmp_path):
    config = tiny_config(tmp_path)
    learner = eager_learner(initial_grammar(config, 9), config, World())
    before = [p.clone() for p in learner.grammar.parameters()]
    request = Request(torch.tensor([[1, 2, 3]]), None, 3, rate=0.1, limit=1e-3)
    outcome = learner.step(request)
    assert outcome[StepOutcome.APPLIED] == 0
    assert all(torch.equal(a, b) for a, b in zip(before, learner.grammar.parameters()))
    assert learner.step(replace(request, limit=math.inf))[StepOutcome.APPLIED] == 1
    assert not all(torch.equal(a, b) for a, b in zip(before, learner.grammar.parameters()))
    with torch.no_grad():
        next(learner.grammar.parameters()).fill_(math.nan)
    assert learner.step(replace(request, limit=math.inf))[StepOutcome.APPLIED] == 0


def test_a_run_in_trouble_goes_back_with_a_lower_rate_and_keeps_its_best_model(tmp_path):
    config = tiny_config(tmp_path, "recovery.skips=3", "recovery.most=1", "training.epochs=4", *CONTINUOUS)
    bad = range(12, 16)
    result = train(config, tmp_path / "out", make_learner=failing(bad=bad))
    events = metrics(tmp_path / "out")
    (restored,) = [e for e in events if e["event"] == "restore"]
    assert restored["factor"] == 0.5
    rates = [e["rate"] for e in events if e["event"] == "step"]
    assert rates[0] == 0.002
    assert rates[-1] == 0.001
    assert result.finished == "all 4 epochs are over"
    result = train(config, tmp_path / "lost", make_learner=failing(bad=range(12, 99)))
    assert "after 1 recoveries" in result.finished
    assert result.epoch == 1
    Model.load(result.model)


def test_broken_parameters_are_not_kept_and_the_run_goes_back(tmp_path):
    """Parameters that are no numbers are noticed at the end of an epoch at the latest."""
    config = tiny_config(tmp_path, "training.epochs=4", *CONTINUOUS)
    result = train(config, tmp_path / "out", make_learner=failing(broken=12))  # in the second epoch
    events = metrics(tmp_path / "out")
    (restored,) = [e for e in events if e["event"] == "restore"]
    assert restored["reason"] == "development sentences have no finite likelihood"
    assert [e["epoch"] for e in events if e["event"] == "epoch"] == [1, 3, 4]
    assert result.metrics["again"] == 0
    assert all(torch.isfinite(p).all() for p in Model.load(result.model).grammar.parameters())


def test_a_run_that_never_had_a_model_says_so(tmp_path):
    config = tiny_config(tmp_path, "optimiser.rate=1e30", "recovery.most=1", "training.epochs=9", *CONTINUOUS)
    for _ in range(2):  # also when it is asked again
        with pytest.raises(TreemeanError, match=r"run 1 ended without a model.*a lower optimiser\.rate"):
            train(config, tmp_path / "out")


def test_trouble_and_interruption_together_end_the_same(tmp_path):
    config = tiny_config(
        tmp_path, "recovery.drift=0.01", "recovery.window=3", "training.epochs=3", *CONTINUOUS
    )
    train(config, tmp_path / "whole")
    assert any(e["event"] == "restore" for e in metrics(tmp_path / "whole"))
    check_interrupted(config, tmp_path, (5, 8, 2, 4))


def test_patience_ends_a_run(tmp_path):
    config = tiny_config(
        tmp_path, "training.patience=1", "training.epochs=9", "optimiser.rate=1e-30", *CONTINUOUS
    )
    result = train(config, tmp_path / "out")
    assert (result.epoch, result.finished) == (1, "1 epochs without improvement")


def test_selection_by_likelihood_needs_nothing_but_text(tmp_path):
    config = tiny_config(tmp_path, "training.select=likelihood")
    config = replace(config, data=replace(config.data, development=""))
    result = train(config, tmp_path / "out")
    assert result.select == "likelihood"
    assert result.metrics["f1"] is None
    text = replace(config.data, development=str(tmp_path / "train.txt"))
    result = train(replace(config, data=text), tmp_path / "text")
    assert result.metrics["sentences"] == 33
    with pytest.raises(InvalidOption, match="needs gold trees"):
        train(replace(config, data=text, training=replace(config.training, select="f1")), tmp_path / "f1")


def test_runs_share_their_beginning_and_differ_in_order(tmp_path):
    config = tiny_config(tmp_path)
    starts = []

    def spy(grammar, config, world):
        starts.append({name: value.clone() for name, value in grammar.state_dict().items()})
        return eager_learner(grammar, config, world)

    results = train_runs(config, tmp_path / "out", runs=2, make_learner=spy)
    assert all(torch.equal(starts[0][name], starts[1][name]) for name in starts[0])
    assert model_bytes(tmp_path / "out", 1) != model_bytes(tmp_path / "out", 2)
    assert [result.run for result in results] == [1, 2]
    other = replace(config, run=replace(config.run, init_seed=2))
    assert not torch.equal(*(next(initial_grammar(c, 9).parameters()) for c in (config, other)))


@pytest.mark.parametrize("runs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_runs_side_by_side_are_the_same_as_one_after_the_other(tmp_path, monkeypatch, runs):
    """Those that end well; the last one fails."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "torch.py").write_text("raise ImportError('not a module, a file of the user')")
    config = tiny_config(tmp_path)
    train_runs(config, tmp_path / "one", runs=runs)
    told = []
    (tmp_path / "two" / f"run0{runs + 1}" / "metrics.jsonl").mkdir(parents=True)
    with pytest.raises(TreemeanError, match=rf"^run {runs + 1} failed: .*metrics\.jsonl: Is a directory"):
        train_runs(config, tmp_path / "two", runs=runs + 1, parallel=2, progress=told.append)
    numbers = list(range(1, runs + 1))
    for run in numbers:
        assert model_bytes(tmp_path / "one", run) == model_bytes(tmp_path / "two", run)
    assert {event.run for event in told} >= set(numbers)
    results = train_runs(config, tmp_path / "two", runs=runs, parallel=2)  # in no process: they are over
    assert [result.run for result in results] == numbers


def test_another_configuration_or_other_data_in_a_folder_is_refused(tmp_path):
    path = write_instance(tmp_path)
    train(load_config(path), tmp_path / "out")
    with pytest.raises(TreemeanError, match=r"optimiser.rate was 0.002 and is 0.5"):
        train(load_config(path, ["optimiser.rate=0.5"]), tmp_path / "out")
    train(load_config(path, ["checkpoint.steps=1", "run.runs=5", "training.device=cpu"]), tmp_path / "out")
    (tmp_path / "train.txt").write_text("\n".join(SENTENCES))
    with pytest.raises(TreemeanError, match=r"other content \(data.train\)"):
        train(load_config(path), tmp_path / "out")
    (tmp_path / "train.txt").unlink()  # a folder that is prepared needs no files
    train(load_config(path), tmp_path / "out", run=2)
    with pytest.raises(FormatError, match=r"train.txt"):
        train(load_config(path), tmp_path / "new")


def test_two_processes_do_not_train_the_same_run(tmp_path):
    config = tiny_config(tmp_path)

    def intrude(grammar, config, world):
        with pytest.raises(TreemeanError, match="another process is training"):
            train(config, tmp_path / "out")
        return eager_learner(grammar, config, world)

    train(config, tmp_path / "out", make_learner=intrude)


@pytest.mark.parametrize("lengths", ["equal", "mixed"])
def test_parts_of_a_batch_add_up_to_the_batch(tmp_path, lengths):
    whole = tiny_config(tmp_path, f"batches.lengths={lengths}", "training.precision=float64")
    parts = replace(whole, batches=replace(whole.batches, at_once=1))
    first = train(whole, tmp_path / "whole")
    second = train(parts, tmp_path / "parts")
    assert first.metrics["log_likelihood"] == pytest.approx(second.metrics["log_likelihood"], rel=1e-9)


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_the_optimiser_is_adam(decay):
    torch.manual_seed(2)
    config = OptimiserConfig(weight_decay=decay, epsilon=1e-6)
    ours, theirs = ([torch.nn.Parameter(torch.ones(3, 2).double()) for _ in range(2)] for _ in range(2))
    adam = Adam(ours, config)
    options = {"betas": config.betas, "eps": config.epsilon, "weight_decay": decay}
    reference = torch.optim.Adam(theirs, lr=1.0, **options)
    for step in range(20):
        for a, b in zip(ours, theirs, strict=True):
            a.grad = torch.randn(3, 2).double()
            b.grad = a.grad.clone()
        if step % 3 == 0:  # as if the second had played no part
            ours[1].grad = theirs[1].grad = None
        rate = 0.1 / (step + 1)
        reference.param_groups[0]["lr"] = rate
        adam.step(rate)
        reference.step()
        if step == 10:
            state = {name: tensor.clone() for name, tensor in adam.state().items()}
            adam = Adam(ours, config)
            adam.load_state(state)
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, b)


def test_averaged_weights_are_kept_and_current_ones_go_on(tmp_path):
    config = tiny_config(tmp_path, "optimiser.average=0.5")
    learner = eager_learner(initial_grammar(config, 9), config, World())
    request = Request(torch.tensor([[1, 2, 3]]), None, 3, rate=0.1, limit=math.inf)
    first = next(learner.grammar.parameters())
    start = first.detach().clone()
    learner.step(request)
    after = first.detach().clone()
    average = torch.lerp(start, after, 9 / 11)  # what comes first counts little
    with learner.evaluated():
        assert torch.allclose(first, average)
    assert torch.equal(first, after)
    for steps in range(2, 20):
        learner.step(request)
        average = torch.lerp(average, first.detach(), max(0.5, 9 / (10 + steps)))
    with learner.evaluated():
        assert torch.allclose(first, average)


def test_grammars_larger_than_all_memory_are_refused(tmp_path):
    for size in (10**9, 10**12, 10**19):
        with pytest.raises(InvalidOption, match="of this size"):
            train(tiny_config(tmp_path, f"grammar.nonterminals={size}"), tmp_path / "out")
    train(tiny_config(tmp_path), tmp_path / "out")  # what did not begin stands in nobody's way


def test_nothing_to_train_on_is_said(tmp_path):
    path = write_instance(tmp_path)
    with pytest.raises(InvalidOption, match=r"data\.train names no file"):
        train(load_config("tn-lcfrs-small"), tmp_path / "out")
    (tmp_path / "train.txt").write_text("Ja !\n\n")
    with pytest.raises(InvalidOption, match="1 sentence read, and none has 2 to 7 words"):
        train(load_config(path), tmp_path / "out")
    (tmp_path / "train.txt").write_bytes(b"goed zo\nslecht\xff woord\n")
    with pytest.raises(FormatError, match=r"train.txt:2: not valid UTF-8"):
        train(load_config(path), tmp_path / "out")


def test_models_of_all_epochs_can_be_kept(tmp_path):
    config = tiny_config(tmp_path, "checkpoint.epochs=true", "training.epochs=3", *CONTINUOUS)
    for stop in (7, 9):  # in the first and in the second epoch
        with pytest.raises(Interrupted):
            train(config, tmp_path / "out", make_learner=failing(stop=stop))
    result = train(config, tmp_path / "out")
    folder = tmp_path / "out" / "run01"
    assert sorted(path.name for path in (folder / "epochs").iterdir()) == ["01", "02", "03"]
    kept = {epoch: Model.load(folder / "epochs" / f"{epoch:02d}") for epoch in (1, 2, 3)}
    best = Model.load(result.model).grammar.state_dict()
    for name, tensor in kept[result.epoch].grammar.state_dict().items():
        assert torch.equal(tensor, best[name])
    told = {e["epoch"]: e["development"] for e in metrics(tmp_path / "out") if e["event"] == "epoch"}
    assert {epoch: model.provenance["selected"]["development"] for epoch, model in kept.items()} == told
