"""Steps of several runs together against steps of each run alone, computed in the plain way."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from parser_instances import tiny_config
from treemean.errors import InvalidOption
from treemean.training import StepOutcome, TrainingConfig
from treemean.training.distributed import World
from treemean.training.gpu import StackedLearner
from treemean.training.gpu.inputs import stack_requests
from treemean.training.learner import EagerLearner, Request
from treemean.training.single import initial_grammar

torch.set_num_threads(1)

VOCABULARY = 9


def eager(config: TrainingConfig) -> EagerLearner:
    return EagerLearner(initial_grammar(config, VOCABULARY), config, seed=config.run.init_seed, world=World())


def stacked(*configs: TrainingConfig) -> StackedLearner:
    return StackedLearner([initial_grammar(config, VOCABULARY) for config in configs], configs)


def seeded(config: TrainingConfig, seed: int) -> TrainingConfig:
    return replace(config, run=replace(config.run, init_seed=seed))


def request(
    count: int, n: int, *, seed: int, mixed: bool = False, rate: float = 0.01, limit: float = math.inf
) -> Request:
    generator = torch.Generator().manual_seed(seed)
    words = torch.randint(VOCABULARY, (count, n), generator=generator)
    if not mixed:
        return Request(words, None, count * n, rate, limit)
    lengths = torch.randint(2, n + 1, (count,), generator=generator)
    lengths[0] = n
    words = torch.where(torch.arange(n) < lengths[:, None], words, 0)
    return Request(words, lengths, int(lengths.sum()), rate, limit)


def assert_same(a: dict[str, torch.Tensor], b: dict[str, torch.Tensor], tolerance: float) -> None:
    assert a.keys() == b.keys()
    for name in a:
        if not name.startswith("random"):
            torch.testing.assert_close(a[name], b[name], rtol=tolerance, atol=tolerance, msg=name)


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> TrainingConfig:
    return tiny_config(tmp_path_factory.mktemp("instance"), "training.precision=float64")


#: For each run and step: sentences, words, whether lengths are mixed, the rate.
EQUAL = [[(4, 4, False, 0.002)] * 3, [(3, 5, False, 0.002)] * 3, [(1, 2, False, 0.01)] * 3]
DIFFERENT = [
    [(4, 4, False, 0.01), (2, 5, True, 0.002), (1, 3, False, 0.01)],
    [(3, 3, True, 0.01), (4, 3, False, 0.002), (4, 5, True, 0.001)],
    [(1, 2, False, 0.01), (4, 4, True, 0.002), (2, 2, False, 0.001)],
]


@pytest.mark.parametrize(
    ("batches", "at_once", "average"),
    [(EQUAL, 0, 0.0), (EQUAL, 2, 0.9), (DIFFERENT, 0, 0.0), (DIFFERENT, 3, 0.9)],
)
def test_runs_together_are_the_runs_alone(config, batches, at_once, average):
    """Partial and mixed batches, parts of batches, different rates and initialisations, averaged weights."""
    optimiser = replace(config.optimiser, average=average, clip=0.5)
    config = replace(config, batches=replace(config.batches, at_once=at_once), optimiser=optimiser)
    configs = [seeded(config, seed) for seed in (1, 2, 3)]
    alone, together = [eager(c) for c in configs], stacked(*configs)
    for step, sizes in enumerate(batches):
        asked = {
            run: request(count, n, seed=10 * step + run, mixed=mixed, rate=rate)
            for run, (count, n, mixed, rate) in enumerate(sizes)
        }
        outcomes = together.step(asked)
        for run, learner in enumerate(alone):
            torch.testing.assert_close(outcomes[run], learner.step(asked[run]), rtol=1e-6, atol=1e-9)
    for run, learner in enumerate(alone):
        assert_same(together.run(run).state(), learner.state(), 1e-6)
        with together.run(run).evaluated() as ours, learner.evaluated() as theirs:
            assert_same(dict(ours.state_dict()), dict(theirs.state_dict()), 1e-6)


def test_a_run_is_the_same_with_any_others(config):
    """With the same number of runs, what the others do changes no bit; copies fill up what is missing."""
    configs = [seeded(config, seed) for seed in (1, 2)]
    first, second = stacked(*configs), stacked(*configs)
    for step in range(3):
        mine = request(3, 4, seed=step)
        a = first.step({0: mine, 1: request(4, 4, seed=step + 7)})
        b = second.step({0: mine})
        assert torch.equal(a[0], b[0])
        assert b[1, StepOutcome.APPLIED] == 0
    mine, other = first.state(0), second.state(0)
    assert all(torch.equal(mine[name], other[name]) for name in mine)


def test_requests_fill_tensors_of_one_shape():
    asked = {0: request(2, 3, seed=1, rate=0.5, limit=4.0), 2: request(1, 2, seed=2)}
    inputs = stack_requests(asked, runs=3, size=3)
    assert inputs.words.shape == (3, 3, 3)
    assert torch.equal(inputs.words[0, 2], asked[0].words[0])
    assert inputs.lengths is not None
    assert inputs.lengths.tolist() == [[3, 3, 3], [3, 3, 3], [2, 2, 2]]
    assert inputs.weights.tolist() == [[0.5, 0.5, 0.0], [0.0] * 3, [1.0, 0.0, 0.0]]
    assert inputs.numbers.tolist() == [[0.5, 4.0, 6.0], [0.0, -math.inf, 1.0], [0.01, math.inf, 2.0]]
    assert stack_requests({0: asked[0]}, runs=2, size=4).lengths is None


def test_steps_are_left_out_for_each_run_on_its_own(config):
    learner = stacked(seeded(config, 1), seeded(config, 2), seeded(config, 3))
    with torch.no_grad():
        next(learner.grammars[2].parameters())[0, 0] = math.nan
    before = [{k: v.clone() for k, v in learner.state(run).items()} for run in range(3)]
    asked = {0: request(3, 4, seed=1), 1: request(3, 4, seed=2, limit=1e-3), 2: request(3, 4, seed=3)}
    outcomes = learner.step(asked)
    assert outcomes[:, StepOutcome.APPLIED].tolist() == [1, 0, 0]
    assert outcomes[:2].isfinite().all()
    for run, made in enumerate([True, False, False]):
        now = learner.state(run)
        same = [
            torch.equal(now[k].nan_to_num(), before[run][k].nan_to_num()) for k in now if "random" not in k
        ]
        assert all(same) != made
    assert learner.state(0)["optimiser.steps"].unique().tolist() == [1]
    assert learner.state(1)["optimiser.steps"].unique().tolist() == [0]


@pytest.mark.parametrize("average", [0.0, 0.9])
def test_a_step_in_full_precision_is_that_of_its_run_alone(config, average):
    single = replace(config.training, precision="float32")
    # Adam makes much of small numbers, and so of rounding, unless epsilon is large.
    optimiser = replace(config.optimiser, average=average, clip=0.5, epsilon=0.1)
    config = replace(config, training=single, optimiser=optimiser)
    configs = [seeded(config, seed) for seed in (1, 2, 3)]
    together, alone = stacked(*configs), [eager(c) for c in configs]
    for step, exact in enumerate([{1}, {0, 2}, set(), {0, 1, 2}]):
        asked = {run: request(3, 4, seed=9 * step + run) for run in range(step % 2, 3)}
        asked = {run: replace(one, exact=run in exact) for run, one in asked.items()}
        outcomes = together.step(asked)
        for run, one in asked.items():
            expected = alone[run].step(one)
            torch.testing.assert_close(outcomes[run], expected, rtol=1e-5, atol=1e-6)
    for run, learner in enumerate(alone):
        assert_same(together.state(run), learner.state(), 1e-4)


def test_a_step_in_full_precision_changes_no_other_run(config):
    learner = stacked(seeded(config, 1), seeded(config, 2))
    learner.step({run: request(4, 4, seed=run) for run in range(2)})
    before = [{k: v.clone() for k, v in learner.state(run).items()} for run in range(2)]
    for limit, made in ((1e-3, False), (math.inf, True)):
        outcomes = learner.step({1: replace(request(4, 4, seed=5, limit=limit), exact=True)})
        assert outcomes[:, StepOutcome.APPLIED].tolist() == [0, made]
        for run, changed in enumerate([False, made]):
            now = learner.state(run)
            same = all(torch.equal(now[k], before[run][k]) for k in now if "random" not in k)
            assert same != changed


@pytest.mark.parametrize("average", [0.0, 0.9])
def test_a_run_goes_on_from_its_state_alone_or_together(config, average):
    config = replace(config, optimiser=replace(config.optimiser, average=average))
    learner = stacked(config, seeded(config, 2))
    for step in range(3):
        learner.step({0: request(4, 3, seed=step), 1: request(4, 3, seed=step + 9)})
    kept = {name: tensor.clone() for name, tensor in learner.state(1).items()}
    other, plain = stacked(seeded(config, 5), config), eager(config)
    other.run(0).load_state(kept)
    plain.load_state(kept)
    asked = request(4, 5, seed=4)
    outcomes = [learner.step({1: asked})[1], other.run(0).step(asked), plain.step(asked)]
    assert torch.equal(outcomes[0], outcomes[1])
    torch.testing.assert_close(outcomes[0], outcomes[2])
    assert_same(learner.state(1), other.state(0), 0.0)
    assert_same(learner.state(1), plain.state(), 1e-6)


def test_grammars_that_draw_numbers_draw_those_of_their_runs(tmp_path: Path):
    kind = ("grammar.kind=c-pcfg", "grammar.ranks=[]", "grammar.discontinuous=0", "grammar.latent=4")
    config = tiny_config(tmp_path, *kind, "training.precision=float64")
    configs = [seeded(config, seed) for seed in (1, 2)]
    together, alone = stacked(*configs), [eager(c) for c in configs]
    for step in range(2):
        asked = {run: request(4, 4, seed=step + run) for run in range(2)}
        outcomes = together.step(asked)
        for run in range(2):
            torch.testing.assert_close(outcomes[run], alone[run].step(asked[run]), rtol=1e-6, atol=1e-9)
    assert (outcomes[:, StepOutcome.DIVERGENCE] > 0).all()
    for step in range(2):  # a run that waits draws nothing
        asked = {1: replace(request(4, 4, seed=step + 20), exact=step == 1)}
        torch.testing.assert_close(together.step(asked)[1], alone[1].step(asked[1]), rtol=1e-6, atol=1e-9)
    asked = {run: request(4, 4, seed=run + 30) for run in range(2)}
    outcomes = together.step(asked)
    for run in range(2):
        torch.testing.assert_close(outcomes[run], alone[run].step(asked[run]), rtol=1e-6, atol=1e-9)


def test_runs_that_differ_too_much_are_refused(config):
    other = replace(config, optimiser=replace(config.optimiser, betas=(0.5, 0.5)))
    with pytest.raises(InvalidOption, match=r"optimiser.betas .* cannot be trained together"):
        stacked(config, other)
    stacked(config, replace(config, optimiser=replace(config.optimiser, rate=1.0, schedule="cosine")))
