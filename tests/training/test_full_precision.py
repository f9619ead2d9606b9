"""Steps in full precision: of what overflows, and while quick results are not exact enough."""

from __future__ import annotations

import itertools
import math
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
import torch
from training_instances import COMPOUND, Failing, Interrupted, failing, metrics, model_bytes

from parser_instances import tiny_config
from treemean.grammars.precision import in_float64
from treemean.training import Outcome, train
from treemean.training.accuracy import Accuracy, check_accuracy, differences
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
    notes = [e.message for e in told if "gave no number" in e.message]
    assert notes == ["1 of 3 steps gave no number; in full precision it was made"] * 2
    assert not [e for e in events if e["event"] == "exact"]
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


def overflowing(learners=None, **options):
    """Return what makes such a learner, and puts it into a list."""

    def make(grammar, config, world):
        learner = Overflowing(grammar, config, seed=1, world=world, **options)
        if learners is not None:
            learners.append(learner)
        return learner

    return make


@pytest.mark.parametrize(("overflows", "redone"), [({1, 4, 11}, 3), ({3, 4, 11}, 3), ({0, 1, 5, 6}, 2)])
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


def test_if_most_steps_are_no_numbers_the_rest_of_the_epoch_is_in_full_precision(tmp_path):
    config = tiny_config(tmp_path)  # eight steps and eleven, three a report
    learners, told = [], []
    make = overflowing(learners, overflows={3, 5, 7})
    train(config, tmp_path / "out", make_learner=make, progress=told.append)
    quick, slow = [False], [True]
    assert learners[0].exact == quick * 6 + slow * 2 + slow * 2 + quick * 11
    events = metrics(tmp_path / "out")
    (turned,) = [e for e in events if e["event"] == "exact"]
    assert (turned["epoch"], turned["step"], turned["redone"], turned["steps"]) == (1, 3, 2, 3)
    # Checks would find nothing wrong with log Z: there is none before the next epoch.
    assert [(e["epoch"], e["exact"]) for e in events if e["event"] == "accuracy"] == [(1, False), (2, False)]
    assert [e.message for e in told if e.kind == "note"][1:] == [
        "2 of 3 steps gave no number; in full precision they were made",
        "steps are made in full precision until the end of the epoch, which is slow",
        "log Z is exact enough: steps are quick again",
    ]


def test_a_run_that_goes_back_is_checked_once(tmp_path):
    config = tiny_config(tmp_path, "recovery.skips=3", "recovery.most=2", "training.epochs=3")
    # Back in the midst of the second epoch, then at its very end.
    train(config, tmp_path / "out", make_learner=failing(bad=(12, 13, 14, 17, 18, 19)))
    events = metrics(tmp_path / "out")
    assert [e["step"] for e in events if e["event"] == "restore"] == [14, 19]
    assert [e["step"] for e in events if e["event"] == "accuracy"] == [0, 8, 14, 19]


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


class Inaccurate(EagerLearner):
    """A learner whose log Z is wrong in some checks, numbered from 0; tells which steps were exact."""

    def __init__(self, *args, checks, off, **options):
        super().__init__(*args, **options)
        self.exact, plain, count = [], self.grammar.log_prob, itertools.count()
        self.measuring = False

        def log_prob(words, lengths=None):
            value = plain(words, lengths)
            if torch.is_grad_enabled() or self.measuring or next(count) not in checks:
                return value
            return value + off * (words.shape[1] if lengths is None else lengths)

        self.grammar.log_prob = log_prob

    def step(self, request: Request):
        self.exact.append(request.exact)
        return super().step(request)

    @contextmanager
    def evaluated(self):
        self.measuring = True
        with super().evaluated() as grammar:
            yield grammar
        self.measuring = False


def inaccurate(folder, checks, off=0.5):
    """Train with an `Inaccurate` learner; return its checks, whether steps were exact, and what was told."""
    told, learners = [], []

    def make(grammar, config, world):
        learners.append(Inaccurate(grammar, config, seed=1, world=world, checks=checks, off=off))
        return learners[-1]

    config = tiny_config(folder, "training.report_every=3")
    train(config, folder / "out", make_learner=make, progress=told.append)
    events = [e for e in metrics(folder / "out") if e["event"] == "accuracy"]
    return events, learners[0].exact, [e.message for e in told if e.kind == "note"]


@pytest.mark.parametrize("off", [0.5, math.nan])
def test_inaccurate_steps_are_made_in_full_precision_until_they_are_accurate(tmp_path, off):
    checks, exact, notes = inaccurate(tmp_path, {0, 1, 2, 3}, off)  # found twice, and once more
    assert [e["exact"] for e in checks] == [True, True, False, False]
    assert exact == [True] * 6 + [False] * 13
    for check in checks[:2]:
        assert (
            check["difference"] == check["repeated"] == (pytest.approx(0.5, abs=1e-4) if off == 0.5 else None)
        )
    assert checks[2]["difference"] < 1e-4
    assert sum("steps are made in full precision" in note for note in notes) == 1
    assert sum("steps are quick again" in note for note in notes) == 1


def test_what_is_inaccurate_only_once_is_told_but_changes_nothing(tmp_path):
    checks, exact, notes = inaccurate(tmp_path, {0})
    assert [e["exact"] for e in checks] == [False, False]
    assert checks[0]["difference"] == pytest.approx(0.5, abs=1e-4)
    assert checks[0]["repeated"] < 1e-4
    assert checks[1]["repeated"] is None
    assert not any(exact)
    assert sum("this device does not repeat its results" in note for note in notes) == 1


def test_what_is_inaccurate_once_while_steps_are_exact_makes_them_quick_again(tmp_path):
    checks, exact, notes = inaccurate(tmp_path, {0, 1, 2})
    assert [e["exact"] for e in checks] == [True, False, False]
    assert exact == [True] * 3 + [False] * 16
    (note,) = [note for note in notes if "does not repeat its results" in note]
    assert note.endswith("steps are quick again")


#: Three sentences, of which no grammar derives the second, and what they are in a batch.
CORPUS = Corpus.of([[1, 2, 3], [4], [5, 6]])
WORDS, LENGTHS = CORPUS.batch(np.arange(3))


@pytest.fixture
def grammar(tmp_path):
    return initial_grammar(tiny_config(tmp_path), 9)


def disturb(grammar, *disturbances):
    """Add a number per word to log Z of each sentence, by its number of words, for each time in turn."""
    plain, times = grammar.log_prob, iter(disturbances)

    def log_prob(words, lengths=None):
        own = [words.shape[1]] * len(words) if lengths is None else lengths.tolist()
        by_length = next(times)
        return plain(words, lengths) + torch.tensor([n * by_length.get(n, 0.0) for n in own])

    grammar.log_prob = log_prob


def test_sentences_are_judged_one_by_one(grammar):
    disturb(grammar, {3: 0.25}, {2: math.nan}, {2: -math.inf})
    for expected in ([0.25, math.nan, 0], [0, math.nan, math.inf], [0, math.nan, math.inf]):
        found = differences(grammar, WORDS, LENGTHS)
        assert found == pytest.approx(expected, abs=1e-5, nan_ok=True)


def test_the_worst_sentence_that_can_be_compared_decides(grammar):
    disturb(grammar, {3: 0.25, 2: 0.5}, {3: 0.75}, {})
    found = check_accuracy(grammar, CORPUS, longest=True)
    assert (found.sentence, found.broken) == (2, 1)
    assert (found.difference, found.repeated) == (pytest.approx(0.5, abs=1e-5), pytest.approx(0.75, abs=1e-5))
    assert found.asks_for_full_precision(was_exact=False)
    found = check_accuracy(grammar, CORPUS, longest=True)
    assert (found.repeated, found.broken) == (None, 1)
    assert not found.asks_for_full_precision(was_exact=True)


def test_full_precision_is_computed_once(grammar, monkeypatch):
    copies = []
    monkeypatch.setattr(
        "treemean.training.accuracy.in_float64", lambda one: copies.append(in_float64(one)) or copies[-1]
    )
    disturb(grammar, {3: 0.25}, {3: 0.25})
    assert check_accuracy(grammar, CORPUS, longest=True).repeated == pytest.approx(0.25, abs=1e-5)
    assert len(copies) == 1


def test_results_that_were_replaced_by_those_of_full_precision_are_not_results_of_kernels(grammar):
    def log_prob(words, lengths=None):
        grammar.guard.refused += 1
        return in_float64(grammar).log_prob(words, lengths)

    grammar.log_prob = log_prob
    found = check_accuracy(grammar, CORPUS, longest=True)
    assert (found.difference, found.repeated, found.broken) == (math.inf, math.inf, 1)
    assert found.asks_for_full_precision(was_exact=False)
    assert "log Z of a sentence is no number: steps are made in full" in found.describe(was_exact=False)


@pytest.mark.parametrize("was_exact", [False, True])
def test_broken_parameters_are_not_said_to_be_exact_enough(grammar, was_exact):
    with torch.no_grad():
        next(grammar.parameters()).fill_(math.nan)
    found = check_accuracy(grammar, CORPUS, longest=True)
    assert math.isnan(found.difference)
    assert found.broken == 3
    assert found.asks_for_full_precision(was_exact=was_exact) == was_exact
    assert found.describe(was_exact=was_exact) == (
        "log Z of no sentence is a number, in full precision neither: the parameters are broken"
    )


def test_what_is_told_of_a_check_is_true():
    assert Accuracy(1e-5, 0).describe(was_exact=False) == ""
    assert Accuracy(0.5, 0, 0.5).describe(was_exact=True) == ""
    once = Accuracy(0.5, 0, 1e-5)
    told = (
        "log Z of a sentence was off by 5.0e-01 nats per word, but when all was computed again none was off "
        "by more than 1.0e-05: this device does not repeat its results"
    )
    assert once.describe(was_exact=False) == told
    assert once.describe(was_exact=True) == f"{told}. log Z is exact enough: steps are quick again"


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
    assert outcome[Outcome.LIKELIHOOD] == math.inf
    assert outcome[Outcome.NORM].isfinite()  # the sentence without a derivation has no gradient
    assert outcome[Outcome.APPLIED] == 0
    assert all(torch.equal(before[name], tensor) for name, tensor in learner.state().items())
    some = Request(WORDS[::2], LENGTHS[::2], 5, rate=0.1, limit=math.inf, exact=exact)
    assert learner.step(some)[Outcome.APPLIED] == 1


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
