"""Steps that are not finite are made once more, in float64."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from parser_instances import tiny_config
from training_instances import COMPOUND, Failing, Interrupted, failing, metrics, model_bytes
from treemean.training import StepOutcome, train
from treemean.training.corpus import Corpus
from treemean.training.distributed import World
from treemean.training.gpu import StackedLearner
from treemean.training.learner import EagerLearner, Request
from treemean.training.single import eager_learner, initial_grammar

torch.set_num_threads(1)


def test_steps_that_are_no_numbers_are_made_in_full_precision(tmp_path):
    config = tiny_config(tmp_path)
    told = []
    make = failing(bad=(2, 5), mended=True)
    result = train(config, tmp_path / "out", make_learner=make, progress=told.append)
    events = metrics(tmp_path / "out")
    assert not [e for e in events if e["event"] == "skip"]
    assert [e["applied"] for e in events if e["event"] == "redo"] == [True, True]
    assert [e["redone"] for e in events if e["event"] == "step"][:3] == [1, 1, 0]
    assert [e["train"]["redone"] for e in events if e["event"] == "epoch"] == [2, 0]
    notes = [e.message for e in told if "gave NaN" in e.message]
    assert notes == ["1 of 3 steps gave NaN; in float64 it was made"] * 2
    train(config, tmp_path / "good")
    scores = metrics(tmp_path / "good")[-1]["development"]
    # The same steps in another order, each with the rate that it should have had.
    assert result.metrics["log_likelihood"] == pytest.approx(scores["log_likelihood"], rel=1e-3)


class Overflowing(Failing):
    """A learner some steps of which are no numbers, by their number in the run, but in full precision."""

    def __init__(self, *args, overflows, **options):
        super().__init__(*args, **options)
        self.overflows = overflows
        self.exact = []

    def step(self, request: Request):
        self.exact.append(request.exact)
        if request.step in self.overflows and not request.exact:
            return self.bad_outcome()
        return super().step(request)


def overflowing(**options):
    """Return what makes such a learner."""
    return lambda grammar, config, world: Overflowing(grammar, config, seed=1, world=world, **options)


@pytest.mark.parametrize(("overflows", "redone"), [({1, 4, 11}, 3), ({3, 4, 11}, 3), ({0, 1, 5, 6}, 4)])
def test_runs_with_steps_in_full_precision_go_on_bit_for_bit_the_same(tmp_path, overflows, redone):
    config = tiny_config(tmp_path, *COMPOUND)
    train(config, tmp_path / "whole", make_learner=overflowing(overflows=overflows))
    for stop in (1, 5, 4):
        with pytest.raises(Interrupted):
            train(config, tmp_path / "parts", make_learner=overflowing(overflows=overflows, stop=stop))
    train(config, tmp_path / "parts", make_learner=overflowing(overflows=overflows))
    assert len([e for e in metrics(tmp_path / "whole") if e["event"] == "redo"]) == redone
    assert model_bytes(tmp_path / "whole") == model_bytes(tmp_path / "parts")
    assert metrics(tmp_path / "whole") == metrics(tmp_path / "parts")


@pytest.mark.parametrize("overrides", [(), COMPOUND, ("batches.lengths=mixed",)])
def test_a_step_in_full_precision_is_that_of_float64(tmp_path, overrides):
    config = tiny_config(tmp_path, *overrides)
    request = Request(torch.tensor([[1, 2, 3], [4, 5, 0]]), torch.tensor([3, 2]), 5, rate=0.1, limit=math.inf)
    single = eager_learner(initial_grammar(config, 9), config, World())
    double = eager_learner(initial_grammar(config, 9).double(), config, World())
    outcomes = [single.step(replace(request, exact=True)), double.step(request)]
    torch.testing.assert_close(*outcomes, rtol=1e-6, atol=1e-6)
    for ours, theirs in zip(single.grammar.parameters(), double.grammar.parameters(), strict=True):
        assert ours.dtype == torch.float32
        torch.testing.assert_close(ours.double(), theirs, rtol=1e-5, atol=1e-5)


#: Three sentences, of which no grammar derives the second, and what they are in a batch.
CORPUS = Corpus.of([[1, 2, 3], [4], [5, 6]])
WORDS, LENGTHS = CORPUS.batch(np.arange(3))


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("stacked", [False, True])
def test_nothing_is_learnt_from_an_infinite_loss(tmp_path, stacked, exact, precision):
    config = tiny_config(tmp_path, "batches.lengths=mixed", f"training.precision={precision}")
    grammar = initial_grammar(config, 9)
    learner = (
        StackedLearner([grammar], [config]).run(0) if stacked else eager_learner(grammar, config, World())
    )
    before = {name: tensor.clone() for name, tensor in learner.state().items()}
    request = Request(WORDS, LENGTHS, 6, rate=0.1, limit=math.inf, exact=exact)
    outcome = learner.step(request)
    assert outcome[StepOutcome.LIKELIHOOD] == math.inf
    assert outcome[StepOutcome.NORM].isfinite()  # the sentence without a derivation has no gradient
    assert outcome[StepOutcome.APPLIED] == 0
    assert all(torch.equal(before[name], tensor) for name, tensor in learner.state().items())
    some = Request(WORDS[::2], LENGTHS[::2], 5, rate=0.1, limit=math.inf, exact=exact)
    assert learner.step(some)[StepOutcome.APPLIED] == 1


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_an_infinite_loss_is_not_part_of_any_mean(tmp_path, precision):
    class OneWord(EagerLearner):
        def step(self, request: Request):
            if request.step == 4:  # sentences of one word, which the grammar does not derive
                request = replace(request, lengths=torch.ones(len(request.words), dtype=torch.int64))
            return super().step(request)

    config = tiny_config(tmp_path, f"training.precision={precision}")
    train(config, tmp_path / "out", make_learner=lambda *args: OneWord(*args[:2], seed=1, world=args[2]))
    events = metrics(tmp_path / "out")
    assert len([e for e in events if e["event"] == "skip"]) == 1
    assert len([e for e in events if e["event"] == "redo"]) == (precision == "float32")
    assert all(e["loss"] is not None for e in events if e["event"] == "step")
    assert all(e["train"]["perplexity"] is not None for e in events if e["event"] == "epoch")
