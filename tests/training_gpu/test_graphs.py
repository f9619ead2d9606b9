"""Steps as CUDA graphs against the same steps in the plain way; these tests need a GPU."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from parser_instances import tiny_config
from treemean.training import StepOutcome, TrainingConfig
from treemean.training.distributed import World
from treemean.training.gpu import StackedLearner
from treemean.training.learner import EagerLearner, Request
from treemean.training.single import initial_grammar

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")]
VOCABULARY = 101


@pytest.fixture
def config(tmp_path) -> TrainingConfig:
    sizes = (
        *("grammar.nonterminals=30", "grammar.preterminals=60", "grammar.discontinuous=20"),
        *("grammar.ranks=[32, 4, 32, 4]", "grammar.embedding=64", "training.device=cuda"),
    )
    return tiny_config(tmp_path, *sizes)


def request(count: int, n: int, seed: int, limit: float = math.inf) -> Request:
    words = torch.randint(VOCABULARY, (count, n), generator=torch.Generator().manual_seed(seed))
    return Request(words, None, count * n, 0.002, limit)


def mixed(count: int, n: int, seed: int) -> Request:
    lengths = torch.arange(count) % (n - 1) + 2
    plain = request(count, n, seed)
    words = torch.where(torch.arange(n) < lengths[:, None], plain.words, 0)
    return replace(plain, words=words, lengths=lengths, count=int(lengths.sum()))


def stacked(config: TrainingConfig, runs: int) -> StackedLearner:
    configs = [replace(config, run=replace(config.run, init_seed=seed)) for seed in range(1, runs + 1)]
    return StackedLearner([initial_grammar(own, VOCABULARY) for own in configs], configs)


@pytest.mark.parametrize("at_once", [0, 3])
@pytest.mark.parametrize("average", [0.0, 0.9])
def test_graphs_make_the_steps_of_the_plain_learner(config, at_once, average):
    """Losses to the precision of the kernels, over partial and mixed batches, in any order of lengths."""
    config = replace(
        config,
        batches=replace(config.batches, at_once=at_once),
        optimiser=replace(config.optimiser, average=average),
    )
    plain = replace(config, grammar=config.grammar.replace(backend="torch"))
    learner = stacked(config, 1).run(0)
    eager = EagerLearner(initial_grammar(plain, VOCABULARY), plain, seed=1, world=World())
    batches = [request(4, 6, 1), mixed(4, 7, 2), request(2, 9, 3), request(4, 2, 4), request(4, 6, 5)] * 2
    for asked in batches:
        found, expected = learner.step(asked).cpu(), eager.step(asked).cpu()
        assert found[StepOutcome.APPLIED] == expected[StepOutcome.APPLIED] == 1
        assert float(found[0]) / asked.count == pytest.approx(float(expected[0]) / asked.count, rel=2e-3)
        assert float(found[StepOutcome.NORM]) == pytest.approx(float(expected[StepOutcome.NORM]), rel=5e-2)


def test_capturing_learns_nothing(config):
    learner = stacked(config, 2)
    before = {name: tensor.clone() for name, tensor in learner.state(1).items()}
    learner.prepare([5, 3, 8])
    after = learner.state(1)
    assert all(torch.equal(before[name].cpu(), after[name].cpu()) for name in before)


def test_runs_do_not_touch_each_other(config):
    """What the other runs do, even if it is no number, changes no bit of a run."""
    first, second = stacked(config, 3), stacked(config, 3)
    with torch.no_grad():
        next(second.grammars[2].parameters())[0, 0] = math.nan
    for step in range(4):
        mine = request(3, 5 + step % 2, step)
        a = first.step(
            {0: mine, 1: request(4, 5 + step % 2, step + 50), 2: request(4, 5 + step % 2, step + 90)}
        )
        b = second.step({0: mine, 1: request(4, 5 + step % 2, step + 70, limit=0.0), 2: mine})
        assert torch.equal(a[0], b[0])
        assert b[:, StepOutcome.APPLIED].tolist() == [1, 0, 0]
    mine, other = first.state(0), second.state(0)
    assert all(torch.equal(mine[name].cpu(), other[name].cpu()) for name in mine)


def test_graphs_go_on_from_a_state(config):
    first, second = stacked(config, 2), stacked(config, 2)
    for step in range(3):
        first.step({1: request(4, 6, step)})
    second.prepare([6])
    second.load_state(1, {name: tensor.cpu().clone() for name, tensor in first.state(1).items()})
    assert torch.equal(first.step({1: request(4, 6, 9)})[1], second.step({1: request(4, 6, 9)})[1])


COMPOUND = (
    *("grammar.kind=c-lcfrs", "grammar.ranks=[]", "grammar.latent=4", "grammar.nonterminals=5"),
    *("grammar.preterminals=9", "grammar.discontinuous=4", "grammar.embedding=16", "training.device=cuda"),
)


def test_graphs_draw_what_is_drawn_without_them(tmp_path):
    """Runs that wait draw nothing, capturing draws nothing, and states of generators can be set again."""
    config = tiny_config(tmp_path, *COMPOUND)
    graphs, plain = stacked(config, 2), stacked(config, 2)
    plain._graphs = None
    for step, runs in enumerate([(0, 1), (1,), (0, 1), (0,), (0, 1)]):
        asked = {run: request(4, 4 + step % 2, 9 * step + run) for run in runs}
        found, expected = graphs.step(asked), plain.step(asked)
        for run in runs:
            torch.testing.assert_close(found[run], expected[run], rtol=1e-3, atol=1e-3)
            assert found[run, StepOutcome.DIVERGENCE] > 0
            state, other = graphs.state(run)["random.generator"], plain.state(run)["random.generator"]
            assert torch.equal(state, other)
    resumed = stacked(config, 2)
    resumed.prepare([4, 5])
    for run in range(2):
        resumed.load_state(run, {name: tensor.cpu().clone() for name, tensor in graphs.state(run).items()})
    asked = {run: request(4, 5, 70 + run) for run in range(2)}
    torch.testing.assert_close(resumed.step(asked), graphs.step(asked), rtol=1e-4, atol=1e-4)


def test_mixed_lengths_of_grammars_that_draw_are_told_once(tmp_path):
    learner = stacked(tiny_config(tmp_path, *COMPOUND, "batches.lengths=mixed"), 1)
    with pytest.warns(RuntimeWarning, match="without a CUDA graph"):
        learner.prepare([4, 5])
    for step in range(2):
        assert learner.step({0: mixed(4, 5, step)})[0, StepOutcome.APPLIED] == 1
